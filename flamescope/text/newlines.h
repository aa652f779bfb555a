/*
 * newlines.h - where lines and empty lines are, sixteen bytes at a time
 *
 * Context: any thread.
 */
#ifndef TEXT_NEWLINES_H
#define TEXT_NEWLINES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/**
 * newlines_empty - where the next empty line is
 *
 * Return:  the first of two newlines that follow each other in [AT, END); NULL: there are none.
 */
static inline const char *newlines_empty(const char *at, const char *end)
{
#ifdef __SSE2__
	const __m128i newline = _mm_set1_epi8('\n');

	for (; end - at > 16; at += 16) {
		__m128i here = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i next = _mm_loadu_si128((const __m128i *)(const void *)(at + 1));
		int both = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(here, newline),
							   _mm_cmpeq_epi8(next, newline)));

		if (both)
			return at + __builtin_ctz((unsigned)both);
	}
#endif
	while (end - at > 1) {
		at = memchr(at, '\n', (size_t)(end - at) - 1);
		if (!at || at[1] == '\n')
			return at;
		at++;
	}
	return NULL;
}

/**
 * newlines_last_empty - the last one
 *
 * Return:  the first newline of the last pair in [AT, END); NULL: there are none.
 */
static inline const char *newlines_last_empty(const char *at, const char *end)
{
	while (end - at > 1) {
		end--;
		if (end[0] == '\n' && end[-1] == '\n')
			return end - 1;
	}
	return NULL;
}

/** newlines_count - how many newlines are in [AT, END) */
static inline uint64_t newlines_count(const char *at, const char *end)
{
	uint64_t n = 0;
#ifdef __SSE2__
	const __m128i newline = _mm_set1_epi8('\n');

	while (end - at >= 16) {
		__m128i sums = _mm_setzero_si128(); /* of each of the 16 places, up to 255 */

		for (int i = 0; i < 255 && end - at >= 16; i++, at += 16)
			sums = _mm_sub_epi8(
				sums,
				_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)at),
					       newline));
		sums = _mm_sad_epu8(sums, _mm_setzero_si128());
		n += (uint64_t)_mm_cvtsi128_si64(sums) +
		     (uint64_t)_mm_cvtsi128_si64(_mm_srli_si128(sums, 8));
	}
#endif
	for (; at < end; at++)
		n += *at == '\n';
	return n;
}

#endif

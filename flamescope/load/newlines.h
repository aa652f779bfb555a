/* newlines.h - where lines and empty lines are, sixteen bytes at a time */
#ifndef LOAD_NEWLINES_H
#define LOAD_NEWLINES_H

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
 * Context: any thread.
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
 * Context: any thread.
 */
static inline const char *newlines_last_empty(const char *at, const char *end)
{
	while (end - at > 1) {
		end = memrchr(at, '\n', (size_t)(end - at));
		if (!end || end == at)
			return NULL;
		if (end[-1] == '\n')
			return end - 1;
	}
	return NULL;
}

/**
 * newlines_count - how many newlines are in [AT, END)
 *
 * Context: any thread.
 */
static inline uint64_t newlines_count(const char *at, const char *end)
{
	uint64_t n = 0;
#ifdef __SSE2__
	const __m128i newline = _mm_set1_epi8('\n');

	for (; end - at >= 16; at += 16) {
		__m128i here = _mm_loadu_si128((const __m128i *)(const void *)at);

		n += (unsigned)__builtin_popcount(
			(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(here, newline)));
	}
#endif
	for (; at < end; at++)
		n += *at == '\n';
	return n;
}

#endif

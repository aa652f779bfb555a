/* crc32c.c - eight bytes an instruction with SSE4.2, else one byte a table lookup */
#include "symbolize/cache/internal.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#define POLYNOMIAL UINT32_C(0x82f63b78) /* reflected */

static uint32_t table[256];
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[i] = crc;
	}
}

uint32_t crc32c_by_table(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint32_t crc = UINT32_MAX;

	(void)pthread_once(&table_made, make_table);
	for (size_t i = 0; i < len; i++)
		crc = crc >> 8 ^ table[(crc ^ at[i]) & 0xff];
	return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t by_cpu(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint64_t crc = UINT32_MAX;

	for (; len >= sizeof(uint64_t); at += sizeof(uint64_t), len -= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		crc = _mm_crc32_u64(crc, word);
	}
	for (; len > 0; at++, len--)
		crc = _mm_crc32_u8((uint32_t)crc, *at);
	return ~(uint32_t)crc;
}

uint32_t crc32c(const void *bytes, size_t len)
{
	return __builtin_cpu_supports("sse4.2") ? by_cpu(bytes, len) : crc32c_by_table(bytes, len);
}

#else

uint32_t crc32c(const void *bytes, size_t len)
{
	return crc32c_by_table(bytes, len);
}

#endif

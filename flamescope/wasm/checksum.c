/*
 * checksum.c - whether a file that zstd has compressed is what it was
 *
 * XXH64 of seed 0 (doc/xxhash_spec.md of xxHash 0.8), of which a zstd frame has the lower half
 * (RFC 8878, 3.1.1).
 */
#include "flamescope/wasm/internal.h"

#include <string.h>

enum { LANES = 4, STRIPE = LANES * 8 };

static const uint64_t prime_1 = 0x9e3779b185ebca87, prime_2 = 0xc2b2ae3d27d4eb4f,
		      prime_3 = 0x165667b19e3779f9, prime_4 = 0x85ebca77c2b2ae63,
		      prime_5 = 0x27d4eb2f165667c5;

/* Of one text after the other. */
static struct {
	uint64_t lanes[LANES];
	uint64_t n_bytes;
	uint8_t rest[STRIPE]; /* of the bytes those that are no whole stripe yet */
} sum;

static uint64_t rotated(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static uint64_t mixed(uint64_t lane, uint64_t word)
{
	return rotated(lane + word * prime_2, 31) * prime_1;
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word)); /* WebAssembly is little endian */
	return word;
}

static void add_stripe(const uint8_t *stripe)
{
	for (size_t i = 0; i < LANES; i++)
		sum.lanes[i] = mixed(sum.lanes[i], word_at(stripe + 8 * i));
}

WASM_EXPORT("checksum_begin") void wasm_checksum_begin(void)
{
	sum.lanes[0] = prime_1 + prime_2;
	sum.lanes[1] = prime_2;
	sum.lanes[2] = 0;
	sum.lanes[3] = 0 - prime_1;
	sum.n_bytes = 0;
}

WASM_EXPORT("checksum_add") void wasm_checksum_add(const uint8_t *bytes, size_t n)
{
	size_t n_rest = sum.n_bytes % STRIPE;

	sum.n_bytes += n;
	if (n_rest + n >= STRIPE && n_rest > 0) {
		memcpy(sum.rest + n_rest, bytes, STRIPE - n_rest);
		add_stripe(sum.rest);
		bytes += STRIPE - n_rest;
		n -= STRIPE - n_rest;
		n_rest = 0;
	}
	for (; n_rest + n >= STRIPE; bytes += STRIPE, n -= STRIPE)
		add_stripe(bytes);
	memcpy(sum.rest + n_rest, bytes, n);
}

/* Of all the bytes, of which there may be less than a stripe. */
static uint64_t lanes_together(void)
{
	static const unsigned bits[LANES] = {1, 7, 12, 18};
	uint64_t all = 0;

	if (sum.n_bytes < STRIPE)
		return prime_5;
	for (size_t i = 0; i < LANES; i++)
		all += rotated(sum.lanes[i], bits[i]);
	for (size_t i = 0; i < LANES; i++)
		all = (all ^ mixed(0, sum.lanes[i])) * prime_1 + prime_4;
	return all;
}

/* The lower half of it. */
WASM_EXPORT("checksum_end") uint32_t wasm_checksum_end(void)
{
	const size_t n_rest = sum.n_bytes % STRIPE;
	uint64_t all = lanes_together() + sum.n_bytes;
	size_t i = 0;

	for (; i + 8 <= n_rest; i += 8)
		all = rotated(all ^ mixed(0, word_at(sum.rest + i)), 27) * prime_1 + prime_4;
	if (i + 4 <= n_rest) {
		uint32_t half;

		memcpy(&half, sum.rest + i, sizeof(half));
		all = rotated(all ^ half * prime_1, 23) * prime_2 + prime_3;
		i += 4;
	}
	for (; i < n_rest; i++)
		all = rotated(all ^ sum.rest[i] * prime_5, 11) * prime_1;
	all = (all ^ all >> 33) * prime_2;
	all = (all ^ all >> 29) * prime_3;
	return (uint32_t)(all ^ all >> 32);
}

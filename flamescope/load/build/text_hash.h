/*
 * text_hash.h - a hash of text that a file's author cannot make collide
 *
 * 128 bits, with a secret of this process: equal hashes are taken for equal text, and nothing is
 * compared.  The halves take turns with the words, so that two texts which differ in the words of
 * one half meet with a chance of 2^-64: of a million texts, one pair in 2^25 loads.
 */
#ifndef BUILD_TEXT_HASH_H
#define BUILD_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text_hash {
	uint64_t low;
	uint64_t high;
};

/* Filled once, by text_hash_seed(). */
extern uint64_t text_hash_secret[4];

/**
 * text_hash_seed - make the secret, at the first call
 *
 * Context: any thread; before the first text_hash().
 */
void text_hash_seed(void);

/**
 * text_hash_mix - two words to one, by all the bits of their product
 *
 * Context: any thread.
 */
static inline uint64_t text_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/**
 * text_hash - the hash of LEN bytes
 *
 * Context: any thread.
 */
static inline struct text_hash text_hash(const char *text, size_t len)
{
	const uint64_t *secret = text_hash_secret;
	uint64_t words[4];
	uint64_t low = secret[0] ^ len;
	uint64_t high = secret[1];

	for (; len >= sizeof(words); text += sizeof(words), len -= sizeof(words)) {
		memcpy(words, text, sizeof(words));
		low = text_hash_mix(words[0] ^ secret[2], words[1] ^ low);
		high = text_hash_mix(words[2] ^ secret[3], words[3] ^ high);
	}
	memset(words, 0, sizeof(words));
	memcpy(words, text, len);
	low = text_hash_mix(words[0] ^ secret[2], words[1] ^ low);
	high = text_hash_mix(words[2] ^ secret[3], words[3] ^ high);
	return (struct text_hash){text_hash_mix(low ^ secret[1], high ^ secret[0]),
				  text_hash_mix(low ^ secret[3], high ^ secret[2] ^ low)};
}

/**
 * text_hash_pair - a key of two numbers, which needs no secret: it is all there
 *
 * Context: any thread.
 */
static inline struct text_hash text_hash_pair(uint64_t a, uint64_t b)
{
	return text_hash((const char *)(const uint64_t[]){a, b}, 2 * sizeof(uint64_t));
}

#endif

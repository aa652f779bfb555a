/* secret.c - what nobody who writes a recording can know (text_hash) */
#include "flamescope/load/build/uniques.h"

#include "base/io.h"

#include <pthread.h>
#include <sys/random.h>

uint64_t text_hash_secret[4];

static void make_secret(void)
{
	/* without a generator (an old kernel in a jail) the clock has to do */
	if (getrandom(text_hash_secret, sizeof(text_hash_secret), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(text_hash_secret))
		for (size_t i = 0; i < 4; i++)
			text_hash_secret[i] ^=
				text_hash_mix(io_now_ns() ^ (uintptr_t)&i,
					      UINT64_C(0x9e3779b97f4a7c15) * (2 * i + 1));
	for (size_t i = 0; i < 4; i++)
		text_hash_secret[i] |= UINT64_C(1) << (8 * i + 7); /* never nothing */
}

void text_hash_seed(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make_secret);
}

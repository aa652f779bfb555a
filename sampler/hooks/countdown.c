/* countdown.c - counts down the bytes until a thread's next sampled allocation */
#include "sampler/hooks/countdown.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/auxv.h>

extern unsigned long weak_getauxval(unsigned long type) __asm__("getauxval") __attribute__((weak));

enum {
	FRACTION_BITS = 53,
	MXCSR_DEFAULT = 0x1f80, /* no trap, to the nearest, no flag */
};

static const double LN_2 = 0.693147180559945309417;
static const double SQRT_2 = 1.41421356237309504880;

__thread struct countdown countdown;

static _Atomic uint64_t seeds = UINT64_C(0x2545f4914f6cdd1d);

void countdown_start(void)
{
	/* 16 random bytes of the kernel, new for each image. */
	const uint64_t *random = weak_getauxval ? (const void *)weak_getauxval(AT_RANDOM) : NULL;

	if (random)
		atomic_fetch_xor_explicit(&seeds, random[0] ^ random[1] << 1, memory_order_relaxed);
}

uint64_t countdown_seed(void)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t x = atomic_fetch_add_explicit(&seeds, golden, memory_order_relaxed);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) | 1;
}

/* xorshift64* */
static uint64_t next_random(uint64_t *random)
{
	uint64_t x = *random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*random = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* ln(n) by its exponent and the series of artanh: off by less than 1e-9. */
static double ln(uint64_t n)
{
	int exponent = 63 - __builtin_clzll(n);
	double m = (double)n / (double)(UINT64_C(1) << exponent);
	double t;
	double s;

	if (m > SQRT_2) {
		m /= 2;
		exponent++;
	}
	t = (m - 1) / (m + 1);
	s = t * t;
	return exponent * LN_2 +
	       2 * t * (1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9)))));
}

static __attribute__((noinline)) uint64_t draw(uint64_t *random, uint64_t mean)
{
	uint64_t n = (next_random(random) >> (64 - FRACTION_BITS)) + 1;
	double distance = (FRACTION_BITS * LN_2 - ln(n)) * (double)mean;

	return distance > 0 ? (uint64_t)distance + 1 : 1;
}

/* The program may have enabled floating-point traps or another rounding, and may read the exception
 * flags. */
uint64_t countdown_draw(uint64_t *random, uint64_t mean)
{
	unsigned program = __builtin_ia32_stmxcsr();
	uint64_t distance;

	__builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
	distance = draw(random, mean);
	__builtin_ia32_ldmxcsr(program);
	return distance;
}

/* countdown.h - bytes until the next sampled allocation of a thread */
#ifndef HOOKS_COUNTDOWN_H
#define HOOKS_COUNTDOWN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sampled are the bytes that a Poisson process hits: one in MEAN on average, whatever sizes they
 * come in.  A thread counts down to its next one; the distance is exponential, and memory of
 * it ends with the allocation that it hits, so an allocation of SIZE that it hits LEFT bytes in
 * stands for MEAN + SIZE - LEFT bytes, which is right on average for every size.
 */
struct countdown {
	uint64_t left;   /* 0: the thread has not begun */
	uint64_t random; /* xorshift64*; 0: not seeded */
	uint16_t shift;  /* the ring is filling: the mean is 2^shift times as far */
	uint16_t drawn;  /* LEFT was drawn with this one */
	uint16_t half_full;
	uint16_t calm; /* samples since it was */
};

/* The hooks' TLS, with what locks.c may need of it 64 bytes at most. */
extern __thread struct countdown countdown;

/**
 * countdown_passes - count an allocation down
 *
 * Return:  true: it is not hit; false: nothing was counted.
 * Context: handler.  The thread's own.
 */
static inline bool countdown_passes(uint64_t size)
{
	if (__builtin_expect(countdown.left <= size, 0))
		return false;
	countdown.left -= size;
	return true;
}

/**
 * countdown_draw - an exponential distance
 *
 * Return:  at least 1.
 * Context: handler.  Uses floating point, and leaves its state as it was.
 */
uint64_t countdown_draw(uint64_t *random, uint64_t mean);

/**
 * countdown_seed - a number that no other thread begins with
 *
 * Context: handler.  Any thread.
 */
uint64_t countdown_seed(void);

/**
 * countdown_start - make seeds differ from run to run
 *
 * Context: agent.  The constructor.
 */
void countdown_start(void);

#endif

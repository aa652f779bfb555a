/* countdown.h - counts down the bytes until a thread's next sampled allocation */
#ifndef HOOKS_COUNTDOWN_H
#define HOOKS_COUNTDOWN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Bytes are sampled by a Poisson process: one in MEAN on average, whatever the allocations' sizes.
 * A thread counts down to its next sampled byte; the distance is exponentially distributed and is
 * drawn again after each sample. So an allocation of SIZE bytes that is sampled with LEFT bytes to
 * go represents MEAN + SIZE - LEFT bytes, which is right on average for every size.
 */
struct countdown {
	uint64_t left;   /* 0: the thread has not begun */
	uint64_t random; /* xorshift64*; 0: not seeded */
	uint16_t shift;  /* the ring is filling: the mean is 2^shift times as large */
	uint16_t drawn;  /* the shift with which LEFT was drawn */
	uint16_t half_full;
	uint16_t calm; /* samples since the ring was half full */
};

/* The hooks' thread-local storage, with that of lock_wait.c 64 bytes at most. */
extern __thread struct countdown countdown;

/**
 * countdown_passes - subtract an allocation from the countdown
 *
 * Return:  true: not sampled; false: to be sampled, nothing was subtracted.
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
 * countdown_draw - draw an exponentially distributed distance
 *
 * Return:  at least 1.
 * Context: handler.  Uses floating point, and leaves its state as it was.
 */
uint64_t countdown_draw(uint64_t *random, uint64_t mean);

/**
 * countdown_seed - a random seed that no other thread gets
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

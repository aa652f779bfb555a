/* phase.c - where in a period an image begins, and what ended images left unsampled */
#include "sampler/collector/phase.h"

#include <stdatomic.h>

enum {
	MOST_MISSED = 1000,
	MOST_OF_ONE = 2, /* periods: more has another cause than the tick */
};

/* A step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators). */
static uint64_t next_random(struct phase *phase)
{
	uint64_t x = phase->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void phase_begin(struct phase *phase, struct process *process)
{
	struct ring_header *header = process->ring.header;

	process->phase_ns = next_random(phase) % process->period_ns;
	process->missed = phase->missed > 0 ? (uint32_t)phase->missed : 0;
	phase->missed -= process->missed;
	header->phase_ns = process->phase_ns;
	header->missed = process->missed;
}

static int64_t left_by(const struct process *process)
{
	uint64_t used_ns = process->charged_ns - process->base_cpu_ns;
	int64_t due = (int64_t)((process->phase_ns + used_ns) / process->period_ns);
	int64_t left;

	if (!atomic_load_explicit(&process->ring.header->cpu_ns, memory_order_relaxed) ||
	    process->charged_ns < process->base_cpu_ns)
		return process->weight ? 0 : process->missed;
	left = process->missed + due - (int64_t)process->weight;
	if (left > (int64_t)process->missed + MOST_OF_ONE)
		return process->missed + MOST_OF_ONE;
	return left < -MOST_OF_ONE ? -MOST_OF_ONE : left;
}

void phase_end(struct phase *phase, const struct process *process)
{
	phase->missed += left_by(process);
	if (phase->missed > MOST_MISSED)
		phase->missed = MOST_MISSED;
	if (phase->missed < -MOST_MISSED)
		phase->missed = -MOST_MISSED;
}

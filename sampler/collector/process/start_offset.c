/* start_offset.c - where in a period an image begins, and what ended images left unsampled */
#include "sampler/collector/process/start_offset.h"

#include <stdatomic.h>

enum {
	MOST_MISSED = 1000,
	MOST_OF_ONE = 2, /* periods and these ticks: more has another cause than the tick */
	MOST_TICKS = 10, /* as who is put off between two leaves each time */
	PARTS = 16,      /* of a period: as many images begin in one each */
};

/* A step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators). */
static uint64_t next_random(struct start_offset *offset)
{
	uint64_t x = offset->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/*
 * A random place, and no two of sixteen images in a row in the same part of the period: their sum
 * is known four times as well.  The order of the parts is another every time, so that no program
 * that is started at every sixteenth place has a part of its own.
 */
static uint64_t next_place(struct start_offset *offset, uint64_t period_ns)
{
	uint32_t part;

	if (offset->n % PARTS == 0)
		offset->turn = (uint32_t)(next_random(offset) % PARTS);
	/* An odd step comes by all parts. */
	part = (offset->n++ * (PARTS / 2 - 1) ^ offset->turn) % PARTS;
	return (part * period_ns + next_random(offset) % period_ns) / PARTS;
}

/* Its timer has run out when it begins, so that whichever tick comes first gives what is owed. */
static void owe(const struct process *process, uint32_t missed)
{
	struct ring_header *header = process->ring.header;

	header->start_offset_ns = process->began_ns - 1;
	header->residual_periods = missed - 1; /* beside the one that this sample is for itself */
}

void start_offset_begin(struct start_offset *offset, struct process *process)
{
	struct ring_header *header = process->ring.header;
	uint64_t missed =
		offset->missed_ns > 0 ? (uint64_t)offset->missed_ns / process->began_ns : 0;

	if (missed > MOST_MISSED)
		missed = MOST_MISSED;
	process->start_offset_ns = next_place(offset, process->began_ns);
	process->missed_ns = missed * process->began_ns;
	offset->missed_ns -= (int64_t)process->missed_ns;
	header->start_offset_ns = process->start_offset_ns;
	header->residual_periods = 0;
	if (missed)
		owe(process, (uint32_t)missed);
}

static int64_t left_by(const struct start_offset *offset, const struct process *process)
{
	uint64_t used_ns = process->charged_ns - process->base_cpu_ns;
	int64_t missed_ns = (int64_t)process->missed_ns;
	int64_t least_ns = -MOST_OF_ONE * (int64_t)process->began_ns;
	int64_t most_ns = missed_ns - least_ns + MOST_TICKS * (int64_t)offset->tick_ns;
	uint64_t due_ns;
	int64_t left_ns;

	if (!atomic_load_explicit(&process->ring.header->cpu_ns, memory_order_relaxed) ||
	    process->charged_ns < process->base_cpu_ns || !process_has_first_rate(process))
		return process->given_ns ? 0 : missed_ns;
	due_ns = (process->start_offset_ns + used_ns) / process->began_ns * process->began_ns;
	left_ns = missed_ns + (int64_t)due_ns - (int64_t)process->given_ns;
	if (left_ns > most_ns)
		return most_ns;
	return left_ns < least_ns ? least_ns : left_ns;
}

void start_offset_end(struct start_offset *offset, const struct process *process)
{
	int64_t most_ns = MOST_MISSED * (int64_t)process->began_ns;

	offset->missed_ns += left_by(offset, process);
	if (offset->missed_ns > most_ns)
		offset->missed_ns = most_ns;
	if (offset->missed_ns < -most_ns)
		offset->missed_ns = -most_ns;
}

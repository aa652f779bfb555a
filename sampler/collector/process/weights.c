/* weights.c - what samples weigh: start offsets and residuals of images, periods of the file */
#include "sampler/collector/process/weights.h"

#include <stdatomic.h>

enum {
	MAX_PERIODS = 1000,    /* of residual */
	MAX_IMAGE_PERIODS = 2, /* and these ticks: more has another cause than the tick */
	MAX_IMAGE_TICKS =
		10, /* an image that is preempted between two ticks leaves some each time */
	PARTS = 16, /* of a period: as many images begin in one each */
};

/* A step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators). */
static uint64_t next_random(struct weights *weights)
{
	uint64_t x = weights->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/*
 * A random place, and no two of sixteen images in a row in the same part of the period: their sum
 * is known four times as well.  The order of the parts is another every time, so that no program
 * that is started at every sixteenth place has a part of its own.
 */
static uint64_t next_offset(struct weights *weights, uint64_t period_ns)
{
	uint32_t part;

	if (weights->n % PARTS == 0)
		weights->turn = (uint32_t)(next_random(weights) % PARTS);
	/* An odd step comes by all parts. */
	part = (weights->n++ * (PARTS / 2 - 1) ^ weights->turn) % PARTS;
	return (part * period_ns + next_random(weights) % period_ns) / PARTS;
}

void weights_begin_image(struct weights *weights, struct process *process)
{
	uint64_t period_ns = process->began_ns;
	uint64_t periods =
		weights->residual_ns > 0 ? (uint64_t)weights->residual_ns / period_ns : 0;

	if (periods > MAX_PERIODS)
		periods = MAX_PERIODS;
	process->start_offset_ns = next_offset(weights, period_ns);
	process->inherited_ns = periods * period_ns;
	weights->residual_ns -= (int64_t)process->inherited_ns;
	process->ring.header->start_offset_ns = periods ? period_ns - 1 : process->start_offset_ns;
	/* The signal of a timer that has expired represents one of them itself. */
	process->residual_ns = periods ? process->inherited_ns - period_ns : 0;
}

static int64_t residual_of(const struct weights *weights, const struct process *process)
{
	uint64_t used_ns = process->charged_ns - process->base_cpu_ns;
	int64_t inherited_ns = (int64_t)process->inherited_ns;
	int64_t least_ns = -MAX_IMAGE_PERIODS * (int64_t)process->began_ns;
	int64_t most_ns = inherited_ns - least_ns + MAX_IMAGE_TICKS * (int64_t)weights->tick_ns;
	uint64_t due_ns;
	int64_t left_ns;

	if (!atomic_load_explicit(&process->ring.header->cpu_ns, memory_order_relaxed) ||
	    process->charged_ns < process->base_cpu_ns || !process_has_first_rate(process))
		return process->given_ns ? 0 : inherited_ns;
	due_ns = (process->start_offset_ns + used_ns) / process->began_ns * process->began_ns;
	left_ns = inherited_ns + (int64_t)due_ns - (int64_t)process->given_ns;
	if (left_ns > most_ns)
		return most_ns;
	return left_ns < least_ns ? least_ns : left_ns;
}

void weights_end_image(struct weights *weights, const struct process *process)
{
	int64_t most_ns = MAX_PERIODS * (int64_t)process->began_ns;

	weights->residual_ns += residual_of(weights, process);
	if (weights->residual_ns > most_ns)
		weights->residual_ns = most_ns;
	if (weights->residual_ns < -most_ns)
		weights->residual_ns = -most_ns;
}

void weights_add_residual(struct process *process, struct record_sample *sample)
{
	uint64_t periods = process->residual_ns / sample->period_ns;

	if (periods > UINT32_MAX - sample->weight)
		periods = UINT32_MAX - sample->weight;
	process->residual_ns -= periods * sample->period_ns;
	sample->weight += (uint32_t)periods;
}

bool weights_convert(struct thread *thread, struct event_sample *sample, uint64_t time_ns,
		     uint64_t base_ns)
{
	uint64_t random = (time_ns ^ sample->tid) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	bool known = thread && thread->has_residual;
	uint64_t sum_ns;

	if (!base_ns || !sample->period_ns || (sample->period_ns == base_ns && !known))
		return true;
	sum_ns = thread && known ? thread->residual_ns : random % base_ns;
	sum_ns += sample->weight * sample->period_ns;
	if (thread) {
		thread->has_residual = true;
		thread->residual_ns = sum_ns % base_ns;
	}
	sample->weight = sum_ns / base_ns;
	return sample->weight > 0;
}

/*
 * external_sampler.h - a process without an agent, sampled externally
 *
 * The collector lists such processes, counts their CPU and has their mappings; how their stacks are
 * it does not know: the creator of the collector passes it in.
 */
#ifndef PROCESS_EXTERNAL_SAMPLER_H
#define PROCESS_EXTERNAL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process;
struct event_order;
struct external_process;

/* One turn over all threads of a process. */
struct external_turn {
	struct process *process;
	struct event_order *sink;
	uint64_t now_ns;
	uint64_t deadline_ns; /* no further thread is held after that */
	uint64_t every_ns;    /* between two turns */
	bool paused;          /* samples are not wanted */
	bool again;           /* soon after the last: only threads that it was unsure of */
};

/* All are called by the drain thread, but for begin() and free() while that does not run. */
struct collector_external_sampler {
	/*
	 * What the process has used up to CPU_NS is not to be accounted for.
	 * Return: 0; -EPERM: it may not be read; -ESRCH; -ENOMEM.
	 */
	int (*begin)(pid_t pid, uint64_t cpu_ns, struct external_process **ret_external);
	void (*turn)(struct external_process *external, const struct external_turn *turn);
	/* The samples of all residuals: nothing follows. */
	void (*end)(struct external_process *external, const struct external_turn *turn);
	void (*free)(struct external_process *external);
};

/* What begin() makes starts with it. */
struct external_process {
	const struct collector_external_sampler *how;
	bool unsure; /* a thread was found in a place that says little: another turn may help */
};

#endif

/* fake_collector.h - just enough of a collector to see what the agent does; for its tests */
#ifndef TESTS_FAKE_COLLECTOR_H
#define TESTS_FAKE_COLLECTOR_H

#include "sampler/wire/ring.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	FAKE_MAX_PROCESSES = 64,
	FAKE_MAX_THREADS = 4096,
	FAKE_MAX_STOPS = 8,
	FAKE_MAX_COSTS = 16384,
	FAKE_PRICED = 64, /* slots */
};

/* What one sample cost, where exactly one was found since the last look. */
struct fake_cost {
	uint32_t ns;
	uint16_t flags;
	uint16_t n_pcs;
};

struct fake_options {
	const char *agent; /* the .so */
	uint32_t hz;
	enum ring_discovery discovery;
	uint32_t jitter_pct;
	uint32_t max_slots;              /* 0: RING_MAX_SLOTS */
	bool refuse;                     /* answer HANDSHAKE_REFUSED */
	bool silent;                     /* accept and never answer */
	bool absent;                     /* the socket's path leads nowhere */
	bool idle;                       /* never drain */
	bool counts;                     /* say that the program keeps exact counts */
	bool lets_wait;                  /* do not answer when a process is about to end */
	struct context_variable context; /* the first that handlers read; zero: none */
	bool post;                       /* post every tid of the program again and again */
	const char *before;     /* preloaded before the agent, so that it starts after it */
	const char *const *env; /* more of the environment, NULL at the end */
};

struct fake_thread {
	uint32_t tid;
	uint64_t weight;
	uint64_t samples;
	char comm[16];
};

struct fake_process {
	int32_t pid;
	uint16_t kind; /* enum handshake_kind */
	struct ring_header *header;
	uint64_t bytes;

	struct fake_thread threads[FAKE_MAX_THREADS];
	uint32_t n_threads;
	uint64_t samples;
	uint64_t weight;
	uint64_t discovered; /* samples with SAMPLE_DISCOVERY */
	uint64_t jittered;
	uint64_t quiet; /* with SAMPLE_NO_METRICS */
	uint64_t pcs;
	uint64_t stops[FAKE_MAX_STOPS];
	uint64_t modules; /* RECORD_MODULE */
	uint64_t unmaps;
	uint64_t bad; /* records that cannot be */
	uint64_t pads;
	struct fake_cost costs[FAKE_MAX_COSTS];
	uint32_t n_costs;
	struct fake_cost last;
	uint64_t priced[FAKE_PRICED][2]; /* n_samples and handler_ns when last looked at */
	char last_module[RECORD_PATH_BYTES];
};

struct fake_run {
	struct fake_process *processes[FAKE_MAX_PROCESSES];
	uint32_t n_processes;
	uint32_t n_leaving; /* HANDSHAKE_LEAVING */
	int status;         /* of waitpid() */
	uint64_t cpu_ns;    /* of the program and the children it waited for */
	uint64_t wall_ns;
};

/**
 * fake_collector_run - run ARGV under the agent to its end and decode what it wrote
 *
 * Return:  0, or -errno when the program could not be started.
 * Owns:    free with fake_run_release(); the rings stay mapped until then.
 * Context: any thread; SIGCHLD must not be ignored.
 */
int fake_collector_run(const struct fake_options *options, const char *const argv[],
		       struct fake_run *ret_run);

/**
 * fake_run_release - unmap and free
 *
 * Context: any thread.
 */
void fake_run_release(struct fake_run *run);

/**
 * fake_sum - a counter of every slot, summed
 * @offset: offsetof(struct ring_slot, ...) of an _Atomic uint64_t
 *
 * Context: any thread.
 */
uint64_t fake_sum(const struct fake_process *process, size_t offset);

#endif

/* idle.c - which samples are of CPUs that have nothing to do */
#include "flamescope/query/query.h"

#include "flamescope/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* FlameScope's list (app/perf/regexp.py); select.js has the same. */
static const char *const functions[] = {
	"cpuidle",
	"cpu_idle",
	"cpu_bringup_and_idle",
	"native_safe_halt",
	"xen_hypercall_sched_op",
	"xen_hypercall_vcpu_op",
};

bool idle_is_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strstr(name, functions[i]))
			return true;
	return false;
}

/* perf calls it so, with the number 0 on each CPU. */
bool idle_is_thread(const char *comm, int64_t tid)
{
	return tid == 0 && strcmp(comm, "swapper") == 0;
}

static bool is_thread(const struct profile *profile, size_t thread)
{
	const struct profile_thread *at = &profile->thread_list[thread];

	return idle_is_thread(profile->strings[at->comm], at->tid);
}

static bool has_idle_thread(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_threads; i++)
		if (is_thread(profile, i))
			return true;
	return false;
}

int idle_init(struct idle *idle, const struct profile *profile)
{
	uint8_t *frames;

	*idle = (struct idle){0};
	if (!has_idle_thread(profile))
		return 0;
	idle->threads = calloc(profile->n_threads, 1);
	idle->nodes = calloc(profile->n_nodes + 1, 1);
	frames = calloc(profile->n_frames + 1, 1);
	if (!idle->threads || !idle->nodes || !frames) {
		free(frames);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->n_threads; i++)
		idle->threads[i] = is_thread(profile, i);
	for (size_t i = 0; i < profile->n_frames; i++)
		frames[i] = idle_is_function(profile->strings[profile->frames[i].name]);
	for (size_t i = 1; i < profile->n_nodes; i++)
		idle->nodes[i] =
			idle->nodes[profile->nodes[i].parent] | frames[profile->nodes[i].frame];
	free(frames);
	return 0;
}

bool idle_has(const struct idle *idle, const struct profile *profile, size_t sample)
{
	return idle->threads && idle->threads[profile->threads[sample]] &&
	       idle->nodes[profile->stacks[sample]];
}

void idle_release(struct idle *idle)
{
	free(idle->threads);
	free(idle->nodes);
	*idle = (struct idle){0};
}

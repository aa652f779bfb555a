/* filter.c - which samples are given, and which are only counted */
#include "sampler/collector/stream/filter.h"

#include "sampler/collector/process/process.h"

#include <string.h>

void filter_init(struct filter *keep, const struct collector_filter *options)
{
	keep->options = *options;
	top_init(&keep->top, &options->top);
}

void filter_release(struct filter *keep)
{
	top_release(&keep->top);
}

static bool is_named(const struct collector_filter *options, struct thread *thread)
{
	if (!thread->keep.asked ||
	    memcmp(thread->keep.comm, thread->comm, sizeof(thread->keep.comm)) != 0) {
		memcpy(thread->keep.comm, thread->comm, sizeof(thread->keep.comm));
		thread->keep.named =
			options->names(options->context, thread->keep.comm,
				       strnlen(thread->keep.comm, sizeof(thread->keep.comm)));
		thread->keep.asked = true;
	}
	return thread->keep.named;
}

bool filter_keeps(struct filter *keep, const struct process *process, struct thread *thread,
		  const struct event_sample *sample)
{
	const struct collector_filter *options = &keep->options;
	bool named = options->names && thread && is_named(options, thread);

	if (options->states && !(options->states >> sample->state & 1U))
		return false;
	if (options->top.n)
		return named || top_keeps(&keep->top, process, sample->tid);
	return named || !options->names;
}

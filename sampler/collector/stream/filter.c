/* filter.c - which samples are given, and which are only counted */
#include "sampler/collector/stream/filter.h"

#include "sampler/collector/process/process.h"

#include <string.h>

void filter_init(struct filter *filter, const struct collector_filter *options)
{
	filter->options = *options;
	top_init(&filter->top, &options->top);
}

void filter_release(struct filter *filter)
{
	top_release(&filter->top);
}

static bool is_named(const struct collector_filter *options, struct thread *thread)
{
	if (!thread->filter.checked ||
	    memcmp(thread->filter.comm, thread->comm, sizeof(thread->filter.comm)) != 0) {
		memcpy(thread->filter.comm, thread->comm, sizeof(thread->filter.comm));
		thread->filter.named =
			options->names(options->context, thread->filter.comm,
				       strnlen(thread->filter.comm, sizeof(thread->filter.comm)));
		thread->filter.checked = true;
	}
	return thread->filter.named;
}

bool filter_keeps(struct filter *filter, const struct process *process, struct thread *thread,
		  const struct event_sample *sample)
{
	const struct collector_filter *options = &filter->options;
	bool named = options->names && thread && is_named(options, thread);

	if (options->states && !(options->states >> sample->state & 1U))
		return false;
	if (options->profiled && !sample->profiled)
		return false;
	if (options->top.n)
		return named || top_keeps(&filter->top, process, sample->tid);
	return named || !options->names;
}

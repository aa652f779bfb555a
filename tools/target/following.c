/* following.c - children of running processes that have joined, for `wick record -p`, `wick top -p`
 */
#include "tools/target/target.h"

#include "sampler/collector/collector.h"
#include "tools/cli/terminal.h"

#include <errno.h>
#include <inttypes.h>

static int attach(void *context, pid_t pid)
{
	struct following *following = context;
	struct collector_attached attached;
	struct err err = {0};
	int r = collector_follow(following->collector, pid, &attached, &err);

	/* What has ended meanwhile was short; its CPU is told of. */
	if (r == 0 || r == -EALREADY || r == -ESRCH)
		return r;
	following->n_refused++;
	following->why = err;
	if (following->verbose)
		say_note("%s", err.text);
	return r;
}

uint64_t following_due_ns(const struct following *following)
{
	return following->collector ? collector_follow_due_ns(following->collector) : UINT64_MAX;
}

void following_tick(struct following *following, uint64_t now_ns)
{
	if (now_ns < following_due_ns(following))
		return;
	collector_follow_children(following->collector, attach, following, now_ns);
}

void following_tell(const struct following *following)
{
	if (following->n_refused)
		say_note("children: wick could not attach to %" PRIu64 ", the last one: %s",
			 following->n_refused, following->why.text);
}

void following_release(struct following *following)
{
	following->collector = NULL;
}

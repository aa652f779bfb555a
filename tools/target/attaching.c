/* attaching.c - running processes instead of a CMD, for `wick record -p` and `wick top -p` */
#include "tools/target/target.h"

#include "base/cleanup.h"
#include "sampler/collector/collector.h"
#include "tools/cli/terminal.h"
#include "tools/control/control.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void tell_attached(pid_t pid, const struct collector_attached *attached)
{
	say_note("attached to process %d; one thread was stopped for %u.%02u ms%s", (int)pid,
		 (unsigned)(attached->stopped_ns / 1000000),
		 (unsigned)(attached->stopped_ns / 10000 % 100),
		 attached->again ? " (the agent was already loaded)" : "");
}

/* The message names the recording if it replies. */
static void add_recorder(pid_t pid, struct err *err)
{
	pid_t recorder = control_recorder(pid);

	if (recorder)
		err_hint(err, "kill %d, which ends it; wick status -p %d shows what it is",
			 (int)recorder, (int)pid);
}

/* Return: 0; -errno, and the reason in ERR. */
static int attach_one(struct attaching *attaching, pid_t pid, struct err *err)
{
	struct collector_attached attached;
	int r;

	if (external_choice_only(attaching->external))
		return external_choice_attach(attaching->external, attaching->collector, pid, 0,
					      err);
	r = collector_attach(attaching->collector, pid, &attached, err);
	if (r == -EBUSY)
		add_recorder(pid, err);
	if (r < 0)
		return external_choice_attach(attaching->external, attaching->collector, pid, r,
					      err);
	if (attached.why.text[0])
		say_note("%s", attached.why.text);
	if (attaching->verbose)
		tell_attached(pid, &attached);
	if (!attaching->namespace_pid)
		attaching->namespace_pid = attached.namespace_pid;
	return 0;
}

/* The first one names them all. */
static int note_attached(struct attaching *attaching, pid_t pid, struct err *err)
{
	char comm[ATTACH_COMM_BYTES];

	if (attaching->attached)
		attaching->attached(attaching->context, pid);
	if (attaching->n++ > 0)
		return 0;
	attaching->pid = pid;
	attaching->comm = strdup(attach_options_comm(pid, comm) ? comm : "process");
	return attaching->comm ? 0 : err_set(err, ENOMEM, "start");
}

/* With one process the caller prints the error; with several, each has a line of its own. */
static int attach_all(struct attaching *attaching, const pid_t *pids, size_t n, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		struct err why = {0};
		int one = attach_one(attaching, pids[i], &why);

		if (one == 0 && note_attached(attaching, pids[i], err) < 0)
			return -ENOMEM;
		if (one == 0)
			continue;
		if (r < 0)
			say_error("%s", err->text);
		*err = why;
		r = one;
	}
	if (attaching->n == 0)
		return r;
	if (r < 0)
		say_error("%s", err->text);
	return 0;
}

int attaching_start(struct attaching *attaching, struct err *err)
{
	_cleanup_free_ pid_t *pids = calloc(ATTACH_MAX_PIDS, sizeof(*pids));
	size_t n = 0;
	int r;

	if (!pids)
		return err_set(err, ENOMEM, "start");
	r = attach_options_find(attaching->attach, pids, &n, err);
	if (r == 0)
		r = collector_begin(attaching->collector, err);
	return r == 0 ? attach_all(attaching, pids, n, err) : r;
}

void attaching_release(struct attaching *attaching)
{
	free(attaching->comm);
	*attaching = (struct attaching){0};
}

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

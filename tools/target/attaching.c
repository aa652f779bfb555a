/* attaching.c - running processes instead of a CMD, for `wick record -p` and `wick top -p` */
#include "tools/target/attaching.h"

#include "base/cleanup.h"
#include "tools/cli/say.h"
#include "tools/control/control_client.h"

#include <errno.h>
#include <string.h>

static void tell_joined(pid_t pid, const struct collector_attached *attached)
{
	say_note("attached to process %d; one thread was stopped for %u.%02u ms%s", (int)pid,
		 (unsigned)(attached->stopped_ns / 1000000),
		 (unsigned)(attached->stopped_ns / 10000 % 100),
		 attached->again ? " (the agent was already loaded)" : "");
}

/* Where its recording can be asked, it is named. */
static void add_recorder(pid_t pid, struct err *err)
{
	pid_t recorder = control_recorder(pid);

	if (recorder)
		err_hint(err, "kill %d, which ends it; wick status -p %d shows what it is",
			 (int)recorder, (int)pid);
}

/* Return: 0; -errno, and the reason in ERR. */
static int join_one(struct joining *joining, pid_t pid, struct err *err)
{
	struct collector_attached attached;
	int r;

	if (outside_choice_only(joining->outside))
		return outside_choice_join(joining->outside, joining->collector, pid, 0, err);
	r = collector_attach(joining->collector, pid, &attached, err);
	if (r == -EBUSY)
		add_recorder(pid, err);
	if (r < 0)
		return outside_choice_join(joining->outside, joining->collector, pid, r, err);
	if (attached.why.text[0])
		say_note("%s", attached.why.text);
	if (joining->verbose)
		tell_joined(pid, &attached);
	if (!joining->inner_pid)
		joining->inner_pid = attached.inner_pid;
	return 0;
}

/* The first one names them all. */
static int note_joined(struct joining *joining, pid_t pid, struct err *err)
{
	char comm[ATTACH_COMM_BYTES];

	if (joining->joined)
		joining->joined(joining->context, pid);
	if (joining->n++ > 0)
		return 0;
	joining->pid = pid;
	joining->comm = strdup(attach_options_comm(pid, comm) ? comm : "process");
	return joining->comm ? 0 : err_set(err, ENOMEM, "start");
}

/* With one process its trouble is the caller's to tell; of several, each has a line of its own. */
static int join_all(struct joining *joining, const pid_t *pids, size_t n, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		struct err why = {0};
		int one = join_one(joining, pids[i], &why);

		if (one == 0 && note_joined(joining, pids[i], err) < 0)
			return -ENOMEM;
		if (one == 0)
			continue;
		if (r < 0)
			say_error("%s", err->text);
		*err = why;
		r = one;
	}
	if (joining->n == 0)
		return r;
	if (r < 0)
		say_error("%s", err->text);
	return 0;
}

int joining_start(struct joining *joining, struct err *err)
{
	_cleanup_free_ pid_t *pids = calloc(ATTACH_MAX_PIDS, sizeof(*pids));
	size_t n = 0;
	int r;

	if (!pids)
		return err_set(err, ENOMEM, "start");
	r = attach_options_find(joining->attach, pids, &n, err);
	if (r == 0)
		r = collector_begin(joining->collector, err);
	return r == 0 ? join_all(joining, pids, n, err) : r;
}

void joining_release(struct joining *joining)
{
	free(joining->comm);
	*joining = (struct joining){0};
}

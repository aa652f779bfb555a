/* record_choose.c - `wick record -a`: the heaviest of all processes, chosen anew */
#include "tools/record/recorder.h"

#include "sampler/collector/select/choice.h"
#include "tools/cli/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int record_choose_start(struct recorder *recorder, struct err *err)
{
	const struct collector_top *choose = &recorder->options->choose;

	free(recorder->comm);
	recorder->comm = strdup("all");
	if (!recorder->comm)
		return err_set(err, ENOMEM, "start");
	recorder->pid = getpid();
	choice_init(&recorder->choose.choice, choose);
	if (choose->by == BY_GAUGE)
		recorder->choose.gauges.name =
			recorder->columns.gauges[choose->gauge - METRIC_BUILTIN];
	recorder->choose.on = true;
	return collector_begin(recorder->collector, err);
}

static bool records(void *context, pid_t pid)
{
	const struct recorder *recorder = context;

	return collector_records(recorder->collector, pid);
}

static int attach(void *context, pid_t pid)
{
	struct recorder *recorder = context;
	struct collector_attached attached;
	struct err err = {0};
	int r = collector_attach(recorder->collector, pid, &attached, &err);

	if (r == 0 || r == -EALREADY)
		return r;
	recorder->choose.refused = pid;
	recorder->choose.why = err;
	if (recorder->options->verbose)
		say_note("%s", err.text);
	return r;
}

static void detach(void *context, pid_t pid)
{
	const struct recorder *recorder = context;

	(void)collector_detach_process(recorder->collector, pid);
}

uint64_t record_choose_due_ns(const struct recorder *recorder)
{
	return recorder->choose.on ? choice_due(&recorder->choose.choice) : UINT64_MAX;
}

void record_choose_tick(struct recorder *recorder, uint64_t now_ns)
{
	struct choice *choice = &recorder->choose.choice;
	struct choice_gauges *gauges = &recorder->choose.gauges;
	const struct choice_ops ops = {
		.records = records, .attach = attach, .detach = detach, .context = recorder};

	if (now_ns < record_choose_due_ns(recorder))
		return;
	choice_begin(choice);
	if (choice_scan(choice, gauges->name ? gauges : NULL, "/proc") == 0)
		choice_end(choice, &ops, now_ns);
}

void record_choose_tell(const struct recorder *recorder)
{
	const struct record_choose *choose = &recorder->choose;

	if (!choose->on)
		return;
	say_note("processes: %" PRIu64 " attached, %" PRIu64 " detached, %" PRIu64 " not attached",
		 choose->choice.n_attached, choose->choice.n_detached, choose->choice.n_refused);
	if (choose->choice.n_attached == 0 && choose->choice.n_refused == 0)
		say_note("no process was busy enough to attach to, try: a longer -d, or -p PID");
	if (choose->refused)
		say_note("the last process that wick could not attach to: %s", choose->why.text);
}

void record_choose_release(struct recorder *recorder)
{
	choice_release(&recorder->choose.choice);
	choice_gauges_release(&recorder->choose.gauges);
}

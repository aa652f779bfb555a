/* record_flight.c - a recording's flight recorder, and the triggers that have it write */
#include "tools/record/recorder.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/* The trigger's word for what the collector reads. */
static const struct {
	enum trigger_of of;
	enum collector_usage_of usage;
} readings[] = {
	{TRIGGER_CPU, USAGE_CPU},
	{TRIGGER_RSS, USAGE_RSS},
	{TRIGGER_FAULTS, USAGE_FAULTS},
	{TRIGGER_MAJFAULTS, USAGE_FAULTS},
	{TRIGGER_RUN_DELAY, USAGE_RUN_DELAY},
	{TRIGGER_PSI_CPU, USAGE_PSI_CPU},
	{TRIGGER_PSI_MEMORY, USAGE_PSI_MEMORY},
	{TRIGGER_PSI_IO, USAGE_PSI_IO},
	{TRIGGER_GAUGE, USAGE_GAUGES},
};

enum { N_READINGS = sizeof(readings) / sizeof(readings[0]) };

_Static_assert((int)COLLECTOR_PSI_SOME == (int)PSI_SOME, "the same words of pressure");
_Static_assert((int)COLLECTOR_PSI_FILES == (int)PSI_FILES, "and the same files");

static int check_pressure(enum trigger_of of, struct err *err)
{
	static const char *const paths[PSI_FILES] = {"/proc/pressure/cpu", "/proc/pressure/memory",
						     "/proc/pressure/io"};
	_cleanup_fd_ int fd = -1;
	const char *path;

	if (of < TRIGGER_PSI_CPU || of > TRIGGER_PSI_IO)
		return 0;
	path = paths[of - TRIGGER_PSI_CPU];
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return 0;
	(void)err_set(err, errno, "read '%s'", path);
	err_hint(err, "a kernel with CONFIG_PSI, booted with psi=1");
	return -err->code;
}

int record_flight_prepare(const struct record_options *options, struct collector_options *collector,
			  struct err *err)
{
	const struct flight_choice *choice = &options->flight;
	int r = 0;

	for (size_t i = 0; i < choice->n_conditions && r == 0; i++) {
		enum trigger_of of = choice->conditions[i].of;

		for (size_t j = 0; j < N_READINGS; j++)
			if (readings[j].of == of)
				collector->usage |= UINT32_C(1) << readings[j].usage;
		if (of == TRIGGER_RSS)
			collector->metrics |= UINT32_C(1) << METRIC_RSS_KIB;
		r = check_pressure(of, err);
	}
	return r;
}

static void on_window(void *context, uint64_t from_ns, uint64_t until_ns)
{
	record_counts_window(context, from_ns, until_ns);
}

int record_flight_start(struct recorder *recorder, struct err *err)
{
	const struct record_options *options = recorder->options;
	const struct flight_choice *choice = &options->flight;
	struct flight_options flight = {.metrics = options->metrics.mask};

	if (!flight_options_on(choice))
		return 0;
	flight_options_pass(choice, &flight);
	recorder->triggers.options = (struct trigger_options){
		.at = choice->conditions,
		.n = choice->n_conditions,
		.for_ns = choice->for_ns,
		.cooldown_ns = choice->cooldown_ns,
		.settle_ns = choice->pre_ns,
		.hourly = choice->hourly,
	};
	if (flight_start(&recorder->flight, &flight, recorder->collector) < 0)
		return err_set(err, ENOMEM, "keep samples");
	recorder->flight.files = (struct flight_files){
		.recording = recorder->recording,
		.beside = &recorder->hook_files,
		.series = sample_series(hook_files_main(options->event_list.events)),
		.ending = on_window,
		.ending_context = recorder,
	};
	return 0;
}

static void read_usage(const struct collector_usage *usage, struct trigger_reading *ret_reading)
{
	*ret_reading = (struct trigger_reading){
		.time_ns = usage->time_ns,
		.cpu_ns = usage->cpu_ns,
		.rss_kib = usage->rss_kib,
		.faults = usage->faults,
		.majfaults = usage->majfaults,
		.run_delay_ns = usage->run_delay_ns,
		.gauges_known = usage->gauges_known,
	};
	for (size_t i = 0; i < N_READINGS; i++)
		if (usage->known >> readings[i].usage & 1U)
			ret_reading->known |= UINT32_C(1) << readings[i].of;
	memcpy(ret_reading->psi, usage->psi, sizeof(ret_reading->psi));
	memcpy(ret_reading->gauges, usage->gauges, sizeof(ret_reading->gauges));
}

static void on_fired(struct recorder *recorder, const struct trigger_fired *fired)
{
	const struct flight_choice *choice = &recorder->options->flight;
	const struct trigger_condition *condition = &choice->conditions[fired->condition];
	uint64_t from_ns = fired->time_ns > choice->pre_ns ? fired->time_ns - choice->pre_ns : 0;
	char value[TRIGGER_TEXT];
	char why[TRIGGER_TEXT * 2];

	trigger_value(condition, fired->value, value);
	flight_note_why(&recorder->flight, fired->time_ns, condition->text, value);
	(void)snprintf(why, sizeof(why), "'%.80s' (%.32s)", condition->text, value);
	if (!flight_ask(&recorder->flight, why, from_ns, fired->time_ns + choice->post_ns))
		say_error("%s: too many files wait to be written", why);
	else if (choice->post_ns)
		say_note("%s: its file will be written in %lu s", why,
			 (unsigned long)((choice->post_ns + NS_PER_S - 1) / NS_PER_S));
}

static void check_triggers(struct recorder *recorder)
{
	struct trigger_fired fired[TRIGGER_MOST];
	struct trigger_reading reading;
	struct collector_usage usage;
	size_t n;

	if (!recorder->triggers.options.n)
		return;
	collector_usage(recorder->collector, &usage);
	if (usage.time_ns == recorder->usage_ns)
		return;
	recorder->usage_ns = usage.time_ns;
	read_usage(&usage, &reading);
	n = trigger_evaluate(&recorder->triggers, &reading, fired);
	for (size_t i = 0; i < n; i++)
		on_fired(recorder, &fired[i]);
}

static void write_due(struct recorder *recorder, uint64_t now_ns)
{
	if (flight_is_due(&recorder->flight, now_ns))
		recorder_update_counts(recorder);
	flight_tick(&recorder->flight, now_ns);
}

void record_flight_passed(struct recorder *recorder, const struct collector_rate *rate)
{
	flight_barrier_passed(&recorder->flight, rate->barrier);
	recorder->barrier = rate; /* what is counted later belongs to no file that ends here */
	write_due(recorder, io_now_ns());
	recorder->barrier = NULL;
}

int record_flight_now(struct recorder *recorder, const char *why, const char **ret_path)
{
	recorder_update_counts(recorder);
	return flight_now(&recorder->flight, why, io_now_ns(), ret_path);
}

/* One that was named: whatever is known of its end, it is worth a file. */
static bool is_target(const struct recorder *recorder, pid_t pid)
{
	const struct attach_options *attach = &recorder->options->attach;

	for (size_t i = 0; i < attach->n_pids; i++)
		if (attach->pids[i] == pid)
			return true;
	return pid == recorder->pid;
}

void record_flight_ended(struct recorder *recorder, const struct collector_event *event,
			 uint64_t now_ns)
{
	flight_ended(&recorder->flight, event->pid, event->ended_by,
		     is_target(recorder, event->pid), now_ns);
}

void record_flight_tick(struct recorder *recorder, uint64_t now_ns)
{
	check_triggers(recorder);
	write_due(recorder, now_ns);
}

void record_flight_finish(struct recorder *recorder)
{
	const struct trigger_set *set = &recorder->triggers;

	flight_finish(&recorder->flight);
	if (flight_is_on(&recorder->flight) && !recorder->flight.n_files)
		say_note("no samples were written: there was no crash, trigger, SIGUSR2 or wick "
			 "flush");
	for (size_t i = 0; i < set->options.n; i++) {
		if (set->states[i].n_limited)
			say_note("'%s' became true %lu more times than --trigger-limit allows in "
				 "an hour",
				 set->options.at[i].text, (unsigned long)set->states[i].n_limited);
		if (!set->states[i].seen)
			say_note("'%s': its value could never be read", set->options.at[i].text);
	}
}

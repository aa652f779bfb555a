/* doctor_trigger.c - how often triggers would have fired while a recording was made */
#include "base/cleanup.h"
#include "base/map.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/flight/flight.h"
#include "tools/flight/trigger.h"
#include "tools/view/view.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S  UINT64_C(1000000000)
#define KNOWN_NS  (60 * NS_PER_S) /* a process that says nothing for so long has ended */
#define BIT(of)   (UINT32_C(1) << (of))
#define NO_METRIC SIZE_MAX

/* The last that a process said. */
struct replay_process {
	uint64_t time_ns;
	uint64_t rss_kib;
	uint32_t gauges_known;
	int64_t gauges[TRIGGER_MOST];
};

/* Columns of the profile, NO_METRIC: it has none. */
struct replay {
	const struct profile *profile;
	struct trigger_set *set;
	struct map processes;
	struct trigger_reading reading;
	const struct profile_tag *state;
	uint32_t running;
	size_t rss;
	size_t minflt;
	size_t majflt;
	size_t run_delay;
	size_t gauges[TRIGGER_MOST]; /* of the conditions */
	int error;
};

static size_t find_metric(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->n_metrics; i++)
		if (strcmp(profile->strings[profile->metrics[i].name], name) == 0)
			return i;
	return NO_METRIC;
}

/*
 * What a recording lacks for a condition. Returns what to do about it, static; NULL: it lacks
 * nothing.
 */
static const char *trigger_replay_missing(const struct profile *profile,
					  const struct trigger_condition *condition)
{
	switch (condition->of) {
	case TRIGGER_CPU:
		return profile->hz ? NULL : "the recording has no CPU times";
	case TRIGGER_RSS:
		return find_metric(profile, "rss_kib") == NO_METRIC
			       ? "the recording has no rss_kib, try: wick record --metrics auto"
			       : NULL;
	case TRIGGER_FAULTS:
	case TRIGGER_MAJFAULTS:
		return find_metric(profile, "minflt") == NO_METRIC ||
				       find_metric(profile, "majflt") == NO_METRIC
			       ? "the recording has no minflt and majflt, try: wick record "
				 "--metrics auto"
			       : NULL;
	case TRIGGER_RUN_DELAY:
		return find_metric(profile, "run_delay_ns") == NO_METRIC
			       ? "the recording has no run_delay_ns, try: wick record --metrics "
				 "auto"
			       : NULL;
	case TRIGGER_GAUGE:
		return find_metric(profile, condition->gauge) == NO_METRIC
			       ? "the recording does not have the gauge, try: wick record "
				 "--metrics auto,NAME"
			       : NULL;
	default:
		return "recordings do not contain the pressure (psi) of the machine";
	}
}

static void find_state(struct replay *replay)
{
	const struct profile *profile = replay->profile;

	for (size_t i = 0; i < profile->n_tags; i++) {
		const struct profile_tag *tag = &profile->tags[i];

		if (strcmp(profile->strings[tag->name], "state") != 0)
			continue;
		for (uint32_t code = 0; code < tag->n_values; code++)
			if (strcmp(profile->strings[tag->values[code]], "running") == 0) {
				replay->state = tag;
				replay->running = code;
			}
	}
}

static void init(struct replay *replay)
{
	const struct trigger_options *options = &replay->set->options;

	replay->rss = find_metric(replay->profile, "rss_kib");
	replay->minflt = find_metric(replay->profile, "minflt");
	replay->majflt = find_metric(replay->profile, "majflt");
	replay->run_delay = find_metric(replay->profile, "run_delay_ns");
	for (size_t i = 0; i < TRIGGER_MOST; i++)
		replay->gauges[i] = i < options->n && options->at[i].of == TRIGGER_GAUGE
					    ? find_metric(replay->profile, options->at[i].gauge)
					    : NO_METRIC;
	find_state(replay);
}

/* What a counter has grown by since the thread's sample before. */
static uint64_t delta(const struct profile *profile, size_t metric, size_t sample)
{
	int64_t grown = metric == NO_METRIC ? 0 : profile->metrics[metric].deltas[sample];

	return grown > 0 ? (uint64_t)grown : 0;
}

static bool value(const struct profile *profile, size_t metric, size_t sample, int64_t *ret_value)
{
	if (metric == NO_METRIC || profile->metrics[metric].values[sample] == PROFILE_ABSENT)
		return false;
	*ret_value = profile->metrics[metric].values[sample];
	return true;
}

static struct replay_process *process_of(struct replay *replay, size_t sample)
{
	const struct profile *profile = replay->profile;
	const struct profile_thread *thread = &profile->thread_list[profile->threads[sample]];
	uint64_t key = (uint64_t)thread->host << 32 | (uint32_t)thread->pid;
	struct replay_process *process = map_get(&replay->processes, key);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (process && map_put(&replay->processes, key, process) == 0)
		return process;
	free(process);
	replay->error = -ENOMEM;
	return NULL;
}

/* In a recording of wall time what waits takes none. */
static bool takes_cpu(const struct replay *replay, size_t sample)
{
	return !replay->state || replay->state->codes[sample] == replay->running ||
	       replay->state->codes[sample] == 0;
}

static void take_sample(struct replay *replay, size_t sample)
{
	const struct profile *profile = replay->profile;
	struct trigger_reading *reading = &replay->reading;
	struct replay_process *process = process_of(replay, sample);
	uint64_t majflt = delta(profile, replay->majflt, sample);
	int64_t number;

	if (profile->hz && takes_cpu(replay, sample))
		reading->cpu_ns += profile->weights[sample] * NS_PER_S / profile->hz;
	reading->faults += majflt + delta(profile, replay->minflt, sample);
	reading->majfaults += majflt;
	reading->run_delay_ns += delta(profile, replay->run_delay, sample);
	if (!process)
		return;
	process->time_ns = profile->times_ns[sample];
	if (value(profile, replay->rss, sample, &number) && number >= 0)
		process->rss_kib = (uint64_t)number;
	for (size_t i = 0; i < TRIGGER_MOST; i++)
		if (value(profile, replay->gauges[i], sample, &process->gauges[i]))
			process->gauges_known |= BIT(i);
}

static void add_process(void *context, uint64_t key, void *argument)
{
	struct replay *replay = context;
	struct trigger_reading *reading = &replay->reading;
	const struct replay_process *process = argument;

	(void)key;
	if (reading->time_ns - replay->profile->start_ns - process->time_ns > KNOWN_NS)
		return;
	reading->rss_kib += process->rss_kib;
	for (size_t i = 0; i < TRIGGER_MOST; i++) {
		bool first = !(reading->gauges_known & BIT(i));

		if (!(process->gauges_known & BIT(i)))
			continue;
		reading->gauges_known |= BIT(i);
		if (first || process->gauges[i] > reading->gauges[i])
			reading->gauges[i] = process->gauges[i];
	}
}

static void evaluate(struct replay *replay, uint64_t at_ns,
		     void (*fired)(void *context, const struct trigger_fired *fired), void *context)
{
	struct trigger_fired now[TRIGGER_MOST];
	struct trigger_reading *reading = &replay->reading;
	size_t n;

	reading->time_ns = replay->profile->start_ns + at_ns;
	reading->rss_kib = 0;
	reading->gauges_known = 0;
	map_each(&replay->processes, add_process, replay);
	n = trigger_evaluate(replay->set, reading, now);
	for (size_t i = 0; i < n; i++)
		fired(context, &now[i]);
}

static uint32_t known(const struct profile *profile, const struct trigger_options *options)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < options->n; i++)
		if (!trigger_replay_missing(profile, &options->at[i]))
			mask |= BIT(options->at[i].of);
	return mask;
}

static void free_process(void *context, uint64_t key, void *argument)
{
	(void)context;
	(void)key;
	free(argument);
}

/*
 * Put readings of the time of a recording, one a step, before a set. CPU is what the samples stand
 * for, faults and waits for a CPU what they say in deltas; memory and gauges are the last that
 * each process said, for a minute. Returns 0; -ENOMEM.
 */
static int trigger_replay(const struct profile *profile, struct trigger_set *set, uint64_t step_ns,
			  void (*fired)(void *context, const struct trigger_fired *fired),
			  void *context)
{
	_cleanup_free_ struct replay *replay = calloc(1, sizeof(*replay));
	size_t sample = 0;
	int r;

	if (!replay)
		return -ENOMEM;
	replay->profile = profile;
	replay->set = set;
	replay->reading.known = known(profile, &set->options);
	init(replay);
	for (uint64_t at_ns = 0; at_ns <= profile->length_ns + step_ns; at_ns += step_ns) {
		while (sample < profile->n_samples && profile->times_ns[sample] <= at_ns)
			take_sample(replay, sample++);
		evaluate(replay, at_ns, fired, context);
	}
	r = replay->error;
	map_each(&replay->processes, free_process, NULL);
	map_release(&replay->processes);
	return r;
}

#define STEP_NS (NS_PER_S / 4) /* as often as the collector reads usage */

enum { MOST_TIMES = 50, TEXT_BYTES = 256 * 1024 };

struct doctor_triggers {
	struct trigger_condition conditions[TRIGGER_MOST];
	size_t n;
};

/* What is printed of each condition, collected while the recording is replayed. */
struct explanation {
	const struct profile *profile;
	const struct doctor_triggers *triggers;
	struct buf times[TRIGGER_MOST];
	size_t n_times[TRIGGER_MOST];
};

static int add_condition(struct doctor_triggers *triggers, const char *text, struct err *err)
{
	struct err whole = {0};

	if (triggers->n == TRIGGER_MOST)
		return err_set(err, 0, "--explain-trigger: more than %d", (int)TRIGGER_MOST);
	if (trigger_parse(text, &triggers->conditions[triggers->n], &whole) < 0)
		return err_set(err, 0, "--explain-trigger: %s", whole.text);
	triggers->conditions[triggers->n].gauge_column = triggers->n;
	triggers->n++;
	return 0;
}

static void add_seconds(struct buf *text, uint64_t ns)
{
	buf_printf(text, "%lu.%lu s", (unsigned long)(ns / NS_PER_S),
		   (unsigned long)(ns % NS_PER_S / (NS_PER_S / 10)));
}

static void on_fired(void *context, const struct trigger_fired *fired)
{
	struct explanation *explanation = context;
	size_t i = fired->condition;
	struct buf *times = &explanation->times[i];
	char value[TRIGGER_TEXT];

	if (explanation->n_times[i]++ >= MOST_TIMES)
		return;
	trigger_value(&explanation->triggers->conditions[i], fired->value, value);
	buf_add(times, "  at ");
	add_seconds(times, fired->time_ns - explanation->profile->start_ns);
	buf_printf(times, ": %s\n", value);
}

static void add_count(struct buf *text, const struct explanation *explanation, size_t i)
{
	size_t n = explanation->n_times[i];

	if (n == 0)
		buf_add(text, "would not have fired in ");
	else if (n == 1)
		buf_add(text, "would have fired once in ");
	else
		buf_printf(text, "would have fired %zu times in ", n);
	add_seconds(text, explanation->profile->length_ns);
}

/* "the most" of what it reads, as the trigger sees it: over a second, and as growth. */
static void add_most(struct buf *text, const struct trigger_condition *condition,
		     const struct trigger_state *state)
{
	char value[TRIGGER_TEXT];

	if (!state->seen)
		return;
	trigger_value(condition, state->most, value);
	buf_printf(text, "; the %s was %s", condition->how == TRIGGER_BELOW ? "least" : "most",
		   value);
}

static void explain(struct explanation *explanation, const struct trigger_set *set,
		    struct buf *text)
{
	for (size_t i = 0; i < explanation->triggers->n; i++) {
		const struct trigger_condition *condition = &explanation->triggers->conditions[i];
		const char *missing = trigger_replay_missing(explanation->profile, condition);

		buf_printf(text, "'%s' ", condition->text);
		if (missing) {
			buf_printf(text, "unknown: %s\n", missing);
			continue;
		}
		add_count(text, explanation, i);
		add_most(text, condition, &set->states[i]);
		buf_add_char(text, '\n');
		buf_add(text, buf_text(&explanation->times[i]));
		if (explanation->n_times[i] > MOST_TIMES)
			buf_printf(text, "  and %zu more\n", explanation->n_times[i] - MOST_TIMES);
	}
}

static int explain_profile(const struct doctor_triggers *triggers, const struct profile *profile)
{
	_cleanup_free_ struct trigger_set *set = calloc(1, sizeof(*set));
	struct explanation explanation = {.profile = profile, .triggers = triggers};
	struct flight_choice usual;
	struct buf text;
	int r = -ENOMEM;

	flight_options_init(&usual);
	buf_init(&text, TEXT_BYTES);
	for (size_t i = 0; i < TRIGGER_MOST; i++)
		buf_init(&explanation.times[i], TEXT_BYTES / TRIGGER_MOST);
	if (set) {
		set->options = (struct trigger_options){.at = triggers->conditions,
							.n = triggers->n,
							.cooldown_ns = usual.cooldown_ns,
							.settle_ns = usual.pre_ns,
							.hourly = TRIGGER_HOURLY};
		r = trigger_replay(profile, set, STEP_NS, on_fired, &explanation);
	}
	if (r == 0)
		explain(&explanation, set, &text);
	for (size_t i = 0; i < TRIGGER_MOST; i++)
		buf_release(&explanation.times[i]);
	if (r == 0)
		return cmd_print(&text);
	buf_release(&text);
	say_error("not enough memory to read the recording");
	return cmd_exit_of(r);
}

static int explain_files(struct doctor_triggers *triggers, char *const *paths, size_t n_paths)
{
	struct view_input input = {0};
	struct profile *profile = NULL;
	struct err err = {0};
	int status;
	int r = 0;

	if (n_paths == 0) {
		say_error("no recording given, try: wick doctor --explain-trigger EXPR FILE");
		return WICK_USAGE;
	}
	for (size_t i = 0; i < n_paths && r == 0; i++)
		r = view_input_add(&input, paths[i], &err);
	if (r == 0)
		r = view_input_load(&input, &profile, &err);
	if (r < 0) {
		say_error("%s", err.text);
		status = cmd_exit_of(r);
	} else {
		status = explain_profile(triggers, profile);
	}
	profile_free(profile);
	view_input_release(&input);
	return status;
}

int cmd_explain_triggers(struct cmd_ctx *ctx)
{
	struct doctor_triggers triggers = {.n = 0};
	struct err err = {0};
	int at = 1;

	say_init("doctor");
	for (; at < ctx->argc && strcmp(ctx->argv[at], "--") != 0; at++) {
		if (add_condition(&triggers, ctx->argv[at], &err) < 0) {
			say_error("%s", err.text);
			return WICK_USAGE;
		}
	}
	at++;
	return explain_files(&triggers, ctx->argv + at,
			     at < ctx->argc ? (size_t)(ctx->argc - at) : 0);
}

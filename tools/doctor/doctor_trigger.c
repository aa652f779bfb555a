/* doctor_trigger.c - how often triggers would have fired while a recording was made */
#include "base/cleanup.h"
#include "tools/cli/cmd.h"
#include "tools/cli/say.h"
#include "tools/cli/text.h"
#include "tools/doctor/trigger_replay.h"
#include "tools/flight/flight_options.h"
#include "tools/flight/trigger.h"
#include "tools/view/view_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define STEP_NS  (NS_PER_S / 4) /* as the collector looks */

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

/* "the most" of what it looks at, as the trigger sees it: over a second, and as growth. */
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

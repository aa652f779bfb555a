/* flight_options.c - options of the flight recorder and its triggers */
#include "tools/flight/flight.h"

#include "tools/cli/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

enum { DEFAULT_BYTES = 128 << 20, LEAST_BYTES = 64 << 10 };

void flight_options_init(struct flight_choice *choice)
{
	*choice = (struct flight_choice){.bytes = DEFAULT_BYTES,
					 .cooldown_ns = 30 * NS_PER_S,
					 .pre_ns = 10 * NS_PER_S,
					 .post_ns = 10 * NS_PER_S,
					 .hourly = 12};
}

/* DUR, or DUR:SIZE. */
static int take_flight(const char *text, struct flight_choice *choice, struct err *err)
{
	const char *colon = strchr(text, ':');
	char window[32];
	int r;

	if (colon && (size_t)(colon - text) >= sizeof(window))
		return err_set(err, 0, "'%s' is not a duration (60s, or with its memory 60s:256M)",
			       text);
	(void)snprintf(window, sizeof(window), "%.*s", colon ? (int)(colon - text) : 31, text);
	r = value_duration(window, &choice->window_ns, err);
	if (r == 0 && colon)
		r = value_size(colon + 1, &choice->bytes, err);
	if (r == 0 && choice->bytes < LEAST_BYTES)
		return err_set(err, 0, "'%s' is too small: at least 64K", colon + 1);
	return r;
}

static int take_trigger(const char *value, struct flight_choice *choice, struct err *err)
{
	if (choice->n_conditions == TRIGGER_MOST)
		return err_set(err, 0, "more than %d", (int)TRIGGER_MOST);
	return trigger_parse(value, &choice->conditions[choice->n_conditions++], err);
}

static int take_limit(const char *value, struct flight_choice *choice, struct err *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || n == 0 || n > TRIGGER_HOURLY)
		return err_set(err, 0, "'%s' is not a number from 1 to %d", value,
			       (int)TRIGGER_HOURLY);
	choice->hourly = (unsigned)n;
	return 0;
}

/* A duration that may be none. */
static int take_duration(const char *value, uint64_t *ret_ns, struct err *err)
{
	if (strcmp(value, "0") != 0)
		return value_duration(value, ret_ns, err);
	*ret_ns = 0;
	return 0;
}

static int take_tuning(int id, const char *value, struct flight_choice *choice, struct err *err)
{
	choice->tuned = true;
	switch (id) {
	case OPT_FOR:
		return take_duration(value, &choice->for_ns, err);
	case OPT_COOLDOWN:
		return take_duration(value, &choice->cooldown_ns, err);
	case OPT_PRE:
		return take_duration(value, &choice->pre_ns, err);
	case OPT_POST:
		return take_duration(value, &choice->post_ns, err);
	default:
		return take_limit(value, choice, err);
	}
}

int flight_options_take(int id, const char *value, struct flight_choice *choice, struct err *err)
{
	int r;

	switch (id) {
	case OPT_FLIGHT:
		r = take_flight(value, choice, err);
		break;
	case OPT_TRIGGER:
		r = take_trigger(value, choice, err);
		break;
	case OPT_FOR:
	case OPT_COOLDOWN:
	case OPT_PRE:
	case OPT_POST:
	case OPT_LIMIT:
		r = take_tuning(id, value, choice, err);
		break;
	default:
		return 0;
	}
	return r < 0 ? -EINVAL : 1;
}

bool flight_options_on(const struct flight_choice *choice)
{
	return choice->window_ns || choice->n_conditions;
}

void flight_options_pass(const struct flight_choice *choice, struct flight_options *to)
{
	uint64_t around_ns = choice->n_conditions ? choice->pre_ns + choice->post_ns : 0;

	to->window_ns = choice->window_ns ? choice->window_ns : choice->pre_ns;
	to->keep_ns = to->window_ns > around_ns ? to->window_ns : around_ns;
	to->bytes = choice->bytes;
	if (!to->window_ns)
		to->window_ns = to->keep_ns;
}

static int add_gauge(const char *name, struct metric_list *metrics, size_t *ret_column,
		     struct err *err)
{
	size_t i = 0;

	while (i < metrics->n_gauges && strcmp(metrics->gauges[i], name) != 0)
		i++;
	if (i == METRIC_MAX_GAUGES)
		return err_set(err, 0, "gauge '%s': at most %d gauges are recorded", name,
			       (int)METRIC_MAX_GAUGES);
	if (i == metrics->n_gauges) {
		memcpy(metrics->gauges[i], name, strlen(name) + 1);
		metrics->kinds[i] = METRIC_GAUGE;
		metrics->n_gauges++;
	}
	metrics->mask |= UINT32_C(1) << (METRIC_BUILTIN + i);
	*ret_column = i;
	return 0;
}

int flight_options_gauges(struct flight_choice *choice, struct metric_list *metrics,
			  struct err *err)
{
	for (size_t i = 0; i < choice->n_conditions; i++) {
		struct trigger_condition *condition = &choice->conditions[i];

		if (condition->of == TRIGGER_GAUGE &&
		    add_gauge(condition->gauge, metrics, &condition->gauge_column, err) < 0)
			return -EINVAL;
	}
	return 0;
}

int flight_options_check(const struct flight_choice *choice, bool rotated, struct err *err)
{
	if (choice->tuned && !choice->n_conditions) {
		(void)err_set(err, 0, "--trigger-for, --trigger-pre and the like need a --trigger");
		err_hint(err, "--trigger 'cpu>80%% for 2s'");
		return -EINVAL;
	}
	if (flight_options_on(choice) && rotated)
		return err_set(err, 0,
			       "--rotate splits files that grow; those of --flight and --trigger "
			       "are written at once");
	return 0;
}

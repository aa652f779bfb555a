/* budget_options.c - what a recording may cost, and what is done when it costs more */
#include "tools/options/options.h"

#include "tools/cli/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEFT_ON_PPM = 10000,
	PPM_PER_PCT = 10000,
	MOST_PCT = 100,
	QUEUE_PART = 2, /* of the memory that is allowed: for samples that wait, */
	RING_PART = 4,  /* and for rings */
	LEAST_MEM = 4 << 20,
};

#define DEFAULT_LATE_NS  UINT64_C(5000000000)
#define DEFAULT_PAUSE_NS UINT64_C(5000000000)

void budget_options_init(struct budget_options *ret_options)
{
	*ret_options = (struct budget_options){.breaker_late_ns = DEFAULT_LATE_NS,
					       .breaker_pause_ns = DEFAULT_PAUSE_NS};
}

void budget_options_leave_on(struct budget_options *options)
{
	if (!options->given)
		options->max_overhead_ppm = LEFT_ON_PPM;
}

/* 0.5, 1% or off; the options that were given say 0 for it. */
static int take_part(const char *value, const char *whole, uint32_t *ret_ppm, struct err *err)
{
	char *end;
	double pct = strtod(value, &end);

	if (strcmp(value, "off") == 0) {
		*ret_ppm = 0;
		return 1;
	}
	if (end == value || (*end != '\0' && strcmp(end, "%") != 0) || !(pct > 0) || pct > MOST_PCT)
		return err_set(err, 0, "'%s' is not a percentage of %s, such as 1%%, or off", value,
			       whole);
	*ret_ppm = (uint32_t)(pct * PPM_PER_PCT + 0.5);
	if (*ret_ppm == 0)
		*ret_ppm = 1;
	return 1;
}

static int take_memory(const char *value, uint64_t *ret_bytes, struct err *err)
{
	uint64_t bytes;
	int r = value_size(value, &bytes, err);

	if (r < 0)
		return r;
	if (bytes < LEAST_MEM)
		return err_set(err, 0, "'%s' is too small: wick needs at least 4M", value);
	*ret_bytes = bytes;
	return 1;
}

static int take_breaker(const char *value, struct budget_options *options, struct err *err)
{
	const char *colon = strchr(value, ':');
	char late[32] = "";
	int r = 0;

	if (strcmp(value, "off") == 0) {
		options->breaker_late_ns = 0;
		return 1;
	}
	if (colon && (size_t)(colon - value) >= sizeof(late))
		return err_set(err, 0, "'%s' is not a lag and a pause, such as 5s:5s, or off",
			       value);
	if (colon) {
		memcpy(late, value, (size_t)(colon - value));
		r = value_duration(colon + 1, &options->breaker_pause_ns, err);
	}
	if (r == 0)
		r = value_duration(colon ? late : value, &options->breaker_late_ns, err);
	return r < 0 ? r : 1;
}

int budget_options_take(int id, const char *value, struct budget_options *options, struct err *err)
{
	switch (id) {
	case OPT_MAX_OVERHEAD:
		options->given = true;
		return take_part(value, "a program's CPU", &options->max_overhead_ppm, err);
	case OPT_MAX_COLLECTOR_CPU:
		return take_part(value, "a processor", &options->max_collector_ppm, err);
	case OPT_MEM_LIMIT:
		return take_memory(value, &options->mem_limit, err);
	case OPT_BREAKER:
		return take_breaker(value, options, err);
	default:
		return 0;
	}
}

void budget_options_pass(const struct budget_options *options, struct collector_options *to)
{
	to->max_overhead_ppm = options->max_overhead_ppm;
	to->max_collector_ppm = options->max_collector_ppm;
	to->breaker_late_ns = options->breaker_late_ns;
	to->breaker_pause_ns = options->breaker_pause_ns;
	if (!options->mem_limit)
		return;
	to->queue_bytes = options->mem_limit / QUEUE_PART;
	to->ring_bytes = options->mem_limit / RING_PART;
}

/* value.c - parsing of the values that options take */
#include "tools/cli/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { RATE_MAX = 10000 };

#define NS_PER_MS UINT64_C(1000000)

/* A unit and what it is in the smallest one. */
struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {NULL, 0},
};

static const struct unit durations[] = {
	{"", 1000 * NS_PER_MS},     {"ms", NS_PER_MS},          {"s", 1000 * NS_PER_MS},
	{"min", 60000 * NS_PER_MS}, {"h", 3600000 * NS_PER_MS}, {NULL, 0},
};

/* No bare number: it would be seconds, as above, where most mean microseconds. */
static const struct unit waits[] = {
	{"us", 1000},
	{"ms", NS_PER_MS},
	{"s", 1000 * NS_PER_MS},
	{NULL, 0},
};

static const struct unit counts[] = {
	{"samples", 1},
	{NULL, 0},
};

/* digits[.digits] as a whole number and thousandths; *TEXT moves after it. */
static bool take_number(const char **text, uint64_t *ret_whole, uint64_t *ret_thousandths)
{
	const char *at = *text;
	uint64_t whole = 0;
	uint64_t part = 0;
	uint64_t scale = 100;

	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
			return false;
	if (*at == '.') {
		if (!isdigit((unsigned char)*++at))
			return false;
		for (; isdigit((unsigned char)*at); at++, scale /= 10)
			part += (uint64_t)(*at - '0') * scale;
	}
	*text = at;
	*ret_whole = whole;
	*ret_thousandths = part;
	return true;
}

/* TEXT as a number with one of UNITS; false when it is none, or too large. */
static bool take_quantity(const char *text, const struct unit *units, uint64_t *ret_value)
{
	uint64_t whole;
	uint64_t part;
	uint64_t value;

	if (!take_number(&text, &whole, &part))
		return false;
	for (; units->name; units++)
		if (strcmp(text, units->name) == 0)
			break;
	if (!units->name || __builtin_mul_overflow(whole, units->factor, &value) ||
	    __builtin_add_overflow(value, part * units->factor / 1000, &value))
		return false;
	*ret_value = value;
	return true;
}

int value_size(const char *text, uint64_t *ret_bytes, struct err *err)
{
	if (!take_quantity(text, sizes, ret_bytes))
		return err_set(err, 0, "'%s' is not a size (4096, 64K, 10M, 2G)", text);
	if (*ret_bytes == 0)
		return err_set(err, 0, "a size must be above 0 (4096, 64K, 10M, 2G)");
	return 0;
}

int value_duration(const char *text, uint64_t *ret_ns, struct err *err)
{
	if (!take_quantity(text, durations, ret_ns))
		return err_set(err, 0, "'%s' is not a duration (500ms, 10s, 5min, 2h)", text);
	if (*ret_ns == 0)
		return err_set(err, 0, "a duration must be above 0 (500ms, 10s, 5min, 2h)");
	return 0;
}

int value_wait(const char *text, uint64_t *ret_ns, struct err *err)
{
	if (!take_quantity(text, waits, ret_ns))
		return err_set(err, 0, "'%s' is not a waiting time (10us, 1.5ms, 2s)", text);
	if (*ret_ns == 0)
		return err_set(err, 0, "a waiting time must be above 0 (10us, 1.5ms, 2s)");
	return 0;
}

int value_rate(const char *text, uint32_t *ret_hz, struct err *err)
{
	static const struct unit plain[] = {{"", 1}, {"Hz", 1}, {NULL, 0}};
	uint64_t hz;

	if (!isdigit((unsigned char)*text))
		return err_set(err, 0, "'%s' is not a rate: give samples per second, 1 to %d", text,
			       RATE_MAX);
	if (strchr(text, '.') || !take_quantity(text, plain, &hz))
		return err_set(err, 0, "'%s' is not a rate: give a whole number, 1 to %d", text,
			       RATE_MAX);
	if (hz < 1 || hz > RATE_MAX)
		return err_set(err, 0, "a rate of %s is out of range: 1 to %d samples per second",
			       text, RATE_MAX);
	*ret_hz = (uint32_t)hz;
	return 0;
}

static bool is_bare(const char *text)
{
	return text[strspn(text, "0123456789.")] == '\0';
}

/* A size with a unit, or a duration with a unit. */
static bool take_bytes_or_ns(const char *text, struct recording_limit *limit)
{
	if (take_quantity(text, sizes, &limit->bytes))
		return limit->bytes > 0;
	return take_quantity(text, durations, &limit->ns) && limit->ns > 0;
}

int value_rotate(const char *text, struct recording_limit *ret_limit, struct err *err)
{
	struct recording_limit limit = {0};

	if (is_bare(text))
		return err_set(err, 0, "'%s' has no unit: 64M, 60s or 50000samples", text);
	if (!(take_quantity(text, counts, &limit.samples) && limit.samples > 0) &&
	    !take_bytes_or_ns(text, &limit))
		return err_set(err, 0,
			       "'%s' is not a size, a duration or a number of samples (64M, 60s, "
			       "50000samples)",
			       text);
	*ret_limit = limit;
	return 0;
}

int value_keep(const char *text, struct recording_limit *ret_limit, struct err *err)
{
	static const struct unit plain[] = {{"", 1}, {NULL, 0}};
	struct recording_limit limit = {0};

	if (is_bare(text)) {
		if (strchr(text, '.') || !take_quantity(text, plain, &limit.samples) ||
		    limit.samples == 0)
			return err_set(err, 0, "'%s': keep at least one file (30, 2G, 24h)", text);
	} else if (!take_bytes_or_ns(text, &limit)) {
		return err_set(err, 0,
			       "'%s' is not a number of files, a size or an age (30, 2G, 24h)",
			       text);
	}
	*ret_limit = limit;
	return 0;
}

int value_word(const char *text, const char *const *words, struct err *err)
{
	char list[128] = "";

	for (int i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0)
			return i;
		(void)strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
		(void)strncat(list, words[i], sizeof(list) - strlen(list) - 1);
	}
	return err_set(err, 0, "'%s' is not one of: %s", text, list);
}

int value_pid(const char *text, pid_t *ret_pid)
{
	static const struct unit plain[] = {{"", 1}, {NULL, 0}};
	uint64_t pid;

	if (!is_bare(text) || strchr(text, '.') || !take_quantity(text, plain, &pid) || pid == 0 ||
	    pid > INT32_MAX)
		return -EINVAL;
	*ret_pid = (pid_t)pid;
	return 0;
}

int value_process(const char *text, pid_t *ret_pid, struct err *err)
{
	if (value_pid(text, ret_pid) == 0)
		return 0;
	(void)err_set(err, 0, "'%s' is not a process id", text);
	if (isalpha((unsigned char)*text))
		err_hint(err, "-p $(pgrep -o %s)", text);
	else
		err_hint(err, "-p 1234; ps -e lists processes");
	return -EINVAL;
}

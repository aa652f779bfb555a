/* trigger_parse.c - the words of a condition, and a value in words */
#include "tools/flight/trigger.h"

#include "tools/cli/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KIB INT64_C(1024)

/* A unit, and how much of what a condition is in one of it is. */
struct unit {
	const char *name;
	double factor;
};

static const struct unit percents[] = {{"%", 100}, {NULL, 0}};
static const struct unit shares[] = {{"%", 100}, {"ms/s", 10}, {"us/s", 0.01}, {NULL, 0}};
static const struct unit sizes[] = {
	{"K", 1}, {"M", 1024}, {"G", 1048576}, {"T", 1073741824}, {NULL, 0}};
static const struct unit growths[] = {{"%", 100}, {"K", 1}, {"M", 1024}, {"G", 1048576}, {NULL, 0}};
static const struct unit rates[] = {{"/s", 1}, {"", 1}, {"K/s", 1000}, {"M/s", 1000000}, {NULL, 0}};
static const struct unit numbers[] = {{"", 1}, {"K", 1000}, {"M", 1000000}, {NULL, 0}};

/* What a trigger can read; a word that begins another comes after it. */
static const struct kind {
	const char *name;
	enum trigger_of of;
	unsigned psi_word;
	const struct unit *units;
	const char *example;
	const char *unit; /* in files */
} kinds[] = {
	{"cpu", TRIGGER_CPU, 0, percents, "cpu>80%", "percent_100"},
	{"rss", TRIGGER_RSS, 0, sizes, "rss>1G or rss+10%", "KiB"},
	{"faults", TRIGGER_FAULTS, 0, rates, "faults>1000/s", "1/s"},
	{"majfaults", TRIGGER_MAJFAULTS, 0, rates, "majfaults>10/s", "1/s"},
	{"run_delay", TRIGGER_RUN_DELAY, 0, shares, "run_delay>20% or run_delay>200ms/s",
	 "percent_100"},
	{"psi.cpu.full", TRIGGER_PSI_CPU, PSI_FULL, percents, "psi.cpu>10%", "percent_100"},
	{"psi.cpu.some", TRIGGER_PSI_CPU, PSI_SOME, percents, "psi.cpu>10%", "percent_100"},
	{"psi.cpu", TRIGGER_PSI_CPU, PSI_SOME, percents, "psi.cpu>10%", "percent_100"},
	{"psi.memory.full", TRIGGER_PSI_MEMORY, PSI_FULL, percents, "psi.memory>10%",
	 "percent_100"},
	{"psi.memory.some", TRIGGER_PSI_MEMORY, PSI_SOME, percents, "psi.memory>10%",
	 "percent_100"},
	{"psi.memory", TRIGGER_PSI_MEMORY, PSI_SOME, percents, "psi.memory>10%", "percent_100"},
	{"psi.io.full", TRIGGER_PSI_IO, PSI_FULL, percents, "psi.io>10%", "percent_100"},
	{"psi.io.some", TRIGGER_PSI_IO, PSI_SOME, percents, "psi.io>10%", "percent_100"},
	{"psi.io", TRIGGER_PSI_IO, PSI_SOME, percents, "psi.io>10%", "percent_100"},
	{"gauge", TRIGGER_GAUGE, 0, numbers, "gauge queue_len>100", "1"},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), WORD = 40 };

/* A text that is being read. */
struct cursor {
	const char *text;
	const char *at;
	struct err *err;
};

/* Something else was to stand here: WHAT, with its article, as in EXAMPLE. */
static int wrong(const struct cursor *cursor, const char *what, const char *example)
{
	size_t column = (size_t)(cursor->at - cursor->text) + 1;

	if (*cursor->at)
		return err_set(cursor->err, 0, "'%s': '%.20s' at column %zu is not %s (%s)",
			       cursor->text, cursor->at, column, what, example);
	return err_set(cursor->err, 0, "'%s': %s is missing at the end (%s)", cursor->text, what,
		       example);
}

static void skip_blanks(struct cursor *cursor)
{
	while (*cursor->at == ' ' || *cursor->at == '\t')
		cursor->at++;
}

static size_t word_len(const char *at, const char *more)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || (at[len] && strchr(more, at[len])))
		len++;
	return len;
}

static const struct kind *take_kind(struct cursor *cursor)
{
	size_t len = word_len(cursor->at, "._");

	for (size_t i = 0; i < N_KINDS; i++)
		if (strlen(kinds[i].name) == len && strncmp(cursor->at, kinds[i].name, len) == 0) {
			cursor->at += len;
			return &kinds[i];
		}
	(void)wrong(cursor, "a quantity",
		    "cpu, rss, faults, majfaults, run_delay, psi.cpu, psi.memory, psi.io, gauge "
		    "NAME");
	return NULL;
}

static int take_gauge(struct cursor *cursor, struct trigger_condition *condition)
{
	size_t len;

	skip_blanks(cursor);
	len = word_len(cursor->at, "_");
	if (len == 0 || len >= sizeof(condition->gauge))
		return wrong(cursor, "the name of a gauge", "gauge queue_len>100");
	for (size_t i = 0; i < len; i++)
		if (isupper((unsigned char)cursor->at[i]))
			return wrong(cursor, "the name of a gauge", "a-z, 0-9 and _");
	memcpy(condition->gauge, cursor->at, len);
	condition->gauge[len] = '\0';
	cursor->at += len;
	return 0;
}

static int take_how(struct cursor *cursor, const struct kind *kind,
		    struct trigger_condition *condition)
{
	skip_blanks(cursor);
	if (*cursor->at == '>') {
		condition->how = TRIGGER_ABOVE;
	} else if (*cursor->at == '<') {
		condition->how = TRIGGER_BELOW;
	} else if (*cursor->at == '+' && condition->of == TRIGGER_RSS) {
		condition->how = TRIGGER_GROWN_BY;
	} else {
		return wrong(cursor, condition->of == TRIGGER_RSS ? ">, < or +" : "> or <",
			     kind->example);
	}
	cursor->at++;
	skip_blanks(cursor);
	return 0;
}

/* Digits, and decimals. */
static int take_number(struct cursor *cursor, const struct kind *kind, double *ret_number)
{
	double number = 0;
	double scale = 1;

	if (!isdigit((unsigned char)*cursor->at))
		return wrong(cursor, "a number", kind->example);
	for (; isdigit((unsigned char)*cursor->at); cursor->at++)
		number = number * 10 + (*cursor->at - '0');
	if (*cursor->at == '.' && isdigit((unsigned char)cursor->at[1]))
		for (cursor->at++; isdigit((unsigned char)*cursor->at); cursor->at++)
			number += (*cursor->at - '0') * (scale /= 10);
	*ret_number = number;
	return 0;
}

static size_t unit_len(const char *at)
{
	size_t len = 0;

	while (at[len] && at[len] != ' ' && at[len] != '\t')
		len++;
	return len;
}

static int take_limit(struct cursor *cursor, const struct kind *kind,
		      struct trigger_condition *condition)
{
	bool grown = condition->how == TRIGGER_GROWN_BY;
	const struct unit *unit = grown ? growths : kind->units;
	double number = 0;
	size_t len;
	int r = take_number(cursor, kind, &number);

	if (r < 0)
		return r;
	len = unit_len(cursor->at);
	for (; unit->name; unit++)
		if (strlen(unit->name) == len && strncmp(unit->name, cursor->at, len) == 0)
			break;
	if (!unit->name)
		return wrong(cursor, "a unit", kind->example);
	number *= unit->factor;
	if (number > 9e18)
		return err_set(cursor->err, 0, "'%s': the number is too large", cursor->text);
	if (grown && strcmp(unit->name, "%") == 0)
		condition->how = TRIGGER_GROWN_PCT;
	cursor->at += len;
	condition->limit = (int64_t)number;
	return 0;
}

static int take_for(struct cursor *cursor, struct trigger_condition *condition)
{
	struct err ignored = {0};

	skip_blanks(cursor);
	if (!*cursor->at)
		return 0;
	if (strncmp(cursor->at, "for", 3) != 0 || (cursor->at[3] != ' ' && cursor->at[3] != '\t'))
		return wrong(cursor, "'for' and a duration", "for 2s");
	cursor->at += 3;
	skip_blanks(cursor);
	if (value_duration(cursor->at, &condition->for_ns, &ignored) < 0)
		return wrong(cursor, "a duration", "for 2s");
	return 0;
}

int trigger_parse(const char *text, struct trigger_condition *ret_condition, struct err *err)
{
	struct trigger_condition condition = {.text = text};
	struct cursor cursor = {.text = text, .at = text, .err = err};
	const struct kind *kind;
	int r = 0;

	skip_blanks(&cursor);
	kind = take_kind(&cursor);
	if (!kind)
		return -EINVAL;
	condition.of = kind->of;
	condition.psi_word = kind->psi_word;
	if (kind->of == TRIGGER_GAUGE)
		r = take_gauge(&cursor, &condition);
	if (r == 0)
		r = take_how(&cursor, kind, &condition);
	if (r == 0)
		r = take_limit(&cursor, kind, &condition);
	if (r == 0)
		r = take_for(&cursor, &condition);
	if (r == 0)
		*ret_condition = condition;
	return r < 0 ? -EINVAL : 0;
}

static const struct kind *kind_of(const struct trigger_condition *condition)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i].of == condition->of)
			return &kinds[i];
	return &kinds[0];
}

const char *trigger_unit(const struct trigger_condition *condition)
{
	return condition->how == TRIGGER_GROWN_PCT ? "percent_100" : kind_of(condition)->unit;
}

static void add_size(int64_t kib, const char *sign, char text[TRIGGER_TEXT])
{
	static const char letters[] = "KMGT";
	int64_t unit = 1;
	size_t i = 0;

	for (; kib / unit >= KIB && letters[i + 1]; i++)
		unit *= KIB;
	(void)snprintf(text, TRIGGER_TEXT, "%s%lld.%lld%c", sign, (long long)(kib / unit),
		       (long long)(kib % unit * 10 / unit), letters[i]);
}

void trigger_value(const struct trigger_condition *condition, int64_t value,
		   char text[TRIGGER_TEXT])
{
	const char *unit = trigger_unit(condition);
	const char *sign = condition->how >= TRIGGER_GROWN_PCT ? "+" : "";

	if (strcmp(unit, "percent_100") == 0)
		(void)snprintf(text, TRIGGER_TEXT, "%s%lld.%lld%%", sign, (long long)(value / 100),
			       (long long)(value % 100 / 10));
	else if (strcmp(unit, "KiB") == 0)
		add_size(value, sign, text);
	else
		(void)snprintf(text, TRIGGER_TEXT, "%lld%s", (long long)value,
			       strcmp(unit, "1/s") == 0 ? "/s" : "");
}

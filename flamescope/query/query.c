/* query.c - which measure a word means */
#include "flamescope/query/query.h"

#include <errno.h>
#include <string.h>

enum { MAX_DECIMALS = 9 };

static const uint64_t second_ns = 1000000000;

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit units[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"min", 60000000000},
	{"m", 60000000000},
	{"h", 3600000000000},
};

/* A number as it stands: WHOLE.FRACTION (billionths) of UNIT_NS (0: none was written). */
struct amount {
	bool given;
	uint64_t whole;
	uint64_t billionths;
	uint64_t unit_ns;
};

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static void parse_fraction(const char **at, struct amount *amount)
{
	uint64_t scale = second_ns;

	(*at)++;
	for (; is_digit(**at); (*at)++) {
		scale /= 10;
		amount->billionths += scale * (uint64_t)(**at - '0');
	}
}

static void parse_unit(const char **at, struct amount *amount)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(*at, units[i].name, len) == 0) {
			amount->unit_ns = units[i].ns;
			*at += len;
			return;
		}
	}
}

/* Nothing is fine: `-100ms`.  *AT is after it. */
static bool parse_amount(const char **at, struct amount *amount)
{
	*amount = (struct amount){0};
	if (**at == '+')
		(*at)++;
	if (!is_digit(**at))
		return **at == '-' || **at == '@' || **at == '\0';
	for (; is_digit(**at); (*at)++) {
		if (amount->whole > UINT32_MAX * (uint64_t)1000000)
			return false;
		amount->whole = amount->whole * 10 + (uint64_t)(**at - '0');
	}
	if (**at == '.')
		parse_fraction(at, amount);
	parse_unit(at, amount);
	amount->given = true;
	return true;
}

static bool amount_ns(const struct amount *amount, uint64_t unit_ns, uint64_t *ret_ns)
{
	uint64_t ns;

	if (amount->unit_ns != 0)
		unit_ns = amount->unit_ns;
	/* Units above a second have a billionth of more than a nanosecond. */
	uint64_t part = unit_ns >= second_ns ? amount->billionths * (unit_ns / second_ns)
					     : amount->billionths / (second_ns / unit_ns);

	if (__builtin_mul_overflow(amount->whole, unit_ns, &ns) ||
	    __builtin_add_overflow(ns, part, ret_ns))
		return false;
	return true;
}

/* FROM-TO; what is not given is 0 and END_NS. */
static bool parse_span(const char **at, uint64_t end_ns, uint64_t *ret_from, uint64_t *ret_to)
{
	struct amount from;
	struct amount to;

	*ret_from = 0;
	*ret_to = end_ns;
	if (!parse_amount(at, &from) || **at != '-')
		return false;
	(*at)++;
	if (!parse_amount(at, &to) || (!from.given && !to.given))
		return false;
	if (from.given && !amount_ns(&from, to.unit_ns ? to.unit_ns : second_ns, ret_from))
		return false;
	return !to.given || amount_ns(&to, from.unit_ns ? from.unit_ns : second_ns, ret_to);
}

static int bad(const char *text, const char *why, const char *example, struct err *err)
{
	(void)err_set(err, 0, "'%.100s' %s", text, why);
	err_hint(err, "%s", example);
	return -EINVAL;
}

static bool parse_rows(const char *at, struct query_every *every)
{
	return parse_span(&at, every->every_ns, &every->from_ns, &every->to_ns) && *at == '\0';
}

static bool rows_fit(const struct query_every *every)
{
	return every->every_ns > 0 && every->from_ns < every->to_ns &&
	       every->to_ns <= every->every_ns;
}

int query_parse_range(struct query *query, const char *text, struct err *err)
{
	struct query_range range = {.to_ns = UINT64_MAX};
	const char *at = text;

	if (query->n_ranges == QUERY_MAX_RANGES) {
		(void)err_set(err, 0, "more than %d time ranges", QUERY_MAX_RANGES);
		return -E2BIG;
	}
	if (!parse_span(&at, UINT64_MAX, &range.from_ns, &range.to_ns))
		return bad(text, "is no range of time", "10s-20s", err);
	if (range.from_ns >= range.to_ns)
		return bad(text, "ends before it begins", "10s-20s", err);
	if (*at == '@') {
		range.every.every_ns = second_ns;
		if (!parse_rows(at + 1, &range.every))
			return bad(text, "has no rows after its @", "10s-20s@0-100ms", err);
		if (!rows_fit(&range.every))
			return bad(text, "has rows that are no part of a second", "10s-20s@0-100ms",
				   err);
	} else if (*at != '\0') {
		return bad(text, "is no range of time", "10s-20s", err);
	}
	query->ranges[query->n_ranges++] = range;
	return 0;
}

int query_parse_every(struct query *query, const char *text, struct err *err)
{
	struct query_every every = {0};
	struct amount period;
	const char *at = text;

	if (!parse_amount(&at, &period) || !period.given || *at != ':' ||
	    !amount_ns(&period, second_ns, &every.every_ns) || !parse_rows(at + 1, &every))
		return bad(text, "is no part of a period", "1s:0-100ms", err);
	if (!rows_fit(&every))
		return bad(text, "is not within its period", "1s:0-100ms", err);
	query->every = every;
	return 0;
}

struct measure_word {
	const char *word;
	enum query_measure measure;
};

static const struct measure_word suffixes[] = {
	{":value", QUERY_VALUE}, {":mean", QUERY_MEAN}, {":delta", QUERY_DELTA},
	{":gain", QUERY_GAIN},   {":loss", QUERY_LOSS}, {"_delta", QUERY_DELTA},
};

static bool is_name(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "_-.");

	return len > 0 && text[len] == '\0';
}

/* Cuts the word off. */
static enum query_measure take_suffix(char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = strlen(suffixes[i].word);

		if (len > n && strcmp(text + len - n, suffixes[i].word) == 0) {
			text[len - n] = '\0';
			return suffixes[i].measure;
		}
	}
	return QUERY_VALUE;
}

const char *query_delta_metric(const struct query *query)
{
	bool delta = query->measure == QUERY_DELTA || query->measure == QUERY_GAIN ||
		     query->measure == QUERY_LOSS;

	return query->has_measure && delta ? query->metric : NULL;
}

int query_parse_measure(struct query *query, char *text, struct err *err)
{
	bool samples = strcmp(text, "samples") == 0;

	if (samples || strcmp(text, "period") == 0 || strcmp(text, "weight") == 0) {
		query->measure = samples ? QUERY_SAMPLES : QUERY_WEIGHT;
		query->metric = NULL;
	} else {
		enum query_measure measure = take_suffix(text);

		if (!is_name(text)) {
			(void)err_set(err, 0, "'%.100s' is no metric", text);
			err_hint(err, "samples, period, NAME or NAME:mean|delta|gain|loss");
			return -EINVAL;
		}
		query->measure = measure;
		query->metric = text;
	}
	query->has_measure = true;
	return 0;
}

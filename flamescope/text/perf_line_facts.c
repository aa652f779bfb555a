/* perf_line_facts.c - what is said of a sample beside its stack: words and metrics */
#include "flamescope/text/text.h"

#include <ctype.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool take_signed(const char **at, int64_t *ret_value)
{
	const char *digits = *at + (**at == '-');
	const char *end = digits;
	int64_t value = 0;

	for (; is_digit(*end); end++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *end - '0', &value))
			return false;
	if (end == digits)
		return false;
	*ret_value = **at == '-' ? -value : value;
	*at = end;
	return true;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *perf_line_decode(char *text)
{
	char *to = text;

	for (char *at = text; *at; at++) {
		int high = *at == '%' ? hex_digit(at[1]) : -1;
		int low = high >= 0 ? hex_digit(at[2]) : -1;

		if (low >= 0 && (high || low)) {
			*to++ = (char)(high << 4 | low);
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	return text;
}

static bool put_metric(struct perf_facts *facts, const struct perf_metric *metric)
{
	if (facts->n_metrics == PERF_LINE_MAX_METRICS)
		return false;
	facts->metrics[facts->n_metrics++] = *metric;
	return true;
}

/* NAME=VALUE,DELTA, from VALUE on. */
static bool add_metric(struct perf_facts *facts, const char *name, const char *text)
{
	struct perf_metric metric = {.name = name};

	if (!*name || !take_signed(&text, &metric.value) || *text++ != ',')
		return false;
	return take_signed(&text, &metric.delta) && !*text && put_metric(facts, &metric);
}

static void add_word(struct perf_facts *facts, const char *name, char *value)
{
	if (facts->n_words < PERF_LINE_MAX_WORDS && *name)
		facts->words[facts->n_words++] =
			(struct perf_word){.name = name, .value = perf_line_decode(value)};
}

bool perf_line_is_totals(const char *text)
{
	static const char start[] = "# req : {";

	return strncmp(text, start, sizeof(start) - 1) == 0;
}

void perf_line_facts(char *text, struct perf_facts *facts)
{
	char *save = NULL;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = '\0';
		if (strcmp(word, "st") == 0)
			facts->state = equals + 1;
		else if (strcmp(word, "wait") == 0)
			facts->wait = perf_line_decode(equals + 1);
		else if (strcmp(word, "on") == 0)
			facts->object = perf_line_decode(equals + 1);
		else if (strcmp(word, "comm") == 0)
			facts->comm = perf_line_decode(equals + 1);
		else if (!add_metric(facts, word, equals + 1))
			add_word(facts, word, equals + 1);
	}
}

/* What a name of the inline dialect is made of. */
static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/*
 * NAME: VALUE, DELTA.  Return: where it ends; where NAME ends when it is no such thing, as no name
 * that begins inside of it can be one then.
 */
static char *take_inline(char *name, struct perf_facts *facts)
{
	static const char own[] = "wick_";
	struct perf_metric metric = {0};
	char *colon = name;
	const char *at;

	while (is_word(*colon) || *colon == '-')
		colon++;
	if (colon == name || *colon != ':' || !is_blank(colon[1]))
		return colon;
	at = colon + 2;
	if (!take_signed(&at, &metric.value))
		return colon;
	at = skip_blanks(at);
	if (*at++ != ',')
		return colon;
	at = skip_blanks(at);
	if (!take_signed(&at, &metric.delta) || (*at && !is_blank(*at)))
		return colon;
	if (strncmp(name, own, sizeof(own) - 1) == 0 && colon - name >= (ptrdiff_t)sizeof(own))
		name += sizeof(own) - 1;
	*colon = '\0';
	metric.name = name;
	facts->from_head |= put_metric(facts, &metric);
	return colon + (at - colon);
}

void perf_line_inline_facts(char *text, struct perf_facts *facts)
{
	static const char prefix[] = "metric_";
	char *at = text;

	while ((at = strstr(at, prefix)) != NULL) {
		bool begins = at == text || !is_word(at[-1]);

		at += sizeof(prefix) - 1;
		if (begins)
			at = take_inline(at, facts);
	}
}

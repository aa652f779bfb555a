/* query.c - which measure a word means */
#include "flamescope/query/query.h"

#include <errno.h>
#include <string.h>

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

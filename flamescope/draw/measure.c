/* measure.c - what was counted, in words */
#include "flamescope/draw/draw.h"

#include "base/json.h"
#include "base/words.h"

#include <string.h>

const char *measure_word(const struct selection *selection)
{
	static const char *const words[] = {
		[QUERY_SAMPLES] = "samples", [QUERY_WEIGHT] = "period", [QUERY_VALUE] = "value",
		[QUERY_MEAN] = "mean",       [QUERY_DELTA] = "delta",   [QUERY_GAIN] = "gain",
		[QUERY_LOSS] = "loss",
	};

	return words[selection->measure];
}

void measure_taken(struct buf *buf, const struct selection *selection)
{
	words_count(buf, selection->n);
	buf_add(buf, selection->profile->has_times ? " sample" : " stack");
	buf_add(buf, selection->n == 1 ? "" : "s");
}

void measure_total(struct buf *buf, const struct selection *selection, uint64_t total)
{
	words_amount(buf, total, selection->unit);
	if (*selection->noun) {
		buf_add_char(buf, ' ');
		words_plain(buf, selection->noun);
	}
}

void measure_rate(struct buf *buf, const struct selection *selection, uint64_t value, uint64_t ns)
{
	double of_unit = strcmp(selection->unit, "ns") == 0   ? 1
			 : strcmp(selection->unit, "us") == 0 ? 1000
							      : 0;
	double ms = ns ? (double)value * of_unit / (double)ns * 1000 : 0;

	if (!ns || of_unit == 0 || selection->measure != QUERY_WEIGHT)
		return;
	/* no finer than samples are */
	if (ms < 999.5)
		buf_printf(buf, "%.*f ms/s", ms < 10 ? 1 : 0, ms);
	else
		buf_printf(buf, "%.*f s/s", ms < 10000 ? 2 : 1, ms / 1000);
}

void measure_precision(struct buf *buf, const struct selection *selection)
{
	double weight = 0, squares = 0;

	if (selection->is_signed || selection->measure > QUERY_WEIGHT)
		return;
	for (size_t i = 0; i < selection->n; i++) {
		weight += (double)selection->values[i];
		squares += (double)selection->values[i] * (double)selection->values[i];
	}
	buf_add(buf, "shares are right ");
	words_precision(buf, weight, squares);
}

const char *measure_unit_word(const char *unit)
{
	static const char *const words[][2] = {{"ns", "time"},   {"us", "time"}, {"B", "bytes"},
					       {"KiB", "bytes"}, {"", "values"}, {"1", "values"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(unit, words[i][0]) == 0)
			return words[i][1];
	return unit;
}

void measure_json(struct buf *buf, const struct selection *selection)
{
	buf_printf(buf, "\"measure\":\"%s\",\"unit\":", measure_word(selection));
	json_add_string(buf, selection->unit);
}

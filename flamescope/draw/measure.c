/* measure.c - what was counted, in words */
#include "flamescope/draw/measure.h"

#include "base/json.h"

const char *measure_word(const struct selection *selection)
{
	static const char *const words[] = {
		[QUERY_SAMPLES] = "samples", [QUERY_WEIGHT] = "weight", [QUERY_VALUE] = "value",
		[QUERY_MEAN] = "mean",       [QUERY_DELTA] = "delta",   [QUERY_GAIN] = "gain",
		[QUERY_LOSS] = "loss",
	};

	return words[selection->measure];
}

void measure_json(struct buf *buf, const struct selection *selection)
{
	buf_printf(buf, "\"measure\":\"%s\",\"unit\":", measure_word(selection));
	json_add_string(buf, selection->unit);
}

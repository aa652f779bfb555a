/* fuzz_perf_text.c - the reader of perf-script text, fed any bytes as lines */
#include "base/json.h"
#include "flamescope/text/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touch all that a visitor may touch. */
static void on_sample(void *context, const struct perf_text_sample *sample)
{
	size_t *sum = context;

	*sum += strlen(sample->head.comm) + strlen(sample->head.event);
	for (size_t i = 0; i < sample->n_frames; i++)
		*sum += strlen(sample->frames[i].name) + strlen(sample->frames[i].module);
	for (size_t i = 0; i < sample->facts.n_metrics; i++)
		*sum += strlen(sample->facts.metrics[i].name);
	if (sample->facts.comm)
		*sum += strlen(sample->facts.comm);
	if (sample->facts.state)
		*sum += strlen(sample->facts.state);
	if (sample->facts.wait)
		*sum += strlen(sample->facts.wait);
	if (sample->facts.object)
		*sum += strlen(sample->facts.object);
	if (sample->n_frames > PERF_TEXT_MAX_FRAMES || sample->head.tid < -1)
		abort();
}

static void on_json(void *context, const char *json)
{
	struct json_scan scan = {.at = json};
	struct json_pair pair;
	size_t *sum = context;
	uint64_t value;

	while (json_scan_next(&scan, &pair)) {
		if (pair.value < json || pair.value + pair.value_len > json + strlen(json))
			abort();
		*sum += pair.name_len + json_scan_number(&pair, &value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t sum = 0;
	struct perf_text_visitor visitor = {
		.header = on_json, .sample = on_sample, .end = on_json, .context = &sum};
	struct perf_text_stats stats;
	struct perf_text *text = NULL;
	uint64_t number = 0;

	if (perf_text_new(&visitor, &text) < 0)
		return 0;
	while (size) {
		const uint8_t *newline = memchr(data, '\n', size);
		size_t len = newline ? (size_t)(newline - data) : size;
		char *copy = malloc(len + 1); /* of its own, so that one byte too far is seen */
		struct line line = {.text = copy, .len = len, .number = number + 1};

		if (!copy)
			break;
		memcpy(copy, data, len);
		copy[len] = '\0';
		perf_text_line(text, &line);
		free(copy);
		number++;
		data += len + (newline != NULL);
		size -= len + (newline != NULL);
	}
	perf_text_finish(text, &stats);
	perf_text_free(text);
	return 0;
}

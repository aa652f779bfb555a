/* builder_facts.c - what the comments of a file say about all of it */
#include "flamescope/load/build/builder.h"

#include "base/json.h"
#include "base/saturated.h"

static void declare_metric(struct builder *builder, struct builder_metric *metric,
			   const struct json_pair *pair, struct place place)
{
	if (!metric || metric->declared.at < place.at)
		return;
	if (json_scan_is(pair, "unit") && pair->is_string) {
		metric->unit = uniques_string(&builder->uniques, pair->value, pair->value_len);
	} else if (json_scan_is(pair, "kind")) {
		metric->kind = pair->value_len == 5 && memcmp(pair->value, "gauge", 5) == 0
				       ? METRIC_GAUGE
				       : METRIC_COUNTER;
	}
	metric->declared = place;
}

void builder_header(struct builder *builder, const char *json, uint64_t at)
{
	struct json_scan scan = {.at = json};
	struct json_pair pair;
	struct builder_metric *metric = NULL;
	bool first = at < builder->facts.wick_at;
	uint32_t word = 0;

	if (first)
		builder->facts.wick_at = at;
	while (json_scan_next(&scan, &pair)) {
		struct place place = {.at = at, .word = word};
		uint64_t value;

		if (pair.depth == 3 && json_scan_is(&pair, "name") && pair.is_string) {
			place.word = ++word;
			metric = builder_metric(builder, pair.value, pair.value_len, place);
		} else if (pair.depth == 3) {
			declare_metric(builder, metric, &pair, place);
		} else if (json_scan_is(&pair, "hz") && json_scan_number(&pair, &value)) {
			if (first)
				builder->facts.hz = value;
			builder_rate(builder, value, at);
		} else if (first && json_scan_is(&pair, "epoch_offset_ns") &&
			   json_scan_number(&pair, &value) && value <= INT64_MAX) {
			builder->facts.epoch_offset_ns = value;
			builder->facts.has_epoch = true;
		}
	}
}

void builder_rate_line(struct builder *builder, const char *json, uint64_t at)
{
	struct json_scan scan = {.at = json};
	struct json_pair pair;
	uint64_t value;

	while (json_scan_next(&scan, &pair))
		if (pair.depth == 1 && json_scan_is(&pair, "hz") &&
		    json_scan_number(&pair, &value) && value > 0)
			builder_rate(builder, value, at);
}

void builder_end(struct builder *builder, const char *json)
{
	struct json_scan scan = {.at = json};
	struct json_pair pair;
	uint64_t value;

	while (json_scan_next(&scan, &pair))
		if (pair.depth == 1 && pair.name_len > 5 && memcmp(pair.name, "lost_", 5) == 0 &&
		    json_scan_number(&pair, &value))
			builder->facts.lost = saturated_add(builder->facts.lost, value);
}

/* The text after `# NAME : `, or NULL. */
static const char *text_after(const char *text, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(text, "# ", 2) != 0 || strncmp(text + 2, name, len) != 0)
		return NULL;
	text += 2 + len;
	text += strspn(text, " ");
	return *text == ':' ? text + 1 + strspn(text + 1, " ") : NULL;
}

void builder_comment(struct builder *builder, const char *text, uint64_t at)
{
	static const char *const names[N_BUILDER_WORDS] = {[WORD_HOST] = "hostname",
							   [WORD_COMMAND] = "cmdline",
							   [WORD_CAPTURED] = "captured on"};

	for (size_t i = 0; i < N_BUILDER_WORDS; i++) {
		const char *value = text_after(text, names[i]);

		if (!value || at >= builder->facts.at[i])
			continue;
		builder->facts.at[i] = at;
		builder->facts.text[i] = uniques_string(&builder->uniques, value, strlen(value));
	}
}

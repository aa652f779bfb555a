/* fuzz_trigger.c - any text as a condition; what is one is looked at with any readings */
#include "tools/flight/trigger.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

enum { MOST_READINGS = 256 };

/* As the collector makes them: later than the one before, counters that only grow. */
static void advance(struct trigger_reading *reading, const uint8_t *bytes)
{
	uint64_t by;

	memcpy(&by, bytes, sizeof(by));
	reading->time_ns += 1 + by % UINT64_C(10000000000);
	reading->cpu_ns += by >> 20;
	reading->faults += by >> 40;
	reading->majfaults += by >> 50;
	reading->run_delay_ns += by >> 30;
	reading->rss_kib = by >> 16;
	reading->known = (uint32_t)(by >> 8);
	reading->gauges_known = (uint32_t)by & 1;
	reading->gauges[0] = (int64_t)by;
	reading->psi[PSI_MEMORY][PSI_SOME] = by % 10001;
}

static void look(const struct trigger_condition *condition, const uint8_t *bytes, size_t size)
{
	struct trigger_set *set = calloc(1, sizeof(*set));
	struct trigger_reading reading = {0};
	struct trigger_fired fired[TRIGGER_MOST];
	char text[TRIGGER_TEXT];
	uint64_t n = 0;

	if (!set)
		return;
	set->options = (struct trigger_options){.at = condition,
						.n = 1,
						.for_ns = 1000000000,
						.cooldown_ns = 1000000000,
						.hourly = 4};
	for (size_t i = 0; size - i >= 8 && i < 8 * MOST_READINGS; i += 8) {
		size_t now;

		advance(&reading, bytes + i);
		now = trigger_evaluate(set, &reading, fired);
		if (now > 1 || (now && fired[0].condition != 0))
			abort();
		if (now)
			trigger_value(condition, fired[0].value, text);
		n += now;
	}
	if (n != set->states[0].n_fired)
		abort();
	free(set);
}

/* A line of text, then readings of 8 bytes each. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	const uint8_t *end = memchr(input, '\n', size);
	size_t len = end ? (size_t)(end - input) : size;
	struct trigger_condition condition;
	struct err err = {0};
	char *text = malloc(len + 1);

	if (!text)
		return 0;
	memcpy(text, input, len);
	text[len] = '\0';
	if (trigger_parse(text, &condition, &err) == 0) {
		if (condition.text != text || condition.of >= TRIGGER_KINDS)
			abort();
		if (!trigger_unit(&condition)[0])
			abort();
		condition.gauge_column = 0;
		if (end)
			look(&condition, end + 1, size - len - 1);
	} else if (!err.text[0]) {
		abort(); /* a refusal has its reason */
	}
	free(text);
	return 0;
}

/* fuzz_labels.c - whatever a program publishes, a sample's labels are bounded, and are what the
 * text may have */
#include "sampler/collector/context/key_map.h"
#include "sampler/collector/context/labels.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static const struct label_words words;

static const char *check_text(const struct labels *labels, const char *at)
{
	const char *end = memchr(at, '\0', labels->bytes - (size_t)(at - labels->text));

	if (!end)
		abort();
	return end + 1;
}

static void check(const struct labels *labels)
{
	const char *at = labels->text;

	if (labels->n > SAMPLE_MAX_LABELS || labels->bytes > sizeof(labels->text))
		abort();
	for (size_t i = 0; i < labels->n; i++) {
		const char *value = check_text(labels, at);
		const char *end = check_text(labels, value);

		if (!*at || !*value || strcspn(at, " =%,;\t\n") != strlen(at))
			abort();
		at = end;
	}
	if (at != labels->text + labels->bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct labels labels = {0};
	struct key_map keys = {0};
	struct label_source source = {.keys = &keys, .words = &words};
	uint8_t what;

	if (size == 0)
		return 0;
	what = *input++ & 3;
	size--;
	source.wick = what == 1;
	if (what == 2)
		labels_of_texts(&labels, &words, input,
				size < CONTEXT_MAX_ATTRS ? size : CONTEXT_MAX_ATTRS);
	else if (what == 3)
		(void)key_map_parse(&keys, input, size);
	else if (size >= OTEL_RECORD_HEAD)
		labels_of_otel(&labels, &source, input,
			       size < CONTEXT_MAX_BYTES ? size : CONTEXT_MAX_BYTES);
	check(&labels);
	key_map_release(&keys);
	return 0;
}

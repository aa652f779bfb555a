/* sample.c - copies of a sample's labels */
#include "base/sample.h"

#include <string.h>

size_t sample_labels_bytes(const struct sample *sample)
{
	size_t bytes = sample->n_labels * sizeof(sample->labels[0]);

	for (size_t i = 0; i < sample->n_labels; i++)
		bytes += strlen(sample->labels[i].key) + strlen(sample->labels[i].value) + 2;
	return bytes;
}

static char *copy_text(char *to, const char *text)
{
	size_t bytes = strlen(text) + 1;

	memcpy(to, text, bytes);
	return to + bytes;
}

const struct sample_label *sample_labels_copy(const struct sample *sample, void *to)
{
	struct sample_label *labels = to;
	char *text = (char *)(labels + sample->n_labels);

	for (size_t i = 0; i < sample->n_labels; i++) {
		labels[i].key = text;
		text = copy_text(text, sample->labels[i].key);
		labels[i].value = text;
		text = copy_text(text, sample->labels[i].value);
	}
	return labels;
}

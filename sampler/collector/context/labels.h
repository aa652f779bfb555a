/*
 * labels.h - what a sample's context says, as keys and values
 *
 * Contexts are the target's word: they are checked, and what a sample has of them is bounded.
 *
 * Context: collector thread.
 */
#ifndef CONTEXT_LABELS_H
#define CONTEXT_LABELS_H

#include "base/sample.h"
#include "sampler/wire/context.h"

struct key_map;

/* Each key once. */
struct labels {
	size_t n;
	size_t bytes;                  /* of text */
	char text[SAMPLE_LABEL_BYTES]; /* key, NUL, value, NUL, and so on */
};

/* What is known of the words that keys may not be. */
struct label_words {
	const char *const *gauges;
	size_t n_gauges;
};

/* How a context is to be read. */
struct label_source {
	bool wick;                  /* indices are enum context_key */
	const struct key_map *keys; /* names of others; without any: attr_N */
	const struct label_words *words;
	bool unknown_key; /* set: an index has no name yet */
};

/**
 * labels_set - set a label, or remove it if the value is empty
 * @key: any bytes; wick's own keys have to be given by labels_set_own()
 *
 * Bytes of keys that are not [a-zA-Z0-9_.] become "_", and "attr_" comes before a key that has a
 * meaning in recordings.  Values end at their first NUL.
 */
void labels_set(struct labels *labels, const struct label_words *words, const char *key,
		size_t key_len, const char *value, size_t value_len);

/** labels_set_own - set trace, span, identity, task, tier or function */
void labels_set_own(struct labels *labels, const char *key, const char *value, size_t value_len);

/**
 * labels_of_otel - labels of a struct otel_record
 * @bytes: LEN of it, OTEL_RECORD_HEAD at least
 */
void labels_of_otel(struct labels *labels, struct label_source *source, const uint8_t *bytes,
		    size_t len);

/** labels_of_ids - trace and span, unless they are zero */
void labels_of_ids(struct labels *labels, const uint8_t trace_id[16], const uint8_t span_id[8]);

/**
 * labels_of_texts - labels of CONTEXT_LABELS
 *
 * The first of a key counts.
 */
void labels_of_texts(struct labels *labels, const struct label_words *words, const uint8_t *bytes,
		     size_t len);

/**
 * labels_keep - keep a sample's labels for later samples
 * @kept: the ones kept before, or NULL; freed, or used again
 * @text: BYTES, of N labels
 *
 * Return:  the labels; NULL: there are none, or memory ran out.
 * Owns:    the caller, to free().
 */
struct labels *labels_keep(struct labels *kept, size_t n, const char *text, size_t bytes);

/** labels_has - whether a label with this key is there */
bool labels_has(const struct labels *labels, const char *key);

#endif

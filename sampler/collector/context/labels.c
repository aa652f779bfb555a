/* labels.c - what a sample's context says, as keys and values */
#include "sampler/collector/context/labels.h"

#include "sampler/collector/context/key_map.h"
#include "sampler/collector/metrics/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_BYTES = KEY_MAP_KEY_BYTES + 8, /* with attr_ before it */
	ID_BYTES = 16,
};

static char *value_of(char *key)
{
	return key + strlen(key) + 1;
}

static char *find(const struct labels *labels, const char *key)
{
	char *at = (char *)(uintptr_t)labels->text;

	for (size_t i = 0; i < labels->n; i++) {
		char *value = value_of(at);

		if (strcmp(at, key) == 0)
			return at;
		at = value_of(value);
	}
	return NULL;
}

bool labels_has(const struct labels *labels, const char *key)
{
	return find(labels, key) != NULL;
}

static void drop(struct labels *labels, char *key)
{
	char *end = value_of(value_of(key));
	size_t rest = labels->bytes - (size_t)(end - labels->text);

	labels->bytes -= (size_t)(end - key);
	memmove(key, end, rest);
	labels->n--;
}

/* The last of a key counts, even if it is empty. */
static void set(struct labels *labels, const char *key, const char *value, size_t value_len)
{
	size_t key_bytes = strlen(key) + 1;
	char *old = find(labels, key);
	char *to;

	if (old)
		drop(labels, old);
	if (!value_len || labels->n == SAMPLE_MAX_LABELS ||
	    key_bytes + value_len + 1 > sizeof(labels->text) - labels->bytes)
		return;
	to = labels->text + labels->bytes;
	memcpy(to, key, key_bytes);
	memcpy(to + key_bytes, value, value_len);
	to[key_bytes + value_len] = '\0';
	labels->bytes += key_bytes + value_len + 1;
	labels->n++;
}

void labels_set_own(struct labels *labels, const char *key, const char *value, size_t value_len)
{
	set(labels, key, value, strnlen(value, value_len));
}

/* Words of "# s" lines (output/text/perf_script.c). */
static bool has_meaning(const struct label_words *words, const char *key)
{
	static const char *const own[] = {"st", "wait", "on",    "waker",
					  "op", "comm", "trace", "span"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(key, own[i]) == 0)
			return true;
	for (size_t i = 0; i < METRIC_BUILTIN; i++)
		if (strcmp(key, metrics_columns()[i].name) == 0)
			return true;
	for (size_t i = 0; i < words->n_gauges; i++)
		if (strcmp(key, words->gauges[i]) == 0)
			return true;
	return false;
}

static bool is_plain(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '_' || byte == '.';
}

/* Return: the key as it is written, in RET_KEY; NULL: it is empty. */
static const char *clean_key(const struct label_words *words, const char *key, size_t len,
			     char ret_key[KEY_BYTES])
{
	static const char before[] = "attr_";
	char *to = ret_key + sizeof(before) - 1;

	if (len > KEY_MAP_KEY_BYTES)
		len = KEY_MAP_KEY_BYTES;
	if (!len)
		return NULL;
	memcpy(ret_key, before, sizeof(before) - 1);
	for (size_t i = 0; i < len; i++)
		to[i] = (char)(is_plain(key[i]) ? key[i] : '_');
	to[len] = '\0';
	return has_meaning(words, to) ? ret_key : to;
}

void labels_set(struct labels *labels, const struct label_words *words, const char *key,
		size_t key_len, const char *value, size_t value_len)
{
	char text[KEY_BYTES];
	const char *clean = clean_key(words, key, key_len, text);

	if (clean)
		set(labels, clean, value, strnlen(value, value_len));
}

static void set_id(struct labels *labels, const char *key, const uint8_t *id, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * ID_BYTES];
	uint8_t any = 0;

	for (size_t i = 0; i < len; i++) {
		any |= id[i];
		text[2 * i] = digits[id[i] >> 4];
		text[2 * i + 1] = digits[id[i] & 15];
	}
	if (any)
		set(labels, key, text, 2 * len);
}

void labels_of_ids(struct labels *labels, const uint8_t trace_id[16], const uint8_t span_id[8])
{
	set_id(labels, "trace", trace_id, 16);
	set_id(labels, "span", span_id, 8);
}

/* NAME@FILE:LINE, with FILE as the compiler was given it: its folder is left out. */
static void set_place(struct labels *labels, const char *key, const char *value, size_t len)
{
	const char *at = memrchr(value, '@', len);
	const char *slash = at ? memrchr(at, '/', len - (size_t)(at - value)) : NULL;
	char text[UINT8_MAX + 1];
	size_t name;
	size_t rest;

	if (!slash || len > UINT8_MAX) {
		labels_set_own(labels, key, value, len);
		return;
	}
	name = (size_t)(at - value) + 1;
	rest = len - (size_t)(slash + 1 - value);
	memcpy(text, value, name);
	memcpy(text + name, slash + 1, rest);
	labels_set_own(labels, key, text, name + rest);
}

static void set_wicks(struct labels *labels, uint8_t index, const char *value, size_t len)
{
	switch (index) {
	case CONTEXT_IDENTITY:
		labels_set_own(labels, "identity", value, len);
		break;
	case CONTEXT_TASK:
		set_place(labels, "task", value, len);
		break;
	case CONTEXT_TIER:
		labels_set_own(labels, "tier", value, len);
		break;
	case CONTEXT_FUNCTION:
		set_place(labels, "function", value, len);
		break;
	default:
		break;
	}
}

/* Names that wick.h's keys have in the maps of other writers. */
static bool set_named(struct labels *labels, const char *name, const char *value, size_t len)
{
	static const char *const names[] = {[CONTEXT_IDENTITY] = "wick.identity",
					    [CONTEXT_TASK] = "wick.task",
					    [CONTEXT_TIER] = "wick.tier",
					    [CONTEXT_FUNCTION] = "wick.function"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		set_wicks(labels, (uint8_t)i, value, len);
		return true;
	}
	return false;
}

static void set_attribute(struct labels *labels, struct label_source *source, uint8_t index,
			  const char *value, size_t len)
{
	const struct key_map *keys = source->keys;
	char number[16];

	if (source->wick) {
		set_wicks(labels, index, value, len);
		return;
	}
	if (index >= keys->n)
		source->unknown_key = true;
	if (keys->n == 0) {
		(void)snprintf(number, sizeof(number), "attr_%u", index);
		labels_set(labels, source->words, number, strlen(number), value, len);
	} else if (index < keys->n && keys->keys[index] &&
		   !set_named(labels, keys->keys[index], value, len)) {
		labels_set(labels, source->words, keys->keys[index], strlen(keys->keys[index]),
			   value, len);
	}
}

void labels_of_otel(struct labels *labels, struct label_source *source, const uint8_t *bytes,
		    size_t len)
{
	labels_of_ids(labels, bytes, bytes + offsetof(struct otel_record, span_id));
	for (size_t at = OTEL_RECORD_HEAD; at + 2 <= len;) {
		size_t n = bytes[at + 1];

		if (n > len - at - 2)
			break;
		set_attribute(labels, source, bytes[at], (const char *)bytes + at + 2, n);
		at += 2 + n;
	}
}

void labels_of_texts(struct labels *labels, const struct label_words *words, const uint8_t *bytes,
		     size_t len)
{
	size_t at = 0;

	while (at < len) {
		const char *key = (const char *)bytes + at + 1;
		size_t key_len = bytes[at];
		size_t value_len;
		char text[KEY_BYTES];
		const char *clean;

		if (key_len > len - at - 1 || at + 1 + key_len >= len)
			return;
		at += 1 + key_len;
		value_len = bytes[at];
		if (value_len > len - at - 1)
			return;
		clean = clean_key(words, key, key_len, text);
		if (clean && !find(labels, clean))
			labels_set(labels, words, key, key_len, (const char *)bytes + at + 1,
				   value_len);
		at += 1 + value_len;
	}
}

struct labels *labels_keep(struct labels *kept, size_t n, const char *text, size_t bytes)
{
	struct labels *labels = n ? realloc(kept, offsetof(struct labels, text) + bytes) : NULL;

	if (!labels) {
		free(kept);
		return NULL;
	}
	labels->n = n;
	labels->bytes = bytes;
	memcpy(labels->text, text, bytes);
	return labels;
}

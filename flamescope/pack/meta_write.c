/* meta_write.c - the few things of a profile that are no columns, as JSON */
#include "flamescope/pack/meta_write.h"

#include <stdbool.h>
#include <string.h>

/* Whether a sequence of UTF-8 says what a shorter one could, or is past the last character. */
static bool is_odd(const unsigned char *at)
{
	return (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] >= 0xa0) ||
	       (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] >= 0x90);
}

/* How long the sequence of UTF-8 at AT is; 0 when it is none. */
static size_t utf8_length(const unsigned char *at)
{
	size_t n = 1;

	if (*at < 0x80)
		return 1;
	if (*at < 0xc2 || *at > 0xf4)
		return 0;
	for (size_t more = 1 + (*at >= 0xe0) + (*at >= 0xf0); more; more--, n++)
		if ((at[n] & 0xc0) != 0x80)
			return 0;
	return is_odd(at) ? 0 : n;
}

/* A string; bytes that are no UTF-8 become U+FFFD. */
static void add_string(struct buf *buf, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	buf_add_char(buf, '"');
	while (*at) {
		size_t n = utf8_length(at);

		if (n == 0)
			buf_add(buf, "\\ufffd");
		else if (*at < 0x20 || *at == '"' || *at == '\\' || *at == 0x7f)
			buf_printf(buf, "\\u%04x", *at);
		else
			(void)buf_append(buf, at, n);
		at += n ? n : 1;
	}
	buf_add_char(buf, '"');
}

static void add_bool(struct buf *buf, const char *name, bool value)
{
	buf_printf(buf, ",\"%s\":%s", name, value ? "true" : "false");
}

static void add_numbers(struct buf *buf, const uint32_t *numbers, size_t n)
{
	buf_add_char(buf, '[');
	for (size_t i = 0; i < n; i++)
		buf_printf(buf, i ? ",%u" : "%u", numbers[i]);
	buf_add_char(buf, ']');
}

static void add_tags(struct buf *buf, const struct profile *profile)
{
	buf_add(buf, ",\"tags\":[");
	for (size_t i = 0; i < profile->n_tags; i++) {
		buf_printf(buf, "%s{\"name\":%u,\"values\":", i ? "," : "", profile->tags[i].name);
		add_numbers(buf, profile->tags[i].values, profile->tags[i].n_values);
		buf_add_char(buf, '}');
	}
	buf_add(buf, "],\"metrics\":[");
	for (size_t i = 0; i < profile->n_metrics; i++)
		buf_printf(buf, "%s{\"name\":%u,\"unit\":%u,\"kind\":\"%s\"}", i ? "," : "",
			   profile->metrics[i].name, profile->metrics[i].unit,
			   profile->metrics[i].kind == METRIC_GAUGE ? "gauge" : "counter");
	buf_add(buf, "],\"events\":");
	add_numbers(buf, profile->event_names, profile->n_events);
}

static void add_file(struct buf *buf, const struct profile_file *file)
{
	size_t n =
		file->bad_lines < PROFILE_BAD_LINES ? (size_t)file->bad_lines : PROFILE_BAD_LINES;

	buf_add(buf, "{\"path\":");
	add_string(buf, file->path);
	buf_printf(buf, ",\"bytes\":%llu,\"samples\":%llu,\"bad_lines\":%llu,\"lost\":%llu",
		   (unsigned long long)file->bytes, (unsigned long long)file->samples,
		   (unsigned long long)file->bad_lines, (unsigned long long)file->lost);
	buf_add(buf, ",\"bad\":[");
	for (size_t i = 0; i < n; i++)
		buf_printf(buf, i ? ",%llu" : "%llu", (unsigned long long)file->bad[i]);
	buf_add_char(buf, ']');
	add_bool(buf, "cut", file->cut);
	add_bool(buf, "unended", file->unended);
	buf_add(buf, ",\"problem\":");
	if (file->problem)
		add_string(buf, file->problem);
	else
		buf_add(buf, "null");
	buf_add_char(buf, '}');
}

void meta_write(const struct profile *profile, struct buf *buf)
{
	buf_printf(buf,
		   "{\"start_ns\":\"%llu\",\"length_ns\":\"%llu\",\"epoch_offset_ns\":\"%lld\"",
		   (unsigned long long)profile->start_ns, (unsigned long long)profile->length_ns,
		   (long long)profile->epoch_offset_ns);
	add_bool(buf, "has_epoch", profile->has_epoch);
	add_bool(buf, "is_wick", profile->is_wick);
	add_bool(buf, "has_times", profile->has_times);
	buf_printf(buf, ",\"hz\":%u,\"command\":%u,\"captured\":%u", profile->hz, profile->command,
		   profile->captured);
	add_tags(buf, profile);
	buf_add(buf, ",\"files\":[");
	for (size_t i = 0; i < profile->n_files; i++) {
		if (i)
			buf_add_char(buf, ',');
		add_file(buf, &profile->files[i]);
	}
	buf_add(buf, "]}");
}

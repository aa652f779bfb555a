/* meta_write.c - the few things of a profile that are no columns, as JSON */
#include "flamescope/pack/meta_write.h"

#include "base/json.h"

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
	uint64_t n = file->bad_lines < PROFILE_BAD_LINES ? file->bad_lines : PROFILE_BAD_LINES;

	buf_add_char(buf, '{');
	json_add_text(buf, "path", file->path);
	json_add_number(buf, "bytes", file->bytes);
	json_add_number(buf, "samples", file->samples);
	json_add_number(buf, "bad_lines", file->bad_lines);
	/* a file may say any 64 bits, of which JSON's readers take 53 or 63 */
	buf_printf(buf, ",\"lost\":\"%llu\"", (unsigned long long)file->lost);
	buf_add(buf, ",\"bad\":[");
	for (size_t i = 0; i < n; i++)
		buf_printf(buf, i ? ",%llu" : "%llu", (unsigned long long)file->bad[i]);
	buf_add_char(buf, ']');
	json_add_bool(buf, "cut", file->cut);
	json_add_bool(buf, "unended", file->unended);
	if (file->problem)
		json_add_text(buf, "problem", file->problem);
	else
		buf_add(buf, ",\"problem\":null");
	buf_add_char(buf, '}');
}

void meta_write(const struct profile *profile, struct buf *buf)
{
	buf_printf(buf,
		   "{\"start_ns\":\"%llu\",\"length_ns\":\"%llu\",\"epoch_offset_ns\":\"%lld\"",
		   (unsigned long long)profile->start_ns, (unsigned long long)profile->length_ns,
		   (long long)profile->epoch_offset_ns);
	json_add_bool(buf, "has_epoch", profile->has_epoch);
	json_add_bool(buf, "is_wick", profile->is_wick);
	json_add_bool(buf, "has_times", profile->has_times);
	json_add_number(buf, "hz", profile->hz);
	json_add_number(buf, "command", profile->command);
	json_add_number(buf, "captured", profile->captured);
	add_tags(buf, profile);
	buf_add(buf, ",\"files\":[");
	for (size_t i = 0; i < profile->n_files; i++) {
		if (i)
			buf_add_char(buf, ',');
		add_file(buf, &profile->files[i]);
	}
	buf_add(buf, "]}");
}

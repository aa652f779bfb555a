/* out.c - bytes on their way into a sink, and what all writers of formats share */
#include "flamescope/convert/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORTH_A_CALL = 256 * 1024 };

int out_flush(struct out *out)
{
	if (out->error)
		return out->error;
	if (out->buf.failed)
		out->error = -EFBIG;
	else if (out->buf.len)
		out->error = out->sink->write(out->sink->context, out->buf.data, out->buf.len);
	buf_clear(&out->buf);
	return out->error;
}

bool out_step(struct out *out)
{
	if (out->buf.len >= WORTH_A_CALL || out->buf.failed)
		(void)out_flush(out);
	return out->error == 0;
}

void out_signed(struct buf *buf, int64_t value)
{
	if (value < 0)
		buf_add_char(buf, '-');
	buf_add_dec(buf, value < 0 ? -(uint64_t)value : (uint64_t)value, 0, ' ');
}

const char *out_event(const struct selection *selection)
{
	const struct profile *profile = selection->profile;
	uint8_t event = selection->n ? profile->events[selection->samples[0]] : 0;

	return event < profile->n_events ? profile->strings[profile->event_names[event]] : "";
}

size_t out_tag(const struct profile *profile, const char *name)
{
	size_t i = 0;

	while (i < profile->n_tags && strcmp(profile->strings[profile->tags[i].name], name) != 0)
		i++;
	return i;
}

bool out_is_release(const struct profile *profile, size_t op, uint32_t sample)
{
	const struct profile_tag *tag = &profile->tags[op];
	uint32_t code = op < profile->n_tags ? tag->codes[sample] : 0;

	return code && code < tag->n_values &&
	       strcmp(profile->strings[tag->values[code]], "free") == 0;
}

struct out_scale out_scale_of(const struct selection *selection)
{
	const char *unit = selection->unit ? selection->unit : "";

	if (strcmp(unit, "ns") == 0)
		return (struct out_scale){OUT_NANOSECONDS, 1};
	if (strcmp(unit, "us") == 0)
		return (struct out_scale){OUT_MICROSECONDS, 1};
	if (strcmp(unit, "B") == 0)
		return (struct out_scale){OUT_BYTES, 1};
	if (strcmp(unit, "KiB") == 0)
		return (struct out_scale){OUT_BYTES, 1024};
	return (struct out_scale){OUT_COUNT, 1};
}

int64_t out_scaled(const struct out_scale *scale, int64_t value)
{
	__int128 scaled = (__int128)value * (__int128)scale->multiply;

	if (scaled > INT64_MAX)
		return INT64_MAX;
	return scaled < INT64_MIN ? INT64_MIN : (int64_t)scaled;
}

int64_t out_count(const struct selection *selection, size_t i)
{
	uint64_t weight;

	if (selection->measure != QUERY_WEIGHT)
		return selection->values[i];
	weight = selection->profile->weights[selection->samples[i]];
	return weight > INT64_MAX ? INT64_MAX : (int64_t)weight;
}

const char *out_title(const struct out *out)
{
	const struct profile *profile = out->selection->profile;
	const char *slash;

	if (out->options->title)
		return out->options->title;
	if (profile->n_files == 0 || !profile->files[0].path)
		return "wick";
	slash = strrchr(profile->files[0].path, '/');
	return slash ? slash + 1 : profile->files[0].path;
}

bool out_is_label(const struct selection *selection, uint32_t frame)
{
	return frame >= selection->profile->n_frames;
}

const char *out_module(const struct selection *selection, uint32_t frame)
{
	const struct profile *profile = selection->profile;

	return out_is_label(selection, frame) ? ""
					      : profile->strings[profile->frames[frame].module];
}

bool out_in_kernel(const struct selection *selection, uint32_t frame)
{
	const char *module = out_module(selection, frame);
	size_t len = strlen(module);

	if (strncmp(module, "[kernel", 7) == 0 || strncmp(module, "[guest.kernel", 13) == 0)
		return true;
	return len > 3 && (strcmp(module + len - 3, ".ko") == 0 || strstr(module, "vmlinux"));
}

int out_threads_make(const struct selection *selection, struct out_threads *ret_threads)
{
	const struct profile *profile = selection->profile;
	size_t *first = calloc(profile->n_threads + 2, sizeof(*first));
	uint32_t *order = calloc(selection->n + 1, sizeof(*order));

	*ret_threads = (struct out_threads){first, order};
	if (!first || !order)
		return -ENOMEM;
	/* Counting: afterwards first[t + 1] is where thread t begins, which filling moves on. */
	for (size_t i = 0; i < selection->n; i++)
		first[profile->threads[selection->samples[i]] + 2]++;
	for (size_t t = 2; t < profile->n_threads + 2; t++)
		first[t] += first[t - 1];
	for (size_t i = 0; i < selection->n; i++)
		order[first[profile->threads[selection->samples[i]] + 1]++] = (uint32_t)i;
	return 0;
}

void out_threads_release(struct out_threads *threads)
{
	free(threads->first);
	free(threads->order);
}

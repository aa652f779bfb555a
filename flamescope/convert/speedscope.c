/*
 * speedscope.c - https://www.speedscope.app/file-format-schema.json: frames that all share, and
 * a sampled profile of each thread
 */
#include "flamescope/convert/internal.h"

#include "base/json.h"
#include "base/saturated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct speedscope {
	struct out *out;
	const struct selection *selection;
	struct out_scale scale;
	struct out_threads threads;
	uint32_t *path; /* room for the deepest stack */
};

static const char *const units[] = {
	[OUT_COUNT] = "none",
	[OUT_NANOSECONDS] = "nanoseconds",
	[OUT_MICROSECONDS] = "microseconds",
	[OUT_BYTES] = "bytes",
};

/* All of the profile's frames, then the groups' labels: numbers are as the selection's. */
static void add_frames(struct speedscope *to)
{
	struct buf *buf = &to->out->buf;
	size_t n = to->selection->profile->n_frames + to->selection->n_labels;

	buf_add(buf, "\"shared\":{\"frames\":[");
	for (uint32_t frame = 0; frame < n && out_step(to->out); frame++) {
		const char *module = out_module(to->selection, frame);

		buf_add(buf, frame ? ",\n{\"name\":" : "\n{\"name\":");
		json_add_string(buf, selection_frame_name(to->selection, frame));
		if (*module) {
			buf_add(buf, ",\"file\":");
			json_add_string(buf, module);
		}
		buf_add_char(buf, '}');
	}
	buf_add(buf, "]}");
}

static void add_stack(struct speedscope *to, uint32_t node)
{
	struct buf *buf = &to->out->buf;
	size_t n = 0;

	for (; node; node = to->selection->nodes[node].parent)
		to->path[n++] = to->selection->nodes[node].frame;
	buf_add_char(buf, '[');
	while (n-- > 0) {
		buf_add_dec(buf, to->path[n], 0, ' ');
		if (n)
			buf_add_char(buf, ',');
	}
	buf_add_char(buf, ']');
}

static void add_name(struct speedscope *to, uint32_t number)
{
	const struct profile *profile = to->selection->profile;
	const struct profile_thread *thread = &profile->thread_list[number];
	const char *host = profile->strings[thread->host];
	struct buf name;

	buf_init(&name, 4096);
	buf_add(&name, profile->strings[thread->comm]);
	if (thread->pid >= 0)
		buf_printf(&name, " pid: %d", (int)thread->pid);
	if (thread->tid >= 0)
		buf_printf(&name, " tid: %d", (int)thread->tid);
	if (*host)
		buf_printf(&name, " on %s", host);
	json_add_string(&to->out->buf, buf_text(&name));
	buf_release(&name);
}

/* The value of a sample; -1: there is no such thing here. */
static int64_t value_of(const struct speedscope *to, size_t i)
{
	int64_t value = to->selection->values[to->threads.order[i]];

	return value < 0 ? -1 : out_scaled(&to->scale, value);
}

/* The stacks, then the weights of the same samples; gives the sum. */
static uint64_t add_columns(struct speedscope *to, size_t first, size_t end)
{
	struct buf *buf = &to->out->buf;
	const char *comma = "";
	uint64_t sum = 0;

	buf_add(buf, ",\"samples\":[");
	for (size_t i = first; i < end && out_step(to->out); i++) {
		if (value_of(to, i) < 0) {
			to->out->report.n_negative++;
			continue;
		}
		buf_add(buf, comma);
		add_stack(to, to->selection->stacks[to->threads.order[i]]);
		comma = ",";
		to->out->report.n_samples++;
	}
	buf_add(buf, "],\n\"weights\":[");
	comma = "";
	for (size_t i = first; i < end && out_step(to->out); i++) {
		int64_t value = value_of(to, i);

		if (value < 0)
			continue;
		buf_add(buf, comma);
		out_signed(buf, value);
		sum = saturated_add(sum, (uint64_t)value);
		comma = ",";
	}
	buf_add_char(buf, ']');
	return sum;
}

static void add_profiles(struct speedscope *to)
{
	struct buf *buf = &to->out->buf;
	size_t n_threads = to->selection->profile->n_threads;
	const char *comma = "\n";

	buf_add(buf, ",\n\"profiles\":[");
	for (uint32_t thread = 0; thread < n_threads && out_step(to->out); thread++) {
		size_t first = to->threads.first[thread];
		size_t end = to->threads.first[thread + 1];

		if (first == end)
			continue;
		buf_add(buf, comma);
		buf_add(buf, "{\"type\":\"sampled\",\"name\":");
		add_name(to, thread);
		buf_printf(buf, ",\"unit\":\"%s\",\"startValue\":0", units[to->scale.unit]);
		buf_printf(buf, ",\n\"endValue\":%llu}",
			   (unsigned long long)add_columns(to, first, end));
		comma = ",\n";
	}
	buf_add(buf, "],\n\"activeProfileIndex\":0}\n");
}

static void add_all(struct speedscope *to)
{
	struct buf *buf = &to->out->buf;

	buf_add(buf, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		     "\"exporter\":\"wick " WICK_VERSION "\",\"name\":");
	json_add_string(buf, out_title(to->out));
	buf_add(buf, ",\n");
	add_frames(to);
	add_profiles(to);
}

int speedscope_write(struct out *out)
{
	struct speedscope to = {.out = out, .selection = out->selection};
	int r = out_threads_make(out->selection, &to.threads);

	to.scale = out_scale_of(out->selection);
	to.path = calloc(out->selection->n_nodes + 1, sizeof(*to.path));
	if (!to.path)
		r = -ENOMEM;
	if (r == 0)
		add_all(&to);
	out_threads_release(&to.threads);
	free(to.path);
	return r;
}

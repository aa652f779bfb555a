/*
 * perf.c - perf-script text, as output writes it (docs/perf-script.md): a recording again, or
 * one whose samples are repeated so that whoever counts them sees a metric
 */
#include "flamescope/convert/out.h"
#include "flamescope/convert/perf_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = PROFILE_MAX_TAGS + 1 };

struct perf {
	struct out *out;
	const struct profile *profile;
	struct perf_facts_room *room;
	struct perf_script_file file;
	uint64_t quantum;   /* 0: each sample once */
	uint64_t *leftover; /* of each stack: what was not yet a quantum */
};

/* Six decimals, as consumers like them, unless the original has more. */
static bool wants_ns(const struct perf *to)
{
	const struct selection *selection = to->out->selection;

	if (to->out->options->bare || !to->profile->has_times)
		return false;
	for (size_t i = 0; i < selection->n; i++)
		if ((to->profile->start_ns + to->profile->times_ns[selection->samples[i]]) % 1000)
			return true;
	return false;
}

static size_t list_keys(const struct profile *profile, const char *keys[static MAX_KEYS])
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_tags; i++) {
		const char *name = profile->strings[profile->tags[i].name];

		if (strcmp(name, "state") != 0 && strcmp(name, "wait") != 0)
			keys[n++] = name;
	}
	keys[n++] = "comm";
	return n;
}

static void add_header(struct perf *to)
{
	const struct profile *profile = to->profile;
	const char *keys[MAX_KEYS];
	struct perf_script_copy copy = {
		.is_wick = profile->is_wick,
		.captured = profile->strings[profile->captured],
		.cmdline = profile->strings[profile->command],
		.hostname =
			profile->n_threads ? profile->strings[profile->thread_list[0].host] : "",
		.keys = keys,
		.n_keys = list_keys(profile, keys),
	};
	struct perf_script_header header = {
		.event = profile->n_events ? to->room->events[0] : NULL,
		.hz = to->quantum ? 0 : profile->hz,
		.pid = profile->n_threads && profile->thread_list[0].pid > 0
			       ? profile->thread_list[0].pid
			       : 0,
		.epoch_offset_ns = (uint64_t)profile->epoch_offset_ns,
		.copy = &copy,
	};

	perf_script_header(&to->room->options, &header, &to->out->buf);
}

/* ---- how often a sample is written */

static int set_quantum(struct perf *to)
{
	const struct selection *selection = to->out->selection;
	uint64_t most = to->out->options->max_samples;
	unsigned __int128 sum = 0;
	unsigned __int128 quantum;

	if (most == 0)
		most = CONVERT_MAX_SAMPLES;
	for (size_t i = 0; i < selection->n; i++) {
		int64_t value = out_count(selection, i);

		sum += value > 0 ? (uint64_t)value : 0;
	}
	quantum = (sum + most - 1) / most;
	to->quantum = quantum == 0 ? 1 : quantum > UINT64_MAX ? UINT64_MAX : (uint64_t)quantum;
	to->out->report.quantum = to->quantum;
	to->leftover = calloc(selection->n_nodes + 1, sizeof(*to->leftover));
	return to->leftover ? 0 : -ENOMEM;
}

/* What is left of a stack's samples goes to its next one: no stack loses a whole quantum. */
static uint64_t times_to_write(struct perf *to, size_t i)
{
	uint64_t *leftover = &to->leftover[to->out->selection->stacks[i]];
	int64_t value = out_count(to->out->selection, i);
	unsigned __int128 all = *leftover;

	if (value < 0) {
		to->out->report.n_negative++;
		return 0;
	}
	all += (uint64_t)value;
	*leftover = (uint64_t)(all % to->quantum);
	return (uint64_t)(all / to->quantum);
}

/* ---- samples */

static void add_sample(struct perf *to, size_t i)
{
	struct buf *buf = &to->out->buf;
	uint8_t event = to->profile->events[to->out->selection->samples[i]];

	if (!to->room->options.bare)
		perf_facts_comment(to->out, i, to->room, buf);
	if (event < to->profile->n_events)
		to->file.event = to->room->events[event];
	perf_script_sample(&to->room->options, &to->file, &to->room->sample, buf);
	to->out->report.n_samples = to->file.n_samples;
}

static void add_samples(struct perf *to)
{
	for (size_t i = 0; i < to->out->selection->n; i++) {
		uint64_t n = to->quantum ? times_to_write(to, i) : 1;

		if (n == 0)
			continue;
		perf_facts_take(to->out, i, to->room);
		if (to->quantum)
			to->room->sample.weight = to->quantum;
		for (; n; n--) {
			add_sample(to, i);
			if (!out_step(to->out))
				return;
		}
	}
}

static void add_end(struct perf *to)
{
	struct perf_script_count lost = {.name = "lost_before"};

	for (size_t i = 0; i < to->profile->n_files; i++)
		lost.value += to->profile->files[i].lost;
	if (to->profile->is_wick)
		perf_script_end(&to->room->options, &to->file, &lost, lost.value > 0,
				&to->out->buf);
}

static bool has_several_events(const struct perf *to)
{
	const struct selection *selection = to->out->selection;

	for (size_t i = 1; i < selection->n; i++)
		if (to->profile->events[selection->samples[i]] !=
		    to->profile->events[selection->samples[0]])
			return true;
	return false;
}

int perf_write(struct out *out)
{
	struct perf to = {.out = out, .profile = out->selection->profile};
	int r = 0;

	to.room = malloc(sizeof(*to.room));
	if (!to.room)
		return -ENOMEM;
	perf_facts_init(out, to.room);
	to.room->options.ns = wants_ns(&to);
	if (out->options->replicate)
		r = set_quantum(&to);
	if (r == 0) {
		out->report.several_events = has_several_events(&to);
		add_header(&to);
		add_samples(&to);
		add_end(&to);
	}
	free(to.leftover);
	free(to.room);
	return r;
}

/*
 * perf.c - perf-script text, as output writes it (docs/perf-script.md): a recording again, or
 * one whose samples are repeated so that their number is a metric
 */
#include "base/words.h"
#include "flamescope/convert/internal.h"
#include "output/text/perf_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PERF_MAX_FRAMES = 1024, /* handed on; the writer cuts them further */
	PERF_FACTS_NAME = 32,   /* bytes of a name that stands for one that cannot be written */
};

/* What perf_script_*() is given, and the memory for it. */
struct script_facts {
	struct perf_script_options options;
	struct metric metrics[SAMPLE_MAX_METRICS];
	int64_t last[SAMPLE_MAX_METRICS]; /* inline: what a sample without a value says */
	struct frame frames[PERF_MAX_FRAMES];
	struct sample sample;
	size_t n_asked; /* groups of the selection: those of the file itself follow */
	char groups[GROUPS_MAX][PERF_FACTS_NAME]; /* what those are called */
	size_t state; /* number of the tag, as of the next; n_tags: there is none */
	size_t op;
	const char *tags[PROFILE_MAX_TAGS];
	const char *events[PROFILE_MAX_EVENTS];
	char metric_names[SAMPLE_MAX_METRICS][PERF_FACTS_NAME];
	char tag_names[PROFILE_MAX_TAGS][PERF_FACTS_NAME];
	char event_names[PROFILE_MAX_EVENTS][PERF_FACTS_NAME];
};

enum { NAME_BYTES = 256 }; /* of a name; a longer one is none */

/* A group's name stands in parentheses: only what a word of wick's own would be made of. */
static const char *group_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len && name[len] == '\0' ? name : "group";
}

/* The name of the group that a frame of the file was made up for (`0 running ([state])`), or "". */
static void name_group(const struct profile *profile, uint32_t frame,
		       char ret_name[PERF_FACTS_NAME])
{
	const struct profile_frame *made = &profile->frames[frame];
	const char *module = profile->strings[made->module];
	size_t len = strlen(module);

	ret_name[0] = '\0';
	if (made->addr || made->offset || made->inlined || len < 3 || len - 2 >= PERF_FACTS_NAME ||
	    module[0] != '[' || module[len - 1] != ']' || strcmp(module, "[unknown]") == 0)
		return;
	memcpy(ret_name, module + 1, len - 2);
	ret_name[len - 2] = '\0';
	if (strcmp(group_name(ret_name), ret_name) != 0)
		ret_name[0] = '\0';
}

/* Those that the file has already, by its first stack; every sample of wick's has all. */
static void keep_groups(const struct out *out, struct script_facts *facts)
{
	const struct selection *selection = out->selection;
	struct groups *groups = &facts->options.groups;
	char name[PERF_FACTS_NAME];
	size_t n = 0;

	facts->n_asked = groups->n;
	for (uint32_t node = selection->n ? selection->stacks[0] : 0; node;
	     node = selection->nodes[node].parent) {
		if (out_is_label(selection, selection->nodes[node].frame))
			break;
		name_group(selection->profile, selection->nodes[node].frame, name);
		if (!name[0])
			n = 0; /* groups are outermost */
		else if (n < GROUPS_MAX - groups->n)
			memcpy(facts->groups[n++], name, sizeof(name));
	}
	/* innermost first as they were found, and outermost first as they are told */
	while (n > 0)
		groups->at[groups->n++] = (struct group){
			.kind = GROUP_GIVEN, .name = facts->groups[--n], .text = "-"};
}

/* Names of metrics, tags and events are the file's: none of them may order a terminal about. */
static bool is_plain(const char *name)
{
	struct buf shown;
	bool plain;

	buf_init(&shown, NAME_BYTES);
	words_plain(&shown, name);
	plain = !shown.failed && strcmp(buf_text(&shown), name) == 0;
	buf_release(&shown);
	return plain;
}

static const char *name_of(const char *name, const char *what, size_t number,
			   char ret_name[PERF_FACTS_NAME])
{
	if (is_plain(name))
		return name;
	(void)snprintf(ret_name, PERF_FACTS_NAME, "%s_%zu", what, number);
	return ret_name;
}

/* The options for all samples. */
static void perf_facts_init(const struct out *out, struct script_facts *facts)
{
	const struct profile *profile = out->selection->profile;
	struct perf_script_options *options = &facts->options;

	memset(facts, 0, sizeof(*facts));
	options->metrics = facts->metrics;
	options->n_metrics =
		profile->n_metrics < SAMPLE_MAX_METRICS ? profile->n_metrics : SAMPLE_MAX_METRICS;
	for (size_t i = 0; i < options->n_metrics; i++) {
		facts->metrics[i] = (struct metric){
			.name = name_of(profile->strings[profile->metrics[i].name], "metric", i,
					facts->metric_names[i]),
			.unit = profile->strings[profile->metrics[i].unit],
			.kind = profile->metrics[i].kind,
		};
		options->metrics_mask |= UINT32_C(1) << i;
	}
	options->bare = out->options->bare;
	options->own_facts = true; /* a profile knows other words, too */
	options->own_times = true;
	if (out->options->inline_metrics)
		options->metrics_as = METRICS_AS_INLINE;
	for (size_t i = 0; i < out->options->n_groups && i < GROUPS_MAX; i++)
		options->groups.at[options->groups.n++] =
			(struct group){.kind = GROUP_GIVEN,
				       .name = group_name(out->options->groups[i]),
				       .text = "-"};
	keep_groups(out, facts);
	facts->sample.frames = facts->frames;
	for (size_t i = 0; i < profile->n_events; i++)
		facts->events[i] = name_of(profile->strings[profile->event_names[i]], "event", i,
					   facts->event_names[i]);
	for (size_t i = 0; i < profile->n_tags; i++)
		facts->tags[i] = name_of(profile->strings[profile->tags[i].name], "tag", i,
					 facts->tag_names[i]);
	facts->state = out_tag(profile, "state");
	facts->op = out_tag(profile, "op");
}

/* ---- the sample */

static const char *tag_value(const struct profile *profile, size_t tag, uint32_t sample)
{
	uint32_t code = profile->tags[tag].codes[sample];

	if (code == PROFILE_TAG_OTHER)
		return "[other]";
	return code < profile->tags[tag].n_values
		       ? profile->strings[profile->tags[tag].values[code]]
		       : "";
}

/* The state, when it is one of those that there is a word for. */
static bool take_state(const struct profile *profile, uint32_t number, struct script_facts *facts)
{
	const char *word;

	facts->sample.state = STATE_RUNNING;
	if (facts->state == profile->n_tags)
		return false;
	word = tag_value(profile, facts->state, number);
	for (int state = STATE_RUNNING; state <= STATE_STOPPED; state++) {
		if (strcmp(word, groups_state_word((enum sample_state)state)) == 0) {
			facts->sample.state = (enum sample_state)state;
			return true;
		}
	}
	return false;
}

static void take_thread(const struct profile *profile, uint32_t number, bool bare,
			struct sample *sample)
{
	const struct profile_thread *thread = &profile->thread_list[profile->threads[number]];
	const char *comm = profile->strings[thread->comm];
	size_t len = strnlen(comm, sizeof(sample->comm) - 1);

	memcpy(sample->comm, comm, len);
	memset(sample->comm + len, 0, sizeof(sample->comm) - len);
	sample->tid = thread->tid < 0 ? 0 : thread->tid;
	sample->pid = thread->pid;
	if (thread->pid < 0 && bare) /* Perfetto insists on one */
		sample->pid = sample->tid;
}

static void take_metrics(const struct profile *profile, uint32_t number, struct script_facts *facts)
{
	facts->sample.n_metrics = facts->options.n_metrics;
	for (size_t i = 0; i < facts->options.n_metrics; i++) {
		const struct profile_metric *metric = &profile->metrics[i];
		struct metric_value *value = &facts->sample.metrics[i];

		*value = (struct metric_value){facts->last[i], 0};
		if (metric->values[number] != PROFILE_ABSENT)
			facts->last[i] = value->value = metric->values[number];
		if (metric->deltas[number] != PROFILE_ABSENT)
			value->delta = metric->deltas[number];
	}
}

static struct frame frame_of(const struct profile *profile, uint32_t number)
{
	const struct profile_frame *from = &profile->frames[number];
	const char *name = profile->strings[from->name];
	const char *module = profile->strings[from->module];

	return (struct frame){
		.addr = from->addr,
		.symbol = strcmp(name, "[unknown]") == 0 ? NULL : name,
		.offset = from->offset,
		.module = *module ? module : NULL,
		.inlined = from->inlined,
	};
}

/* Whether a frame is one of a group of the file, which then has its word for the sample. */
static bool take_group(const struct profile *profile, uint32_t frame, struct script_facts *facts)
{
	struct groups *groups = &facts->options.groups;
	char name[PERF_FACTS_NAME];

	if (groups->n == facts->n_asked)
		return false;
	name_group(profile, frame, name);
	for (size_t i = facts->n_asked; i < groups->n; i++) {
		if (strcmp(name, groups->at[i].name) == 0) {
			groups->at[i].text = profile->strings[profile->frames[frame].name];
			return true;
		}
	}
	return false;
}

/* Labels are outermost, the first group's last; all else are frames. */
static void take_frames(const struct out *out, uint32_t node, struct script_facts *facts)
{
	const struct selection *selection = out->selection;
	const char *labels[GROUPS_MAX] = {0};
	size_t n_labels = 0;

	facts->sample.n_frames = 0;
	facts->sample.truncated = false;
	for (size_t i = 0; i < facts->options.groups.n; i++)
		facts->options.groups.at[i].text = "-";
	for (; node; node = selection->nodes[node].parent) {
		uint32_t frame = selection->nodes[node].frame;

		if (out_is_label(selection, frame)) {
			if (n_labels < GROUPS_MAX)
				labels[n_labels++] = selection_frame_name(selection, frame);
		} else if (take_group(selection->profile, frame, facts)) {
			continue;
		} else if (facts->sample.n_frames < PERF_MAX_FRAMES) {
			facts->frames[facts->sample.n_frames++] =
				frame_of(selection->profile, frame);
		} else {
			facts->sample.truncated = true;
		}
	}
	for (size_t i = 0; i < facts->n_asked && i < n_labels; i++)
		facts->options.groups.at[i].text = labels[n_labels - 1 - i];
}

/* Sample number I of the selection, as facts->sample. */
static void perf_facts_take(const struct out *out, size_t i, struct script_facts *facts)
{
	const struct profile *profile = out->selection->profile;
	uint32_t number = out->selection->samples[i];
	struct sample *sample = &facts->sample;

	sample->time_ns = profile->start_ns + profile->times_ns[number];
	sample->weight = profile->weights[number];
	sample->cpu = profile->cpus[number];
	if (profile->cpus[number] == PROFILE_CPU_UNKNOWN) /* the same */
		sample->cpu = facts->options.bare ? 0 : SAMPLE_NO_CPU;
	sample->op = out_is_release(profile, facts->op, number) ? "free" : NULL;
	take_thread(profile, number, facts->options.bare, sample);
	take_metrics(profile, number, facts);
	facts->options.keep_comm = !take_state(profile, number, facts);
	take_frames(out, out->selection->stacks[i], facts);
}

/* ---- the comment */

/* Readers take a word with a comma for a metric. */
static void add_value(struct buf *buf, const char *value)
{
	const char *comma;

	for (; (comma = strchr(value, ',')); value = comma + 1) {
		sanitise_word(buf, value, (size_t)(comma - value));
		buf_add(buf, "%2C");
	}
	sanitise_word(buf, value, strlen(value));
}

static void add_word(struct buf *buf, const char *name, const char *value)
{
	buf_add_char(buf, ' ');
	buf_add(buf, strcmp(name, "state") == 0 ? "st" : name);
	buf_add_char(buf, '=');
	add_value(buf, value);
}

static void add_metrics(const struct out *out, uint32_t number, const struct script_facts *facts,
			struct buf *buf)
{
	for (size_t i = 0; i < facts->options.n_metrics; i++) {
		const struct profile_metric *metric = &out->selection->profile->metrics[i];

		if (metric->values[number] == PROFILE_ABSENT)
			continue;
		buf_add_char(buf, ' ');
		buf_add(buf, facts->metrics[i].name);
		buf_add_char(buf, '=');
		out_signed(buf, metric->values[number]);
		buf_add_char(buf, ',');
		out_signed(buf,
			   metric->deltas[number] == PROFILE_ABSENT ? 0 : metric->deltas[number]);
	}
}

/* The "# s" line of that sample; nothing when there is nothing to say. */
static void perf_facts_comment(const struct out *out, size_t i, const struct script_facts *facts,
			       struct buf *buf)
{
	const struct profile *profile = out->selection->profile;
	uint32_t number = out->selection->samples[i];
	const char *comm = profile->strings[profile->thread_list[profile->threads[number]].comm];
	size_t start = buf->len;
	char altered[SANITISED_COMM_SIZE];

	buf_add(buf, "# s");
	for (size_t tag = 0; tag < profile->n_tags; tag++) {
		const char *value = tag_value(profile, tag, number);

		if (*value)
			add_word(buf, facts->tags[tag], value);
	}
	if (facts->options.metrics_as == METRICS_AS_COMMENT)
		add_metrics(out, number, facts, buf);
	if (strlen(comm) >= SAMPLE_COMM_SIZE ||
	    sanitise_comm(comm, strlen(comm), facts->sample.tid, altered) ||
	    (facts->options.metrics_as == METRICS_AS_INLINE && !facts->options.keep_comm))
		add_word(buf, "comm", comm);
	if (!buf->failed && buf->len == start + 3)
		buf->len = start;
	else
		buf_add_char(buf, '\n');
}

enum { MAX_KEYS = PROFILE_MAX_TAGS + 1 };

struct perf {
	struct out *out;
	const struct profile *profile;
	struct script_facts *facts;
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
		.event = profile->n_events ? to->facts->events[0] : NULL,
		.hz = to->quantum ? 0 : profile->hz,
		.pid = profile->n_threads && profile->thread_list[0].pid > 0
			       ? profile->thread_list[0].pid
			       : 0,
		.epoch_offset_ns = (uint64_t)profile->epoch_offset_ns,
		.copy = &copy,
	};

	perf_script_header(&to->facts->options, &header, &to->out->buf);
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

	if (!to->facts->options.bare)
		perf_facts_comment(to->out, i, to->facts, buf);
	if (event < to->profile->n_events)
		to->file.event = to->facts->events[event];
	perf_script_sample(&to->facts->options, &to->file, &to->facts->sample, buf);
	to->out->report.n_samples = to->file.n_samples;
}

static void add_samples(struct perf *to)
{
	for (size_t i = 0; i < to->out->selection->n; i++) {
		uint64_t n = to->quantum ? times_to_write(to, i) : 1;

		if (n == 0)
			continue;
		perf_facts_take(to->out, i, to->facts);
		if (to->quantum)
			to->facts->sample.weight = to->quantum;
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
		perf_script_end(&to->facts->options, &to->file, &lost, lost.value > 0,
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

	to.facts = malloc(sizeof(*to.facts));
	if (!to.facts)
		return -ENOMEM;
	perf_facts_init(out, to.facts);
	to.facts->options.ns = wants_ns(&to);
	if (out->options->replicate)
		r = set_quantum(&to);
	if (r == 0) {
		out->report.several_events = has_several_events(&to);
		add_header(&to);
		add_samples(&to);
		add_end(&to);
	}
	free(to.leftover);
	free(to.facts);
	return r;
}

/* perf_facts.c - a profile's sample as output's writer takes it, and its "# s" line */
#include "flamescope/convert/perf_facts.h"

#include "base/words.h"
#include "output/text/sanitise.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 }; /* of a name; a longer one is none */

static const struct profile_metric *metric_at(const struct out *out, size_t i)
{
	return &out->selection->profile->metrics[i];
}

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
static void keep_groups(const struct out *out, struct perf_facts_room *room)
{
	const struct selection *selection = out->selection;
	struct groups *groups = &room->options.groups;
	char name[PERF_FACTS_NAME];
	size_t n = 0;

	room->n_asked = groups->n;
	for (uint32_t node = selection->n ? selection->stacks[0] : 0; node;
	     node = selection->nodes[node].parent) {
		if (out_is_label(selection, selection->nodes[node].frame))
			break;
		name_group(selection->profile, selection->nodes[node].frame, name);
		if (!name[0])
			n = 0; /* groups are outermost */
		else if (n < GROUPS_MAX - groups->n)
			memcpy(room->groups[n++], name, sizeof(name));
	}
	/* innermost first as they were found, and outermost first as they are told */
	while (n > 0)
		groups->at[groups->n++] =
			(struct group){.kind = GROUP_GIVEN, .name = room->groups[--n], .text = "-"};
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
			   char room[PERF_FACTS_NAME])
{
	if (is_plain(name))
		return name;
	(void)snprintf(room, PERF_FACTS_NAME, "%s_%zu", what, number);
	return room;
}

void perf_facts_init(const struct out *out, struct perf_facts_room *room)
{
	const struct profile *profile = out->selection->profile;
	struct perf_script_options *options = &room->options;

	memset(room, 0, sizeof(*room));
	options->metrics = room->metrics;
	options->n_metrics =
		profile->n_metrics < SAMPLE_MAX_METRICS ? profile->n_metrics : SAMPLE_MAX_METRICS;
	for (size_t i = 0; i < options->n_metrics; i++) {
		room->metrics[i] = (struct metric){
			.name = name_of(profile->strings[profile->metrics[i].name], "metric", i,
					room->metric_names[i]),
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
	keep_groups(out, room);
	room->sample.frames = room->frames;
	for (size_t i = 0; i < profile->n_events; i++)
		room->events[i] = name_of(profile->strings[profile->event_names[i]], "event", i,
					  room->event_names[i]);
	for (size_t i = 0; i < profile->n_tags; i++)
		room->tags[i] = name_of(profile->strings[profile->tags[i].name], "tag", i,
					room->tag_names[i]);
	room->state = out_tag(profile, "state");
	room->op = out_tag(profile, "op");
}

/* ---- the sample */

static const char *tag_value(const struct profile *profile, size_t tag, uint32_t sample)
{
	uint16_t code = profile->tags[tag].codes[sample];

	if (code == PROFILE_TAG_OTHER)
		return "[other]";
	return code < profile->tags[tag].n_values
		       ? profile->strings[profile->tags[tag].values[code]]
		       : "";
}

/* The state, when it is one of those that there is a word for. */
static bool take_state(const struct profile *profile, uint32_t number, struct perf_facts_room *room)
{
	const char *word;

	room->sample.state = STATE_RUNNING;
	if (room->state == profile->n_tags)
		return false;
	word = tag_value(profile, room->state, number);
	for (int state = STATE_RUNNING; state <= STATE_STOPPED; state++) {
		if (strcmp(word, groups_state_word((enum sample_state)state)) == 0) {
			room->sample.state = (enum sample_state)state;
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

static void take_metrics(const struct profile *profile, uint32_t number,
			 struct perf_facts_room *room)
{
	room->sample.n_metrics = room->options.n_metrics;
	for (size_t i = 0; i < room->options.n_metrics; i++) {
		const struct profile_metric *metric = &profile->metrics[i];
		struct metric_value *value = &room->sample.metrics[i];

		*value = (struct metric_value){room->last[i], 0};
		if (metric->values[number] != PROFILE_ABSENT)
			room->last[i] = value->value = metric->values[number];
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
static bool take_group(const struct profile *profile, uint32_t frame, struct perf_facts_room *room)
{
	struct groups *groups = &room->options.groups;
	char name[PERF_FACTS_NAME];

	if (groups->n == room->n_asked)
		return false;
	name_group(profile, frame, name);
	for (size_t i = room->n_asked; i < groups->n; i++) {
		if (strcmp(name, groups->at[i].name) == 0) {
			groups->at[i].text = profile->strings[profile->frames[frame].name];
			return true;
		}
	}
	return false;
}

/* Labels are outermost, the first group's last; all else are frames. */
static void take_frames(const struct out *out, uint32_t node, struct perf_facts_room *room)
{
	const struct selection *selection = out->selection;
	const char *labels[GROUPS_MAX] = {0};
	size_t n_labels = 0;

	room->sample.n_frames = 0;
	room->sample.truncated = false;
	for (size_t i = 0; i < room->options.groups.n; i++)
		room->options.groups.at[i].text = "-";
	for (; node; node = selection->nodes[node].parent) {
		uint32_t frame = selection->nodes[node].frame;

		if (out_is_label(selection, frame)) {
			if (n_labels < GROUPS_MAX)
				labels[n_labels++] = selection_frame_name(selection, frame);
		} else if (take_group(selection->profile, frame, room)) {
			continue;
		} else if (room->sample.n_frames < PERF_MAX_FRAMES) {
			room->frames[room->sample.n_frames++] = frame_of(selection->profile, frame);
		} else {
			room->sample.truncated = true;
		}
	}
	for (size_t i = 0; i < room->n_asked && i < n_labels; i++)
		room->options.groups.at[i].text = labels[n_labels - 1 - i];
}

void perf_facts_take(const struct out *out, size_t i, struct perf_facts_room *room)
{
	const struct profile *profile = out->selection->profile;
	uint32_t number = out->selection->samples[i];
	struct sample *sample = &room->sample;

	sample->time_ns = profile->start_ns + profile->times_ns[number];
	sample->weight = profile->weights[number];
	sample->cpu = profile->cpus[number];
	if (profile->cpus[number] == PROFILE_CPU_UNKNOWN) /* the same */
		sample->cpu = room->options.bare ? 0 : SAMPLE_NO_CPU;
	sample->op = out_is_release(profile, room->op, number) ? "free" : NULL;
	take_thread(profile, number, room->options.bare, sample);
	take_metrics(profile, number, room);
	room->options.keep_comm = !take_state(profile, number, room);
	take_frames(out, out->selection->stacks[i], room);
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

static void add_metrics(const struct out *out, uint32_t number, const struct perf_facts_room *room,
			struct buf *buf)
{
	for (size_t i = 0; i < room->options.n_metrics; i++) {
		const struct profile_metric *metric = metric_at(out, i);

		if (metric->values[number] == PROFILE_ABSENT)
			continue;
		buf_add_char(buf, ' ');
		buf_add(buf, room->metrics[i].name);
		buf_add_char(buf, '=');
		out_signed(buf, metric->values[number]);
		buf_add_char(buf, ',');
		out_signed(buf,
			   metric->deltas[number] == PROFILE_ABSENT ? 0 : metric->deltas[number]);
	}
}

void perf_facts_comment(const struct out *out, size_t i, const struct perf_facts_room *room,
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
			add_word(buf, room->tags[tag], value);
	}
	if (room->options.metrics_as == METRICS_AS_COMMENT)
		add_metrics(out, number, room, buf);
	if (strlen(comm) >= SAMPLE_COMM_SIZE ||
	    sanitise_comm(comm, strlen(comm), room->sample.tid, altered) ||
	    (room->options.metrics_as == METRICS_AS_INLINE && !room->options.keep_comm))
		add_word(buf, "comm", comm);
	if (!buf->failed && buf->len == start + 3)
		buf->len = start;
	else
		buf_add_char(buf, '\n');
}

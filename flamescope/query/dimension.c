/* dimension.c - what groups samples: their threads, states, CPUs... */
#include "flamescope/query/query.h"

#include "base/buf.h"
#include "flamescope/pair_map.h"
#include "flamescope/query/internal.h"
#include "output/text/perf_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LABEL = 1024, N_CPUS = PROFILE_CPU_UNKNOWN };

/* What gives a thread's label. */
enum thread_part { PART_THREAD, PART_COMM, PART_TID, PART_PID, PART_PROCESS, PART_HOST };

static const char *const part_names[] = {
	[PART_THREAD] = "thread", [PART_COMM] = "comm",       [PART_TID] = "tid",
	[PART_PID] = "pid",       [PART_PROCESS] = "process", [PART_HOST] = "host",
};

enum { N_PARTS = sizeof(part_names) / sizeof(part_names[0]) };

/* What a dimension that is made of a metric says. */
enum metric_part { METRIC_CLASS, METRIC_SIGN };

static const char *const metric_parts[] = {[METRIC_CLASS] = ":class", [METRIC_SIGN] = ":sign"};

enum { N_METRIC_PARTS = sizeof(metric_parts) / sizeof(metric_parts[0]) };

enum sign { SIGN_GAIN, SIGN_LOSS, SIGN_SAME, N_SIGNS };

/* A dimension while its codes get their values. */
struct maker {
	const struct profile *profile;
	const char *delta_metric;
	struct dimension *dimension;
	struct pair_map values; /* of labels, by their interned address */
	bool several_hosts;
};

/* What processes are called, while that is found out. */
struct naming {
	struct pair_map processes; /* by host and pid: their first thread, + 1 */
	struct pair_map samples;   /* by first thread and name: how many, + 1 */
	uint32_t *of_thread;       /* how many each thread has */
	uint32_t *first;           /* of each thread's process */
	uint32_t *named_by;        /* by first thread: the thread that gives the name */
};

static const char *string_of(const struct profile *profile, uint32_t number)
{
	return number < profile->n_strings ? profile->strings[number] : "";
}

/* The value of a label, which is new or was there. */
static int add_code(struct maker *maker, size_t code, const char *label)
{
	struct dimension *dimension = maker->dimension;
	const char *text = intern_string(&dimension->strings, label);
	uint32_t *value;

	if (!text)
		return -ENOMEM;
	value = pair_map_at(&maker->values, (uint32_t)((uint64_t)(uintptr_t)text >> 32),
			    (uint32_t)(uintptr_t)text);
	if (!value)
		return -ENOMEM;
	if (*value == 0) {
		dimension->labels[dimension->n_values++] = text;
		*value = (uint32_t)dimension->n_values;
	}
	dimension->value_of[code] = *value - 1;
	return 0;
}

/* Room for N codes and for the value of what is beyond them. */
static int make_room(struct dimension *dimension, size_t n)
{
	dimension->n_codes = n;
	dimension->value_of = calloc(n + 1, sizeof(*dimension->value_of));
	dimension->labels = calloc(n + 1, sizeof(*dimension->labels));
	return dimension->value_of && dimension->labels ? 0 : -ENOMEM;
}

static void thread_label(const struct maker *maker, const struct profile_thread *thread,
			 char *label, size_t size)
{
	const char *comm = string_of(maker->profile, thread->comm);
	const char *host = maker->several_hosts ? string_of(maker->profile, thread->host) : "";
	const char *at = *host ? "@" : "";

	if (thread->tid < 0)
		(void)snprintf(label, size, "%s%s%s", comm, at, host);
	else
		(void)snprintf(label, size, "%s/%d%s%s", comm, thread->tid, at, host);
}

static void process_label(const struct maker *maker, const struct profile_thread *thread,
			  uint32_t comm, char *label, size_t size)
{
	const struct profile *profile = maker->profile;
	const char *host = maker->several_hosts ? string_of(profile, thread->host) : "";

	if (thread->pid < 0)
		label[0] = '\0';
	else
		(void)snprintf(label, size, "%s/%d%s%s", string_of(profile, comm), thread->pid,
			       *host ? "@" : "", host);
}

static void number_label(int32_t number, char *label, size_t size)
{
	if (number < 0)
		label[0] = '\0';
	else
		(void)snprintf(label, size, "%d", number);
}

static bool has_several_hosts(const struct profile *profile)
{
	for (size_t i = 1; i < profile->n_threads; i++)
		if (profile->thread_list[i].host != profile->thread_list[0].host)
			return true;
	return false;
}

static bool is_main(const struct profile_thread *thread)
{
	return thread->tid == thread->pid;
}

static void release_naming(struct naming *naming)
{
	pair_map_release(&naming->processes);
	pair_map_release(&naming->samples);
	free(naming->of_thread);
	free(naming->first);
	free(naming->named_by);
}

static int init_naming(struct naming *naming, const struct profile *profile)
{
	int r = pair_map_init(&naming->processes);

	if (r == 0)
		r = pair_map_init(&naming->samples);
	naming->of_thread = calloc(profile->n_threads + 1, sizeof(*naming->of_thread));
	naming->first = calloc(profile->n_threads + 1, sizeof(*naming->first));
	naming->named_by = calloc(profile->n_threads + 1, sizeof(*naming->named_by));
	if (r == 0 && (!naming->of_thread || !naming->first || !naming->named_by))
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < profile->n_samples; i++)
		naming->of_thread[profile->threads[i]]++;
	return r;
}

/* Which process each thread is of, and how many samples each name has there. */
static int count_names(struct naming *naming, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		const struct profile_thread *thread = &profile->thread_list[i];
		uint32_t *first =
			pair_map_at(&naming->processes, thread->host, (uint32_t)thread->pid);
		uint32_t *n;

		if (!first)
			return -ENOMEM;
		if (*first == 0)
			*first = i + 1;
		naming->first[i] = *first - 1;
		naming->named_by[i] = i;
		n = pair_map_at(&naming->samples, naming->first[i], thread->comm);
		if (!n)
			return -ENOMEM;
		*n += (*n == 0) + naming->of_thread[i];
	}
	return 0;
}

/* Whether thread A is better to name their process by than B. */
static bool names_better(struct naming *naming, const struct profile *profile, uint32_t a,
			 uint32_t b)
{
	const struct profile_thread *left = &profile->thread_list[a];
	const struct profile_thread *right = &profile->thread_list[b];

	if (is_main(left) != is_main(right))
		return is_main(left);
	if (is_main(left))
		return naming->of_thread[a] > naming->of_thread[b];
	return *pair_map_at(&naming->samples, naming->first[a], left->comm) >
	       *pair_map_at(&naming->samples, naming->first[b], right->comm);
}

/*
 * A process is named as its main thread was in most of its samples: it may have executed another
 * program or renamed itself.  Without samples of that, it is the name with most samples.
 *
 * Owns: the caller, RET_COMMS: a name for each thread.
 */
static int name_processes(const struct profile *profile, uint32_t **ret_comms)
{
	uint32_t *comms = calloc(profile->n_threads + 1, sizeof(*comms));
	struct naming naming = {0};
	int r = init_naming(&naming, profile);

	if (r == 0)
		r = comms ? count_names(&naming, profile) : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < profile->n_threads; i++) {
		uint32_t *named_by = &naming.named_by[naming.first[i]];

		if (names_better(&naming, profile, i, *named_by))
			*named_by = i;
	}
	for (uint32_t i = 0; r == 0 && i < profile->n_threads; i++)
		comms[i] = profile->thread_list[naming.named_by[naming.first[i]]].comm;
	release_naming(&naming);
	*ret_comms = comms;
	return r;
}

static int make_threads(struct maker *maker, enum thread_part part)
{
	const struct profile *profile = maker->profile;
	uint32_t *comms = NULL;
	char label[MAX_LABEL] = "";
	int r = make_room(maker->dimension, profile->n_threads);

	if (r == 0 && part == PART_PROCESS)
		r = name_processes(profile, &comms);
	maker->several_hosts = has_several_hosts(profile);
	maker->dimension->numbers = profile->threads;
	for (size_t i = 0; r == 0 && i < profile->n_threads; i++) {
		const struct profile_thread *thread = &profile->thread_list[i];
		const char *text = label;

		if (part == PART_THREAD)
			thread_label(maker, thread, label, sizeof(label));
		else if (part == PART_PROCESS)
			process_label(maker, thread, comms[i], label, sizeof(label));
		else if (part == PART_TID || part == PART_PID)
			number_label(part == PART_TID ? thread->tid : thread->pid, label,
				     sizeof(label));
		else
			text = string_of(profile, part == PART_COMM ? thread->comm : thread->host);
		r = add_code(maker, i, text);
	}
	free(comms);
	return r;
}

/* Only those that occur: a list of 65,535 would be of no use. */
static int make_cpus(struct maker *maker)
{
	const struct profile *profile = maker->profile;
	uint8_t *seen = calloc(N_CPUS + 1, 1);
	int r = seen ? make_room(maker->dimension, N_CPUS) : -ENOMEM;

	maker->dimension->words = profile->cpus;
	for (size_t i = 0; r == 0 && i < profile->n_samples; i++)
		seen[profile->cpus[i]] = 1;
	for (size_t i = 0; r == 0 && i < N_CPUS; i++) {
		char label[16];

		number_label((int32_t)i, label, sizeof(label));
		if (seen[i])
			r = add_code(maker, i, label);
	}
	if (r == 0)
		r = add_code(maker, N_CPUS, "");
	free(seen);
	return r;
}

static int make_events(struct maker *maker)
{
	const struct profile *profile = maker->profile;
	int r = make_room(maker->dimension, profile->n_events);

	maker->dimension->bytes = profile->events;
	for (size_t i = 0; r == 0 && i < profile->n_events; i++)
		r = add_code(maker, i, string_of(profile, profile->event_names[i]));
	return r;
}

static int make_tag(struct maker *maker, const struct profile_tag *tag)
{
	int r = make_room(maker->dimension, tag->n_values);

	maker->dimension->numbers = tag->codes;
	for (size_t i = 0; r == 0 && i < tag->n_values; i++)
		r = add_code(maker, i, string_of(maker->profile, tag->values[i]));
	if (r == 0)
		r = add_code(maker, tag->n_values, "[other]");
	return r;
}

static const struct profile_tag *tag_called(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->n_tags; i++) {
		if (strcmp(string_of(profile, profile->tags[i].name), name) == 0)
			return &profile->tags[i];
	}
	return NULL;
}

/* A request is the span that the samples have. */
static const struct profile_tag *find_tag(const struct profile *profile, const char *name)
{
	const struct profile_tag *tag = tag_called(profile, name);

	return !tag && strcmp(name, "req") == 0 ? tag_called(profile, "span") : tag;
}

static enum thread_part find_part(const char *name)
{
	size_t part = 0;

	while (part < N_PARTS && strcmp(part_names[part], name) != 0)
		part++;
	return (enum thread_part)part;
}

/* The metric of a dimension such as "rss_kib:class"; NULL: NAME is none. */
static const struct profile_metric *find_metric(const struct maker *maker, const char *name,
						enum metric_part *ret_part)
{
	const struct profile *profile = maker->profile;
	const char *metric = name;
	const char *colon = strrchr(name, ':');
	size_t len = colon ? (size_t)(colon - name) : strlen(name);

	for (size_t i = 0; i < N_METRIC_PARTS; i++)
		if (strcmp(name + len, metric_parts[i]) == 0)
			*ret_part = (enum metric_part)i;
	if (strcmp(name, "sign") == 0 && maker->delta_metric) {
		*ret_part = METRIC_SIGN;
		metric = maker->delta_metric;
		len = strlen(metric);
	} else if (strcmp(name + len, metric_parts[*ret_part]) != 0) {
		return NULL;
	}
	for (size_t i = 0; i < profile->n_metrics; i++) {
		const char *known = string_of(profile, profile->metrics[i].name);

		if (strncmp(known, metric, len) == 0 && known[len] == '\0')
			return &profile->metrics[i];
	}
	return NULL;
}

/* A code for each sample; N_CODES for those that have no value of the metric. */
static int make_column(struct maker *maker, const int64_t *numbers, size_t n_codes,
		       uint8_t (*code_of)(int64_t number, const char *unit), const char *unit)
{
	struct dimension *dimension = maker->dimension;
	size_t n = maker->profile->n_samples;

	dimension->made = malloc(n + 1);
	dimension->bytes = dimension->made;
	if (!dimension->made)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		dimension->made[i] =
			numbers[i] == PROFILE_ABSENT ? (uint8_t)n_codes : code_of(numbers[i], unit);
	return make_room(dimension, n_codes);
}

static uint8_t class_code(int64_t number, const char *unit)
{
	return (uint8_t)groups_size_class(number, unit);
}

static uint8_t sign_code(int64_t number, const char *unit)
{
	(void)unit;
	return number > 0 ? SIGN_GAIN : number < 0 ? SIGN_LOSS : SIGN_SAME;
}

/* Only classes that occur. */
static int make_classes(struct maker *maker, const struct profile_metric *metric)
{
	const char *unit = string_of(maker->profile, metric->unit);
	bool seen[GROUPS_CLASSES + 1] = {0};
	int r = make_column(maker, metric->values, GROUPS_CLASSES, class_code, unit);
	struct buf word;

	buf_init(&word, MAX_LABEL);
	for (size_t i = 0; r == 0 && i < maker->profile->n_samples; i++)
		seen[maker->dimension->made[i]] = true;
	for (unsigned i = 0; r == 0 && i < GROUPS_CLASSES; i++) {
		if (!seen[i])
			continue;
		buf_clear(&word);
		groups_class_word(&word, i, unit);
		r = add_code(maker, i, buf_text(&word));
	}
	buf_release(&word);
	return r == 0 ? add_code(maker, GROUPS_CLASSES, "") : r;
}

static int make_signs(struct maker *maker, const struct profile_metric *metric)
{
	static const char *const labels[] = {
		[SIGN_GAIN] = "gain", [SIGN_LOSS] = "loss", [SIGN_SAME] = "unchanged", ""};
	int r = make_column(maker, metric->deltas, N_SIGNS, sign_code, "");

	for (size_t i = 0; r == 0 && i <= N_SIGNS; i++)
		r = add_code(maker, i, labels[i]);
	return r;
}

/* Why there is nothing of that name, and what there is. */
static int no_such(const struct profile *profile, const char *name, struct err *err)
{
	struct buf known;

	if (strcmp(name, "sign") == 0) {
		(void)err_set(err, 0, "what is counted has no sign");
		err_hint(err, "--metric NAME:delta, of a metric that grows and shrinks");
		return -ENOENT;
	}
	buf_init(&known, 200);
	for (size_t i = 0; i < N_PARTS; i++) {
		buf_add(&known, part_names[i]);
		buf_add(&known, ", ");
	}
	if (profile->n_metrics > 0)
		buf_printf(&known, "%.60s:class, ", string_of(profile, profile->metrics[0].name));
	buf_add(&known, "cpu, event");
	(void)missing_dimension(profile, name, buf_text(&known), err);
	buf_release(&known);
	return -ENOENT;
}

static int make_of_metric(struct maker *maker, const char *name, struct err *err)
{
	enum metric_part part = METRIC_CLASS;
	const struct profile_metric *metric = find_metric(maker, name, &part);

	if (!metric)
		return no_such(maker->profile, name, err);
	return part == METRIC_CLASS ? make_classes(maker, metric) : make_signs(maker, metric);
}

static int make(struct maker *maker, const char *name, struct err *err)
{
	const struct profile *profile = maker->profile;
	const struct profile_tag *tag = find_tag(profile, name);
	enum thread_part part = find_part(name);

	if ((size_t)part < N_PARTS)
		return make_threads(maker, part);
	if (strcmp(name, "cpu") == 0)
		return make_cpus(maker);
	if (strcmp(name, "event") == 0)
		return make_events(maker);
	return tag ? make_tag(maker, tag) : make_of_metric(maker, name, err);
}

int dimension_init(struct dimension *dimension, const struct profile *profile, const char *name,
		   const char *delta_metric, struct err *err)
{
	struct maker maker = {
		.profile = profile, .dimension = dimension, .delta_metric = delta_metric};
	int r;

	*dimension = (struct dimension){.name = name};
	r = pair_map_init(&maker.values);
	if (r == 0)
		r = make(&maker, name, err);
	pair_map_release(&maker.values);
	if (r == -ENOMEM)
		(void)err_set(err, ENOMEM, "the values of '%.60s'", name);
	if (r < 0)
		dimension_release(dimension);
	return r;
}

void dimension_release(struct dimension *dimension)
{
	free(dimension->value_of);
	free(dimension->labels);
	free(dimension->made);
	intern_release(&dimension->strings);
	*dimension = (struct dimension){0};
}

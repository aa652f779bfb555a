/* groups.c - outermost frames that are made up, so that any consumer groups stacks by them */
#include "output/text/perf_script.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 256, MAX_STEPS = 6, N_DECADES = 4 };

_Static_assert(1 + MAX_STEPS * N_DECADES * 2 <= GROUPS_CLASSES, "each class has a number");

/* The words of --group; a metric is called by its own name. */
static const char *const names[] = {
	[GROUP_STATE] = "state",   [GROUP_WAIT] = "wait", [GROUP_OBJECT] = "object",
	[GROUP_THREAD] = "thread", [GROUP_COMM] = "comm", [GROUP_PROCESS] = "process",
	[GROUP_CPU] = "cpu",
};

enum { N_NAMES = sizeof(names) / sizeof(names[0]) };

/* Labels that programs give their threads; req is another word for span. */
static const char *const labels[] = {"task", "tier", "identity", "trace", "span", "function"};

enum { N_LABELS = sizeof(labels) / sizeof(labels[0]) };

const char *groups_state_word(enum sample_state state)
{
	static const char *const words[] = {
		[STATE_RUNNING] = "running",   [STATE_RUNNABLE] = "runnable",
		[STATE_SLEEPING] = "sleeping", [STATE_DISK] = "disk",
		[STATE_STOPPED] = "stopped",
	};

	return (size_t)state < sizeof(words) / sizeof(words[0]) ? words[state] : "running";
}

const char *groups_name(const struct group *group, const struct metric *metrics)
{
	if (group->kind == GROUP_GIVEN || group->kind == GROUP_LABEL)
		return group->name;
	return group->kind == GROUP_METRIC ? metrics[group->metric].name : names[group->kind];
}

/* ---- which groups */

static bool is_word(const char *text, size_t len, const char *word)
{
	return strncmp(text, word, len) == 0 && word[len] == '\0';
}

static bool find_label(const char *text, size_t len, struct group *ret_group)
{
	for (size_t i = 0; i < N_LABELS; i++) {
		if (is_word(text, len, labels[i]) ||
		    (is_word(text, len, "req") && strcmp(labels[i], "span") == 0)) {
			*ret_group = (struct group){.kind = GROUP_LABEL, .name = labels[i]};
			return true;
		}
	}
	return false;
}

static bool find(const char *text, size_t len, const struct metric *metrics, size_t n_metrics,
		 struct group *ret_group)
{
	for (size_t i = 0; i < N_NAMES; i++) {
		if (is_word(text, len, names[i])) {
			*ret_group = (struct group){.kind = (enum group_kind)i};
			return true;
		}
	}
	for (size_t i = 0; i < n_metrics; i++) {
		if (is_word(text, len, metrics[i].name) ||
		    (is_word(text, len, "rss") && strcmp(metrics[i].name, "rss_kib") == 0)) {
			*ret_group = (struct group){.kind = GROUP_METRIC, .metric = i};
			return true;
		}
	}
	return find_label(text, len, ret_group);
}

static const char *word_of(size_t i, const struct metric *metrics)
{
	return i < N_NAMES              ? names[i]
	       : i < N_NAMES + N_LABELS ? labels[i - N_NAMES]
					: metrics[i - N_NAMES - N_LABELS].name;
}

static int refuse(const char *text, size_t len, const struct metric *metrics, size_t n_metrics,
		  struct err *err)
{
	char list[400] = "";

	for (size_t i = 0; i < N_NAMES + N_LABELS + n_metrics; i++) {
		size_t used = strlen(list);

		(void)snprintf(list + used, sizeof(list) - used, "%s%s", i ? "," : "",
			       word_of(i, metrics));
	}
	return err_set(err, 0, "'%.*s' is nothing to group by; there are: %s",
		       len > 64 ? 64 : (int)len, text, list);
}

int groups_parse(const char *text, const struct metric *metrics, size_t n_metrics,
		 struct groups *ret_groups, struct err *err)
{
	struct groups groups = {0};

	for (;; text++) {
		size_t len = strcspn(text, ",");

		if (groups.n == GROUPS_MAX)
			return err_set(err, 0, "stacks are grouped by %d words at most",
				       (int)GROUPS_MAX);
		if (!find(text, len, metrics, n_metrics, &groups.at[groups.n]))
			return refuse(text, len, metrics, n_metrics, err);
		groups.n++;
		text += len;
		if (!*text)
			break;
	}
	*ret_groups = groups;
	return 0;
}

void groups_limit(struct groups *groups, uint32_t mask)
{
	size_t n = 0;

	for (size_t i = 0; i < groups->n; i++) {
		const struct group group = groups->at[i];

		if (group.kind != GROUP_METRIC || (mask >> group.metric & 1U))
			groups->at[n++] = group;
	}
	groups->n = n;
}

/* ---- the frames of a sample */

/* Units of one kind, each so many times the one before. */
struct ladder {
	unsigned step;
	const char *steps[MAX_STEPS];
};

/* The ladder of a unit, and its step that the unit itself stands on. */
static const struct ladder *ladder_of(const char *unit, size_t *ret_first)
{
	static const struct ladder bytes = {1024, {" B", " KiB", " MiB", " GiB", " TiB", NULL}};
	static const struct ladder times = {1000, {" ns", " us", " ms", " s", NULL}};
	static const struct ladder counts = {1000, {"", " k", " M", " G", " T", NULL}};

	*ret_first = strcmp(unit, "KiB") == 0;
	if (strcmp(unit, "B") == 0 || *ret_first)
		return &bytes;
	return strcmp(unit, "ns") == 0 ? &times : &counts;
}

/* Number: step, decade (1s, 10s, 100s, 1000s) and sign; 0 is the value 0. */
unsigned groups_size_class(int64_t value, const char *unit)
{
	size_t i;
	const struct ladder *ladder = ladder_of(unit, &i);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
	unsigned decade;

	if (value == 0)
		return 0;
	while (left >= ladder->step && ladder->steps[i + 1]) {
		left /= ladder->step;
		i++;
	}
	if (left >= 1000 && !ladder->steps[i + 1])
		decade = 3;
	else
		decade = left < 10 ? 0 : left < 100 ? 1 : 2;
	return 1 + ((unsigned)i * N_DECADES + decade) * 2 + (value < 0);
}

void groups_class_word(struct buf *buf, unsigned class, const char *unit)
{
	static const char *const decades[N_DECADES] = {"1s", "10s", "100s", "1000s"};
	size_t first;
	const struct ladder *ladder = ladder_of(unit, &first);
	unsigned number = (class - 1) / 2;

	if (class == 0) {
		buf_add_char(buf, '0');
		return;
	}
	buf_add(buf, (class - 1) % 2 ? "-" : "");
	buf_add(buf, decades[number % N_DECADES]);
	buf_add(buf, ladder->steps[number / N_DECADES % MAX_STEPS]);
}

static const char *label_of(const struct sample *sample, const char *key)
{
	for (size_t i = 0; i < sample->n_labels; i++)
		if (strcmp(sample->labels[i].key, key) == 0)
			return sample->labels[i].value;
	return "-";
}

/* The word of a group, as it is; sanitising comes after. */
static void add_word(struct buf *buf, const struct group *group, const struct metric *metrics,
		     const struct sample *sample)
{
	int64_t value = group->metric < sample->n_metrics && group->metric < SAMPLE_MAX_METRICS
				? sample->metrics[group->metric].value
				: 0;
	int comm_len = (int)strnlen(sample->comm, sizeof(sample->comm));
	const char *unit;

	switch (group->kind) {
	case GROUP_STATE:
		buf_add(buf, groups_state_word(sample->state));
		break;
	case GROUP_WAIT:
		buf_add(buf, sample->wait ? sample->wait : groups_state_word(sample->state));
		break;
	case GROUP_OBJECT:
		buf_printf(buf, "%.*s", SAMPLE_OBJECT_SIZE,
			   sample->object[0] ? sample->object : "-");
		break;
	case GROUP_THREAD:
		buf_printf(buf, "%.*s/%d", comm_len, sample->comm, (int)sample->tid);
		break;
	case GROUP_COMM:
		buf_printf(buf, "%.*s", comm_len, comm_len ? sample->comm : "-");
		break;
	case GROUP_PROCESS:
		buf_printf(buf, "process %d", (int)sample->pid);
		break;
	case GROUP_CPU:
		buf_printf(buf, "cpu %u", (unsigned)sample->cpu);
		break;
	case GROUP_METRIC:
		unit = metrics[group->metric].unit;
		groups_class_word(buf, groups_size_class(value, unit), unit);
		break;
	case GROUP_LABEL:
		buf_add(buf, label_of(sample, group->name));
		break;
	case GROUP_GIVEN:
		buf_add(buf, group->text);
		break;
	}
}

/* What a consumer would cut a name at, though no symbol is meant: c++/7 is not c. */
static void tame(struct buf *word)
{
	for (size_t i = 0; i < word->len; i++) {
		char *at = &word->data[i];

		if (*at == '(')
			*at = '[';
		else if (*at == ')')
			*at = ']';
		else if (*at == '+' || *at == '"' || *at == '\'')
			*at = '_';
		else if (*at == ';')
			*at = ':';
	}
}

void groups_add(struct buf *buf, const struct groups *groups, const struct metric *metrics,
		const struct sample *sample)
{
	struct buf word;

	buf_init(&word, WORD_BYTES);
	for (size_t i = groups->n; i-- > 0;) {
		buf_clear(&word);
		add_word(&word, &groups->at[i], metrics, sample);
		tame(&word);
		buf_add(buf, "\t               0 ");
		if (!sanitise_symbol(buf, buf_text(&word)))
			buf_add_char(buf, '-');
		buf_add(buf, " ([");
		buf_add(buf, groups_name(&groups->at[i], metrics));
		buf_add(buf, "])\n");
	}
	buf_release(&word);
}

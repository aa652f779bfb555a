/* selection.c - which samples of a recording are written: states, threads, functions */
#include "tools/samples/selection.h"

#include "base/function_name.h"
#include "output/text/perf_script.h"
#include "output/text/sanitise.h"
#include "sampler/collector/collector.h"
#include "tools/cli/pattern.h"
#include "tools/cli/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_INTERVAL_NS UINT64_C(10000000000)
#define LEAST_INTERVAL_NS   UINT64_C(100000000)

enum { MAX_TOP = 100000, MAX_LAST = 65536, WORD_SIZE = 32 };

/* ---- what was asked for */

static int take_state(const char *word, uint32_t *states, struct err *err)
{
	for (unsigned i = STATE_RUNNING; i <= STATE_STOPPED; i++) {
		if (strcmp(word, groups_state_word((enum sample_state)i)) == 0) {
			*states |= 1U << i;
			return 0;
		}
	}
	return err_set(err, 0, "'%s' is not one of: running, runnable, sleeping, disk, stopped",
		       word);
}

int selection_parse_states(const char *text, uint32_t *ret_states, struct err *err)
{
	uint32_t states = 0;
	int r = 0;

	for (const char *end = text; r == 0; text = end + 1) {
		char word[WORD_SIZE];

		end = strchrnul(text, ',');
		(void)snprintf(word, sizeof(word), "%.*s", (int)(end - text), text);
		r = take_state(word, &states, err);
		if (!*end)
			break;
	}
	if (r == 0)
		*ret_states = states;
	return r;
}

int selection_parse_top(const char *text, struct collector_top *top, struct err *err)
{
	uint64_t interval_ns = DEFAULT_INTERVAL_NS;
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	int r = 0;

	if (*text < '0' || *text > '9' || (*end && *end != ':') || n < 1 || n > MAX_TOP)
		return err_set(err, 0, "'%s' is not a number of threads from 1 to %d (20, 20:2s)",
			       text, (int)MAX_TOP);
	if (*end == ':')
		r = value_duration(end + 1, &interval_ns, err);
	if (r < 0)
		return r;
	if (interval_ns < LEAST_INTERVAL_NS)
		return err_set(err, 0, "'%s' is too short: at least 100ms", text);
	top->n = (uint32_t)n;
	top->interval_ns = interval_ns;
	return 0;
}

int selection_parse_by(const char *text, const char *const *gauges, size_t n_gauges,
		       struct collector_top *top, struct err *err)
{
	static const struct {
		const char *word;
		enum collector_by by;
	} words[] = {{"cpu", BY_CPU},
		     {"rss", BY_RSS},
		     {"faults", BY_FAULTS},
		     {"run_delay", BY_RUN_DELAY},
		     {"io", BY_IO}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i].word) == 0) {
			top->by = words[i].by;
			return 0;
		}
	}
	for (size_t i = 0; i < n_gauges; i++) {
		if (strcmp(text, gauges[i]) == 0) {
			top->by = BY_GAUGE;
			top->gauge = METRIC_BUILTIN + i;
			return 0;
		}
	}
	(void)err_set(err, 0,
		      "'%s' is not one of: cpu, rss, faults, run_delay, io, a gauge of --metrics",
		      text);
	return -EINVAL;
}

int selection_parse_threads(const char *text, struct err *err)
{
	struct pattern *pattern;
	int r = pattern_new(text, &pattern, err);

	if (r == 0)
		pattern_free(pattern);
	return r;
}

int selection_check(const struct selection_options *options, uint32_t events, struct err *err)
{
	if (options->states && !(options->states & 1U << STATE_RUNNING) &&
	    !(events & ~(uint32_t)(COLLECT_CPU | COLLECT_ALLOC))) {
		(void)err_set(err, 0,
			      "--state needs samples of waiting threads: those of CPU and memory "
			      "are of running threads");
		err_hint(err, "-e wall");
		return -EINVAL;
	}
	if (options->by && options->top.n == 0) {
		(void)err_set(err, 0, "--by ranks the threads for --top, and --top is not given");
		err_hint(err, "--top 20");
		return -EINVAL;
	}
	return 0;
}

bool selection_chooses(const struct selection_options *options)
{
	return options->states || options->top.n || options->threads || options->only_under ||
	       options->n_tids;
}

/* ---- a recording's */

int selection_init(struct selection *selection, const struct selection_options *options,
		   struct err *err)
{
	*selection = (struct selection){.options = options};
	buf_init(&selection->only_under, SANITISE_MAX_NAME);
	buf_init(&selection->symbol, SANITISE_MAX_NAME);
	if (options->only_under)
		(void)sanitise_symbol(&selection->only_under, options->only_under);
	return options->threads ? pattern_new(options->threads, &selection->threads, err) : 0;
}

static void note_other(struct selection *selection, const char *name, size_t len)
{
	for (size_t i = 0; i < SELECTION_OTHERS; i++) {
		char *other = selection->others[i];

		if (!*other)
			memcpy(other, name, len < SAMPLE_COMM_SIZE ? len : SAMPLE_COMM_SIZE - 1);
		if (strncmp(other, name, len) == 0)
			return;
	}
}

/* For the drain thread. */
static bool name_matches(void *context, const char *name, size_t len)
{
	struct selection *selection = context;
	bool matches = pattern_matches(selection->threads, name, len);

	selection->a_thread_matched |= matches;
	if (!selection->a_thread_matched)
		note_other(selection, name, len);
	return matches;
}

struct collector_filter selection_for_collector(struct selection *selection)
{
	return (struct collector_filter){
		.states = selection->options->states,
		.top = selection->options->top,
		.names = selection->threads ? name_matches : NULL,
		.context = selection,
	};
}

static bool is_function(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return strncmp(symbol, name, len) == 0 &&
	       (symbol[len] == '\0' || function_name_len(symbol) == len);
}

static bool is_under(struct selection *selection, const struct sample *sample)
{
	const char *function = buf_text(&selection->only_under);

	for (size_t i = 0; i < sample->n_frames; i++) {
		buf_clear(&selection->symbol);
		if (!sample->frames[i].symbol ||
		    !sanitise_symbol(&selection->symbol, sample->frames[i].symbol))
			continue;
		if (is_function(buf_text(&selection->symbol), function))
			return true;
		if (!selection->a_stack_matched && !*selection->near &&
		    selection->symbol.len < sizeof(selection->near) &&
		    strstr(buf_text(&selection->symbol), function))
			memcpy(selection->near, buf_text(&selection->symbol),
			       selection->symbol.len);
	}
	return false;
}

static bool is_of_thread(const struct selection *selection, const struct sample *sample)
{
	const struct selection_options *options = selection->options;

	for (size_t i = 0; i < options->n_tids; i++)
		if (options->tids[i] == (pid_t)sample->tid)
			return true;
	return options->n_tids == 0;
}

/* Where a thread's last written metrics are; new ones say so by `fresh`. */
struct last {
	bool fresh;
	int64_t values[SAMPLE_MAX_METRICS];
};

static struct last *last_of(struct selection *selection, const struct sample *sample)
{
	/* A tid has 22 bits at most. */
	uint64_t key = (uint64_t)sample->process << 32 | sample_series(sample->event) << 24 |
		       (uint32_t)sample->tid;
	struct last *last = map_get(&selection->last, key);

	if (last || map_count(&selection->last) >= MAX_LAST)
		return last;
	last = calloc(1, sizeof(*last));
	if (!last)
		return NULL;
	last->fresh = true;
	if (map_put(&selection->last, key, last) < 0) {
		free(last);
		return NULL;
	}
	return last;
}

/* Whether this is the first sample of another thread, whose number the one before had. */
static bool is_anew(const struct last *last, const struct sample *sample)
{
	const struct metric_value *cpu = &sample->metrics[METRIC_CPU_NS];

	return last->fresh ||
	       (sample->n_metrics && cpu->delta == 0 && cpu->value < last->values[METRIC_CPU_NS]);
}

/* A delta is against the thread's last written sample; the collector's is against its last. */
static void set_deltas(struct last *last, struct sample *sample)
{
	last->fresh = is_anew(last, sample);
	for (size_t i = 0; i < sample->n_metrics && i < SAMPLE_MAX_METRICS; i++) {
		struct metric_value *metric = &sample->metrics[i];

		metric->delta = last->fresh ? 0 : metric_delta(metric->value, last->values[i]);
		last->values[i] = metric->value;
	}
	last->fresh = false;
}

void selection_leave_out(struct selection *selection, const struct sample *sample)
{
	struct filtered *filtered = &selection->filtered[sample_series(sample->event)];

	filtered->weight += sample->weight;
	filtered->samples++;
}

bool selection_keeps(struct selection *selection, struct sample *sample)
{
	struct last *last;

	if (!selection->options->only_under && selection->options->n_tids == 0)
		return true;
	if (!is_of_thread(selection, sample) ||
	    (selection->options->only_under && !is_under(selection, sample))) {
		selection_leave_out(selection, sample);
		return false;
	}
	selection->a_stack_matched = true;
	last = last_of(selection, sample);
	if (last)
		set_deltas(last, sample);
	return true;
}

static void free_value(void *context, uint64_t key, void *value)
{
	(void)context;
	(void)key;
	free(value);
}

void selection_release(struct selection *selection)
{
	pattern_free(selection->threads);
	buf_release(&selection->only_under);
	buf_release(&selection->symbol);
	map_each(&selection->last, free_value, NULL);
	map_release(&selection->last);
	*selection = (struct selection){0};
}

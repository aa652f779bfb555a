/* sample_filter.c - which samples of a recording are written: states, threads, functions */
#include "tools/samples/samples.h"

#include "base/function_name.h"
#include "output/text/perf_script.h"
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

/* ---- what was requested */

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

int sample_filter_parse_states(const char *text, uint32_t *ret_states, struct err *err)
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

int sample_filter_parse_top(const char *text, struct collector_top *top, struct err *err)
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

int sample_filter_parse_by(const char *text, const char *const *gauges, size_t n_gauges,
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

int sample_filter_parse_threads(const char *text, struct err *err)
{
	struct pattern *pattern;
	int r = pattern_new(text, &pattern, err);

	if (r == 0)
		pattern_free(pattern);
	return r;
}

int sample_filter_check(const struct sample_filter_options *options, uint32_t events,
			struct err *err)
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

bool sample_filter_chooses(const struct sample_filter_options *options)
{
	return options->states || options->top.n || options->threads || options->only_under ||
	       options->only_profiled || options->n_tids;
}

/* ---- a recording's */

int sample_filter_init(struct sample_filter *filter, const struct sample_filter_options *options,
		       struct err *err)
{
	*filter = (struct sample_filter){.options = options};
	buf_init(&filter->only_under, SANITISE_MAX_NAME);
	buf_init(&filter->symbol, SANITISE_MAX_NAME);
	if (options->only_under)
		(void)sanitise_symbol(&filter->only_under, options->only_under);
	return options->threads ? pattern_new(options->threads, &filter->threads, err) : 0;
}

static void note_other(struct sample_filter *filter, const char *name, size_t len)
{
	for (size_t i = 0; i < SELECTION_OTHERS; i++) {
		char *other = filter->others[i];

		if (!*other)
			memcpy(other, name, len < SAMPLE_COMM_SIZE ? len : SAMPLE_COMM_SIZE - 1);
		if (strncmp(other, name, len) == 0)
			return;
	}
}

/* For the drain thread. */
static bool name_matches(void *context, const char *name, size_t len)
{
	struct sample_filter *filter = context;
	bool matches = pattern_matches(filter->threads, name, len);

	filter->a_thread_matched |= matches;
	if (!filter->a_thread_matched)
		note_other(filter, name, len);
	return matches;
}

struct collector_filter sample_filter_for_collector(struct sample_filter *filter)
{
	return (struct collector_filter){
		.states = filter->options->states,
		.profiled = filter->options->only_profiled,
		.top = filter->options->top,
		.names = filter->threads ? name_matches : NULL,
		.context = filter,
	};
}

static bool is_function(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return strncmp(symbol, name, len) == 0 &&
	       (symbol[len] == '\0' || function_name_len(symbol) == len);
}

static bool is_under(struct sample_filter *filter, const struct sample *sample)
{
	const char *function = buf_text(&filter->only_under);

	for (size_t i = 0; i < sample->n_frames; i++) {
		buf_clear(&filter->symbol);
		if (!sample->frames[i].symbol ||
		    !sanitise_symbol(&filter->symbol, sample->frames[i].symbol))
			continue;
		if (is_function(buf_text(&filter->symbol), function))
			return true;
		if (!filter->a_stack_matched && !*filter->near &&
		    filter->symbol.len < sizeof(filter->near) &&
		    strstr(buf_text(&filter->symbol), function))
			memcpy(filter->near, buf_text(&filter->symbol), filter->symbol.len);
	}
	return false;
}

static bool is_of_thread(const struct sample_filter *filter, const struct sample *sample)
{
	const struct sample_filter_options *options = filter->options;

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

static struct last *last_of(struct sample_filter *filter, const struct sample *sample)
{
	/* A tid has 22 bits at most. */
	uint64_t key = (uint64_t)sample->process << 32 | sample_series(sample->event) << 24 |
		       (uint32_t)sample->tid;
	struct last *last = map_get(&filter->last, key);

	if (last || map_count(&filter->last) >= MAX_LAST)
		return last;
	last = calloc(1, sizeof(*last));
	if (!last)
		return NULL;
	last->fresh = true;
	if (map_put(&filter->last, key, last) < 0) {
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

void sample_filter_leave_out(struct sample_filter *filter, const struct sample *sample)
{
	struct filtered *filtered = &filter->filtered[sample_series(sample->event)];

	filtered->weight += sample->weight;
	filtered->samples++;
}

bool sample_filter_keeps(struct sample_filter *filter, struct sample *sample)
{
	struct last *last;

	if (!filter->options->only_under && filter->options->n_tids == 0)
		return true;
	if (!is_of_thread(filter, sample) ||
	    (filter->options->only_under && !is_under(filter, sample))) {
		sample_filter_leave_out(filter, sample);
		return false;
	}
	filter->a_stack_matched = true;
	last = last_of(filter, sample);
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

void sample_filter_release(struct sample_filter *filter)
{
	pattern_free(filter->threads);
	buf_release(&filter->only_under);
	buf_release(&filter->symbol);
	map_each(&filter->last, free_value, NULL);
	map_release(&filter->last);
	*filter = (struct sample_filter){0};
}

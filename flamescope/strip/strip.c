/* strip.c - what a thread did, in the order of time: its stacks, run by run */
#include "flamescope/strip/strip.h"

#include "base/cleanup.h"
#include "flamescope/query/stack_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SPANS = 1024 };

static const uint64_t second_ns = 1000000000;

/* A strip while it is made. */
struct making {
	const struct selection *selection;
	struct strip *strip;
	size_t size;
	size_t n_mine; /* the thread's samples: places in the selection */
	uint32_t *mine;
	uint64_t usual_ns; /* between two samples */
	bool weighted;     /* a sample stands for as many periods as it weighs */
	uint8_t clocks[PROFILE_MAX_EVENTS + 1];
	struct stack_path way; /* of the sample's stack, outermost last */
	struct stack_path open_nodes;
	struct stack_path open_spans;
	uint64_t end_ns; /* of the last sample */
};

static uint64_t add(uint64_t sum, uint64_t more)
{
	return more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

static uint64_t time_of(const struct making *making, size_t mine)
{
	return making->selection->profile->times_ns[making->selection->samples[making->mine[mine]]];
}

static int find_mine(struct making *making, uint32_t thread)
{
	const struct selection *selection = making->selection;
	const uint32_t *threads = selection->profile->threads;

	for (size_t i = 0; i < selection->n; i++)
		making->n_mine += threads[selection->samples[i]] == thread;
	making->mine = calloc(making->n_mine + 1, sizeof(*making->mine));
	if (!making->mine)
		return -ENOMEM;
	making->n_mine = 0;
	for (size_t i = 0; i < selection->n; i++) {
		if (threads[selection->samples[i]] == thread)
			making->mine[making->n_mine++] = (uint32_t)i;
	}
	return 0;
}

static int compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* The rate that the recording says, or the distance that half of the samples are within. */
static int find_usual(struct making *making)
{
	const struct profile *profile = making->selection->profile;
	uint64_t *gaps;
	size_t n = making->n_mine;

	for (size_t i = 0; i < profile->n_events; i++) {
		const char *event = profile->strings[profile->event_names[i]];

		making->clocks[i] = strstr(event, "clock") != NULL;
	}
	making->weighted = profile->is_wick && profile->hz > 0;
	making->usual_ns = profile->hz > 0 ? second_ns / profile->hz : second_ns / 100;
	if (profile->hz > 0 || n < 2)
		return 0;
	gaps = calloc(n, sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < n; i++)
		gaps[i] = time_of(making, i + 1) - time_of(making, i);
	qsort(gaps, n - 1, sizeof(*gaps), compare_times);
	if (gaps[(n - 1) / 2] > 0)
		making->usual_ns = gaps[(n - 1) / 2];
	free(gaps);
	return 0;
}

/* How long a sample stands for. */
static uint64_t period_of(const struct making *making, size_t mine)
{
	const struct profile *profile = making->selection->profile;
	uint32_t sample = making->selection->samples[making->mine[mine]];
	uint64_t period;

	if (!making->weighted || !making->clocks[profile->events[sample]] ||
	    profile->weights[sample] == 0)
		return making->usual_ns;
	if (__builtin_mul_overflow(making->usual_ns, profile->weights[sample], &period))
		return UINT64_MAX / 4;
	return period > UINT64_MAX / 4 ? UINT64_MAX / 4 : period;
}

/* A weight is of the time before a sample or behind it: either may bridge the two. */
static uint64_t end_of(const struct making *making, size_t mine)
{
	uint64_t from = time_of(making, mine);
	uint64_t period = period_of(making, mine);
	uint64_t next;
	uint64_t bridge = period;

	if (mine + 1 == making->n_mine)
		return add(from, period);
	next = time_of(making, mine + 1);
	if (period_of(making, mine + 1) > bridge)
		bridge = period_of(making, mine + 1);
	return next - from <= 2 * bridge ? next : add(from, period);
}

static int open_span(struct making *making, uint32_t node, uint64_t from_ns)
{
	struct strip *strip = making->strip;

	if (strip->n_spans == STRIP_MAX_SPANS)
		return -E2BIG;
	if (strip->n_spans == making->size) {
		size_t size = making->size ? making->size * 2 : FIRST_SPANS;
		struct strip_span *spans = realloc(strip->spans, size * sizeof(*spans));

		if (!spans)
			return -ENOMEM;
		strip->spans = spans;
		making->size = size;
	}
	strip->spans[strip->n_spans] = (struct strip_span){
		.frame = making->selection->nodes[node].frame,
		.depth = (uint32_t)making->open_nodes.n + 1,
		.from_ns = from_ns,
	};
	if (making->open_nodes.n + 1 > strip->depth)
		strip->depth = (uint32_t)making->open_nodes.n + 1;
	if (stack_path_push(&making->open_spans, (uint32_t)strip->n_spans) < 0 ||
	    stack_path_push(&making->open_nodes, node) < 0)
		return -ENOMEM;
	strip->n_spans++;
	return 0;
}

/* What the closed one had is its caller's, too. */
static void close_spans(struct making *making, size_t n_left)
{
	struct strip_span *spans = making->strip->spans;

	while (making->open_nodes.n > n_left) {
		struct strip_span *span = &spans[making->open_spans.nodes[--making->open_nodes.n]];

		making->open_spans.n = making->open_nodes.n;
		span->to_ns = making->end_ns;
		if (making->open_nodes.n > 0) {
			struct strip_span *caller =
				&spans[making->open_spans.nodes[making->open_nodes.n - 1]];

			caller->gain = add(caller->gain, span->gain);
			caller->loss = add(caller->loss, span->loss);
			caller->samples += span->samples;
		}
	}
}

/* How many of the open spans a stack goes on with; the rest of it is put on the way. */
static int find_common(struct making *making, uint32_t stack, size_t *ret_common)
{
	const struct profile_node *nodes = making->selection->nodes;
	const struct stack_path *open = &making->open_nodes;
	size_t common = open->n;
	int r = 0;

	/* Numbers grow along a stack: the larger one of two nodes is not among the other's callers.
	 */
	making->way.n = 0;
	while (r == 0 && stack != (common > 0 ? open->nodes[common - 1] : 0)) {
		if (common > 0 && open->nodes[common - 1] > stack) {
			common--;
		} else {
			r = stack_path_push(&making->way, stack);
			stack = nodes[stack].parent;
		}
	}
	*ret_common = common;
	return r;
}

static int add_sample(struct making *making, size_t mine)
{
	uint32_t place = making->mine[mine];
	uint64_t from_ns = time_of(making, mine);
	int64_t value = making->selection->values[place];
	struct strip_span *innermost;
	size_t common = 0;
	int r;

	if (from_ns > making->end_ns)
		close_spans(making, 0);
	r = find_common(making, making->selection->stacks[place], &common);
	if (r < 0)
		return r;
	close_spans(making, common);
	while (r == 0 && making->way.n > 0)
		r = open_span(making, making->way.nodes[--making->way.n], from_ns);
	if (r < 0)
		return r;
	making->end_ns = end_of(making, mine);
	if (making->open_spans.n == 0)
		return 0;
	innermost = &making->strip->spans[making->open_spans.nodes[making->open_spans.n - 1]];
	innermost->samples++;
	if (value < 0)
		innermost->loss = add(innermost->loss, 0 - (uint64_t)value);
	else
		innermost->gain = add(innermost->gain, (uint64_t)value);
	return 0;
}

static int make(struct making *making, uint32_t thread, struct err *err)
{
	int r = find_mine(making, thread);

	if (r == 0)
		r = find_usual(making);
	for (size_t i = 0; r == 0 && i < making->n_mine; i++)
		r = add_sample(making, i);
	if (r == 0) {
		close_spans(making, 0);
		return 0;
	}
	if (r != -E2BIG)
		return err_set(err, -r, "a strip");
	(void)err_set(err, 0, "a strip of more than %d runs", STRIP_MAX_SPANS);
	err_hint(err, "a shorter time");
	return r;
}

int strip_make(const struct selection *selection, uint32_t thread, struct strip **ret_strip,
	       struct err *err)
{
	struct making making = {.selection = selection};
	int r;

	if (thread >= selection->profile->n_threads) {
		(void)err_set(err, 0, "there is no thread number %u", thread);
		return -ENOENT;
	}
	making.strip = calloc(1, sizeof(*making.strip));
	if (!making.strip)
		return err_set(err, ENOMEM, "a strip");
	making.strip->thread = thread;
	r = make(&making, thread, err);
	free(making.mine);
	free(making.way.nodes);
	free(making.open_nodes.nodes);
	free(making.open_spans.nodes);
	if (r < 0) {
		strip_free(making.strip);
		return r;
	}
	*ret_strip = making.strip;
	return 0;
}

void strip_free(struct strip *strip)
{
	if (!strip)
		return;
	free(strip->spans);
	free(strip);
}

static int compare_threads(const void *left, const void *right)
{
	const struct strip_thread *a = left;
	const struct strip_thread *b = right;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

int strip_threads(const struct selection *selection, struct strip_thread **ret_threads,
		  size_t *ret_n)
{
	const struct profile *profile = selection->profile;
	struct strip_thread *threads = calloc(profile->n_threads + 1, sizeof(*threads));
	size_t n = 0;

	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; i < selection->n; i++)
		threads[profile->threads[selection->samples[i]]].samples++;
	for (size_t i = 0; i < profile->n_threads; i++) {
		if (threads[i].samples > 0)
			threads[n++] = (struct strip_thread){.thread = (uint32_t)i,
							     .samples = threads[i].samples};
	}
	qsort(threads, n, sizeof(*threads), compare_threads);
	*ret_threads = threads;
	*ret_n = n;
	return 0;
}

/* tracks.c - how much each process and thread has of a selection, and when */
#include "flamescope/heat/tracks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The threads of a process; one without a process is a group of its own. */
struct group {
	const char *label;
	double amount;
	double running;
	size_t n;
};

struct thread {
	const char *label;
	struct group *group;
	double amount;
	double running;
	size_t first; /* of its samples in `order` */
	size_t n;
};

struct making {
	const struct selection *whole;
	const struct tracks_window *window;
	struct tracks *tracks;
	struct dimension states;
	uint32_t *state_of;     /* by the value of the dimension; NULL: there are none */
	struct thread *threads; /* by their values, then most first */
	struct group *groups;   /* of processes by their values, then of threads */
	uint32_t *order;        /* samples of WHOLE, thread by thread */
	double *sums;           /* of one row */
	size_t n_room;          /* of cells */
};

void tracks_add(const struct selection *selection, size_t i, double amount,
		const struct tracks_window *window, double *bins, size_t step)
{
	const double bin_ns = (window->to_ns - window->from_ns) / (double)window->n_bins;
	const double time_ns = (double)selection->profile->times_ns[selection->samples[i]];
	const struct selection_span *span = selection->spans ? &selection->spans[i] : NULL;
	const double least = window->has_before ? 0 : -INFINITY;
	const double end =
		fmax(least, ((span ? (double)span->to_ns : time_ns) - window->from_ns) / bin_ns);
	const double start =
		span ? fmax(least, ((double)span->from_ns - window->from_ns) / bin_ns) : end;

	const double first = fmin(fmax(0, floor(start)), (double)window->n_bins);

	for (size_t at = (size_t)first; at < window->n_bins && (double)at <= end; at++) {
		const double covered = fmin(end, (double)at + 1) - fmax(start, (double)at);

		bins[at * step] += end > start ? amount * covered / (end - start) : amount;
	}
}

static double amount_of(const struct selection *selection, size_t i)
{
	return selection->measure == QUERY_MEAN || selection->is_signed
		       ? 1
		       : fabs((double)selection->values[i]);
}

/* The samples of each thread, and its process. */
static void sort_samples(struct making *making)
{
	const struct selection *whole = making->whole;
	struct tracks *tracks = making->tracks;
	size_t first = 0;

	for (size_t i = 0; i < whole->n; i++)
		making->threads[dimension_value(&tracks->threads, whole->samples[i])].n++;
	for (size_t i = 0; i < tracks->threads.n_values; i++) {
		making->threads[i].label = tracks->threads.labels[i];
		making->threads[i].first = first;
		first += making->threads[i].n;
		making->threads[i].n = 0;
	}
	for (size_t i = 0; i < whole->n; i++) {
		uint32_t value = dimension_value(&tracks->threads, whole->samples[i]);
		struct thread *thread = &making->threads[value];
		uint32_t process = dimension_value(&tracks->processes, whole->samples[i]);
		const char *label = tracks->processes.labels[process];

		making->order[thread->first + thread->n++] = (uint32_t)i;
		if (thread->group)
			continue;
		thread->group =
			&making->groups[*label ? process : tracks->processes.n_values + value];
		thread->group->label = *label ? label : thread->label;
		thread->group->n++;
	}
}

static void add_amounts(struct making *making, const struct selection *selected)
{
	struct tracks *tracks = making->tracks;

	for (size_t i = 0; i < selected->n; i++) {
		const uint32_t sample = selected->samples[i];
		struct thread *thread = &making->threads[dimension_value(&tracks->threads, sample)];
		const double amount = amount_of(selected, i);
		const char *state =
			making->state_of
				? making->states.labels[dimension_value(&making->states, sample)]
				: "";
		const double running = strcmp(state, "running") == 0 ? amount : 0;

		if (!thread->group)
			continue; /* it is in no sample of WHOLE */
		thread->amount += amount;
		thread->running += running;
		thread->group->amount += amount;
		thread->group->running += running;
		tracks->total += amount;
	}
}

/* Most first, those of a group beside each other, and those without a sample at the end. */
static int compare_threads(const void *left, const void *right)
{
	const struct thread *a = left;
	const struct thread *b = right;

	if (!a->group || !b->group)
		return !a->group - !b->group;
	if (a->group->amount != b->group->amount)
		return a->group->amount < b->group->amount ? 1 : -1;
	if (a->group != b->group) {
		int by_label = strcmp(a->group->label, b->group->label);

		return by_label ? by_label : a->group < b->group ? -1 : 1;
	}
	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	return strcmp(a->label, b->label);
}

static int keep_cells(struct making *making, unsigned level)
{
	struct tracks *tracks = making->tracks;
	const size_t n_sums = making->window->n_bins * tracks->n_states;
	double bin = 0;

	if (tracks->n_cells + n_sums > making->n_room) {
		const size_t n_room = 2 * making->n_room + n_sums;
		struct track_cell *cells = realloc(tracks->cells, n_room * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		tracks->cells = cells;
		making->n_room = n_room;
	}
	for (size_t at = 0; at < n_sums; at++) {
		bin = (at % tracks->n_states ? bin : 0) + making->sums[at];
		tracks->most[level] = fmax(tracks->most[level], bin);
		if (making->sums[at] != 0)
			tracks->cells[tracks->n_cells++] =
				(struct track_cell){(uint32_t)at, making->sums[at]};
	}
	return 0;
}

static void add_sample(struct making *making, size_t i)
{
	const struct selection *whole = making->whole;
	const size_t n_states = making->tracks->n_states;
	const uint32_t value =
		making->state_of ? dimension_value(&making->states, whole->samples[i]) : 0;
	const size_t state = making->state_of ? making->state_of[value] : n_states - 1;

	tracks_add(whole, i, amount_of(whole, i), making->window, making->sums + state, n_states);
}

/* ROW of N threads. */
static int add_row(struct making *making, const struct thread *threads, size_t n, struct track row)
{
	struct tracks *tracks = making->tracks;
	int r;

	memset(making->sums, 0, making->window->n_bins * tracks->n_states * sizeof(*making->sums));
	for (size_t t = 0; t < n; t++)
		for (size_t i = 0; i < threads[t].n; i++)
			add_sample(making, making->order[threads[t].first + i]);
	row.from = tracks->n_cells;
	r = keep_cells(making, row.level);
	row.to = tracks->n_cells;
	tracks->rows[tracks->n++] = row;
	return r;
}

static int add_rows(struct making *making)
{
	const size_t n_threads = making->tracks->threads.n_values;
	const struct group *group = NULL;
	int r = 0;

	qsort(making->threads, n_threads, sizeof(*making->threads), compare_threads);
	for (size_t i = 0; r == 0 && i < n_threads && making->threads[i].group; i++) {
		const struct thread *thread = &making->threads[i];
		const bool is_alone = thread->group->n == 1;

		if (!is_alone && thread->group != group) {
			group = thread->group;
			r = add_row(making, thread, group->n,
				    (struct track){.label = group->label,
						   .level = 1,
						   .n_threads = group->n,
						   .amount = group->amount,
						   .running = group->running});
		}
		if (r == 0)
			r = add_row(making, thread, 1,
				    (struct track){.label = thread->label,
						   .level = is_alone ? 1 : 2,
						   .amount = thread->amount,
						   .running = thread->running});
	}
	return r;
}

/* The number of each value of the tag: its place among STATES, or the last. */
static int number_states(struct making *making, const char *const *states)
{
	const struct profile *profile = making->whole->profile;
	struct err no_tag = {0};

	while (states[making->tracks->n_states])
		making->tracks->n_states++;
	making->tracks->n_states++;
	if (dimension_init(&making->states, profile, "state", NULL, &no_tag) < 0)
		return 0;
	making->state_of = calloc(making->states.n_values + 1, sizeof(*making->state_of));
	if (!making->state_of)
		return -ENOMEM;
	for (size_t i = 0; i < making->states.n_values; i++)
		while (states[making->state_of[i]] &&
		       strcmp(states[making->state_of[i]], making->states.labels[i]) != 0)
			making->state_of[i]++;
	return 0;
}

static int make(struct making *making, const struct selection *selected, const char *const *states,
		struct err *err)
{
	const struct profile *profile = making->whole->profile;
	struct tracks *tracks = making->tracks;
	int r = number_states(making, states);
	size_t n;

	if (r == 0)
		r = dimension_init(&tracks->threads, profile, "thread", NULL, err);
	if (r == 0)
		r = dimension_init(&tracks->processes, profile, "process", NULL, err);
	if (r < 0)
		return r;
	n = tracks->threads.n_values;
	making->threads = calloc(n + 1, sizeof(*making->threads));
	making->groups = calloc(n + tracks->processes.n_values + 1, sizeof(*making->groups));
	making->order = calloc(making->whole->n + 1, sizeof(*making->order));
	making->sums = calloc(making->window->n_bins * tracks->n_states, sizeof(*making->sums));
	tracks->rows = calloc(2 * n + 1, sizeof(*tracks->rows));
	if (!making->threads || !making->groups || !making->order || !making->sums || !tracks->rows)
		return -ENOMEM;
	sort_samples(making);
	add_amounts(making, selected);
	return add_rows(making);
}

int tracks_make(const struct selection *whole, const struct selection *selected,
		const struct tracks_window *window, const char *const *states,
		struct tracks **ret_tracks, struct err *err)
{
	struct making making = {.whole = whole, .window = window};
	int r = -ENOMEM;

	making.tracks = calloc(1, sizeof(*making.tracks));
	if (making.tracks)
		r = make(&making, selected, states, err);
	dimension_release(&making.states);
	free(making.state_of);
	free(making.threads);
	free(making.groups);
	free(making.order);
	free(making.sums);
	if (r == 0) {
		*ret_tracks = making.tracks;
		return 0;
	}
	tracks_free(making.tracks);
	return err_set(err, -r, "the tracks of threads");
}

void tracks_free(struct tracks *tracks)
{
	if (!tracks)
		return;
	dimension_release(&tracks->threads);
	dimension_release(&tracks->processes);
	free(tracks->rows);
	free(tracks->cells);
	free(tracks);
}

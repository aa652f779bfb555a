/* top_model.c - samples counted by function, by moment and by thread */
#include "tools/top/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 1024 };

#define SECOND_NS UINT64_C(1000000000)

int top_model_init(struct top_model *model, uint64_t period_ns, uint64_t now_ns)
{
	model->period_ns = period_ns;
	model->since_ns = now_ns;
	model->seconds = calloc(TOP_SECONDS, sizeof(*model->seconds));
	return model->seconds ? 0 : -ENOMEM;
}

static void add_recent(struct top_recent *recent, uint64_t time_ns, uint64_t ns)
{
	uint64_t number = time_ns / TOP_SLOT_NS;
	size_t at = number % TOP_SLOTS;

	if (recent->number[at] != number) {
		recent->number[at] = number;
		recent->ns[at] = 0;
	}
	recent->ns[at] += ns;
}

/* The first slot after the window. */
static uint64_t window_end(uint64_t now_ns)
{
	return now_ns > TOP_LATE_NS ? (now_ns - TOP_LATE_NS) / TOP_SLOT_NS : 0;
}

uint64_t top_recent_ns(const struct top_recent *recent, uint64_t now_ns)
{
	uint64_t end = window_end(now_ns);
	uint64_t n = TOP_WINDOW_NS / TOP_SLOT_NS;
	uint64_t sum = 0;

	for (size_t i = 0; i < TOP_SLOTS; i++)
		if (recent->number[i] < end && recent->number[i] + n >= end)
			sum += recent->ns[i];
	return sum;
}

uint64_t top_window_ns(const struct top_model *model, uint64_t now_ns)
{
	uint64_t end_ns = window_end(now_ns) * TOP_SLOT_NS;
	uint64_t ns = end_ns > model->since_ns ? end_ns - model->since_ns : 1;

	return ns < TOP_WINDOW_NS ? ns : TOP_WINDOW_NS;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The copy of a frame's name; what has none is known by its module. */
static const char *name_of(struct top_model *model, const struct frame *frame)
{
	char name[MAX_NAME];

	if (frame->symbol)
		return intern_string(&model->strings, frame->symbol);
	(void)snprintf(name, sizeof(name), "[%s]",
		       frame->module ? base_of(frame->module) : "unknown");
	return intern_string(&model->strings, name);
}

static struct top_function *new_function(struct top_model *model, const char *symbol,
					 const char *module)
{
	struct top_function *function = NULL;

	if (model->n_functions == model->room) {
		size_t room = model->room ? 2 * model->room : 256;
		struct top_function **more =
			reallocarray(model->functions, room, sizeof(struct top_function *));

		if (!more)
			return NULL;
		model->functions = more;
		model->room = room;
	}
	function = calloc(1, sizeof(*function));
	if (!function)
		return NULL;
	function->symbol = symbol;
	function->module = module;
	function->next = map_get(&model->by_symbol, (uint64_t)(uintptr_t)symbol);
	if (map_put(&model->by_symbol, (uint64_t)(uintptr_t)symbol, function) < 0) {
		free(function);
		return NULL;
	}
	model->functions[model->n_functions++] = function;
	return function;
}

static struct top_function *find_function(struct top_model *model, const char *symbol,
					  const char *module)
{
	struct top_function *at = NULL;

	if (!symbol || !module)
		return NULL;
	at = map_get(&model->by_symbol, (uint64_t)(uintptr_t)symbol);
	while (at && at->module != module)
		at = at->next;
	return at;
}

/* NULL: memory ran out. */
static struct top_function *function_of(struct top_model *model, const struct frame *frame)
{
	const char *symbol = name_of(model, frame);
	const char *module =
		intern_string(&model->strings, frame->module ? base_of(frame->module) : "");
	struct top_function *function = find_function(model, symbol, module);

	if (function || !symbol || !module)
		return function;
	if (model->n_functions >= TOP_MAX_FUNCTIONS) {
		model->full = true;
		symbol = intern_string(&model->strings, "[others]");
		module = intern_string(&model->strings, "");
		function = find_function(model, symbol, module);
	}
	return function || !symbol || !module ? function : new_function(model, symbol, module);
}

static void add_frames(struct top_model *model, const struct sample *sample, uint64_t ns)
{
	for (size_t i = 0; i < sample->n_frames; i++) {
		struct top_function *function = function_of(model, &sample->frames[i]);

		if (!function) {
			model->full = true;
			continue;
		}
		if (i == 0) {
			function->self_ns += ns;
			add_recent(&function->self, sample->time_ns, ns);
		}
		if (function->last_sample == model->samples)
			continue;
		function->last_sample = model->samples;
		function->total_ns += ns;
		add_recent(&function->total, sample->time_ns, ns);
	}
}

static void add_moment(struct top_model *model, uint64_t time_ns, uint64_t ns)
{
	uint64_t number = time_ns / SECOND_NS;
	struct top_second *second = &model->seconds[number % TOP_SECONDS];

	if (!second->used || second->number < number)
		*second = (struct top_second){.number = number, .used = true};
	if (second->number == number) /* else too old to be remembered */
		second->ns[time_ns % SECOND_NS * TOP_PARTS / SECOND_NS] += ns;
}

static void see_thread(struct top_model *model, const struct sample *sample)
{
	struct top_seen *seen = map_get(&model->threads, (uint64_t)sample->tid);

	if (!seen) {
		if (map_count(&model->threads) >= TOP_MAX_THREADS) {
			model->full = true;
			return;
		}
		seen = calloc(1, sizeof(*seen));
		if (!seen || map_put(&model->threads, (uint64_t)sample->tid, seen) < 0) {
			free(seen);
			model->full = true;
			return;
		}
	}
	*seen = (struct top_seen){
		.pid = sample->pid,
		.tid = sample->tid,
		.state = sample->state,
		.wait = sample->wait,
		.symbol = sample->n_frames ? name_of(model, &sample->frames[0]) : NULL,
		.time_ns = sample->time_ns,
	};
}

void top_model_add(struct top_model *model, const struct sample *sample)
{
	uint64_t ns = sample->weight * model->period_ns;

	if (sample->time_ns < model->since_ns)
		return;
	model->samples++;
	model->sum_ns += ns;
	add_recent(&model->recent, sample->time_ns, ns);
	add_moment(model, sample->time_ns, ns);
	add_frames(model, sample, ns);
	see_thread(model, sample);
}

static void free_thread(void *context, uint64_t tid, void *seen)
{
	(void)context;
	(void)tid;
	free(seen);
}

static void forget(struct top_model *model)
{
	for (size_t i = 0; i < model->n_functions; i++)
		free(model->functions[i]);
	map_each(&model->threads, free_thread, NULL);
	map_release(&model->threads);
	map_release(&model->by_symbol);
	intern_release(&model->strings);
	model->n_functions = 0;
	model->samples = 0;
	model->sum_ns = 0;
	model->recent = (struct top_recent){0};
	model->full = false;
}

void top_model_reset(struct top_model *model, uint64_t now_ns)
{
	forget(model);
	model->since_ns = now_ns;
}

void top_model_release(struct top_model *model)
{
	forget(model);
	free(model->functions);
	free(model->seconds);
	*model = (struct top_model){0};
}

/* stack_names.c - names for the stacks that `wick stack` took */
#include "tools/stack/stack_names.h"

#include "base/io.h"
#include "base/map.h"
#include "sampler/collector/limits.h"
#include "sampler/collector/process/mappings.h"
#include "tools/cli/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESS = 1, MOST_WAITS = 50 };
#define WAIT_NS UINT64_C(100000000)

struct stack_names {
	struct symbolizer *symbolizer;
	struct mappings mappings; /* paths are its */
	pid_t pid;
	uint64_t taken_ns;
	const struct core *core; /* whose stacks they are; NULL: a process's */
	struct map modules;      /* of a core: by the address of the path that frames have */
	struct frame frames[SAMPLE_MAX_NAMED];
};

static void add_mapping(void *context, const struct mapping *mapping)
{
	const struct stack_names *names = context;
	struct mapping whole = *mapping;

	whole.process = PROCESS;
	whole.pid = names->pid;
	symbolizer_add(names->symbolizer, &whole);
}

static int read_mappings(struct stack_names *names, struct err *err)
{
	const struct mapping_sink sink = {.emit = add_mapping, .context = names};
	struct buf text;
	char path[64];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)names->pid);
	buf_init(&text, MAPS_MAX_BYTES);
	r = io_read_file(path, &text, err);
	if (r == 0 && mappings_update(&names->mappings, &text, io_now_ns(), &sink) < 0)
		r = err_set(err, ENOMEM, "read '%s'", path);
	buf_release(&text);
	return r;
}

/* The frames are the symbolizer's to change: it is given a copy. */
static struct sample sample_of(struct stack_names *names, const struct stack *stack)
{
	size_t n = stack->n_frames < SAMPLE_MAX_NAMED ? stack->n_frames : SAMPLE_MAX_NAMED;

	memcpy(names->frames, stack->frames, n * sizeof(names->frames[0]));
	return (struct sample){.time_ns = names->taken_ns,
			       .process = PROCESS,
			       .pid = names->pid,
			       .tid = (pid_t)stack->tid,
			       .n_frames = n,
			       .frames = names->frames};
}

static void wait(struct symbolizer *symbolizer)
{
	for (int i = 0; i < MOST_WAITS && symbolizer_is_busy(symbolizer); i++)
		symbolizer_wait(symbolizer, WAIT_NS);
}

/* All at once, so that each file is read once. */
static void ask(struct stack_names *names, const struct stacks *stacks)
{
	wait(names->symbolizer);
	for (size_t i = 0; i < stacks->n; i++) {
		struct sample sample = sample_of(names, &stacks->at[i]);

		symbolizer_request(names->symbolizer, &sample);
	}
	wait(names->symbolizer);
}

static struct stack_names *make(const struct symbol_options *options, struct err *err)
{
	struct symbolize_options symbols = {0};
	struct stack_names *names = calloc(1, sizeof(*names));

	if (!names) {
		(void)err_set(err, ENOMEM, "look up names");
		return NULL;
	}
	symbol_options_pass(options, &symbols);
	if (symbol_options_start(&symbols, &names->symbolizer, err) < 0) {
		free(names);
		return NULL;
	}
	return names;
}

int stack_names_of_process(const struct symbol_options *options, pid_t pid,
			   const struct stacks *stacks, struct stack_names **ret_names,
			   struct err *err)
{
	struct stack_names *names = make(options, err);
	int r;

	if (!names)
		return -ENOMEM;
	names->pid = pid;
	r = read_mappings(names, err);
	if (r < 0) {
		stack_names_free(names);
		return r;
	}
	names->taken_ns = io_now_ns();
	ask(names, stacks);
	*ret_names = names;
	return 0;
}

static uint64_t key_of(const char *path)
{
	return (uint64_t)(uintptr_t)path;
}

/* Only files that a frame is in are looked for. */
static void open_module(struct stack_names *names, const char *path)
{
	const struct core_module *modules;
	size_t n = core_modules(names->core, &modules);
	struct module *module;
	struct err err = {0};

	for (size_t i = 0; i < n; i++) {
		if (modules[i].path != path)
			continue;
		module = symbolizer_open(names->symbolizer, path, modules[i].build_id, &err);
		if (!module)
			say_note("no names: %s", err.text);
		(void)map_put(&names->modules, key_of(path), module);
		return;
	}
}

static void open_modules(struct stack_names *names, const struct stacks *stacks)
{
	struct map seen = {0};

	for (size_t i = 0; i < stacks->n; i++)
		for (size_t f = 0; f < stacks->at[i].n_frames; f++) {
			const char *path = stacks->at[i].frames[f].module;

			if (!path || map_get(&seen, key_of(path)))
				continue;
			(void)map_put(&seen, key_of(path), names);
			open_module(names, path);
		}
	map_release(&seen);
}

static struct module *module_of(const struct stack_names *names, const struct frame *frame)
{
	if (!frame->module || !frame->module_offset)
		return NULL;
	return map_get(&names->modules, key_of(frame->module));
}

static void ask_of_core(struct stack_names *names, const struct stacks *stacks)
{
	wait(names->symbolizer);
	for (size_t i = 0; i < stacks->n; i++)
		for (size_t f = 0; f < stacks->at[i].n_frames; f++) {
			const struct frame *frame = &stacks->at[i].frames[f];
			struct module *module = module_of(names, frame);

			if (module)
				symbolizer_request_in(names->symbolizer, module,
						      frame->module_offset - !frame->exact);
		}
	wait(names->symbolizer);
}

int stack_names_of_core(const struct symbol_options *options, const struct core *core,
			const struct stacks *stacks, struct stack_names **ret_names,
			struct err *err)
{
	struct stack_names *names = make(options, err);

	if (!names)
		return -ENOMEM;
	names->core = core;
	open_modules(names, stacks);
	ask_of_core(names, stacks);
	*ret_names = names;
	return 0;
}

/* Return: how many frames stand at TO for one: with the calls that were inlined there. */
static size_t name_frame(struct stack_names *names, const struct frame *frame, struct frame *to,
			 size_t room)
{
	struct module *module = module_of(names, frame);
	struct frame one = *frame;
	struct sample sample = {.n_frames = 1, .frames = &one};
	size_t n;

	if (module)
		(void)symbolizer_resolve_in(names->symbolizer, module, &sample, true);
	n = sample.n_frames < room ? sample.n_frames : room;
	memcpy(to, sample.frames, n * sizeof(*to));
	return n;
}

static size_t find_in_core(struct stack_names *names, const struct stack *stack)
{
	size_t n = 0;

	for (size_t i = 0; i < stack->n_frames && n < SAMPLE_MAX_NAMED; i++)
		n += name_frame(names, &stack->frames[i], names->frames + n, SAMPLE_MAX_NAMED - n);
	return n;
}

size_t stack_names_find(struct stack_names *names, const struct stack *stack,
			const struct frame **ret_frames)
{
	struct sample sample;

	if (names->core) {
		*ret_frames = names->frames;
		return find_in_core(names, stack);
	}
	sample = sample_of(names, stack);
	(void)symbolizer_resolve(names->symbolizer, &sample, true);
	*ret_frames = sample.frames;
	return sample.n_frames;
}

void stack_names_free(struct stack_names *names)
{
	if (!names)
		return;
	symbolizer_free(names->symbolizer);
	mappings_release(&names->mappings);
	map_release(&names->modules);
	free(names);
}

/* stack_names.c - names for the stacks that `wick stack` took */
#include "tools/stack/stack_names.h"

#include "base/io.h"
#include "sampler/collector/process/mappings.h"
#include "sampler/procfs/proc_maps.h"

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

size_t stack_names_find(struct stack_names *names, const struct stack *stack,
			const struct frame **ret_frames)
{
	struct sample sample = sample_of(names, stack);

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
	free(names);
}

/* resolve.c - the frames of a sample, named and with the calls that were inlined */
#include "symbolize/asking.h"
#include "symbolize/jit.h"

#include <errno.h>
#include <string.h>

/* One address being named. */
struct lookup {
	uint64_t addr; /* where to look: the frame's address, or inside the call before it */
	uint64_t vaddr;
	struct module *module;       /* who was asked */
	const struct answer *answer; /* NULL: none */
	const char *symbol;          /* where a map names it */
	uint64_t start;
	bool pending;
};

static struct remembered *place_of(struct symbolizer *symbolizer, const struct lookup *lookup)
{
	uint64_t hash = (lookup->vaddr ^ (uint64_t)(uintptr_t)lookup->module) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &symbolizer->remembered[(hash >> 32) % SYMBOLIZER_REMEMBERED];
}

static void look_in_file(struct symbolizer *symbolizer, struct lookup *lookup, bool force)
{
	struct remembered *remembered = place_of(symbolizer, lookup);

	if (remembered->module == lookup->module && remembered->vaddr == lookup->vaddr) {
		lookup->answer = remembered->answer;
		return;
	}
	lookup->answer =
		asking_find(symbolizer, lookup->module, lookup->vaddr, force, &lookup->pending);
	if (lookup->answer && lookup->answer != symbolizer->loose)
		*remembered = (struct remembered){
			.module = lookup->module, .vaddr = lookup->vaddr, .answer = lookup->answer};
}

static void look_in_map(struct symbolizer *symbolizer, struct module *jit, struct frame *frame,
			struct lookup *lookup, uint64_t time_ns)
{
	struct jit_name name;

	if (!jit)
		return;
	name = jit_find(jit->jit, symbolizer->loader, lookup->addr, time_ns,
			symbolizer->options.wait);
	lookup->pending = name.pending;
	if (name.pending && name.due_ns)
		symbolizer->due_ns = name.due_ns;
	if (name.symbol) {
		lookup->symbol = names_readable(&symbolizer->names, name.symbol);
		lookup->start = name.start;
		frame->file = name.file ? names_keep(&symbolizer->names, name.file) : NULL;
		frame->line = name.line;
	}
	if (!jit_has_map(jit->jit))
		return;
	lookup->module = jit;
	frame->module = name.from ? names_keep(&symbolizer->names, name.from) : jit->path;
}

/* One pass over the frames of a sample. */
struct pass {
	struct symbolizer *symbolizer;
	struct process *process;
	struct module *module; /* all frames are of this one; NULL: of the process */
	uint64_t time_ns;
	bool force;
	int n_pending;
	int n_unnamed; /* for want of what is pending */
	size_t n_to;
	bool cut;
};

/* Name what FRAME's address is in; FRAME says then what the writer shows of the function itself. */
static void name_frame(struct pass *pass, struct frame *frame, struct lookup *lookup)
{
	struct process *process = pass->process;
	uint64_t step = frame->exact ? 0 : 1;
	const struct span *span;
	uint64_t offset;

	*lookup = (struct lookup){.addr = frame->addr - step};
	if (pass->module) {
		lookup->module = pass->module;
		lookup->vaddr = frame->module_offset - step;
		look_in_file(pass->symbolizer, lookup, pass->force);
		return;
	}
	span = process ? spans_find(&process->spans, lookup->addr, pass->time_ns) : NULL;
	*frame = (struct frame){.addr = frame->addr, .exact = frame->exact};
	if (!span)
		return;
	lookup->module = span->module;
	frame->module = span->path;
	if (module_is_jit_place(span->module)) {
		look_in_map(pass->symbolizer, process->jit, frame, lookup, pass->time_ns);
		frame->symbol = lookup->symbol;
		frame->offset = lookup->symbol ? frame->addr - lookup->start : 0;
		return;
	}
	offset = lookup->addr - span->base;
	/* Without headers the offset in the file is the best there is. */
	lookup->vaddr = offset + span->pgoff;
	if (elf_head_vaddr(&span->module->head, offset, span->pgoff, span->bytes, &lookup->vaddr))
		look_in_file(pass->symbolizer, lookup, pass->force);
	frame->module_offset = lookup->vaddr + step;
}

/* What an answer says of the function itself. */
static void take_answer(const struct answer *answer, struct frame *frame)
{
	frame->symbol = answer->function.symbol;
	frame->offset = frame->symbol ? frame->module_offset - answer->start : 0;
	frame->file = answer->function.file;
	frame->line = answer->function.line;
}

/* FRAME, and before it the calls inlined there; what there is no room for is left out. */
static size_t expand(const struct answer *answer, const struct frame *frame, bool inlined,
		     struct frame *to, size_t room)
{
	size_t n = answer && inlined ? answer->n_inlined : 0;

	for (size_t i = 0; i < n && i < room; i++) {
		to[i] = *frame;
		to[i].symbol = answer->inlined[i].symbol;
		to[i].file = answer->inlined[i].file;
		to[i].line = answer->inlined[i].line;
		to[i].offset = 0;
		to[i].inlined = true;
	}
	if (n >= room)
		return room;
	to[n] = *frame;
	if (answer)
		take_answer(answer, &to[n]);
	return n + 1;
}

static void count(const struct lookup *lookup, const struct frame *frame)
{
	struct module *module = lookup->module;

	if (!module)
		return;
	module->lookups++;
	module->unnamed += lookup->answer ? !lookup->answer->named : !frame->symbol;
}

static void pass_over(struct pass *pass, const struct frame *frames, size_t n_frames, size_t room)
{
	struct symbolizer *symbolizer = pass->symbolizer;

	for (size_t i = 0; i < n_frames; i++) {
		struct frame frame = frames[i];
		struct lookup lookup;

		if (pass->n_to == room) {
			pass->cut = true;
			return;
		}
		name_frame(pass, &frame, &lookup);
		pass->n_pending += lookup.pending;
		if (pass->n_pending && !pass->force)
			continue; /* go on only to know all that is wanted */
		pass->n_to += expand(lookup.answer, &frame, !symbolizer->options.no_inline,
				     symbolizer->frames + pass->n_to, room - pass->n_to);
		pass->n_unnamed += lookup.pending && !symbolizer->frames[pass->n_to - 1].symbol;
		count(&lookup, &frame);
	}
}

static int resolve(struct pass *pass, struct sample *sample)
{
	size_t n_frames;

	pass_over(pass, sample->frames, sample->n_frames, SAMPLE_MAX_NAMED);
	n_frames = pass->n_to;
	if (!pass->cut)
		pass_over(pass, sample->frames + sample->n_frames, sample->n_waker,
			  SAMPLE_MAX_NAMED);
	if (pass->n_pending && !pass->force)
		return -EAGAIN;
	sample->truncated |= pass->cut && n_frames == SAMPLE_MAX_NAMED;
	sample->frames = pass->symbolizer->frames;
	sample->n_frames = n_frames;
	sample->n_waker = pass->n_to - n_frames;
	return pass->n_unnamed;
}

/* Where the loader works in the caller, what is pending is there after one more look. */
static int resolve_in(struct symbolizer *symbolizer, struct module *module, struct sample *sample,
		      bool force)
{
	bool wait = symbolizer->options.wait;
	const struct pass first = {
		.symbolizer = symbolizer,
		.process = module ? NULL : map_get(&symbolizer->processes, sample->process),
		.module = module,
		.time_ns = sample->time_ns,
		.force = force && !wait,
	};
	struct pass pass = first;
	int r;

	asking_advance(symbolizer, false);
	r = resolve(&pass, sample);
	if (r != -EAGAIN)
		return r;
	asking_advance(symbolizer, wait);
	if (!wait)
		return r;
	pass = first;
	pass.force = true;
	return resolve(&pass, sample);
}

int symbolizer_resolve(struct symbolizer *symbolizer, struct sample *sample, bool force)
{
	return resolve_in(symbolizer, NULL, sample, force);
}

int symbolizer_resolve_in(struct symbolizer *symbolizer, struct module *module,
			  struct sample *sample, bool force)
{
	return resolve_in(symbolizer, module, sample, force);
}

void symbolizer_ask(struct symbolizer *symbolizer, const struct sample *sample)
{
	struct pass pass = {
		.symbolizer = symbolizer,
		.process = map_get(&symbolizer->processes, sample->process),
		.time_ns = sample->time_ns,
	};

	for (size_t i = 0; i < sample->n_frames + sample->n_waker; i++) {
		struct frame frame = sample->frames[i];
		struct lookup lookup;

		name_frame(&pass, &frame, &lookup);
	}
	asking_advance(symbolizer, false);
}

void symbolizer_ask_in(struct symbolizer *symbolizer, struct module *module, uint64_t vaddr)
{
	bool pending;

	(void)asking_find(symbolizer, module, vaddr, false, &pending);
}

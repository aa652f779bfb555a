/* resolve.c - the frames of a sample, named and with the calls that were inlined */
#include "symbolize/internal.h"
#include "symbolize/jit/jit.h"
#include "symbolize/kernel/kernel.h"
#include "symbolize/spans.h"

#include <errno.h>
#include <string.h>

/* One address being named. */
struct lookup {
	uint64_t addr; /* the address to search: the frame's, or inside the call before it */
	uint64_t vaddr;
	struct module *module;             /* that the address is in */
	const struct address_entry *entry; /* NULL: none */
	const char *symbol;                /* from a map */
	uint64_t start;
	bool pending;
};

static void search_map(struct symbolizer *symbolizer, struct module *jit, struct frame *frame,
		       struct lookup *lookup, uint64_t time_ns)
{
	struct jit_name name;

	if (!jit)
		return;
	name = jit_find(jit->jit, symbolizer->loader, lookup->addr, time_ns,
			symbolizer->options.wait ? JIT_REREAD_NOW
			: symbolizer->waiting    ? JIT_REREAD_SOON
						 : JIT_REREAD_LATER);
	lookup->pending = name.pending;
	if (name.pending && name.due_ns)
		symbolizer->due_ns = name.due_ns;
	if (name.symbol) {
		lookup->symbol = names_readable(&symbolizer->names, name.symbol, &jit->demangling);
		lookup->start = name.start;
		frame->file = name.file ? names_intern(&symbolizer->names, name.file) : NULL;
		frame->line = name.line;
	}
	if (!jit_has_map(jit->jit))
		return;
	lookup->module = jit;
	frame->module = name.from ? names_intern(&symbolizer->names, name.from) : jit->path;
}

/* One pass over the frames of a sample. */
struct pass {
	struct symbolizer *symbolizer;
	struct process *process;
	struct module *module; /* all frames are of this one; NULL: of the process */
	uint64_t time_ns;
	bool force;
	int n_pending;
	int n_unnamed; /* because their lookup is pending */
	size_t n_to;
	bool truncated;
};

static void look_in_file(const struct pass *pass, struct lookup *lookup)
{
	lookup->entry = symbol_request_find(pass->symbolizer, lookup->module, lookup->vaddr,
					    pass->force, &lookup->pending);
}

/* The upper half of the address space is the kernel's. */
static bool in_kernel(const struct frame *frame)
{
	return frame->addr >> 63;
}

static void search_kernel(struct symbolizer *symbolizer, struct frame *frame)
{
	uint64_t start = 0;

	frame->module = "[kernel.kallsyms]";
	if (!symbolizer->kernel && !symbolizer->kernel_hidden)
		symbolizer->kernel_hidden =
			kernel_symbols_new(NULL, symbolizer->options.cache_folder,
					   &symbolizer->kernel) < 0;
	if (symbolizer->kernel)
		frame->symbol = kernel_symbols_find(symbolizer->kernel, frame->addr - !frame->exact,
						    &start, &frame->module);
	frame->offset = frame->symbol ? frame->addr - start : 0;
}

/* Looks up the address of FROM; sets in TO what is shown of the function itself. */
static void name_frame(struct pass *pass, const struct frame *from, struct frame *to,
		       struct lookup *lookup)
{
	struct process *process = pass->process;
	uint64_t step = from->exact ? 0 : 1;
	const struct span *span;
	uint64_t offset;

	*lookup = (struct lookup){.addr = from->addr - step};
	if (pass->module) {
		*to = *from;
		lookup->module = pass->module;
		lookup->vaddr = from->module_offset - step;
		look_in_file(pass, lookup);
		return;
	}
	*to = (struct frame){.addr = from->addr, .exact = from->exact};
	if (in_kernel(from)) {
		search_kernel(pass->symbolizer, to);
		return;
	}
	span = process ? spans_find(&process->spans, lookup->addr, pass->time_ns) : NULL;
	if (!span)
		return;
	lookup->module = span->module;
	to->module = span->path;
	if (module_is_jit_place(span->module)) {
		search_map(pass->symbolizer, process->jit, to, lookup, pass->time_ns);
		to->symbol = lookup->symbol;
		to->offset = lookup->symbol ? from->addr - lookup->start : 0;
		return;
	}
	offset = lookup->addr - span->base;
	/* Without headers use the offset in the file. */
	lookup->vaddr = offset + span->pgoff;
	if (elf_head_vaddr(&span->module->head, offset, span->pgoff, span->bytes, &lookup->vaddr))
		look_in_file(pass, lookup);
	to->module_offset = lookup->vaddr + step;
}

/* Sets what an entry has of the function itself. */
static void take_entry(const struct address_entry *entry, struct frame *frame)
{
	frame->symbol = entry->function.symbol;
	frame->offset = frame->symbol ? frame->module_offset - entry->start : 0;
	frame->file = entry->function.file;
	frame->line = entry->function.line;
}

/* Puts the inlined calls before the function AT, as many as there is room for. */
static size_t expand(const struct address_entry *entry, bool inlined, struct frame *at, size_t room)
{
	size_t n = inlined ? entry->n_inlined : 0;

	if (n < room)
		at[n] = *at;
	for (size_t i = n < room ? n : room; i-- > 0;) {
		at[i] = *at;
		at[i].symbol = entry->inlined[i].symbol;
		at[i].file = entry->inlined[i].file;
		at[i].line = entry->inlined[i].line;
		at[i].offset = 0;
		at[i].inlined = true;
	}
	if (n >= room)
		return room;
	take_entry(entry, &at[n]);
	return n + 1;
}

static void count(const struct lookup *lookup, const struct frame *frame)
{
	struct module *module = lookup->module;

	if (!module)
		return;
	module->lookups++;
	module->unnamed += lookup->entry ? !lookup->entry->named : !frame->symbol;
}

static void pass_over(struct pass *pass, const struct frame *frames, size_t n_frames, size_t room)
{
	struct symbolizer *symbolizer = pass->symbolizer;

	for (size_t i = 0; i < n_frames; i++) {
		struct frame *to = symbolizer->frames + pass->n_to;
		struct lookup lookup;

		if (pass->n_to == room) {
			pass->truncated = true;
			return;
		}
		name_frame(pass, &frames[i], to, &lookup);
		pass->n_pending += lookup.pending;
		if (pass->n_pending && !pass->force)
			continue; /* go on only to request the other addresses */
		pass->n_to += lookup.entry ? expand(lookup.entry, !symbolizer->options.no_inline,
						    to, room - pass->n_to)
					   : 1;
		pass->n_unnamed += lookup.pending && !symbolizer->frames[pass->n_to - 1].symbol;
		count(&lookup, to);
	}
}

static int resolve(struct pass *pass, struct sample *sample)
{
	size_t n_frames;

	pass_over(pass, sample->frames, sample->n_frames, SAMPLE_MAX_NAMED);
	n_frames = pass->n_to;
	if (!pass->truncated)
		pass_over(pass, sample->frames + sample->n_frames, sample->n_waker,
			  SAMPLE_MAX_NAMED);
	if (pass->n_pending && !pass->force)
		return -EAGAIN;
	sample->truncated |= pass->truncated && n_frames == SAMPLE_MAX_NAMED;
	sample->frames = pass->symbolizer->frames;
	sample->n_frames = n_frames;
	sample->n_waker = pass->n_to - n_frames;
	return pass->n_unnamed;
}

/* Where the loader has no threads, a second pass finds what was pending. */
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

	symbol_request_advance(symbolizer, false);
	r = resolve(&pass, sample);
	if (r != -EAGAIN)
		return r;
	symbol_request_advance(symbolizer, wait);
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

void symbolizer_request(struct symbolizer *symbolizer, const struct sample *sample)
{
	struct pass pass = {
		.symbolizer = symbolizer,
		.process = map_get(&symbolizer->processes, sample->process),
		.time_ns = sample->time_ns,
	};

	for (size_t i = 0; i < sample->n_frames + sample->n_waker; i++) {
		struct frame frame;
		struct lookup lookup;

		name_frame(&pass, &sample->frames[i], &frame, &lookup);
	}
	symbol_request_advance(symbolizer, false);
}

void symbolizer_request_in(struct symbolizer *symbolizer, struct module *module, uint64_t vaddr)
{
	bool pending;

	(void)symbol_request_find(symbolizer, module, vaddr, false, &pending);
}

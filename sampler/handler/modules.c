/* modules.c - finds the module of a pc, and the modules that the collector does not know yet */
#include "sampler/handler/modules.h"

#include <dlfcn.h>
#include <link.h>

#include "sampler/handler/sys/sigsafe.h"

#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern int _dl_find_object(void *pc, struct dl_find_object *result) __attribute__((weak));
#else
#error "build with the headers of glibc 2.35 or later; the agent runs with older ones"
#endif

/* Sorted by start: the last module that starts at or below PC. */
static bool find_in_snapshot(struct process *p, uint64_t pc, struct unwind_module *ret_module)
{
	uint32_t lo = 0;
	uint32_t hi = atomic_load_explicit(&p->n_snapshot, memory_order_acquire);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->snapshot[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || pc >= p->snapshot[lo - 1].end)
		return false;
	*ret_module = p->snapshot[lo - 1];
	return true;
}

/*
 * For a program with gaps between its segments the loader returns one segment, while the unwind
 * table is in another one.
 */
static void widen(const struct process *p, struct unwind_module *module)
{
	const struct process_range *program = &p->program;

	if (module->eh_frame_hdr >= module->start && module->eh_frame_hdr < module->end)
		return;
	if (module->start < program->start || module->end > program->end)
		return;
	module->start = program->start;
	module->end = program->end;
}

bool modules_have_loader(void)
{
	return _dl_find_object != NULL;
}

bool modules_find(struct process *p, uint64_t pc, struct unwind_module *ret_module,
		  struct module_seen *ret_seen)
{
	struct dl_find_object found;

	*ret_seen = (struct module_seen){0};
	if (!_dl_find_object)
		return find_in_snapshot(p, pc, ret_module);
	if (_dl_find_object((void *)pc, &found) != 0)
		return false;
	*ret_module = (struct unwind_module){
		.start = (uint64_t)found.dlfo_map_start,
		.end = (uint64_t)found.dlfo_map_end,
		.eh_frame_hdr = (uint64_t)found.dlfo_eh_frame,
	};
	ret_seen->start = ret_module->start;
	ret_seen->end = ret_module->end;
	ret_seen->bias = found.dlfo_link_map->l_addr;
	ret_seen->path = found.dlfo_link_map->l_name;
	widen(p, ret_module);
	return true;
}

static uint32_t place(uint64_t start)
{
	return (uint32_t)((start >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % PROCESS_MODULES;
}

/* A removed entry stays as a tombstone, so that probing continues past it. */
enum { GONE = 1 };

bool modules_announce(struct process *p, uint64_t start)
{
	for (uint32_t i = 0, at = place(start); i < PROCESS_MODULES; i++) {
		_Atomic uint64_t *entry = &p->modules[(at + i) % PROCESS_MODULES];
		uint64_t old = atomic_load_explicit(entry, memory_order_relaxed);

		if (old == start)
			return false;
		if (old)
			continue;
		if (atomic_compare_exchange_strong_explicit(
			    entry, &old, start, memory_order_relaxed, memory_order_relaxed))
			return true;
		if (old == start)
			return false;
	}
	return false;
}

void modules_forget_gone(struct process *p)
{
	struct unwind_module module;
	struct module_seen seen;

	for (uint32_t i = 0; i < PROCESS_PAGES; i++)
		atomic_store_explicit(&p->pages[i], 0, memory_order_relaxed);
	for (uint32_t i = 0; i < PROCESS_MODULES; i++) {
		uint64_t start = atomic_load_explicit(&p->modules[i], memory_order_relaxed);

		if (start <= GONE)
			continue;
		if (!modules_find(p, start, &module, &seen) || module.start != start)
			atomic_store_explicit(&p->modules[i], GONE, memory_order_relaxed);
	}
}

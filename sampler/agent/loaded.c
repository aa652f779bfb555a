/* loaded.c - lists the modules that are loaded when sampling starts; without _dl_find_object,
 * always */
#include "sampler/agent/start.h"
#include "sampler/handler/memory.h"

#include <link.h>
#include <sys/auxv.h>

extern unsigned long weak_getauxval(unsigned long type) __asm__("getauxval") __attribute__((weak));
extern int weak_iterate(int (*visit)(struct dl_phdr_info *, size_t, void *),
			void *data) __asm__("dl_iterate_phdr") __attribute__((weak));

static bool module_of(const struct dl_phdr_info *info, struct unwind_module *ret_module)
{
	struct unwind_module module = {.start = UINT64_MAX};

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			module.eh_frame_hdr = start;
		if (segment->p_type != PT_LOAD)
			continue;
		if (start < module.start)
			module.start = start & ~(uint64_t)(RING_PAGE - 1);
		if (start + segment->p_memsz > module.end)
			module.end = start + segment->p_memsz;
	}
	*ret_module = module;
	return module.end > module.start;
}

void modules_note_program(struct process *p)
{
	struct dl_phdr_info info = {0};
	struct unwind_module module;

	p->program = (struct process_range){0};
	if (!weak_getauxval)
		return;
	info.dlpi_phdr = (const void *)weak_getauxval(AT_PHDR);
	info.dlpi_phnum = (ElfW(Half))weak_getauxval(AT_PHNUM);
	for (int i = 0; info.dlpi_phdr && i < info.dlpi_phnum; i++)
		if (info.dlpi_phdr[i].p_type == PT_PHDR)
			info.dlpi_addr = (uint64_t)info.dlpi_phdr - info.dlpi_phdr[i].p_vaddr;
	if (info.dlpi_phdr && module_of(&info, &module))
		p->program = (struct process_range){.start = module.start, .end = module.end};
}

static int announce(struct dl_phdr_info *info, size_t size, void *data)
{
	struct process *p = data;
	struct unwind_module module;
	struct module_seen seen;

	(void)size;
	/* By the loader's start address, which the handler will see. */
	if (module_of(info, &module) && modules_find(p, module.start, &module, &seen))
		(void)modules_announce(p, seen.start);
	return 0;
}

/* Insertion sort: lists are short and nearly sorted. */
static int add(struct dl_phdr_info *info, size_t size, void *data)
{
	struct process *p = data;
	uint32_t n = atomic_load_explicit(&p->n_snapshot, memory_order_relaxed);
	struct unwind_module module;

	(void)size;
	if (n == PROCESS_SNAPSHOT || !module_of(info, &module))
		return 0;
	for (; n && p->snapshot[n - 1].start > module.start; n--)
		p->snapshot[n] = p->snapshot[n - 1];
	p->snapshot[n] = module;
	atomic_fetch_add_explicit(&p->n_snapshot, 1, memory_order_release);
	return 0;
}

void modules_snapshot(struct process *p)
{
	if (modules_have_loader() || !weak_iterate)
		return;
	atomic_store_explicit(&p->n_snapshot, 0, memory_order_release);
	(void)weak_iterate(add, p);
}

void modules_start(struct process *p)
{
	modules_snapshot(p);
	if (weak_iterate)
		(void)weak_iterate(announce, p);
}

void modules_start_without_loader(struct process *p)
{
	if (!modules_have_loader())
		modules_start(p);
}

static int add_ranges(struct dl_phdr_info *info, size_t size, void *data)
{
	const uint64_t in_page = RING_PAGE - 1;
	struct process *p = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum && p->n_ranges < PROCESS_RANGES; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R))
			continue;
		p->ranges[p->n_ranges++] = (struct process_range){
			.start = start & ~in_page,
			.end = (start + segment->p_filesz + in_page) & ~in_page,
		};
	}
	return 0;
}

void modules_note_ranges(struct process *p)
{
	p->n_ranges = 0;
	if (weak_iterate)
		(void)weak_iterate(add_ranges, p);
}

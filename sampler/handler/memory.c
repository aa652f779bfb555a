/* memory.c - reads memory for the unwinder inside the target without ever faulting, and
 * finds modules, also those that the collector does not know yet */
#include "sampler/handler/memory.h"

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

enum {
	PAGE = RING_PAGE,
	WINDOW_MAX_PAGES = 2048, /* 8 MiB: about 0.3 ms, once a thread */
	WINDOW_RETRY = 64,       /* samples */
	ADDRESS_BITS = 56,
	BLOCKS = 4,        /* blocks that the kernel read during a walk */
	BLOCK_BYTES = 512, /* aligned, so that each lies in one page */
	INTERRUPTED = -4,  /* -EINTR */
};

/* Unwind tables are read in words and bytes; each block is one system call. */
struct block {
	uint64_t start; /* 1: none */
	unsigned char bytes[BLOCK_BYTES];
};

/* After fork a buffer may stay taken by a thread that the child does not have: there are more. */
static struct buffer {
	struct memory memory; /* first: memory_acquire() returns its address */
	_Atomic uint32_t taken;
	uint32_t next_block;
	struct block blocks[BLOCKS];
} buffers[MEMORY_BUFFERS];

struct memory *memory_acquire(uint32_t start)
{
	for (uint32_t i = 0; i < MEMORY_BUFFERS; i++) {
		struct buffer *buffer = &buffers[(start + i) % MEMORY_BUFFERS];

		/* acquire: pairs with the release in memory_release() */
		if (!atomic_exchange_explicit(&buffer->taken, 1, memory_order_acquire))
			return &buffer->memory;
	}
	return NULL;
}

void memory_release(struct memory *m)
{
	atomic_store_explicit(&((struct buffer *)m)->taken, 0, memory_order_release);
}

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(PAGE - 1);
}

static void copy(void *to, uint64_t from, size_t len)
{
	const unsigned char *f = (const unsigned char *)from;
	unsigned char *t = to;

	while (len--)
		*t++ = *f++;
}

bool memory_probe(uint64_t address)
{
	/* The kernel takes NULL as "no set", and succeeds. */
	if (address < PAGE || address >> ADDRESS_BITS)
		return false;
	return sys4(__NR_rt_sigprocmask, ~0L, address, 0, 8) != -14 /* EFAULT */;
}

static bool call_at(uint64_t address)
{
	return memory_probe(address & ~UINT64_C(7)) &&
	       memory_probe((address + ARCH_ENTER_BYTES - 1) & ~UINT64_C(7)) &&
	       arch_enters_kernel((const unsigned char *)address);
}

/* The process timer's signal also goes to a sleeping thread if the running ones block it. */
bool memory_was_blocked(const ucontext_t *uc)
{
	uint64_t pc = arch_regs(uc).pc;

	return call_at(pc) ||
	       (arch_syscall_result(uc) == INTERRUPTED && call_at(pc - ARCH_ENTER_BYTES));
}

/* The first read of a file's page would fault, and count as the program's fault. */
static bool probe_module(uint64_t page)
{
	long r = sys3(__NR_madvise, page, PAGE, SYS_POPULATE_READ);

	/* EINVAL: an older kernel, or pages without a file. */
	return r == -22 ? memory_probe(page) : r == 0;
}

/* The end of the stack that contains SP: the main thread's, or a thread's, which ends at its TCB.
 */
static uint64_t stack_limit(struct process *p, uint64_t sp)
{
	const uint64_t reach = (uint64_t)WINDOW_MAX_PAGES * PAGE;
	uint64_t tcb;

	if (sp < p->stack_top && p->stack_top - sp <= reach)
		return p->stack_top;
	tcb = page_of(arch_thread_pointer());
	return sp < tcb && tcb - sp <= reach ? tcb : 0;
}

static bool prove(uint64_t from, uint64_t to)
{
	for (uint64_t page = from; page < to; page += PAGE)
		if (!memory_probe(page))
			return false;
	return true;
}

/* A window is kept only if it reaches the limit without a gap: otherwise it may be a coroutine's
 * stack, which can be unmapped while the thread lives. */
void memory_prove_window(struct process *p, struct slot_own *own, uint64_t sp)
{
	uint64_t limit;

	if (own->window_lo && sp < own->window_lo &&
	    own->window_lo - page_of(sp) <= (uint64_t)WINDOW_MAX_PAGES * PAGE &&
	    prove(page_of(sp), own->window_lo)) {
		own->window_lo = page_of(sp);
		return;
	}
	if (own->no_window) {
		own->no_window--;
		return;
	}
	limit = stack_limit(p, sp);
	if (!limit || !prove(page_of(sp), limit)) {
		own->no_window = WINDOW_RETRY;
		return;
	}
	own->window_lo = page_of(sp);
	own->window_hi = limit;
}

static bool in_noted_range(const struct process *p, uint64_t page)
{
	for (uint32_t i = 0; i < p->n_ranges; i++)
		if (page >= p->ranges[i].start && page < p->ranges[i].end)
			return true;
	return false;
}

static bool page_is_readable(struct memory *m, uint64_t page)
{
	bool in_module = page + PAGE > m->module_start && page < m->module_end;

	for (int i = 0; i < MEMORY_PAGES; i++)
		if (m->pages[i] == page)
			return true;
	if (in_module && modules_page_known(m->p, page))
		return true;
	if (m->no_syscalls)
		return in_module && in_noted_range(m->p, page);
	if (!(in_module ? probe_module(page) : memory_probe(page)))
		return false;
	if (in_module)
		modules_page_keep(m->p, page);
	m->pages[m->next_page++ % MEMORY_PAGES] = page;
	return true;
}

bool memory_copy(const struct process *p, uint64_t address, void *to, size_t len)
{
	struct {
		void *base;
		size_t len;
	} local = {to, len}, remote = {(void *)address, len};

	return sys6(__NR_process_vm_readv, p->pid, (long)&local, 1, (long)&remote, 1, 0) ==
	       (long)len;
}

/* A reader that is on the stack has no blocks. */
static struct buffer *buffer_of(struct memory *m)
{
	uint64_t offset = (uint64_t)m - (uint64_t)buffers;

	return offset < sizeof(buffers) ? (struct buffer *)m : NULL;
}

/* Return:  the block at START; NULL when it cannot be read. */
static const struct block *block_at(const struct process *p, struct buffer *buffer, uint64_t start)
{
	struct block *block;

	for (int i = 0; i < BLOCKS; i++)
		if (buffer->blocks[i].start == start)
			return &buffer->blocks[i];
	block = &buffer->blocks[buffer->next_block++ % BLOCKS];
	block->start = 1;
	if (!memory_copy(p, start, block->bytes, sizeof(block->bytes)))
		return NULL;
	block->start = start;
	return block;
}

static bool read_by_blocks(struct memory *m, uint64_t address, void *to, size_t len)
{
	const uint64_t in_block = BLOCK_BYTES - 1;
	struct buffer *buffer = buffer_of(m);
	unsigned char *at = to;

	if (!buffer)
		return memory_copy(m->p, address, to, len);
	while (len) {
		const struct block *block = block_at(m->p, buffer, address & ~in_block);
		size_t offset = address & in_block;
		size_t n = BLOCK_BYTES - offset < len ? BLOCK_BYTES - offset : len;

		if (!block)
			return false;
		copy(at, (uint64_t)(block->bytes + offset), n);
		at += n;
		address += n;
		len -= n;
	}
	return true;
}

static bool memory_read(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	struct memory *m = (struct memory *)reader;

	if (address >> ADDRESS_BITS || len > PAGE)
		return false;
	if (m->unloading)
		return !m->no_syscalls && read_by_blocks(m, address, to, len);
	for (uint64_t page = page_of(address); page < address + len; page += PAGE)
		if (!page_is_readable(m, page))
			return false;
	copy(to, address, len);
	return true;
}

static bool memory_find(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	struct memory *m = (struct memory *)reader;
	struct module_seen seen;

	if (!modules_find(m->p, pc, ret_module, &seen))
		return false;
	m->module_start = ret_module->start;
	m->module_end = ret_module->end;
	if (seen.path && m->n_seen < MEMORY_NEW && modules_announce(m->p, seen.start))
		m->seen[m->n_seen++] = pc;
	return true;
}

void memory_init(struct memory *m, struct process *p, struct slot_own *own, uint64_t sp)
{
	m->p = p;
	m->no_syscalls = process_state(p) != AGENT_SAMPLING;
	m->unloading = atomic_load_explicit(&p->unloading, memory_order_seq_cst) != 0;
	m->n_seen = 0;
	m->next_page = 0;
	for (int i = 0; buffer_of(m) && i < BLOCKS; i++)
		buffer_of(m)->blocks[i].start = 1;
	m->module_start = 0;
	m->module_end = 0;
	for (int i = 0; i < MEMORY_PAGES; i++)
		m->pages[i] = 1;
	m->reader.lo = 0;
	m->reader.hi = 0;
	m->reader.bytes = NULL;
	m->reader.read = memory_read;
	m->reader.find = memory_find;
	if ((sp < own->window_lo || sp >= own->window_hi) && !m->no_syscalls)
		memory_prove_window(p, own, sp);
	if (sp >= own->window_lo && sp < own->window_hi) {
		m->reader.lo = sp;
		m->reader.hi = own->window_hi;
		m->reader.bytes = (const unsigned char *)sp;
	}
}

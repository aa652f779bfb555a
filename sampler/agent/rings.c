/* rings.c - maps the file that the collector passed as this process's rings */
#include "sampler/agent/agent.h"
#include "sampler/agent/start.h"
#include "sampler/handler/slot.h"
#include "sampler/handler/sys/clock.h"

#include <link.h>
#include <linux/mman.h>
#include <stddef.h>
#include <sys/auxv.h>

/* The start of this object, from the linker. */
extern const ElfW(Ehdr) own_header __asm__("__ehdr_start") __attribute__((visibility("hidden")));

extern unsigned long weak_getauxval(unsigned long type) __asm__("getauxval") __attribute__((weak));

enum {
	PROTOCOL = -71, /* -EPROTO */
	SEEK_TO_END = 2,
	READ_ONLY = 1,  /* PROT_READ */
	READ_WRITE = 3, /* PROT_READ | PROT_WRITE */
	DONT_FORK = 10, /* MADV_DONTFORK */
	MAX_HZ = 1000000,
};

/* Copied, checked, then used: a bad header must not crash the program. */
static int check_header(const struct ring_header *header)
{
	if (header->magic != WIRE_MAGIC || header->version != WIRE_VERSION)
		return PROTOCOL;
	if (!header->period_ns || header->period_ns > RECORD_MAX_PERIOD_NS || !header->hz ||
	    header->hz > MAX_HZ || !header->max_slots || header->max_slots > RING_MAX_SLOTS ||
	    header->jitter_pct > 50)
		return PROTOCOL;
	if ((header->hooks & RING_HOOK_ALLOC) &&
	    (!header->alloc_bytes || header->alloc_bytes > RECORD_MAX_AMOUNT))
		return PROTOCOL;
	if (!header->signal || header->signal > 31 || header->signal == SIGKILL ||
	    header->signal == SIGSTOP)
		return PROTOCOL;
	if (header->discovery != DISCOVERY_TIMER && header->discovery != DISCOVERY_HOOKS)
		return PROTOCOL;
	return 0;
}

static uint32_t chunks_in(uint64_t file_bytes)
{
	uint32_t n = 0;

	while (n < RING_MAX_CHUNKS && ring_chunk_offset(n + 1) <= file_bytes)
		n++;
	return n;
}

/* Above the strings of exec there is one word and the end of the stack. */
static uint64_t stack_top(void)
{
	const char *name = weak_getauxval ? (const char *)weak_getauxval(AT_EXECFN) : NULL;
	uint64_t at = (uint64_t)name;

	if (!name)
		return 0;
	while (*(const char *)at)
		at++;
	return (at + RING_PAGE) & ~(uint64_t)(RING_PAGE - 1);
}

/* Need not be secret: it only tells wick's timers from the program's own. */
static uint32_t make_cookie(int32_t pid)
{
	uint64_t x = (clock_now_ns() ^ (uint64_t)pid << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(x >> 32) | 1;
}

/* Reset the state of an earlier recording. */
static void forget(struct process *p)
{
	unwind_cache_flush(&p->rules);
	for (uint32_t i = 0; i < PROCESS_MODULES; i++)
		atomic_store_explicit(&p->modules[i], 0, memory_order_relaxed);
	for (uint32_t i = 0; i < PROCESS_PAGES; i++)
		atomic_store_explicit(&p->pages[i], 0, memory_order_relaxed);
	p->n_ranges = 0;
	p->timer = 0;
	atomic_store_explicit(&p->n_slots, 0, memory_order_relaxed);
	atomic_store_explicit(&p->growing, 0, memory_order_relaxed);
	atomic_store_explicit(&p->jittering, 0, memory_order_relaxed);
	atomic_store_explicit(&p->account_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&p->n_ended, 0, memory_order_relaxed);
	atomic_store_explicit(&p->stale_ns, 0, memory_order_relaxed);
}

static void populate(const void *at, uint64_t bytes, int how)
{
	uint64_t from = (uint64_t)at & ~(uint64_t)(RING_PAGE - 1);

	(void)sys3(__NR_madvise, from,
		   ((uint64_t)at + bytes - from + RING_PAGE - 1) & ~(uint64_t)(RING_PAGE - 1), how);
}

/* This object's code and variables; relocated pages (RELRO) are read-only by now. */
static void populate_agent(void)
{
	const char *base = (const char *)&own_header;
	const ElfW(Phdr) *segment = (const void *)(base + own_header.e_phoff);
	uint64_t relocated = 0;

	for (unsigned i = 0; i < own_header.e_phnum; i++)
		if (segment[i].p_type == PT_GNU_RELRO)
			relocated = segment[i].p_vaddr + segment[i].p_memsz;
	for (unsigned i = 0; i < own_header.e_phnum; i++, segment++) {
		uint64_t end = segment->p_vaddr + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		if (segment->p_flags & PF_W)
			populate(base + relocated, end - relocated, SYS_POPULATE_WRITE);
		else
			populate(base + segment->p_vaddr, segment->p_memsz, SYS_POPULATE_READ);
	}
}

/*
 * The kernel counts page faults in the handler as the program's, and page faults may be what is
 * sampled. So the handler's pages are populated before the first event.
 */
static void populate_all(struct process *p)
{
	struct ring_header *header = p->header;

	populate(p, sizeof(*p), SYS_POPULATE_WRITE);
	populate(header, offsetof(struct ring_header, tids) + RING_PAGE, SYS_POPULATE_WRITE);
	populate(header->event_slots, 1, SYS_POPULATE_WRITE);
	populate((const void *)header->changed, sizeof(header->changed), SYS_POPULATE_WRITE);
	populate_agent();
}

static void fill(struct process *p, struct ring_header *header, uint64_t file_bytes)
{
	p->pid = (int32_t)sys0(__NR_getpid);
	p->period_ns = header->period_ns;
	p->max_slots = header->max_slots;
	p->max_chunks = chunks_in(file_bytes);
	p->jitter_pct = header->jitter_pct;
	p->discovery = header->discovery;
	p->stack_top = stack_top();
	modules_note_program(p);
	p->rules.entries = p->entries;
	p->rules.n = PROCESS_RULES;
	p->chunks[0] = (void *)((unsigned char *)header + RING_HEADER_BYTES);
	atomic_store_explicit(&p->n_posted,
			      atomic_load_explicit(&header->n_posted, memory_order_relaxed),
			      memory_order_relaxed);
	if (!atomic_load_explicit(&p->n_chunks, memory_order_relaxed))
		atomic_store_explicit(&p->n_chunks, 1, memory_order_release);
	atomic_store_explicit(&header->n_chunks,
			      atomic_load_explicit(&p->n_chunks, memory_order_relaxed),
			      memory_order_relaxed);
	/* Without the dlclose hook modules go away unnoticed: read through the kernel. With it this
	 * counts calls under way. */
	if (!agent_interposes())
		atomic_store_explicit(&p->unloading, PROCESS_UNHOOKED, memory_order_relaxed);
	/* Kept: a late signal of a deleted timer is still recognized. */
	if (!p->cookie)
		p->cookie = make_cookie(p->pid);
	p->header = header;
	if (header->non_cpu_event)
		populate_all(p);
}

int rings_map(struct process *p, int fd)
{
	long file_bytes = sys3(__NR_lseek, fd, 0, SEEK_TO_END);
	uint64_t len = RING_HEADER_BYTES + ring_chunk_bytes(0);
	long at;
	int r;

	if (file_bytes < 0 || (uint64_t)file_bytes < len)
		return PROTOCOL;
	at = sys6(__NR_mmap, 0, (long)len, READ_WRITE, MAP_SHARED, fd, 0);
	if (sys_failed(at))
		return (int)at;
	r = check_header((const void *)at);
	if (r == 0)
		r = (int)sys3(__NR_madvise, at, len, DONT_FORK);
	if (r < 0) {
		(void)sys2(__NR_munmap, at, len);
		return r;
	}
	fill(p, (void *)at, (uint64_t)file_bytes);
	return 0;
}

/* Maps over the old rings. */
static int map_part(uint64_t at, uint64_t len, int fd, uint64_t offset)
{
	long got = sys6(__NR_mmap, (long)at, (long)len, READ_WRITE, MAP_SHARED | MAP_FIXED, fd,
			(long)offset);

	return sys_failed(got) ? (int)got : (int)sys3(__NR_madvise, got, len, DONT_FORK);
}

static int check_file(int fd, uint64_t *ret_bytes)
{
	long file_bytes = sys3(__NR_lseek, fd, 0, SEEK_TO_END);
	long at;
	int r;

	if (file_bytes < 0 || (uint64_t)file_bytes < RING_HEADER_BYTES + ring_chunk_bytes(0))
		return PROTOCOL;
	at = sys6(__NR_mmap, 0, RING_HEADER_BYTES, READ_ONLY, MAP_SHARED, fd, 0);
	if (sys_failed(at))
		return (int)at;
	r = check_header((const void *)at);
	(void)sys2(__NR_munmap, at, RING_HEADER_BYTES);
	*ret_bytes = (uint64_t)file_bytes;
	return r;
}

int rings_replace(struct process *p, int fd)
{
	uint32_t n = atomic_load_explicit(&p->n_chunks, memory_order_relaxed);
	uint64_t file_bytes = 0;
	int r = check_file(fd, &file_bytes);

	if (r == 0 && n > chunks_in(file_bytes))
		r = PROTOCOL;
	if (r == 0)
		r = map_part((uint64_t)p->header, RING_HEADER_BYTES + ring_chunk_bytes(0), fd, 0);
	for (uint32_t i = 1; r == 0 && i < n; i++)
		r = map_part((uint64_t)p->chunks[i], ring_chunk_bytes(i), fd, ring_chunk_offset(i));
	if (r < 0)
		return r;
	forget(p);
	fill(p, p->header, file_bytes);
	return 0;
}

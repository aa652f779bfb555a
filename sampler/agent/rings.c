/* rings.c - the file that the collector passed becomes this process's rings */
#include "sampler/agent/start.h"
#include "sampler/handler/clock.h"
#include "sampler/handler/slot.h"

#include <linux/mman.h>
#include <sys/auxv.h>

extern unsigned long weak_getauxval(unsigned long type) __asm__("getauxval") __attribute__((weak));

enum {
	PROTOCOL = -71, /* -EPROTO */
	SEEK_TO_END = 2,
	READ_WRITE = 3, /* PROT_READ | PROT_WRITE */
	DONT_FORK = 10, /* MADV_DONTFORK */
	MAX_HZ = 1000000,
};

/* Copied, checked, then used: the collector is trusted to sample us, not to crash us. */
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

/* Nobody has to guess it: it only tells our timers from the program's own. */
static uint32_t make_cookie(int32_t pid)
{
	uint64_t x = (clock_now_ns() ^ (uint64_t)pid << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(x >> 32) | 1;
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
	p->rules.entries = p->entries;
	p->rules.n = PROCESS_RULES;
	p->chunks[0] = (void *)((unsigned char *)header + RING_HEADER_BYTES);
	atomic_store_explicit(&p->n_posted,
			      atomic_load_explicit(&header->n_posted, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&header->n_chunks, 1, memory_order_relaxed);
	atomic_store_explicit(&p->n_chunks, 1, memory_order_release);
	p->cookie = make_cookie(p->pid);
	p->header = header;
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

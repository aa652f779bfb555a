/* unwind_bench.c - ns a frame: our walk beside libunwind's, warm and cold, at three depths */
#define UNW_LOCAL_ONLY
#include "sampler/unwind/unwind.h"
#include "tests/bench/unwind_chain.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum {
	MAX_PCS = 256,
	N_ENTRIES = 16384,
	REPEATS = 200,
	COLD_REPEATS = 30,
};

struct figures {
	size_t frames;
	double warm;
	double cold;
	double step;
	double backtrace;
	bool agrees; /* with unw_step, address by address */
};

static struct unwind_cache_entry entries[N_ENTRIES];
static struct unwind_cache cache = {.entries = entries, .n = N_ENTRIES};

static bool read_own(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	(void)reader;
	memcpy(to, (const void *)(uintptr_t)address, len);
	return true;
}

static bool find_own(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	struct dl_find_object object;

	(void)reader;
	if (_dl_find_object((void *)(uintptr_t)pc, &object) != 0)
		return false;
	ret_module->start = (uint64_t)(uintptr_t)object.dlfo_map_start;
	ret_module->end = (uint64_t)(uintptr_t)object.dlfo_map_end;
	ret_module->eh_frame_hdr = (uint64_t)(uintptr_t)object.dlfo_eh_frame;
	return true;
}

static struct unwind_reader own_reader(void)
{
	struct unwind_reader reader = {.read = read_own, .find = find_own};
	pthread_attr_t attr;
	void *stack = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		(void)pthread_attr_getstack(&attr, &stack, &size);
		(void)pthread_attr_destroy(&attr);
	}
	reader.lo = (uint64_t)(uintptr_t)stack;
	reader.hi = reader.lo + size;
	reader.bytes = stack;
	return reader;
}

static double now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

static size_t walk_by_step(ucontext_t *uc, uint64_t *pcs)
{
	unw_cursor_t cursor;
	unw_word_t ip = 0;
	size_t n = 0;

	(void)unw_init_local2(&cursor, (unw_context_t *)uc, UNW_INIT_SIGNAL_FRAME);
	do {
		(void)unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (!ip)
			break;
		pcs[n++] = ip;
	} while (n < MAX_PCS && unw_step(&cursor) > 0);
	return n;
}

static void measure_ours(struct figures *figures, struct unwind_reader *reader,
			 const struct unwind_regs *regs, uint64_t *pcs)
{
	struct unwind_result result = {0};
	double times[REPEATS];

	for (unsigned i = 0; i < COLD_REPEATS; i++) {
		double begin;

		unwind_cache_flush(&cache);
		begin = now_ns();
		result = unwind_walk(reader, &cache, regs, pcs, MAX_PCS);
		times[i] = now_ns() - begin;
	}
	figures->frames = result.n_pcs;
	figures->cold = median(times, COLD_REPEATS) / (double)result.n_pcs;
	for (unsigned i = 0; i < REPEATS; i++) {
		double begin = now_ns();

		for (unsigned j = 0; j < 10; j++)
			(void)unwind_walk(reader, &cache, regs, pcs, MAX_PCS);
		times[i] = (now_ns() - begin) / 10;
	}
	figures->warm = median(times, REPEATS) / (double)result.n_pcs;
}

static void measure_theirs(struct figures *figures, ucontext_t *uc, uint64_t *pcs)
{
	double times[REPEATS];
	void *addresses[MAX_PCS];
	size_t n = 1;

	for (unsigned i = 0; i < REPEATS; i++) {
		double begin = now_ns();

		n = walk_by_step(uc, pcs);
		times[i] = now_ns() - begin;
	}
	figures->step = median(times, REPEATS) / (double)n;
	for (unsigned i = 0; i < REPEATS; i++) {
		double begin = now_ns();

		n = (size_t)unw_backtrace(addresses, MAX_PCS);
		times[i] = now_ns() - begin;
	}
	figures->backtrace = median(times, REPEATS) / (double)n;
}

__attribute__((noinline)) static void measure(void *context)
{
	struct figures *figures = context;
	struct unwind_reader reader = own_reader();
	uint64_t theirs[MAX_PCS];
	uint64_t ours[MAX_PCS];
	struct unwind_regs regs = {0};
	ucontext_t uc;

	(void)getcontext(&uc);
	regs.pc = (uint64_t)uc.uc_mcontext.gregs[REG_RIP];
	regs.sp = (uint64_t)uc.uc_mcontext.gregs[REG_RSP];
	regs.bp = (uint64_t)uc.uc_mcontext.gregs[REG_RBP];
	regs.bx = (uint64_t)uc.uc_mcontext.gregs[REG_RBX];
	measure_ours(figures, &reader, &regs, ours);
	measure_theirs(figures, &uc, theirs);
	figures->agrees = walk_by_step(&uc, theirs) == figures->frames;
	for (size_t i = 0; i < figures->frames && figures->agrees; i++)
		figures->agrees = (ours[i] & ~UNWIND_EXACT) == theirs[i];
}

int main(void)
{
	static const unsigned depths[] = {10, 30, 100};
	bool agrees = true;

	(void)unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
	printf("%-24s %8s %8s %10s %14s\n", "ns a frame", "warm", "cold", "unw_step",
	       "unw_backtrace");
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct figures figures = {0};

		/* _start, __libc_start_call_main and the like are frames too */
		chain_call(depths[i] - 6, measure, &figures);
		printf("depth %-3zu %-14s %8.1f %8.1f %10.1f %14.1f\n", figures.frames,
		       figures.agrees ? "(same stack)" : "(DIFFERS)", figures.warm, figures.cold,
		       figures.step, figures.backtrace);
		agrees = agrees && figures.agrees;
	}
	return agrees ? 0 : 1;
}

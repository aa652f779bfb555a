/* file_guard.c - the handler may run on any thread, so the table is read without a lock */
#include "symbolize/elf/file_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory is touched as far as it is used; a handler that searches all takes 30 us. */
enum { MAX_RANGES = 32 * 1024 };

/* A slot is free while its start is 0.  START is written last and cleared first: a thread that
 * reads START, END and the same START again has read a pair that belongs together. */
struct range {
	_Atomic uintptr_t start;
	_Atomic uintptr_t end;
	_Atomic bool shrank;
};

static struct range ranges[MAX_RANGES];
static atomic_size_t n_ranges; /* slots that were ever used */
static size_t lowest_free;     /* no slot below it is free */
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before; /* us; written before the handler is there */
static bool installed;
static uintptr_t page_bytes;

static struct range *find(uintptr_t addr)
{
	size_t n = atomic_load_explicit(&n_ranges, memory_order_acquire);

	for (size_t i = 0; i < n; i++) {
		struct range *range = &ranges[i];
		uintptr_t start = atomic_load_explicit(&range->start, memory_order_acquire);
		uintptr_t end = atomic_load_explicit(&range->end, memory_order_acquire);

		if (start && addr >= start && addr < end &&
		    atomic_load_explicit(&range->start, memory_order_relaxed) == start)
			return range;
	}
	return NULL;
}

/* Not ours: what would have happened without us. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	bool sent = info->si_code <= 0;

	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
		return;
	}
	if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
		return;
	}
	/* The kernel also kills a process that ignores the signal of a fault. */
	if (before.sa_handler == SIG_IGN && sent)
		return;
	(void)signal(number, SIG_DFL);
	if (sent)
		(void)raise(number); /* a fault comes again by itself */
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	uintptr_t addr = (uintptr_t)info->si_addr;
	struct range *range = info->si_code == BUS_ADRERR ? find(addr) : NULL;
	int saved = errno;

	if (range) {
		uintptr_t page = addr & ~(page_bytes - 1);
		size_t rest = atomic_load_explicit(&range->end, memory_order_relaxed) - page;

		/* What the file has no more, to the end: a mapping a page would use them up. */
		if (mmap((void *)page, rest, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) != MAP_FAILED) {
			atomic_store_explicit(&range->shrank, true, memory_order_relaxed);
			errno = saved;
			return;
		}
	}
	pass_on(number, info, context);
	errno = saved;
}

static int install(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	action.sa_sigaction = on_sigbus;
	(void)sigemptyset(&action.sa_mask);
	if (sigaction(SIGBUS, NULL, &before) < 0 || sigaction(SIGBUS, &action, NULL) < 0)
		return -errno;
	installed = true;
	return 0;
}

static int add(uintptr_t start, size_t bytes)
{
	size_t n = atomic_load_explicit(&n_ranges, memory_order_relaxed);
	size_t i = lowest_free;

	while (i < n && atomic_load_explicit(&ranges[i].start, memory_order_relaxed))
		i++;
	if (i == MAX_RANGES)
		return -ENOSPC;
	atomic_store_explicit(&ranges[i].shrank, false, memory_order_relaxed);
	atomic_store_explicit(&ranges[i].end, start + bytes, memory_order_release);
	atomic_store_explicit(&ranges[i].start, start, memory_order_release);
	if (i == n)
		atomic_store_explicit(&n_ranges, n + 1, memory_order_release);
	lowest_free = i + 1;
	return 0;
}

int file_guard_add(const void *start, size_t bytes)
{
	int r = 0;

	if (!start || bytes > UINTPTR_MAX - (uintptr_t)start)
		return -EINVAL;
	(void)pthread_mutex_lock(&writers);
	if (!installed)
		r = install();
	if (r == 0)
		r = add((uintptr_t)start, bytes);
	(void)pthread_mutex_unlock(&writers);
	return r;
}

bool file_guard_remove(const void *start)
{
	bool shrank = false;

	(void)pthread_mutex_lock(&writers);
	for (size_t i = 0; i < atomic_load_explicit(&n_ranges, memory_order_relaxed); i++) {
		struct range *range = &ranges[i];

		if (start &&
		    atomic_load_explicit(&range->start, memory_order_relaxed) == (uintptr_t)start) {
			shrank = atomic_load_explicit(&range->shrank, memory_order_relaxed);
			atomic_store_explicit(&range->start, 0, memory_order_release);
			lowest_free = i < lowest_free ? i : lowest_free;
			break;
		}
	}
	(void)pthread_mutex_unlock(&writers);
	return shrank;
}

int file_guard_map(int fd, size_t bytes, void **ret_start)
{
	void *start = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	int r;

	if (start == MAP_FAILED)
		return -errno;
	r = file_guard_add(start, bytes);
	if (r < 0)
		(void)munmap(start, bytes);
	else
		*ret_start = start;
	return r;
}

void file_guard_unmap(void *start, size_t bytes)
{
	if (!start)
		return;
	(void)file_guard_remove(start);
	(void)munmap(start, bytes);
}

/*
 * context_threads.c - threads that publish which work they do and then do it, so that the right
 * context of each sample stands in its stack: work N is done by the function work_N
 *
 *	context_threads work SECONDS   3 threads, each with so much CPU
 *	context_threads blocked        says a line; threads wait in work_N, the
 *	                               first in work_6, until a line comes
 *	context_threads rounds N       N times dlopen, work in 2 threads, dlclose
 *	context_threads wrong          pointers to nothing, garbage, lengths that lie
 *	context_threads alloc          allocates and waits for locks in work_N
 *
 * With -DLOADS the first argument is a library that has the writer (context_writer.c).
 */
#include "context_writer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 3,
	PAGE = 4096,
	FIND_MS = 500, /* in which wick finds a library that was loaded late */
};

static void (*set)(unsigned number);
static void (*point)(void *address);
static void *(*stale)(unsigned number);
static volatile uint64_t sink;
static volatile uint64_t turns;
static double seconds;
static int pipe_fds[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double used(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void burn(void)
{
	for (uint64_t i = 0; i < turns; i++)
		sink += i ^ sink;
}

static void nothing(void)
{
	char byte;

	(void)!read(pipe_fds[0], &byte, 1);
}

static void wait_for_line(void)
{
	char line[8];

	(void)!read(0, line, sizeof(line));
}

static void allocate(void)
{
	for (int i = 0; i < 100; i++) {
		void *volatile memory = malloc(20000);

		free(memory);
	}
	(void)pthread_mutex_lock(&lock);
	burn();
	(void)pthread_mutex_unlock(&lock);
}

#define WORK(n)                                                                                    \
	static __attribute__((noinline, noclone)) void work_##n(void (*what)(void))                \
	{                                                                                          \
		what();                                                                            \
		__asm__ volatile("" ::: "memory");                                                 \
	}
WORK(1)
WORK(2)
WORK(3)
WORK(4)
WORK(5)
WORK(6)

static void (*const works[])(void (*)(void)) = {work_1, work_2, work_3, work_4, work_5, work_6};

static void do_work(unsigned number, void (*what)(void))
{
	set(number);
	works[number - 1](what);
	set(0);
}

static void *burn_for(void *first)
{
	unsigned number = (unsigned)(uintptr_t)first;

	for (double end = used() + seconds; used() < end; number++)
		do_work(number % 6 + 1, burn);
	return NULL;
}

static void *wait_in(void *first)
{
	do_work((unsigned)(uintptr_t)first % 6 + 1, nothing);
	return NULL;
}

static void *allocate_for(void *first)
{
	unsigned number = (unsigned)(uintptr_t)first;

	for (double end = used() + seconds; used() < end; number++)
		do_work(number % 6 + 1, allocate);
	return NULL;
}

static void run_threads(void *(*start)(void *))
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, start, (void *)i))
			_exit(3);
	if (start == wait_in) {
		(void)puts("waiting");
		(void)fflush(stdout);
		do_work(6, wait_for_line);
		(void)close(pipe_fds[1]);
	}
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
}

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		(void)fprintf(stderr, "%s\n", dlerror());
		_exit(3);
	}
	set = (void (*)(unsigned))dlsym(library, "writer_set");
	point = (void (*)(void *))dlsym(library, "writer_point");
	stale = (void *(*)(unsigned))dlsym(library, "writer_record");
	return library;
}

static _Atomic unsigned phase; /* odd: the library is there */
static _Atomic unsigned n_done;
static _Atomic bool over;

/* Leaves its context set every second time: what it points to is gone with the library. */
static void *follow_rounds(void *unused)
{
	unsigned seen = 0;

	(void)unused;
	while (!atomic_load(&over)) {
		unsigned now = atomic_load(&phase);

		if (now != seen && now % 2) {
			point(stale(now % 6 + 1));
			works[now % 6](burn);
			if (now % 4 == 1)
				point(NULL);
			atomic_fetch_add(&n_done, 1);
		}
		seen = now;
		burn();
	}
	return NULL;
}

static void rounds(const char *path, int n)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		(void)pthread_create(&threads[i], NULL, follow_rounds, NULL);
	for (int i = 0; i < n; i++) {
		void *library = load(path);

		atomic_store(&n_done, 0);
		atomic_fetch_add(&phase, 1);
		while (atomic_load(&n_done) < 2)
			burn();
		atomic_fetch_add(&phase, 1);
		(void)dlclose(library);
	}
	atomic_store(&over, true);
	for (int i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
}

static void show(void *address)
{
	point(address);
	for (double end = used() + 0.1; used() < end;)
		burn();
	point(NULL);
}

/* Each for some samples.  The last page of two can be read, or only the first. */
static void wrong(void)
{
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t words[8] = {0};
	uint16_t much = 0xffff;

	show((void *)8);
	show((void *)UINT64_C(0x7fff00000000));
	show((void *)UINT64_MAX);
	show((void *)(UINT64_C(1) << 63));
	memset(pages, 0xff, 2 * PAGE);
	show(pages + 64);
	show(pages + 1);
	/* valid, with more attributes than there are bytes to read */
	pages[24] = 1;
	memcpy(pages + 26, &much, 2);
	show(pages);
	memset(pages + PAGE - 28, 1, 26);
	memcpy(pages + PAGE - 2, &much, 2);
	(void)mprotect(pages + PAGE, PAGE, PROT_NONE);
	show(pages + PAGE - 28);
	show(pages + PAGE - 8);
	show(pages + PAGE);
	/* a set of labels that points to nothing, has none, and too many with lengths that lie */
	words[0] = 16;
	words[1] = UINT64_MAX;
	show(words);
	words[0] = (uint64_t)(uintptr_t)(words + 2);
	words[1] = 1;
	words[2] = UINT64_MAX;
	words[3] = 16;
	show(words);
	words[2] = 4;
	words[3] = (uint64_t)(uintptr_t)words;
	words[4] = UINT64_MAX;
	words[5] = (uint64_t)(uintptr_t)pages;
	show(words);
	words[1] = UINT64_MAX;
	show(words);
	/* Found readable, and then gone, while it is still published. */
	point(pages);
	for (double end = used() + 0.1; used() < end;)
		burn();
	(void)munmap(pages, 2 * PAGE);
	for (double end = used() + 0.1; used() < end;)
		burn();
	point(NULL);
}

/*
 * OTEP 4719: the names of the attributes, once, as an SDK publishes them: a message
 * { attributes = 2: { key = 1, value = 2: { array_value = 5: { values = 1: { string_value = 1 }}}}}
 */
static void publish_names(void)
{
	static const char payload[] =
		"\x12\x3b\x0a\x1dthreadlocal.attribute_key_map\x12\x1a\x2a\x18"
		"\x0a\x0a\x0a\x08root.one\x0a\x0a\x0a\x08the/root";
	struct {
		char signature[8];
		uint32_t version;
		uint32_t bytes;
		_Atomic uint64_t published_ns;
		const char *payload;
	} * head;
	int fd = memfd_create("OTEL_CTX", 0);

	if (fd < 0 || ftruncate(fd, PAGE) < 0)
		_exit(3);
	head = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	head->version = 2;
	head->bytes = sizeof(payload) - 1;
	head->payload = payload;
	memcpy(head->signature, "OTEL_CTX", 8);
	atomic_store(&head->published_ns, 1);
}

int main(int argc, char **argv)
{
	const char *mode;
	const char *library = NULL;

#ifdef LOADS
	library = argv[1];
	argv++;
	argc--;
#else
	set = writer_set;
	point = writer_point;
	stale = writer_record;
#endif
	mode = argc > 1 ? argv[1] : "work";
	seconds = argc > 2 ? atof(argv[2]) : 1;
	turns = 200000;
	if (pipe(pipe_fds) < 0)
		return 3;
	publish_names();
	if (strcmp(mode, "rounds") == 0) {
		turns = 20000;
		rounds(library, atoi(argv[2]));
		return 0;
	}
	if (library) {
		(void)load(library);
		(void)usleep(1000 * FIND_MS);
	}
	if (strcmp(mode, "wrong") == 0)
		wrong();
	else
		run_threads(strcmp(mode, "blocked") == 0 ? wait_in
			    : strcmp(mode, "alloc") == 0 ? allocate_for
							 : burn_for);
	return 0;
}

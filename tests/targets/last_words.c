/* last_words.c - is on a CPU until its end, and leaves behind when that was
 * usage: last_words FILE SECONDS HOW; HOW: wait (for its end by a signal), exit, or a signal's
 * number.  FILE holds, as text of 64 bytes, CLOCK_MONOTONIC and the thread's CPU time of its last
 * moment, ns, and how often it had been preempted by then. */
#include "burn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TEXT = 64 };

BURN_FUNCTION(work_to_the_end)

static char *map_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *page;

	if (fd < 0 || ftruncate(fd, TEXT) < 0)
		return NULL;
	page = mmap(NULL, TEXT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	return page == MAP_FAILED ? NULL : page;
}

/* Digits from the right, so that what is read in the middle of it is near enough. */
static void put(char *to, uint64_t number)
{
	for (int i = 19; i >= 0; i--, number /= 10)
		to[i] = (char)('0' + number % 10);
}

static uint64_t times_put_off(void)
{
	struct rusage used;

	(void)getrusage(RUSAGE_THREAD, &used);
	return (uint64_t)used.ru_nivcsw;
}

static void work_for(char *page, double seconds)
{
	do {
		for (int i = 0; i < 4; i++) {
			work_to_the_end(20000);
			put(page, now_ns());
		}
		put(page + 21, clock_ns(CLOCK_THREAD_CPUTIME_ID));
		put(page + 42, times_put_off());
	} while (thread_seconds() < seconds);
}

int main(int argc, char **argv)
{
	char *page = argc == 4 ? map_file(argv[1]) : NULL;
	char *volatile nowhere = NULL;
	int signo;

	if (!page)
		return 2;
	page[20] = page[41] = ' ';
	page[62] = '\n';
	if (strcmp(argv[3], "wait") == 0)
		work_for(page, 1e9);
	work_for(page, strtod(argv[2], NULL));
	signo = (int)strtol(argv[3], NULL, 10);
	if (signo == SIGABRT)
		abort();
	if (signo == SIGSEGV)
		*nowhere = 1;
	if (signo)
		(void)raise(signo);
	return 0;
}

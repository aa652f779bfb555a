/*
 * external_stop.c - how long a thread is held for its stack: libunwind walks it while it is held,
 * wick copies its stack and walks the copy when it runs on
 *
 * The thread runs DEPTH calls deep.  The first walk of each is with everything to be found out.
 */
#include "base/io.h"
#include "sampler/external/held.h"

#include <inttypes.h>
#include <libunwind-ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 400, MOST = 256 };

static volatile uint64_t sink;

__attribute__((noinline)) static void go_down(int left)
{
	if (left > 0)
		go_down(left - 1);
	while (sink != UINT64_MAX)
		sink++;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print(const char *what, uint64_t *ns, size_t n, size_t frames)
{
	uint64_t first = ns[0];
	size_t last = n * 99 / 100;
	size_t middle = n / 2;

	qsort(ns, n, sizeof(*ns), by_value);
	(void)printf("  %-34s %4zu frames, held us: first %7.1f  median %7.1f  p99 %7.1f\n", what,
		     frames, (double)first / 1e3, (double)ns[middle] / 1e3, (double)ns[last] / 1e3);
}

static size_t walk_theirs(unw_addr_space_t space, void *upt)
{
	unw_cursor_t cursor;
	size_t n = 1;

	if (unw_init_remote(&cursor, space, upt) < 0)
		return 0;
	while (n < MOST && unw_step(&cursor) > 0)
		n++;
	return n;
}

static void theirs(pid_t pid)
{
	static uint64_t ns[ROUNDS];
	unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
	void *upt = _UPT_create(pid);
	struct stop stop;
	size_t frames = 0;
	size_t n = 0;

	(void)unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
	for (int i = 0; i < ROUNDS; i++) {
		(void)usleep(500);
		if (stop_begin(pid, pid, &stop) < 0)
			continue;
		frames = walk_theirs(space, upt);
		ns[n++] = stop_end(&stop);
	}
	_UPT_destroy(upt);
	unw_destroy_addr_space(space);
	if (n)
		print("libunwind-ptrace, walked while held", ns, n, frames);
}

static void ours(pid_t pid)
{
	static uint64_t ns[ROUNDS];
	static uint64_t walked[ROUNDS];
	uint64_t pcs[MOST];
	struct remote *remote;
	struct held held = {.stopped_ns = 0};
	size_t n = 0;

	if (remote_new(&remote, pid) < 0)
		return;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start_ns;

		(void)usleep(500);
		start_ns = io_now_ns();
		if (held_walk(remote, pid, pcs, MOST, -1, &held) < 0)
			continue;
		walked[n] = io_now_ns() - start_ns;
		ns[n++] = held.stopped_ns;
	}
	remote_free(remote);
	if (!n)
		return;
	print("wick, copied while held", ns, n, held.result.n_pcs);
	print("  with the walk after it", walked, n, held.result.n_pcs);
}

int main(void)
{
	static const int depths[] = {10, 50, 200};

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0)
			go_down(depths[i]);
		(void)usleep(20000);
		(void)printf("%d calls deep\n", depths[i]);
		theirs(pid);
		ours(pid);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	return 0;
}

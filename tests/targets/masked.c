/* masked.c - workers that block every signal while the main thread sleeps in join; prints "TID
 * SECONDS" of each worker and what mask it sees
 * usage: masked libc|syscall|raw|own SECONDS; own: by libc, and SIGPROF has a handler */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

BURN_FUNCTION(burn_masked)

static const char *how;
static double seconds;

static long raw_sigprocmask(int what, const uint64_t *set, uint64_t *old)
{
	register long size __asm__("r10") = 8;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_rt_sigprocmask), "D"(what), "S"(set), "d"(old), "r"(size)
			 : "rcx", "r11", "memory");
	return result;
}

static void on_own(int number)
{
	(void)number;
}

static void *run(void *argument)
{
	uint64_t all = ~(uint64_t)0;
	sigset_t set;

	(void)argument;
	(void)sigfillset(&set);
	if (!strcmp(how, "libc") || !strcmp(how, "own"))
		(void)pthread_sigmask(SIG_SETMASK, &set, NULL);
	else if (!strcmp(how, "syscall"))
		(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
	else
		(void)raw_sigprocmask(SIG_SETMASK, &all, NULL);
	while (thread_seconds() < seconds)
		burn_masked(100000);
	(void)pthread_sigmask(SIG_BLOCK, NULL, &set);
	printf("%d %.6f %s\n", gettid(), thread_seconds(),
	       sigismember(&set, SIGPROF) ? "blocked" : "open");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	how = argc > 1 ? argv[1] : "libc";
	seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
	if (!strcmp(how, "own"))
		(void)signal(SIGPROF, on_own);
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	}
	for (int i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}

/* attached_life.c - waits for SIGUSR1, then does what could end an attached program
 * usage: attached_life exec|blocked|reset|spawn|vfork|within LIVES CPU_US: so many children, each
 * works and is followed by another image, or puts all signals back; prints how many were killed
 *        attached_life itself|handler|filter|stacks CPU_US, become CPU_US CPU_US: the process does
 *        it */
#include "burn.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 5 };

BURN_FUNCTION(burn_life)

static char self[] = "/proc/self/exe";
static atomic_int begun, handled;

static void on_begin(int sig)
{
	(void)sig;
	atomic_store(&begun, 1);
}

static void on_prof(int sig)
{
	(void)sig;
	atomic_fetch_add(&handled, 1);
}

static void work(long cpu_us)
{
	double end = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + (double)cpu_us * 1e-6;

	while (clock_seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
		burn_life(10000);
}

static long times_put_off(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* The kernel's tick finds the running thread: one that is preempted before each tick works once
 * more. */
static void work_in_ticks(long cpu_us)
{
	long before = 0;
	long after = -1;

	for (int i = 0; i < ROUNDS && before != after; i++) {
		before = times_put_off();
		work(cpu_us);
		after = times_put_off();
	}
}

/* What many programs do before they run another, or go into the background. */
static void put_signals_back(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
}

static void mask_all(int how)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(how, &all, NULL);
}

static int become(const char *cpu_us)
{
	(void)execl(self, "attached_life", "after", cpu_us, (char *)NULL);
	return 1;
}

static int life(const char *how, char *cpu_us)
{
	long us = strtol(cpu_us, NULL, 10);

	if (strcmp(how, "blocked") == 0)
		mask_all(SIG_BLOCK);
	if (strcmp(how, "reset") == 0)
		put_signals_back();
	if (strcmp(how, "exec") == 0)
		work_in_ticks(us);
	else
		work(us);
	return strcmp(how, "reset") == 0 ? 0 : become(cpu_us);
}

static pid_t bear(const char *how, char *cpu_us)
{
	char *argv[] = {self, (char *)"after", cpu_us, NULL};
	pid_t pid = -1;

	if (strcmp(how, "spawn") == 0)
		return posix_spawn(&pid, self, NULL, NULL, argv, NULL) == 0 ? pid : -1;
	pid = strcmp(how, "vfork") == 0 || strcmp(how, "within") == 0 ? vfork() : fork();
	if (pid == 0 && strcmp(how, "vfork") == 0)
		(void)execv(self, argv);
	if (pid == 0)
		_exit(life(how, cpu_us));
	return pid;
}

static int lives(const char *how, long n, char *cpu_us)
{
	int killed = 0;
	int bad = 0;

	for (long i = 0; i < n; i++) {
		int status = 0;
		pid_t pid;

		if (strcmp(how, "spawn") == 0 || strcmp(how, "vfork") == 0)
			work(strtol(cpu_us, NULL, 10));
		pid = bear(how, cpu_us);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		killed += WIFSIGNALED(status);
		bad += WIFEXITED(status) && WEXITSTATUS(status) != 0;
	}
	printf("%ld lives, %d killed, %d failed\n", n, killed, bad);
	return 0;
}

/* Works with alternate stacks of 8 and 4 KiB, as runtimes have them, and looks below them. */
static int work_above(long cpu_us, size_t stack_bytes)
{
	static _Thread_local unsigned char
		memory[3 * 8192]; /* the first thread may still use its own */
	unsigned char *base = memory + sizeof(memory) - stack_bytes;
	stack_t stack = {.ss_sp = base, .ss_size = stack_bytes};

	(void)memset(memory, 0xa5, sizeof(memory));
	(void)sigaltstack(&stack, NULL);
	work(cpu_us);
	for (const unsigned char *at = memory; at < base; at++)
		if (*at != 0xa5)
			return 1;
	return 0;
}

static void *work_above_small(void *cpu_us)
{
	return (void *)(intptr_t)work_above(*(long *)cpu_us, 4096);
}

/* Another thread has the smaller one, so that the first that is met is not the worst. */
static int stacks(long cpu_us)
{
	pthread_t thread;
	void *bad = NULL;

	if (work_above(cpu_us, 8192) != 0)
		return 4;
	if (pthread_create(&thread, NULL, work_above_small, &cpu_us) != 0 ||
	    pthread_join(thread, &bad) != 0 || bad)
		return 5;
	return 0;
}

/* A profiler of its own, a hundred times a second. */
static int handle(long cpu_us)
{
	const struct itimerval every = {{0, 10000}, {0, 10000}};
	const struct itimerval never = {{0, 0}, {0, 0}};

	double begun_s = prof_seconds();

	(void)signal(SIGPROF, on_prof);
	(void)setitimer(ITIMER_PROF, &every, NULL);
	work(cpu_us);
	(void)setitimer(ITIMER_PROF, &never, NULL);
	printf("handled %d of %.1f\n", atomic_load(&handled), (prof_seconds() - begun_s) * 100);
	(void)signal(SIGPROF, SIG_DFL);
	(void)fflush(stdout);
	work(cpu_us);
	return 0;
}

#define ALLOW(nr)                                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* A call that is not one of these ends the process. */
static int enter_filter(void)
{
	struct sock_filter calls[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_clock_gettime),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = {sizeof(calls) / sizeof(calls[0]), calls};

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int one(const char *what, char *cpu_us)
{
	long us = strtol(cpu_us, NULL, 10);

	if (strcmp(what, "filter") != 0)
		work(us);
	if (strcmp(what, "handler") == 0)
		return handle(us);
	if (strcmp(what, "stacks") == 0)
		return stacks(us);
	if (strcmp(what, "itself") == 0)
		put_signals_back();
	if (strcmp(what, "filter") == 0 && enter_filter() < 0)
		return 3;
	work(us);
	(void)!write(STDOUT_FILENO, "alive\n", 6);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "after") == 0) {
		mask_all(SIG_UNBLOCK);
		work(strtol(argv[2], NULL, 10));
		return 0;
	}
	(void)signal(SIGUSR1, on_begin);
	while (!atomic_load(&begun))
		(void)usleep(1000);
	if (strcmp(argv[1], "become") == 0 && argc > 3) {
		work(strtol(argv[2], NULL, 10));
		return become(argv[3]);
	}
	return argc > 3 ? lives(argv[1], strtol(argv[2], NULL, 10), argv[3])
			: one(argv[1], argv[2]);
}

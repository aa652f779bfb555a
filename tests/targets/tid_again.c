/*
 * tid_again.c - threads that follow each other under one and the same tid
 *
 * tid_again TURNS MILLISECONDS.  Each thread is made by clone3() with the tid of the last one, has
 * a stack of its own that is unmapped when it has ended, a name, and works for MILLISECONDS of CPU:
 * those of even turns are called "first" and work in burn_first(), the others "second" and in
 * burn_second().  Says "TID FIRST SECOND", the CPU seconds of either kind; status 77 where tids
 * cannot be chosen.
 */
#include "burn.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK_BYTES = 128 * 1024, CANNOT = 77 };

BURN_FUNCTION(burn_first)
BURN_FUNCTION(burn_second)

static volatile double work_s; /* volatile: the compiler sees no call of live() */
static volatile double used[2];
static volatile int turn;
static _Atomic int tid_word;

/* No libc in here: the thread has none of its own.  It never returns. */
__attribute__((noinline, used)) static void live(void)
{
	struct timespec now;
	double seconds;

	(void)prctl(PR_SET_NAME, turn % 2 ? "second" : "first");
	do {
		if (turn % 2)
			burn_second(100000);
		else
			burn_first(100000);
		(void)syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
		seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
	} while (seconds < work_s);
	used[turn % 2] += seconds;
	for (;;)
		(void)syscall(SYS_exit, 0);
}

static long start(struct clone_args *args)
{
	long tid;

	/* The child comes back on an empty stack: nothing of this frame may be used there. */
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call live\n\t"
			 "1:"
			 : "=a"(tid)
			 : "a"(SYS_clone3), "D"(args), "S"(sizeof(*args))
			 : "rcx", "r11", "memory");
	return tid;
}

static pid_t one_thread(pid_t tid)
{
	char *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t wanted = tid;
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			 CLONE_SYSVSEM | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID,
		.parent_tid = (uint64_t)&tid_word,
		.child_tid = (uint64_t)&tid_word,
		.stack = (uint64_t)stack,
		.stack_size = STACK_BYTES - 64,
		.set_tid = tid ? (uint64_t)&wanted : 0,
		.set_tid_size = tid != 0,
	};
	long made;
	int there;

	if (stack == MAP_FAILED)
		exit(1);
	/* The last one has told its end a little before its tid is free again. */
	while ((made = start(&args)) == -EEXIST)
		(void)usleep(100);
	if (made < 0)
		exit(made == -EPERM ? CANNOT : 1);
	while ((there = atomic_load(&tid_word)) != 0)
		(void)syscall(SYS_futex, &tid_word, FUTEX_WAIT, there, NULL, NULL, 0);
	(void)munmap(stack, STACK_BYTES);
	return (pid_t)made;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 10;
	pid_t tid = 0;

	work_s = (argc > 2 ? atof(argv[2]) : 100) / 1000;
	for (turn = 0; turn < turns; turn++) {
		pid_t next = one_thread(tid);

		if (tid && next != tid)
			return 1;
		tid = next;
	}
	printf("%d %.6f %.6f\n", (int)tid, used[0], used[1]);
	return 0;
}

/* system_hook.c - implements system() as libc does, with the agent in the shell's environment */
#define _GNU_SOURCE 1
#include "sampler/agent/environment.h"
#include "sampler/agent/hooks.h"
#include "sampler/agent/launch.h"
#include "sampler/hooks/cancel.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

extern const char *weak_libc_version(void) __asm__("gnu_get_libc_version") __attribute__((weak));
extern int *weak_errno(void) __asm__("__errno_location") __attribute__((weak));

enum { NOT_FOUND = 127, DASHES_SINCE = 38 };

/* While any thread waits in system(), the process ignores SIGINT and SIGQUIT. */
static struct {
	_Atomic int32_t lock; /* pid of the lock's owner; fork may copy it */
	int32_t pid;          /* process of the count */
	uint32_t n_waiting;
	struct sigaction interrupt;
	struct sigaction quit;
} waiting;

static void lock(int32_t pid)
{
	int32_t seen = atomic_load(&waiting.lock);

	while (seen == pid || !atomic_compare_exchange_weak(&waiting.lock, &seen, pid)) {
		sys0(__NR_sched_yield);
		seen = atomic_load(&waiting.lock);
	}
}

static void unlock(void)
{
	atomic_store(&waiting.lock, 0);
}

/* Sets RET_RESET to the signals that the shell must not inherit as ignored. */
static void ignore_keys(sigset_t *ret_reset)
{
	struct sigaction ignore = {.sa_flags = 0};
	int32_t pid = (int32_t)sys0(__NR_getpid);

	ignore.sa_handler = SIG_IGN;
	*ret_reset = (sigset_t){.__val = {0}};
	lock(pid);
	if (waiting.pid != pid) {
		waiting.pid = pid;
		waiting.n_waiting = 0;
	}
	if (waiting.n_waiting++ == 0) {
		sigaction(SIGINT, &ignore, &waiting.interrupt);
		sigaction(SIGQUIT, &ignore, &waiting.quit);
	}
	if (waiting.interrupt.sa_handler != SIG_IGN)
		ret_reset->__val[0] |= SYS_SIGBIT(SIGINT);
	if (waiting.quit.sa_handler != SIG_IGN)
		ret_reset->__val[0] |= SYS_SIGBIT(SIGQUIT);
	unlock();
}

static void restore_keys(void)
{
	lock((int32_t)sys0(__NR_getpid));
	if (--waiting.n_waiting == 0) {
		sigaction(SIGINT, &waiting.interrupt, NULL);
		sigaction(SIGQUIT, &waiting.quit, NULL);
	}
	unlock();
}

/* glibc 2.38 and later run "sh -c -- COMMAND". */
static bool with_dashes(void)
{
	const char *version = weak_libc_version ? weak_libc_version() : "";
	int minor = 0;

	if (version[0] != '2' || version[1] != '.')
		return false;
	for (const char *c = version + 2; *c >= '0' && *c <= '9' && minor < 1000; c++)
		minor = minor * 10 + (*c - '0');
	return minor >= DASHES_SINCE;
}

static int spawn_shell(const char *command, const sigset_t *mask, const sigset_t *reset,
		       pid_t *ret_pid)
{
	bool dashes = with_dashes();
	char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			(char *)(uintptr_t)(dashes ? "--" : command),
			(char *)(uintptr_t)(dashes ? command : NULL), NULL};
	__typeof__(&posix_spawnattr_init) init = NEXT(posix_spawnattr_init);
	__typeof__(&posix_spawnattr_setsigmask) set_mask = NEXT(posix_spawnattr_setsigmask);
	__typeof__(&posix_spawnattr_setsigdefault) set_default =
		NEXT(posix_spawnattr_setsigdefault);
	__typeof__(&posix_spawnattr_setflags) set_flags = NEXT(posix_spawnattr_setflags);
	__typeof__(&posix_spawnattr_destroy) destroy = NEXT(posix_spawnattr_destroy);
	posix_spawnattr_t attributes;
	int r;

	if (!init || !set_mask || !set_default || !set_flags || !destroy)
		return ENOSYS;
	init(&attributes);
	set_mask(&attributes, mask);
	set_default(&attributes, reset);
	set_flags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(ret_pid, "/bin/sh", NULL, &attributes, argv, environment_current());
	destroy(&attributes);
	return r;
}

static int wait_for(pid_t pid)
{
	__typeof__(&waitpid) next = NEXT(waitpid);
	int status = -1;
	pid_t r;

	do {
		r = next ? next(pid, &status, 0) : agent_set_errno(ENOSYS);
	} while (r < 0 && weak_errno && *weak_errno() == EINTR);
	return r == pid ? status : -1;
}

/* As glibc when the thread is cancelled; musl leaves the command running. */
static void abandon(void *argument)
{
	const pid_t *pid = argument;

	if (weak_libc_version) {
		(void)sys2(__NR_kill, *pid, SIGKILL);
		while (sys4(__NR_wait4, *pid, NULL, 0, NULL) == -EINTR)
			;
	}
	restore_keys();
}

/* Waits in libc's own call, which is a cancellation point. */
static int wait_cancellably(pid_t pid)
{
	struct cancel_buffer buffer;
	int status;

	cancel_push(&buffer, abandon, &pid);
	status = wait_for(pid);
	cancel_pop(&buffer);
	return status;
}

static int run(const char *command)
{
	sigset_t child = {.__val = {SYS_SIGBIT(SIGCHLD)}};
	sigset_t mask, reset;
	int status, r;
	pid_t pid;

	ignore_keys(&reset);
	pthread_sigmask(SIG_BLOCK, &child, &mask);
	r = spawn_shell(command, &mask, &reset, &pid);
	status = r == 0 ? wait_cancellably(pid) : W_EXITCODE(NOT_FOUND, 0);
	restore_keys();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (r != 0)
		agent_set_errno(r);
	return status;
}

AGENT_EXPORT int system(const char *command)
{
	__typeof__(&system) next = NEXT(system);

	if (!launch_wanted() && next)
		return next(command);
	return command ? run(command) : run("exit 0") == 0;
}

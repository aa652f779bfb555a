/* unmask.c - opens SIGPROF in a thread that has blocked it behind the agent's back */
#include "sampler/collector/unmask.h"

#include "base/buf.h"
#include "base/io.h"
#include "sampler/collector/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

enum { STATUS_MAX_BYTES = 64 * 1024 };

static int read_status(pid_t pid, uint32_t tid, char *ret_state, uint64_t *ret_blocked)
{
	const char *state;
	const char *blocked;
	char path[64];
	struct buf text;
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%u/status", (int)pid, tid);
	buf_init(&text, STATUS_MAX_BYTES);
	r = io_read_file(path, &text, NULL);
	state = strstr(buf_text(&text), "\nState:\t");
	blocked = strstr(buf_text(&text), "\nSigBlk:\t");
	if (r == 0 && (!state || !blocked))
		r = -EINVAL;
	if (r == 0) {
		*ret_state = state[sizeof("\nState:\t") - 1];
		*ret_blocked = strtoull(blocked + sizeof("\nSigBlk:\t") - 1, NULL, 16);
	}
	buf_release(&text);
	return r;
}

/* Wait for the stop without ever waiting long. */
static int wait_stop(pid_t tid, int *ret_status)
{
	const struct timespec step = {.tv_nsec = 50000};
	uint64_t deadline = io_now_ns() + UNMASK_MS * NS_PER_MS;
	pid_t r;

	while ((r = waitpid(tid, ret_status, __WALL | WNOHANG)) == 0 && io_now_ns() < deadline)
		(void)nanosleep(&step, NULL);
	if (r == tid && WIFSTOPPED(*ret_status))
		return 0;
	return r < 0 ? -errno : -EINPROGRESS;
}

/* The signal that a stop was about to deliver, 0 for the stop that we asked for. */
static int pending_signal(int status)
{
	return status >> 16 ? 0 : WSTOPSIG(status);
}

static int clear_bit(pid_t tid, int signal)
{
	uint64_t mask = 0;
	int status = 0;
	int r;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return -errno;
	r = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 ? -errno : wait_stop(tid, &status);
	if (r == 0 && ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0)
		r = -errno;
	if (r == -EINPROGRESS)
		return r;
	mask &= ~BIT(signal);
	if (r == 0 && ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) < 0)
		r = -errno;
	(void)ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)pending_signal(status));
	return r;
}

bool unmask_let_go(pid_t tid)
{
	int status = 0;
	pid_t r = waitpid(tid, &status, __WALL | WNOHANG);

	if (r == tid && WIFSTOPPED(status))
		(void)ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)pending_signal(status));
	return r != 0;
}

int unmask_thread(pid_t pid, uint32_t tid, int signal)
{
	uint64_t blocked = 0;
	char state = '?';
	int r = read_status(pid, tid, &state, &blocked);

	if (r < 0)
		return r;
	if (!(blocked & BIT(signal)))
		return -EALREADY;
	if (state != 'R')
		return -EAGAIN;
	return clear_bit((pid_t)tid, signal);
}

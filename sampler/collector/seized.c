/* seized.c - stops of threads of other processes, and their ends */
#include "sampler/collector/seized.h"

#include "sampler/collector/limits.h"
#include "sampler/collector/proc_status.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNAL_BITS = 0xff }; /* of a stop's status; PTRACE_EVENT_STOP is above them */

static bool is_child_of_ours(pid_t tid)
{
	struct proc_status status;
	bool is = proc_status_read(&status, tid, 0) == 0 &&
		  proc_status_number(&status, "Tgid", 10) == (uint64_t)tid &&
		  proc_status_number(&status, "PPid", 10) == (uint64_t)getpid();

	proc_status_release(&status);
	return is;
}

static bool is_stop(const siginfo_t *info)
{
	return info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED;
}

int seized_look(pid_t tid, int *ret_signal)
{
	siginfo_t info = {0};

	/* What is there, without taking it: a kill may turn a stop into an end at any time. */
	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | __WALL | WNOHANG | WNOWAIT) < 0)
		return -ESRCH;
	if (info.si_pid == 0)
		return 0;
	if (!is_stop(&info)) {
		if (!is_child_of_ours(tid))
			(void)waitid(P_PID, (id_t)tid, &info, WEXITED | __WALL | WNOHANG);
		return -ESRCH;
	}
	info.si_pid = 0;
	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | __WALL | WNOHANG) < 0 || info.si_pid == 0)
		return 0;
	*ret_signal = info.si_status & ~SIGNAL_BITS ? 0 : info.si_status;
	return 1;
}

static bool detach(pid_t tid, int signal)
{
	return ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal) == 0;
}

/* Of this thread, which has seized them.  Whom there is no place for stands until it ends. */
static _Thread_local struct {
	pid_t tids[SEIZED_MOST];
	size_t n;
} later;

void seized_let_go(pid_t tid, int signal)
{
	if (!detach(tid, signal) && later.n < SEIZED_MOST)
		later.tids[later.n++] = tid;
}

static bool is_free(pid_t tid)
{
	int signal = 0;
	int r = seized_look(tid, &signal);

	return r < 0 || (r > 0 && detach(tid, signal));
}

bool seized_sweep(void)
{
	for (size_t i = later.n; i-- > 0;)
		if (is_free(later.tids[i]))
			later.tids[i] = later.tids[--later.n];
	return later.n > 0;
}

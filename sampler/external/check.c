/* check.c - whether a process can be read without an agent */
#include "sampler/external/check.h"

#include "sampler/procfs/proc_status.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int check_denied(pid_t pid, struct err *err)
{
	(void)err_set(err, EPERM, "look at process %d", (int)pid);
	if (geteuid() != 0)
		err_hint(err, "as its user or root; where it is yours: "
			      "sysctl kernel.yama.ptrace_scope=0");
	return -EPERM;
}

static int judge(pid_t pid, const struct proc_status *status, const char *comm, struct err *err)
{
	enum proc_status_of of = proc_status_of(status);
	pid_t leader = (pid_t)proc_status_number(status, "Tgid", 10);

	if (leader != pid) {
		(void)err_set(err, 0, "%d is a thread of process %d", (int)pid, (int)leader);
		err_hint(err, "-p %d", (int)leader);
		return -EINVAL;
	}
	if (proc_status_goes_on(status))
		return err_set(err, 0,
			       "process %d ('%s') runs without its main thread, which has "
			       "ended: it cannot be read from outside",
			       (int)pid, comm);
	if (of == STATUS_OF_ENDED)
		return err_set(err, 0,
			       "process %d ('%s') has ended, and its parent has not asked, "
			       "try: -p %d, its parent",
			       (int)pid, comm, (int)proc_status_number(status, "PPid", 10));
	if (of == STATUS_OF_KERNEL)
		return err_set(err, 0,
			       "%d ('%s') is a thread of the kernel, and runs no program, "
			       "try: cat /proc/%d/stack",
			       (int)pid, comm, (int)pid);
	if (pid == getpid())
		return err_set(err, 0, "%d is wick itself, try: another process", (int)pid);
	return 0;
}

int check_process(pid_t pid, struct checked_process *ret_process, struct err *err)
{
	struct checked_process process = {.tracer = 0};
	struct proc_status status;
	int r = proc_status_read(&status, pid, 0);

	if (r == 0) {
		proc_status_comm(&status, process.comm);
		process.tracer = (pid_t)proc_status_number(&status, "TracerPid", 10);
		r = judge(pid, &status, process.comm, err);
	} else if (r == -EACCES || r == -EPERM) {
		r = check_denied(pid, err);
	} else {
		r = err_set(err, ESRCH, "look at process %d", (int)pid);
		err_hint(err, "ps -e, which lists them");
	}
	proc_status_release(&status);
	if (r == 0)
		*ret_process = process;
	return r;
}

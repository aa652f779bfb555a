/* attach_check.c - whether wick can attach to a process, and why not */
#include "sampler/attach/attach_check.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/procfs/proc_status.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

int attach_refuse_traced(pid_t pid, pid_t by, struct err *err)
{
	char name[SAMPLE_COMM_SIZE] = "?";
	struct proc_status status;

	if (proc_status_read(&status, by, 0) == 0)
		proc_status_comm(&status, name);
	proc_status_release(&status);
	(void)err_set(err, 0, "process %d is being traced by %s, process %d", (int)pid, name,
		      (int)by);
	err_hint(err, "when %s has detached", name);
	return -EBUSY;
}

static int check_state(pid_t pid, const struct proc_status *status, struct err *err)
{
	enum proc_status_of of = proc_status_of(status);
	char state = *proc_status_word(status, "State");
	pid_t tracer = (pid_t)proc_status_number(status, "TracerPid", 10);
	pid_t group = (pid_t)proc_status_number(status, "Tgid", 10);
	char name[SAMPLE_COMM_SIZE];

	proc_status_comm(status, name);
	if (group != pid) {
		(void)err_set(err, 0, "%d (%s) is a thread of process %d", (int)pid, name,
			      (int)group);
		err_hint(err, "-p %d", (int)group);
		return -ESRCH;
	}
	if (proc_status_goes_on(status)) {
		(void)err_set(err, 0,
			      "process %d (%s) runs without its main thread, which has ended: "
			      "it cannot be read from outside",
			      (int)pid, name);
		return -ESRCH;
	}
	if (of == STATUS_OF_ENDED) {
		(void)err_set(err, 0, "process %d (%s) has ended: it is a zombie", (int)pid, name);
		err_hint(err, "-p %d, its parent", (int)proc_status_number(status, "PPid", 10));
		return -ESRCH;
	}
	if (of == STATUS_OF_KERNEL) {
		(void)err_set(err, 0, "process %d (%s) is a thread of the kernel", (int)pid, name);
		err_hint(err, "perf record -g -t %d", (int)pid);
		return -EPERM;
	}
	if (tracer)
		return attach_refuse_traced(pid, tracer, err);
	if (state == 'T' || state == 't') {
		(void)err_set(err, 0, "process %d (%s) is stopped", (int)pid, name);
		err_hint(err, "kill -CONT %d", (int)pid);
		return -EAGAIN;
	}
	return 0;
}

/* Only a process that may trace it can open this file. */
static int check_access(pid_t pid, const struct proc_status *status, struct err *err)
{
	uid_t uid = (uid_t)proc_status_number(status, "Uid", 10);
	char scope = '0';
	char path[32];
	_cleanup_fd_ int fd = -1;
	int yama;

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return 0;
	if (errno == ENOENT || errno == ESRCH)
		return err_set(err, ESRCH, "process %d", (int)pid);
	if (geteuid() == 0) {
		(void)err_set(err, 0,
			      "process %d may not be traced, by this root either: it has rights "
			      "that root has not here, or is protected",
			      (int)pid);
		return -EPERM;
	}
	if (uid != geteuid()) {
		(void)err_set(err, 0, "process %d belongs to another user (uid %u)", (int)pid,
			      (unsigned)uid);
		err_hint(err, "as root");
		return -EPERM;
	}
	yama = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	if (yama >= 0) {
		(void)!read(yama, &scope, 1);
		(void)close(yama);
	}
	(void)err_set(err, 0, "process %d may not be traced%s", (int)pid,
		      scope > '0' ? ": kernel.yama.ptrace_scope forbids it" : "");
	err_hint(err, scope > '0' ? "sysctl kernel.yama.ptrace_scope=0, or as root" : "as root");
	return -EPERM;
}

/* The loader must be of the agent's architecture, and there must be no seccomp filter, which could
 * end the program for what the agent does. */
static int check_kind(pid_t pid, const struct proc_status *status, struct err *err)
{
	unsigned char head[20] = {0};
	char path[32];
	_cleanup_fd_ int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && io_pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    (head[EI_CLASS] != ELFCLASS64 || head[18] != EM_X86_64)) {
		(void)err_set(err, 0, "process %d is a program of another architecture", (int)pid);
		return -ENOEXEC;
	}
	if (proc_status_number(status, "Seccomp", 10)) {
		(void)err_set(err, 0,
			      "process %d is under a seccomp filter, which could end it for "
			      "what the agent does",
			      (int)pid);
		return -ENOEXEC;
	}
	return 0;
}

int attach_check(pid_t pid, struct attach_target *ret_target, struct err *err)
{
	struct proc_status status;
	int r = proc_status_read(&status, pid, 0);

	if (r < 0) {
		(void)err_set(err, 0, "there is no process %d", (int)pid);
		err_hint(err, "ps -e, which lists them");
		r = -ESRCH;
	}
	if (r == 0)
		r = check_state(pid, &status, err);
	if (r == 0)
		r = check_access(pid, &status, err);
	if (r == 0)
		r = check_kind(pid, &status, err);
	if (r == 0) {
		*ret_target = (struct attach_target){
			.pid = pid,
			.inner_pid = proc_status_inner(&status),
			.caught = proc_status_number(&status, "SigCgt", 16),
			.ignored = proc_status_number(&status, "SigIgn", 16),
		};
		if (!ret_target->inner_pid) /* a kernel without namespaces */
			ret_target->inner_pid = pid;
	}
	proc_status_release(&status);
	return r;
}

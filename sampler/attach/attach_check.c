/* attach_check.c - whether wick can attach to a process, why not, and by which signal to sample it
 */
#include "sampler/attach/attach_check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/attach/target_elf.h"
#include "sampler/procfs/proc_status.h"
#include "sampler/procfs/task.h"
#include "sampler/remote/blocked.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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
			.namespace_pid = proc_status_inner(&status),
			.caught = proc_status_number(&status, "SigCgt", 16),
			.ignored = proc_status_number(&status, "SigIgn", 16),
		};
		if (!ret_target->namespace_pid) /* a kernel without namespaces */
			ret_target->namespace_pid = pid;
	}
	proc_status_release(&status);
	return r;
}

enum {
	MAX_THREADS = 256,
	MAX_DESCRIPTORS = 4096,
	STATUS_MAX_BYTES = 64 * 1024,
	LINK_BYTES = 64,
};

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Signals that the process uses, bit N - 1, by kind of use. */
struct uses {
	uint64_t caught;
	uint64_t ignored;
	uint64_t read;    /* by a signalfd */
	uint64_t waited;  /* by a thread in sigwait() */
	uint64_t blocked; /* in every thread */
};

static DIR *open_dir(pid_t pid, const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return opendir(path);
}

/* The number after a word in a small file of /proc. */
static uint64_t mask_in(int dir_fd, const char *file, const char *word)
{
	_cleanup_fd_ int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
	const char *at;
	struct buf text;
	uint64_t mask = 0;

	buf_init(&text, STATUS_MAX_BYTES);
	if (fd >= 0 && io_read_fd(fd, &text) == 0) {
		at = strstr(buf_text(&text), word);
		mask = at ? strtoull(at + strlen(word), NULL, 16) : 0;
	}
	buf_release(&text);
	return mask;
}

static uint64_t read_by_descriptors(pid_t pid)
{
	_cleanup_dir_ DIR *links = open_dir(pid, "fd");
	_cleanup_dir_ DIR *infos = open_dir(pid, "fdinfo");
	const struct dirent *entry;
	uint64_t mask = 0;
	int n = 0;

	if (!links || !infos)
		return 0;
	/* This thread alone reads this stream of entries. */
	while (n++ < MAX_DESCRIPTORS &&
	       (entry = readdir(links))) { /* NOLINT(concurrency-mt-unsafe) */
		char link[LINK_BYTES];
		ssize_t len = readlinkat(dirfd(links), entry->d_name, link, sizeof(link) - 1);

		link[len > 0 ? len : 0] = '\0';
		if (strcmp(link, "anon_inode:[signalfd]") == 0)
			mask |= mask_in(dirfd(infos), entry->d_name, "sigmask:\t");
	}
	return mask;
}

/* The set that a thread in sigwait() or a similar call waits for. */
static uint64_t waited_by(pid_t pid, int tasks_fd, uint32_t tid)
{
	_cleanup_fd_ int fd = task_open(tasks_fd, tid, "syscall");
	struct blocked_at at;
	uint64_t set = 0;

	if (fd >= 0 && blocked_read(fd, &at) == 0 && at.in_syscall && at.nr == SYS_rt_sigtimedwait)
		(void)target_read(pid, at.args[0], &set, sizeof(set));
	return set;
}

static void read_threads(pid_t pid, struct uses *uses)
{
	_cleanup_dir_ DIR *tasks = tasks_open(pid);
	char file[32];
	uint32_t tid;
	int n = 0;

	uses->blocked = UINT64_MAX;
	while (tasks && n < MAX_THREADS && (tid = tasks_next(tasks))) {
		n++;
		(void)snprintf(file, sizeof(file), "%u/status", tid);
		uses->blocked &= mask_in(dirfd(tasks), file, "\nSigBlk:\t");
		uses->waited |= waited_by(pid, dirfd(tasks), tid);
	}
	if (!n)
		uses->blocked = 0;
}

/* Return:  how the process uses a signal; NULL: it does not. */
static const char *use_of(const struct uses *uses, int signal)
{
	if (uses->caught & BIT(signal))
		return "handles";
	if (uses->read & BIT(signal))
		return "has a signalfd for";
	if (uses->waited & BIT(signal))
		return "waits for";
	if (uses->ignored & BIT(signal))
		return "ignores";
	return uses->blocked & BIT(signal) ? "blocks, in every thread," : NULL;
}

/*
 * A signal that is not used; 0: all are. If every signal is blocked, another one does not help.
 * SIGURG and SIGWINCH are ignored by default: pending at an exec, or after a program has reset all
 * its actions, they do no harm. Terminals send SIGWINCH, so it is the second choice.
 */
static int first_free(const struct uses *uses)
{
	static const int candidates[] = {SIGURG, SIGWINCH, SIGPROF, SIGVTALRM, SIGSTKFLT, SIGPWR};
	const size_t n = sizeof(candidates) / sizeof(candidates[0]);
	struct uses hard = *uses;

	for (size_t i = 0; i < n; i++)
		if (!use_of(uses, candidates[i]))
			return candidates[i];
	hard.blocked = 0;
	for (size_t i = 0; i < n; i++)
		if (!use_of(&hard, candidates[i]))
			return candidates[i];
	return 0;
}

bool attach_signal_is_harmless(int signal)
{
	return signal == SIGURG || signal == SIGWINCH;
}

bool attach_signal_fits(int signal)
{
	static const int fit[] = {SIGURG,    SIGWINCH, SIGPROF, SIGVTALRM,
				  SIGSTKFLT, SIGPWR,   SIGXCPU, SIGIO};

	for (size_t i = 0; i < sizeof(fit) / sizeof(fit[0]); i++)
		if (fit[i] == signal)
			return true;
	return false;
}

static int refuse(const struct attach_target *target, const char *use, int signal, int other,
		  struct err *err)
{
	(void)err_set(err, 0, "process %d %s SIG%s itself", (int)target->pid, use,
		      sigabbrev_np(signal));
	if (other)
		err_hint(err, "--signal %s", sigabbrev_np(other));
	return -EBUSY;
}

int attach_signal_choose(const struct attach_target *target, int asked, int agents, int *ret_signal,
			 struct err *ret_why, struct err *err)
{
	struct uses uses = {.caught = target->caught, .ignored = target->ignored};
	int wanted = asked ? asked : SIGURG;
	const char *use;
	int other;

	if (agents && asked && asked != agents) {
		(void)err_set(err, 0,
			      "process %d already has an agent, whose sampling signal is SIG%s",
			      (int)target->pid, sigabbrev_np(agents));
		err_hint(err, "--signal %s", sigabbrev_np(agents));
		return -EBUSY;
	}
	*ret_signal = agents ? agents : wanted;
	if (agents)
		return 0;
	uses.read = read_by_descriptors(target->pid);
	read_threads(target->pid, &uses);
	use = use_of(&uses, wanted);
	if (!use)
		return 0;
	other = first_free(&uses);
	if (asked || !other)
		return refuse(target, use, wanted, other, err);
	*ret_signal = other;
	if (other != wanted)
		(void)err_set(ret_why, 0,
			      "process %d %s SIG%s itself: its sampling signal is SIG%s",
			      (int)target->pid, use, sigabbrev_np(wanted), sigabbrev_np(other));
	return 0;
}

/* attach_check.c - whether a process can be joined, and why not */
#include "sampler/collector/attach_check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_MAX_BYTES = 64 * 1024, NAME_BYTES = 64 };

/* What follows "\nNAME:\t" in a status file; "" when it is not there. */
static const char *field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? at + strlen(name) : "";
}

static int read_status(pid_t pid, struct buf *text)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return io_read_file(path, text, NULL);
}

static void name_of(const char *status, char to[NAME_BYTES])
{
	const char *name = field(status, "Name:\t");

	(void)snprintf(to, NAME_BYTES, "%.*s", (int)strcspn(name, "\n"), name);
}

/* A pid of another process's own namespace is the last of the line. */
static pid_t inner_pid(const char *status, pid_t pid)
{
	const char *line = field(status, "\nNSpid:");
	const char *end = strchr(line, '\n');
	long inner = pid;

	while (line && end && line < end) {
		char *after;
		long value = strtol(line, &after, 10);

		if (after == line || after > end)
			break;
		inner = value;
		line = after;
	}
	return (pid_t)inner;
}

static int tell_traced(pid_t pid, const char *tracer, struct err *err)
{
	pid_t by = (pid_t)strtol(tracer, NULL, 10);
	char name[NAME_BYTES] = "?";
	struct buf text;

	buf_init(&text, STATUS_MAX_BYTES);
	if (read_status(by, &text) == 0)
		name_of(buf_text(&text), name);
	buf_release(&text);
	(void)err_set(err, 0, "process %d is being traced by %s, process %d", (int)pid, name,
		      (int)by);
	return -EBUSY;
}

/* Threads of the kernel have no memory of their own, and say so since Linux 6.8. */
static bool is_kernels(const char *status)
{
	return field(status, "\nKthread:\t")[0] == '1' || !strstr(status, "\nVmSize:");
}

static int check_state(pid_t pid, const char *status, struct err *err)
{
	char state = field(status, "\nState:\t")[0];
	const char *tracer = field(status, "\nTracerPid:\t");
	pid_t group = (pid_t)strtol(field(status, "\nTgid:\t"), NULL, 10);
	char name[NAME_BYTES];

	name_of(status, name);
	if (group != pid) {
		(void)err_set(err, 0, "%d (%s) is a thread of process %d", (int)pid, name,
			      (int)group);
		return -ESRCH;
	}
	if (state == 'Z' || state == 'X') {
		(void)err_set(err, 0, "process %d (%s) has ended: it is a zombie", (int)pid, name);
		return -ESRCH;
	}
	if (is_kernels(status)) {
		(void)err_set(err, 0, "process %d (%s) is a thread of the kernel", (int)pid, name);
		return -EPERM;
	}
	if (tracer[0] && tracer[0] != '0')
		return tell_traced(pid, tracer, err);
	if (state == 'T' || state == 't') {
		(void)err_set(err, 0, "process %d (%s) is stopped", (int)pid, name);
		err_hint(err, "kill -CONT %d", (int)pid);
		return -EAGAIN;
	}
	return 0;
}

/* A file of it that only who may trace it can read. */
static int check_access(pid_t pid, const char *status, struct err *err)
{
	uid_t uid = (uid_t)strtoul(field(status, "\nUid:\t"), NULL, 10);
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

/* A loader of the agent's own kind, and no filter that could end the program for what we do. */
static int check_kind(pid_t pid, const char *status, struct err *err)
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
	if (field(status, "\nSeccomp:\t")[0] > '0') {
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
	const char *status;
	struct buf text;
	int r;

	buf_init(&text, STATUS_MAX_BYTES);
	r = pid > 0 ? read_status(pid, &text) : -ESRCH;
	status = buf_text(&text);
	if (r < 0) {
		(void)err_set(err, 0, "there is no process %d", (int)pid);
		r = -ESRCH;
	}
	if (r == 0)
		r = check_state(pid, status, err);
	if (r == 0)
		r = check_access(pid, status, err);
	if (r == 0)
		r = check_kind(pid, status, err);
	if (r == 0)
		*ret_target = (struct attach_target){
			.pid = pid,
			.inner_pid = inner_pid(status, pid),
			.caught = strtoull(field(status, "\nSigCgt:\t"), NULL, 16),
			.ignored = strtoull(field(status, "\nSigIgn:\t"), NULL, 16),
		};
	buf_release(&text);
	return r;
}

/* check.c - whether a process is one that can be looked at from outside */
#include "sampler/outside/check.h"

#include "base/buf.h"
#include "base/io.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_BYTES = 64 * 1024 };

/* What follows "\nNAME:\t" in a status file; NULL: nothing does. */
static const char *field(const char *status, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return NULL;
}

static long number(const char *status, const char *name)
{
	const char *text = field(status, name);

	return text ? strtol(text, NULL, 10) : 0;
}

/* A comm is the target's: what could move a cursor is not shown. */
static void copy_comm(const char *status, char to[SAMPLE_COMM_SIZE])
{
	const char *text = field(status, "Name");
	size_t n = 0;

	for (; text && text[n] != '\n' && text[n] && n < SAMPLE_COMM_SIZE - 1; n++)
		to[n] = (char)(text[n] < ' ' || text[n] == 0x7f ? '?' : text[n]);
	to[n] = '\0';
}

int check_denied(pid_t pid, struct err *err)
{
	(void)err_set(err, EPERM, "look at process %d", (int)pid);
	if (geteuid() != 0)
		err_hint(err, "as its user or root; where it is yours: "
			      "sysctl kernel.yama.ptrace_scope=0");
	return -EPERM;
}

/* Only what has memory of its own has a program: kernel threads have none. */
static bool has_memory(const char *status)
{
	return field(status, "VmSize") != NULL;
}

static int judge(pid_t pid, const char *status, const struct outside_process *process,
		 struct err *err)
{
	const char *state = field(status, "State");
	long leader = number(status, "Tgid");

	if (leader != pid) {
		(void)err_set(err, 0, "%d is a thread of process %ld", (int)pid, leader);
		err_hint(err, "-p %ld", leader);
		return -EINVAL;
	}
	if (state && (*state == 'Z' || *state == 'X'))
		return err_set(err, 0, "process %d ('%s') has ended, and its parent has not asked",
			       (int)pid, process->comm);
	if (!has_memory(status))
		return err_set(err, 0, "%d ('%s') is a thread of the kernel, and runs no program",
			       (int)pid, process->comm);
	if (pid == getpid())
		return err_set(err, 0, "%d is wick itself", (int)pid);
	return 0;
}

int check_process(pid_t pid, struct outside_process *ret_process, struct err *err)
{
	struct outside_process process = {.tracer = 0};
	struct buf status;
	char path[64];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	buf_init(&status, STATUS_BYTES);
	r = io_read_file(path, &status, NULL);
	if (r < 0) {
		r = r == -EACCES || r == -EPERM
			    ? check_denied(pid, err)
			    : err_set(err, ESRCH, "look at process %d", (int)pid);
	} else {
		copy_comm(buf_text(&status), process.comm);
		process.tracer = (pid_t)number(buf_text(&status), "TracerPid");
		r = judge(pid, buf_text(&status), &process, err);
	}
	buf_release(&status);
	if (r == 0)
		*ret_process = process;
	return r;
}

/* proc_status.c - the status file of a process or a thread */
#include "sampler/procfs/proc_status.h"

#include "base/io.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 * 1024 };

int proc_status_read(struct proc_status *ret_status, pid_t pid, uint32_t tid)
{
	char path[64];
	int r;

	buf_init(&ret_status->file, MAX_BYTES);
	if (tid)
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%u/status", (int)pid,
			       (unsigned)tid);
	else
		(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	r = io_read_file(path, &ret_status->file, NULL);
	ret_status->text = r < 0 ? "" : buf_text(&ret_status->file);
	return r;
}

void proc_status_release(struct proc_status *status)
{
	buf_release(&status->file);
}

/* The name that the process gave itself has its newlines escaped: a line is the kernel's. */
const char *proc_status_word(const struct proc_status *status, const char *name)
{
	const char *line = status->text;
	size_t len = strlen(name);

	while (strncmp(line, name, len) != 0 || line[len] != ':') {
		line = strchr(line, '\n');
		if (!line)
			return "";
		line++;
	}
	line += len + 1;
	return line + strspn(line, " \t");
}

uint64_t proc_status_number(const struct proc_status *status, const char *name, int base)
{
	return strtoull(proc_status_word(status, name), NULL, base);
}

void proc_status_comm(const struct proc_status *status, char to[SAMPLE_COMM_SIZE])
{
	const char *text = proc_status_word(status, "Name");
	size_t n = 0;

	for (; text[n] != '\n' && text[n] && n < SAMPLE_COMM_SIZE - 1; n++)
		to[n] = (char)(text[n] < ' ' || text[n] == 0x7f ? '?' : text[n]);
	to[n] = '\0';
}

pid_t proc_status_inner(const struct proc_status *status)
{
	const char *at = proc_status_word(status, "NSpid");
	const char *end = at + strcspn(at, "\n");
	long inner = 0;

	while (at < end) {
		char *after;
		long value = strtol(at, &after, 10);

		if (after == at || after > end || value <= 0 || value > INT32_MAX)
			break;
		inner = value;
		at = after;
	}
	return (pid_t)inner;
}

/* Before Linux 6.8 it is not said: threads of the kernel come from process 2, or are it. */
static bool is_of_kernel(const struct proc_status *status)
{
	const char *said = proc_status_word(status, "Kthread");

	return *said ? *said == '1'
		     : proc_status_number(status, "PPid", 10) == 2 ||
			       proc_status_number(status, "PPid", 10) == 0;
}

enum proc_status_of proc_status_of(const struct proc_status *status)
{
	char state = *proc_status_word(status, "State");

	if (state == 'Z' || state == 'X')
		return STATUS_OF_ENDED;
	if (*proc_status_word(status, "VmSize"))
		return STATUS_OF_PROGRAM;
	return is_of_kernel(status) ? STATUS_OF_KERNEL : STATUS_OF_ENDED;
}

bool proc_status_goes_on(const struct proc_status *status)
{
	return proc_status_of(status) == STATUS_OF_ENDED &&
	       proc_status_number(status, "Threads", 10) > 1;
}

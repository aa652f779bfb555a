/* doctor_process.c - whether a running process could be sampled */
#include "base/buf.h"
#include "base/io.h"
#include "sampler/collector/examine.h"
#include "tools/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_BYTES = 64 * 1024, MAPS_BYTES = 64 * 1024 * 1024, MAX_TASKS = 100000 };

/* A field of /proc/PID/status as a number; 0 when it is not there. */
static uint64_t field(const char *status, const char *name, int base)
{
	size_t len = strlen(name);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return strtoull(line + len + 1, NULL, base);
	}
	return 0;
}

static bool has_sigprof(const char *status, const char *mask)
{
	return field(status, mask, 16) >> (SIGPROF - 1) & 1;
}

static bool maps_name_agent(pid_t pid)
{
	char path[64];
	struct buf maps;
	bool found = false;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	buf_init(&maps, MAPS_BYTES);
	if (io_read_file(path, &maps, NULL) == 0)
		found = strstr(buf_text(&maps), "libwick-agent.so") != NULL;
	buf_release(&maps);
	return found;
}

static void check_owner(struct doctor *doctor, pid_t pid, const char *status)
{
	uint64_t uid = field(status, "Uid", 10);

	if (geteuid() == 0 || uid == geteuid())
		doctor_ok(doctor, "process", "%d is of user %llu", (int)pid,
			  (unsigned long long)uid);
	else
		doctor_fix(doctor, "process", "run wick as that user, or as root",
			   "%d is of user %llu, and you are %u", (int)pid, (unsigned long long)uid,
			   (unsigned)geteuid());
}

static void check_sigprof(struct doctor *doctor, pid_t pid, const char *status)
{
	if (maps_name_agent(pid))
		doctor_note(doctor, "SIGPROF", "wick's agent is in the process already");
	else if (has_sigprof(status, "SigCgt"))
		doctor_fix(doctor, "SIGPROF",
			   "switch its own profiler off (CPUPROFILE and the like)",
			   "the process has a handler of its own");
	else if (has_sigprof(status, "SigIgn"))
		doctor_note(doctor, "SIGPROF", "ignored; the agent's handler takes its place");
	else
		doctor_ok(doctor, "SIGPROF", "free");
}

static bool task_blocks(pid_t pid, const char *tid)
{
	char path[PATH_MAX];
	struct buf status;
	bool blocks = false;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)pid, tid);
	buf_init(&status, STATUS_BYTES);
	if (io_read_file(path, &status, NULL) == 0)
		blocks = has_sigprof(buf_text(&status), "SigBlk");
	buf_release(&status);
	return blocks;
}

static void check_masks(struct doctor *doctor, pid_t pid)
{
	unsigned n = 0;
	unsigned blocked = 0;
	char path[64];
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	for (struct dirent *task; n < MAX_TASKS && (task = readdir(tasks)) != NULL;) {
		if (task->d_name[0] == '.')
			continue;
		n++;
		blocked += task_blocks(pid, task->d_name);
	}
	(void)closedir(tasks);
	if (blocked)
		doctor_note(doctor, "threads",
			    "%u of %u block SIGPROF; started by wick, it stays open in them",
			    blocked, n);
	else
		doctor_ok(doctor, "threads", "%u, none blocks SIGPROF", n);
}

static void check_seccomp(struct doctor *doctor, const char *status)
{
	uint64_t mode = field(status, "Seccomp", 10);

	if (mode == 0)
		doctor_ok(doctor, "seccomp", "no filter");
	else
		doctor_note(doctor, "seccomp",
			    "mode %llu: sampling goes on only as far as the filter lets it",
			    (unsigned long long)mode);
}

static void check_image(struct doctor *doctor, pid_t pid)
{
	struct collector_program program;
	struct err err = {0};
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (collector_examine(path, &program, &err) < 0)
		doctor_fix(doctor, "program", "run wick as its user, or as root", "%s", err.text);
	else if (program.why)
		doctor_fix(doctor, "program",
			   "link it dynamically, for 64 bit, without set-ID bits",
			   "it takes no agent: %s", program.why);
	else
		doctor_ok(doctor, "program", "it takes an agent");
}

void doctor_check_process(struct doctor *doctor, pid_t pid)
{
	char path[64];
	struct buf status;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	buf_init(&status, STATUS_BYTES);
	if (io_read_file(path, &status, NULL) < 0) {
		doctor_fix(doctor, "process", "a number that `ps` shows", "there is no process %d",
			   (int)pid);
	} else {
		check_owner(doctor, pid, buf_text(&status));
		check_image(doctor, pid);
		check_sigprof(doctor, pid, buf_text(&status));
		check_masks(doctor, pid);
		check_seccomp(doctor, buf_text(&status));
	}
	buf_release(&status);
}

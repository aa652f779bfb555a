/* doctor_process.c - whether a running process could be sampled */
#include "base/buf.h"
#include "base/io.h"
#include "sampler/collector/collector.h"
#include "sampler/external/check.h"
#include "sampler/procfs/proc_status.h"
#include "tools/cli/terminal.h"
#include "tools/control/control.h"
#include "tools/doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAPS_BYTES = 4 * 1024 * 1024, MAX_TASKS = 100000 };

/* What keeps it from being recorded, and behind ", try: " what helps, where something does. */
static void add_problem(struct doctor *doctor, char *problem)
{
	static const char before[] = ", try: ";
	char *hint = strstr(problem, before);

	if (hint)
		*hint = '\0';
	doctor_fix(doctor, "process", hint ? hint + strlen(before) : "another process", "%s",
		   problem);
}

/* Return: the signal that its samples would come by; 0: none would. */
static int check_attaching(struct doctor *doctor, pid_t pid)
{
	struct collector_attached how = {0};
	struct checked_process process;
	struct err external = {0};
	struct err err = {0};
	int r = collector_attach_check(pid, &how, &err);

	if (r == 0) {
		doctor_ok(doctor, "process",
			  "wick record -p %d can attach to it%s; the sampling signal is SIG%s",
			  (int)pid, how.again ? " again" : "", sigabbrev_np(how.signal));
		return how.signal;
	}
	if (r == -ENOEXEC && check_process(pid, &process, &external) == 0)
		doctor_note(doctor, "process", "%s: engine ptrace samples it", err.text);
	else
		add_problem(doctor, external.text[0] ? external.text : err.text);
	return 0;
}

static bool task_blocks(pid_t pid, uint32_t tid, int signal)
{
	struct proc_status status;
	bool blocks;

	(void)proc_status_read(&status, pid, tid);
	blocks = proc_status_number(&status, "SigBlk", 16) >> (signal - 1) & 1;
	proc_status_release(&status);
	return blocks;
}

static void check_masks(struct doctor *doctor, pid_t pid, int signal)
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
		blocked += task_blocks(pid, (uint32_t)strtoul(task->d_name, NULL, 10), signal);
	}
	(void)closedir(tasks);
	if (blocked)
		doctor_note(doctor, "threads",
			    "%u of %u block SIG%s; wick unblocks it in those that use CPU", blocked,
			    n, sigabbrev_np(signal));
	else
		doctor_ok(doctor, "threads", "%u, none blocks SIG%s", n, sigabbrev_np(signal));
}

/* What enters a filter later may be ended by it for what the agent calls. */
static void check_filters(struct doctor *doctor, pid_t pid)
{
	char path[64];
	struct buf maps;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	buf_init(&maps, MAPS_BYTES);
	if (io_read_file(path, &maps, NULL) == 0 && strstr(buf_text(&maps), "/libseccomp."))
		doctor_note(doctor, "seccomp",
			    "it uses libseccomp: a seccomp filter that it installs during a "
			    "recording could kill it");
	buf_release(&maps);
}

/* There is one recording of a process at a time. */
static void check_recording(struct doctor *doctor, pid_t pid)
{
	pid_t recorder = control_recorder(pid);

	if (recorder)
		doctor_note(doctor, "recording", "wick (pid %d) records it now", (int)recorder);
}

void doctor_check_process(struct doctor *doctor, pid_t pid)
{
	int signal = check_attaching(doctor, pid);

	if (signal) {
		check_masks(doctor, pid, signal);
		check_filters(doctor, pid);
	}
	check_recording(doctor, pid);
}

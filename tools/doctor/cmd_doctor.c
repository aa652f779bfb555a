/* cmd_doctor.c - `wick doctor`: checks, and what to do about each */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/collector/collector.h"
#include "sampler/external/check.h"
#include "sampler/procfs/proc_status.h"
#include "sampler/procfs/task.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/control/control.h"
#include "tools/doctor/doctor.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAPS_BYTES = 4 * 1024 * 1024, MAX_TASKS = 100000 };

/* What keeps it from being recorded, and after ", try: " what helps, where something does. */
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
	_cleanup_dir_ DIR *tasks = tasks_open(pid);
	uint32_t tid;

	if (!tasks)
		return;
	for (; n < MAX_TASKS && (tid = tasks_next(tasks)); n++)
		blocked += task_blocks(pid, tid, signal);
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

/* Whether a running process could be sampled. */
static void doctor_check_process(struct doctor *doctor, pid_t pid)
{
	int signal = check_attaching(doctor, pid);

	if (signal) {
		check_masks(doctor, pid, signal);
		check_filters(doctor, pid);
	}
	check_recording(doctor, pid);
}

enum { OPT_EXPLAIN_TRIGGER = OPTION_LONG_ONLY, RESULT_BYTES = 1024 * 1024 };

const struct option_spec doctor_option_specs[] = {
	{'F', "freq", "HZ", "check this rate against the kernel's tick"},
	{OPT_EXPLAIN_TRIGGER, "explain-trigger", "EXPR",
	 "print when EXPR would have fired in the recording FILE; may be repeated"},
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

static void add(struct doctor *doctor, const char *mark, const char *topic, const char *format,
		va_list args) __attribute__((format(printf, 4, 0)));

static void add(struct doctor *doctor, const char *mark, const char *topic, const char *format,
		va_list args)
{
	char text[1024];

	(void)vsnprintf(text, sizeof(text), format, args);
	buf_printf(&doctor->text, "  %-5s %-11s %s\n", mark, topic, text);
}

void doctor_ok(struct doctor *doctor, const char *topic, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(doctor, "ok", topic, format, args);
	va_end(args);
}

void doctor_note(struct doctor *doctor, const char *topic, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(doctor, "note", topic, format, args);
	va_end(args);
}

void doctor_fix(struct doctor *doctor, const char *topic, const char *fix, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(doctor, "FIX", topic, format, args);
	va_end(args);
	buf_printf(&doctor->text, "  %-5s %-11s fix: %s\n", "", "", fix);
	doctor->n_fixes++;
}

static int report(struct doctor *doctor)
{
	unsigned n = doctor->n_fixes;
	int status;

	if (n)
		buf_printf(&doctor->text, "%u problem%s to fix\n", n, n == 1 ? "" : "s");
	else
		buf_add(&doctor->text, "all fine\n");
	status = cmd_print(&doctor->text);
	if (status != WICK_OK)
		return status;
	return n ? WICK_FINDINGS : WICK_OK;
}

/* A bare number is a process, unless `--` says that it is a command. */
static void check_subject(struct doctor *doctor, char *const *argv, int rest)
{
	bool is_command = strcmp(argv[rest - 1], "--") == 0;
	pid_t pid;

	if (!is_command && value_pid(argv[rest], &pid) == 0)
		doctor_check_process(doctor, pid);
	else
		doctor_check_program(doctor, argv[rest]);
}

/* More than a PID: the rest would be ignored. */
static bool is_crowded(const struct option_cursor *cursor)
{
	pid_t pid;

	return cursor->argc - cursor->rest > 1 &&
	       strcmp(cursor->argv[cursor->rest - 1], "--") != 0 &&
	       value_pid(cursor->argv[cursor->rest], &pid) == 0;
}

/* The recording is read by the program that shows recordings. */
static int explain_triggers(struct cmd_ctx *ctx, const struct option_cursor *cursor,
			    char **conditions, size_t n)
{
	char verb[] = EXPLAIN_TRIGGERS, files[] = "--";
	size_t n_files = (size_t)(ctx->argc - cursor->rest);
	_cleanup_free_ char **argv = calloc(n + n_files + 3, sizeof(*argv));

	if (!argv) {
		say_error("no memory to look at the recording");
		return WICK_IO;
	}
	argv[0] = verb;
	memcpy(argv + 1, conditions, n * sizeof(*argv));
	argv[n + 1] = files;
	memcpy(argv + n + 2, ctx->argv + cursor->rest, n_files * sizeof(*argv));
	return program_exec("wick-view", argv);
}

static int check(struct cmd_ctx *ctx, char **conditions)
{
	struct option_cursor cursor = {
		.specs = doctor_option_specs, .argc = ctx->argc, .argv = ctx->argv};
	struct doctor doctor = {.n_fixes = 0};
	struct err err = {0};
	size_t n_conditions = 0;
	uint32_t hz = 0;
	int id;

	while ((id = option_next(&cursor, &err)) != 0) {
		if (id == OPTION_HELP)
			return cmd_help(ctx->command);
		if (id == OPT_EXPLAIN_TRIGGER)
			conditions[n_conditions++] = (char *)cursor.value;
		else if (id < 0 || value_rate(cursor.value, &hz, &err) < 0) {
			say_error("%s", err.text);
			return WICK_USAGE;
		}
	}
	if (n_conditions)
		return explain_triggers(ctx, &cursor, conditions, n_conditions);
	if (is_crowded(&cursor)) {
		say_error("one process at a time, try: wick doctor %s", ctx->argv[cursor.rest]);
		return WICK_USAGE;
	}
	buf_init(&doctor.text, RESULT_BYTES);
	doctor_check_machine(&doctor, hz);
	if (cursor.rest < ctx->argc)
		check_subject(&doctor, ctx->argv, cursor.rest);
	return report(&doctor);
}

int cmd_doctor(struct cmd_ctx *ctx)
{
	char **conditions = calloc((size_t)ctx->argc, sizeof(*conditions));
	int status;

	if (!conditions) {
		say_error("no memory to read the command line");
		return WICK_IO;
	}
	status = check(ctx, conditions);
	free(conditions);
	return status;
}

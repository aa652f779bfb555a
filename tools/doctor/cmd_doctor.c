/* cmd_doctor.c - `wick doctor`: checks, and what to do about each */
#include "base/cleanup.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* cmd.c - what the commands have in common: help, results, exit statuses, programs of them */
#include "tools/cli/cmd.h"

#include "base/cleanup.h"
#include "tools/cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_COMMANDS = 64 };

int cmd_exit_of(int error)
{
	switch (-error) {
	case EPERM:
	case EACCES:
		return WICK_PERMISSION;
	case EINVAL:
		return WICK_USAGE;
	default:
		return WICK_IO;
	}
}

int cmd_exit_of_wait(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return WICK_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

int cmd_print(struct buf *text)
{
	int r = say_result(text);

	buf_release(text);
	return r < 0 && r != -EPIPE ? WICK_IO : WICK_OK;
}

int cmd_help(const struct command *command)
{
	struct buf text;

	buf_init(&text, CMD_TEXT_BYTES);
	buf_printf(&text, "wick %s - %s\n\nUsage: wick %s %s\n", command->name, command->summary,
		   command->name, command->synopsis);
	if (command->examples)
		buf_printf(&text, "\nExamples:\n%s", command->examples);
	if (command->options->name) {
		if (command->options->id != OPTION_HEADING)
			buf_add(&text, "\nOptions:\n");
		option_print(command->options, &text);
		buf_printf(&text, "\nMore: man wick-%s\n", command->name);
	}
	return cmd_print(&text);
}

/* The name of a program beside this one, for exec. */
static int path_beside(const char *name, char path[PATH_MAX])
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;
	int len;

	if (n < 0)
		return -errno;
	own[n] = '\0';
	slash = strrchr(own, '/');
	len = snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash ? slash - own : 0), own, name);
	return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int cannot_run(const char *path, int error)
{
	struct err err = {0};

	(void)err_set(&err, error, "cannot run '%s'", path);
	err_hint(&err, "installing wick whole");
	say_error("%s", err.text);
	return error == ENOENT ? WICK_NOT_FOUND : WICK_CANNOT_EXECUTE;
}

/* ARGV after the program's name.  Owns: the caller; NULL: no memory. */
static char **argv_behind(const char *name, char **argv)
{
	size_t n = 0;
	char **whole;

	while (argv[n])
		n++;
	whole = calloc(n + 2, sizeof(*whole));
	if (!whole)
		return NULL;
	whole[0] = (char *)name;
	memcpy(whole + 1, argv, n * sizeof(*argv));
	return whole;
}

int program_exec(const char *name, char **argv)
{
	char **whole = argv_behind(name, argv);
	char path[PATH_MAX];
	int r = whole ? path_beside(name, path) : -ENOMEM;
	int error = -r;

	if (r == 0) {
		(void)execv(path, whole);
		error = errno;
	}
	free(whole);
	return cannot_run(r == 0 ? path : name, error);
}

static int spawn(const char *path, char **argv, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return r;
	if (out >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return r;
}

static void read_all(int fd, struct buf *output)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			(void)buf_append(output, part, (size_t)n);
}

int program_run(const char *name, char **argv, struct buf *output)
{
	_cleanup_free_ char **whole = argv_behind(name, argv);
	_cleanup_fd_ int in = -1;
	_cleanup_fd_ int out = -1;
	char path[PATH_MAX];
	int status;
	pid_t pid = 0;
	int r = whole ? path_beside(name, path) : -ENOMEM;

	if (r == 0 && output) {
		int ends[2];

		r = pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0;
		in = r == 0 ? ends[0] : -1;
		out = r == 0 ? ends[1] : -1;
	}
	if (r == 0)
		r = -spawn(path, whole, out, &pid);
	if (r < 0)
		return cannot_run(whole ? path : name, -r);
	cleanup_fd(&out);
	out = -1;
	if (output)
		read_all(in, output);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return WICK_IO;
	return cmd_exit_of_wait(status);
}

/* The one whose command runs; a process runs one. */
static const struct program *own;

static const struct command *find_command(const char *name)
{
	if (strcmp(name, "dump") == 0) /* as py-spy has it */
		name = "stack";
	for (const struct command *command = own->commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

static int print_overview(void)
{
	struct buf text;

	buf_init(&text, CMD_TEXT_BYTES);
	buf_printf(&text, "%s - %s\n\nUsage: %s COMMAND [OPTIONS]\n\nCommands:\n", own->name,
		   own->title, own->name);
	for (const struct command *command = own->commands; command->name; command++)
		if (command->summary)
			buf_printf(&text, "  %-10s  %s\n", command->name, command->summary);
	buf_add(&text, "\nOptions:\n"
		       "  -h, --help  print this help\n"
		       "  -V, --version  print the version\n"
		       "\nStart with: wick record -- ./program\n"
		       "More: wick help COMMAND, man wick\n");
	return cmd_print(&text);
}

static int print_version(void)
{
	struct buf text;

	buf_init(&text, 256);
	buf_printf(&text, "%s " WICK_VERSION "\n", own->name);
	return cmd_print(&text);
}

static int refuse_command(const char *name)
{
	const char *names[MAX_COMMANDS + 1] = {NULL};
	const char *near;
	size_t n = 0;

	for (const struct command *at = own->commands; at->name && n < MAX_COMMANDS; at++)
		if (at->summary)
			names[n++] = at->name;
	near = option_nearest(name, names);
	for (const char *const *at = own->elsewhere; at && *at; at += 2)
		if (strcmp(*at, name) == 0)
			near = at[1];
	if (strchr(name, '/'))
		say_error("'%s' is not a command, try: wick record -- %s", name, name);
	else
		say_error("'%s' is not a command, try: wick %s", name, near ? near : "help");
	return WICK_USAGE;
}

int cmd_help_of(struct cmd_ctx *ctx)
{
	const struct command *command;

	if (ctx->argc < 2)
		return print_overview();
	if (ctx->argc > 2) {
		say_error("one command at a time, not '%s' as well, try: wick help %s",
			  ctx->argv[2], ctx->argv[1]);
		return WICK_USAGE;
	}
	command = find_command(ctx->argv[1]);
	if (!command)
		return refuse_command(ctx->argv[1]);
	if (command->program)
		return program_exec(command->program,
				    (char *[]){ctx->argv[1], (char *)"--help", NULL});
	return cmd_help(command);
}

static int run_command(const char *name, int argc, char **argv)
{
	struct cmd_ctx ctx = {.commands = own->commands, .argc = argc, .argv = argv};
	struct presets presets = {0};
	struct err err = {0};
	int status;

	ctx.command = find_command(name);
	if (!ctx.command)
		return refuse_command(name);
	if (ctx.command->program)
		return program_exec(ctx.command->program, argv);
	say_init(name);
	if (presets_add(&presets, own->commands, &ctx, &err) < 0) {
		say_error("%s", err.text);
		status = WICK_USAGE;
	} else {
		status = ctx.command->run(&ctx);
	}
	presets_release(&presets);
	return status;
}

int program_main(const struct program *program, int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	own = program;
	if (!name) {
		say_error("no command given, try: %s help", own->name);
		return WICK_USAGE;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		return print_version();
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_overview();
	if (name[0] == '-') {
		say_error("'%s' is not an option of %s itself, try: %s help", name, own->name,
			  own->name);
		return WICK_USAGE;
	}
	return run_command(name, argc - 1, argv + 1);
}

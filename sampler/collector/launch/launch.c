/* launch.c - finds and starts CMD, with the agent when it takes one, and lists the programs that do
 * not */
#include "sampler/collector/launch/launch.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/program/preload.h"
#include "sampler/wire/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

/* A message of our own instead of strerror's. */
#define fail(err, number, ...)                                                                     \
	({                                                                                         \
		struct err *err_ = (err);                                                          \
		(void)err_set(err_, 0, __VA_ARGS__);                                               \
		if (err_)                                                                          \
			err_->code = (number);                                                     \
		-(number);                                                                         \
	})

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static long pread_file(int fd, void *to, size_t len, uint64_t offset)
{
	return io_pread(fd, to, len, offset);
}

static void close_file(int fd)
{
	(void)close(fd);
}

static int stat_file(int fd, uint32_t *ret_mode, uint32_t *ret_uid, uint32_t *ret_gid,
		     bool *ret_capable)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return -errno;
	*ret_mode = stat.st_mode;
	*ret_uid = stat.st_uid;
	*ret_gid = stat.st_gid;
	*ret_capable = fgetxattr(fd, "security.capability", NULL, 0) > 0;
	return 0;
}

void search_examine(const char *path, struct program *ret_program)
{
	const struct program_io io = {.open = open_file,
				      .pread = pread_file,
				      .close = close_file,
				      .stat = stat_file,
				      .uid = geteuid(),
				      .gid = getegid()};

	program_examine(&io, path, ret_program);
}

bool search_is_text(const char *path)
{
	char start[128];
	_cleanup_fd_ int fd = open_file(path);
	ssize_t n = fd < 0 ? -1 : io_pread(fd, start, sizeof(start), 0);

	return n >= 0 && !memchr(start, '\0', (size_t)n);
}

/* Return: 0: an executable file; -ENOENT; -EISDIR; -EACCES. */
static int check_file(const char *path)
{
	struct stat at;

	if (stat(path, &at) < 0)
		return -errno;
	if (S_ISDIR(at.st_mode))
		return -EISDIR;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static int search_path(const char *command, char *ret_path, size_t size)
{
	/* No other thread changes the environment. */
	const char *path = getenv("PATH"); /* NOLINT(concurrency-mt-unsafe) */
	char denied[PATH_MAX] = "";

	if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		const char *colon = strchrnul(path, ':');
		int len = (int)(colon - path);
		int n = snprintf(ret_path, size, "%.*s%s%s", len, path, len ? "/" : "", command);
		int r = n > 0 && (size_t)n < size ? check_file(ret_path) : -ENAMETOOLONG;

		if (r == 0)
			return 0;
		/* A directory that we may not search says nothing about the command. */
		if (r == -EACCES && access(ret_path, F_OK) == 0)
			(void)snprintf(denied, sizeof(denied), "%s", ret_path);
		if (!*colon)
			break;
		path = colon + 1;
	}
	if (denied[0])
		(void)snprintf(ret_path, size, "%s", denied);
	return denied[0] ? -EACCES : -ENOENT;
}

/* The file is there, so what is missing is what would run it. */
static int explain_missing(const char *command, const char *path, struct err *err)
{
	struct program program;

	search_examine(path, &program);
	if (program.interpreter[0])
		return fail(err, ENOEXEC, "run '%s': its interpreter '%s' does not exist", command,
			    program.interpreter);
	return fail(err, ENOEXEC, "run '%s': the loader that it asks for does not exist", command);
}

/*
 * The message for an exec that failed.
 *
 * Return:  -errno for collector_launch().
 */
static int search_explain(const char *command, const char *path, int code, struct err *err)
{
	struct program program;
	int r;

	switch (code) {
	case ENOENT:
		if (access(path, F_OK) == 0)
			return explain_missing(command, path, err);
		return err_set(err, code, "run '%s'", command);
	case EISDIR:
		return fail(err, EACCES, "run '%s': it is a directory, try: a program in it",
			    command);
	case EACCES:
		search_examine(path, &program);
		if (program.interpreter[0])
			return fail(err, EACCES,
				    "run '%s': its interpreter '%s' cannot be executed", command,
				    program.interpreter);
		r = err_set(err, code, "run '%s'", command);
		if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 && access(path, F_OK) == 0)
			err_hint(err, "chmod +x %s", path);
		return r;
	case ENOEXEC:
		return fail(err, ENOEXEC, "run '%s': it is no program for this machine", command);
	default:
		return err_set(err, code, "run '%s'", command);
	}
}

int search_program(const char *command, char *ret_path, size_t size, struct err *err)
{
	bool has_slash = strchr(command, '/') != NULL;
	int r;

	if (!*command)
		return fail(err, ENOENT, "run '': the command is empty");
	if (has_slash && strlen(command) >= size)
		return err_set(err, ENAMETOOLONG, "run a command of %zu bytes", strlen(command));
	if (!has_slash) {
		r = search_path(command, ret_path, size);
		if (r == -ENOENT) {
			r = fail(err, ENOENT, "run '%s': there is no such command in PATH",
				 command);
			if (check_file(command) == 0)
				err_hint(err, "./%s", command);
			return r;
		}
		return r < 0 ? search_explain(command, ret_path, -r, err) : 0;
	}
	(void)snprintf(ret_path, size, "%s", command);
	r = check_file(ret_path);
	return r < 0 ? search_explain(command, ret_path, -r, err) : 0;
}

static void raise_limit(int which, struct rlimit *ret_before)
{
	struct rlimit most;

	if (getrlimit(which, ret_before) < 0)
		*ret_before = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	most = (struct rlimit){ret_before->rlim_max, ret_before->rlim_max};
	(void)setrlimit(which, &most);
}

void launch_raise_limits(struct launch_limits *ret_limits)
{
	raise_limit(RLIMIT_NOFILE, &ret_limits->files);
	raise_limit(RLIMIT_FSIZE, &ret_limits->file_size);
	ret_limits->raised = true;
}

void launch_restore_limits(const struct launch_limits *limits)
{
	if (!limits->raised)
		return;
	(void)setrlimit(RLIMIT_NOFILE, &limits->files);
	(void)setrlimit(RLIMIT_FSIZE, &limits->file_size);
}

/* Everything that the child needs, made before the fork. */
struct plan {
	const struct launch *launch;
	const char *path;
	char **argv; /* with "/bin/sh" in front for a script without #! */
	char **env;
	char *preload; /* "LD_PRELOAD=..." */
	char *socket;  /* "WICK_SOCKET=..." */
	int report_fd; /* takes the errno of a failed exec */
};

static char *assignment(const char *name, const char *value)
{
	char *text = NULL;

	return asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text;
}

static char *preload_assignment(const struct launch *launch, const struct program *program)
{
	/* No other thread changes the environment. */
	const struct preload preload = {
		.agent = launch->agent,
		.user = getenv("LD_PRELOAD"), /* NOLINT(concurrency-mt-unsafe) */
		.asan = program->needs_asan ? program->asan : NULL};
	_cleanup_free_ char *value = malloc(preload_length(&preload));

	if (!value)
		return NULL;
	preload_build(&preload, value);
	return assignment("LD_PRELOAD", value);
}

static bool names(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Our environment with the two variables, each where it stood, or at the end. */
static int make_env(struct plan *plan, const struct program *program)
{
	const struct launch *launch = plan->launch;
	bool socket_set = false;
	bool preload_set = false;
	size_t n = 0;
	size_t to = 0;

	while (environ[n])
		n++;
	plan->preload = preload_assignment(launch, program);
	plan->socket = assignment(WIRE_ENV_SOCKET, launch->socket);
	plan->env = calloc(n + 3, sizeof(*plan->env));
	if (!plan->preload || !plan->socket || !plan->env)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool is_socket = names(environ[i], WIRE_ENV_SOCKET);
		bool is_preload = names(environ[i], "LD_PRELOAD");

		plan->env[to++] = is_socket    ? plan->socket
				  : is_preload ? plan->preload
					       : environ[i];
		socket_set = socket_set || is_socket;
		preload_set = preload_set || is_preload;
	}
	if (!preload_set)
		plan->env[to++] = plan->preload;
	if (!socket_set)
		plan->env[to++] = plan->socket;
	return 0;
}

static void plan_release(struct plan *plan)
{
	free(plan->env);
	free(plan->preload);
	free(plan->socket);
	free(plan->argv);
}

/* In the child: async-signal-safe calls only. */
static void run_child(const struct plan *plan)
{
	int code;

	launch_restore_limits(plan->launch->limits);
	if (plan->launch->signals->ends_ignored)
		(void)signal(SIGCHLD, SIG_IGN);
	(void)pthread_sigmask(SIG_SETMASK, &plan->launch->signals->mask, NULL);
	(void)execve(plan->path, plan->argv, plan->env ? plan->env : environ);
	code = errno;
	(void)!write(plan->report_fd, &code, sizeof(code));
	_exit(127);
}

/* Return: 0 once the exec has happened; the errno of fork or exec, negative. */
static int fork_and_exec(struct plan *plan, pid_t *ret_pid)
{
	int fds[2];
	int code = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	plan->report_fd = fds[1];
	pid = fork();
	if (pid == 0)
		run_child(plan);
	code = pid < 0 ? errno : 0;
	(void)close(fds[1]);
	if (pid > 0) {
		do
			n = read(fds[0], &code, sizeof(code));
		while (n < 0 && errno == EINTR);
		if (n == (ssize_t)sizeof(code))
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
		else
			code = 0;
	}
	(void)close(fds[0]);
	if (code == 0)
		*ret_pid = pid;
	return -code;
}

static int copy_argv(struct plan *plan, const char *path)
{
	char *const *argv = plan->launch->argv;
	size_t n = 0;

	while (argv[n])
		n++;
	plan->argv = calloc(n + 2, sizeof(*plan->argv));
	if (!plan->argv)
		return -ENOMEM;
	memcpy(plan->argv, argv, n * sizeof(*plan->argv));
	plan->path = path;
	return 0;
}

/* As execvp(3): a text without #! is the shell's. */
static void give_to_shell(struct plan *plan, const char *script)
{
	size_t n = 0;

	while (plan->launch->argv[n])
		n++;
	for (size_t i = n; i > 1; i--)
		plan->argv[i] = plan->launch->argv[i - 1];
	plan->argv[0] = plan->launch->argv[0];
	plan->argv[1] = (char *)script;
	plan->path = "/bin/sh";
}

int launch_start(const struct launch *launch, struct launched *ret_launched, struct err *err)
{
	struct plan plan = {.launch = launch};
	struct program program;
	int r = search_program(launch->argv[0], ret_launched->path, sizeof(ret_launched->path),
			       err);

	if (r < 0)
		return r;
	if (copy_argv(&plan, ret_launched->path) < 0)
		return err_set(err, ENOMEM, "run '%s'", launch->argv[0]);
	search_examine(plan.path, &program);
	if (program.kind == PROGRAM_NOT_ELF && search_is_text(plan.path)) {
		give_to_shell(&plan, ret_launched->path);
		search_examine(plan.path, &program);
	}
	if (program.kind == PROGRAM_DYNAMIC && !launch->alone && make_env(&plan, &program) < 0)
		r = -ENOMEM;
	if (r == 0)
		r = fork_and_exec(&plan, &ret_launched->pid);
	if (r < 0)
		r = search_explain(launch->argv[0], ret_launched->path, -r, err);
	ret_launched->kind = program.kind;
	plan_release(&plan);
	return r;
}

void unsupported_add(struct unsupported_list *list, pid_t pid, const char *path,
		     enum program_kind kind)
{
	struct unsupported_program *entry;

	list->count++;
	for (size_t i = 0; i < list->n; i++) {
		entry = &list->at[i];
		if (entry->kind == kind &&
		    strncmp(entry->path, path, sizeof(entry->path) - 1) == 0) {
			entry->count++;
			return;
		}
	}
	if (list->n == MAX_UNSUPPORTED)
		return;
	entry = &list->at[list->n++];
	*entry = (struct unsupported_program){.pid = pid, .kind = kind, .count = 1};
	(void)snprintf(entry->path, sizeof(entry->path), "%s", path);
}

const char *unsupported_why(enum program_kind kind)
{
	switch (kind) {
	case PROGRAM_STATIC:
		return "static";
	case PROGRAM_PRIVILEGED:
		return "setuid";
	case PROGRAM_OTHER_ARCH:
		return "32-bit";
	case PROGRAM_ATTACHED:
		return "executed by an attached program";
	case PROGRAM_DYNAMIC:
	case PROGRAM_NOT_ELF:
	case PROGRAM_MISSING:
		break;
	}
	return NULL;
}

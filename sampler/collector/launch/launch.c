/* launch.c - starts CMD, with the agent when it takes one */
#include "sampler/collector/launch/launch.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "sampler/collector/launch/search.h"
#include "sampler/program/preload.h"
#include "sampler/wire/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

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
	/* Nobody changes the environment while we start CMD. */
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

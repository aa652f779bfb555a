/*
 * exec_hooks.c - interposes the exec functions, so that the new program gets the agent
 *
 * Any of these may run between vfork and exec, in memory of the parent: no static variable is
 * written here, and new data is on the stack.
 */
#define _GNU_SOURCE 1
#include "sampler/agent/environment.h"
#include "sampler/agent/hooks.h"
#include "sampler/agent/launch.h"
#include "sampler/agent/syscall_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 1 << 20, FD_PATH_BYTES = 32, NUMBER_BYTES = 12, PATH_BYTES_MAX = 4096 };

struct exec_call {
	const char *file;
	char *const *argv;
	int fd;
	int flags;
};

static int call_execve(void *arg, char *const *envp)
{
	const struct exec_call *call = arg;
	__typeof__(&execve) next = NEXT(execve);
	long r;

	if (next)
		return next(call->file, call->argv, envp);
	r = sys3(__NR_execve, call->file, call->argv, envp);
	return agent_set_errno((int)-r);
}

static int call_execvpe(void *arg, char *const *envp)
{
	const struct exec_call *call = arg;
	__typeof__(&execvpe) next = NEXT(execvpe);

	return next ? next(call->file, call->argv, envp) : call_execve(arg, envp);
}

static int call_fexecve(void *arg, char *const *envp)
{
	const struct exec_call *call = arg;
	__typeof__(&fexecve) next = NEXT(fexecve);

	return next ? next(call->fd, call->argv, envp) : agent_set_errno(ENOSYS);
}

static int call_execveat(void *arg, char *const *envp)
{
	const struct exec_call *call = arg;
	long r = sys5(__NR_execveat, call->fd, call->file, call->argv, envp, call->flags);

	return agent_set_errno((int)-r);
}

static int run(int (*make)(void *call, char *const *envp), struct exec_call *call, const char *path,
	       char *const *envp)
{
	struct launch launch = {.path = path, .envp = envp, .run = make, .call = call};

	if (!launch_wanted())
		return make(call, envp);
	return launch_exec(&launch);
}

static int run_path(const char *path, char *const *argv, char *const *envp)
{
	struct exec_call call = {.file = path, .argv = argv};

	return run(call_execve, &call, path, envp);
}

static int run_search(const char *file, char *const *argv, char *const *envp)
{
	struct exec_call call = {.file = file, .argv = argv};
	char *buffer;

	if (!launch_wanted())
		return call_execvpe(&call, envp);
	buffer = __builtin_alloca(launch_search_bytes(file));
	return run(call_execvpe, &call, launch_search(file, buffer), envp);
}

/* Writes TEXT without its NUL.  Return: past it. */
static char *put(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

/* Writes "/proc/self/fd/N". */
static char *put_fd_path(char *to, int fd)
{
	char digits[NUMBER_BYTES];
	int n = 0;

	to = put(to, "/proc/self/fd/");
	do {
		digits[n++] = (char)('0' + fd % 10);
		fd /= 10;
	} while (fd > 0);
	while (n)
		*to++ = digits[--n];
	*to = '\0';
	return to;
}

static size_t length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

static int run_at(struct exec_call *call, char *const *envp)
{
	const char *file = call->file;
	char *path;

	if (!file || (call->fd < 0 && call->fd != AT_FDCWD))
		return call_execveat(call, envp);
	if (file[0] == '/' || (call->fd == AT_FDCWD && file[0]))
		return run(call_execveat, call, file, envp);
	if (length(file) >= PATH_BYTES_MAX)
		return call_execveat(call, envp);
	path = __builtin_alloca(FD_PATH_BYTES + length(file) + 1);
	if (file[0])
		put(put(put_fd_path(path, call->fd), "/"), file)[0] = '\0';
	else
		put_fd_path(path, call->fd);
	return run(call_execveat, call, path, envp);
}

AGENT_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return run_path(path, argv, envp);
}

AGENT_EXPORT int execv(const char *path, char *const argv[])
{
	return run_path(path, argv, environment_current());
}

AGENT_EXPORT int execvp(const char *file, char *const argv[])
{
	return run_search(file, argv, environment_current());
}

AGENT_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return run_search(file, argv, envp);
}

AGENT_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	struct exec_call call = {.argv = argv, .fd = fd};
	char path[FD_PATH_BYTES];

	if (fd < 0)
		return call_fexecve(&call, envp);
	put_fd_path(path, fd);
	return run(call_fexecve, &call, path, envp);
}

AGENT_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[],
			  int flags)
{
	struct exec_call call = {.file = path, .argv = argv, .fd = fd, .flags = flags};

	return run_at(&call, envp);
}

/* Return:  number of arguments, FIRST included; -1: more than any exec takes. */
static long count_arguments(const char *first, va_list list)
{
	long n = 0;

	for (const char *arg = first; arg; arg = va_arg(list, const char *))
		if (++n > ARGUMENTS_MAX)
			return -1;
	return n;
}

/* Leaves LIST after the NULL, where execle() has the environment. */
static void copy_arguments(char **to, const char *first, va_list *list)
{
	for (const char *arg = first; arg; arg = va_arg(*list, const char *))
		*to++ = (char *)(uintptr_t)arg;
	*to = NULL;
}

AGENT_EXPORT int execl(const char *path, const char *arg, ...)
{
	va_list list;
	char **argv;
	long n;

	va_start(list, arg);
	n = count_arguments(arg, list);
	va_end(list);
	if (n < 0)
		return agent_set_errno(E2BIG);
	argv = __builtin_alloca((size_t)(n + 1) * sizeof(*argv));
	va_start(list, arg);
	copy_arguments(argv, arg, &list);
	va_end(list);
	return run_path(path, argv, environment_current());
}

AGENT_EXPORT int execlp(const char *file, const char *arg, ...)
{
	va_list list;
	char **argv;
	long n;

	va_start(list, arg);
	n = count_arguments(arg, list);
	va_end(list);
	if (n < 0)
		return agent_set_errno(E2BIG);
	argv = __builtin_alloca((size_t)(n + 1) * sizeof(*argv));
	va_start(list, arg);
	copy_arguments(argv, arg, &list);
	va_end(list);
	return run_search(file, argv, environment_current());
}

AGENT_EXPORT int execle(const char *path, const char *arg, ...)
{
	char *const *envp = NULL;
	va_list list;
	char **argv;
	long n;

	va_start(list, arg);
	n = count_arguments(arg, list);
	va_end(list);
	if (n < 0)
		return agent_set_errno(E2BIG);
	argv = __builtin_alloca((size_t)(n + 1) * sizeof(*argv));
	va_start(list, arg);
	copy_arguments(argv, arg, &list);
	envp = va_arg(list, char *const *);
	va_end(list);
	return run_path(path, argv, envp);
}

int exec_by_syscall(const char *path, char *const *argv, char *const *envp)
{
	return run_path(path, argv, envp);
}

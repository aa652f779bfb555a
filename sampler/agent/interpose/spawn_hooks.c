/*
 * spawn_hooks.c - interposes posix_spawn() and popen(), so that the new program gets the agent
 *
 * libc's system() and popen() spawn with environ and without a call that could be interposed. So
 * system() is implemented in system_hook.c; popen(), whose stream only libc can create, runs with
 * environ exchanged for a moment.
 */
#define _GNU_SOURCE 1
#include "sampler/agent/environment.h"
#include "sampler/agent/hooks.h"
#include "sampler/agent/launch.h"

#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

typedef int spawn_function(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const *argv,
			   char *const *envp);

struct spawn_call {
	spawn_function *next;
	const char *path;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
	char *const *argv;
	pid_t pid;
};

static int call_spawn(void *arg, char *const *envp)
{
	struct spawn_call *call = arg;

	return call->next(&call->pid, call->path, call->actions, call->attributes, call->argv,
			  envp);
}

/* FOUND: the file that will run, as far as known; NULL: none. */
static int run(struct spawn_call *call, const char *found, char *const *envp, pid_t *ret_pid)
{
	struct launch launch = {
		.path = found, .envp = envp, .run = call_spawn, .call = call, .in_child = true};
	struct launched launched;
	int r;

	r = launch_run(&launch, &launched);
	if (r != 0)
		return r;
	if (launched.unfit)
		handshake_unsupported(call->pid, launched.kind, found);
	if (ret_pid)
		*ret_pid = call->pid;
	return 0;
}

AGENT_EXPORT int posix_spawn(pid_t *pid, const char *path,
			     const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *attributes, char *const argv[],
			     char *const envp[])
{
	struct spawn_call call = {.next = NEXT(posix_spawn),
				  .path = path,
				  .actions = actions,
				  .attributes = attributes,
				  .argv = argv};

	if (!call.next)
		return ENOSYS;
	if (!launch_wanted())
		return call.next(pid, path, actions, attributes, argv, envp);
	return run(&call, path, envp, pid);
}

AGENT_EXPORT int posix_spawnp(pid_t *pid, const char *file,
			      const posix_spawn_file_actions_t *actions,
			      const posix_spawnattr_t *attributes, char *const argv[],
			      char *const envp[])
{
	struct spawn_call call = {.next = NEXT(posix_spawnp),
				  .path = file,
				  .actions = actions,
				  .attributes = attributes,
				  .argv = argv};
	char *buffer;

	if (!call.next)
		return ENOSYS;
	if (!launch_wanted())
		return call.next(pid, file, actions, attributes, argv, envp);
	buffer = __builtin_alloca(launch_search_bytes(file));
	return run(&call, launch_search(file, buffer), envp, pid);
}

/* The last environments that environ was exchanged for. A getenv() in another thread may still use
 * one, so it is unmapped only after three more. */
static struct {
	void *block;
	size_t bytes;
} kept[4];
static unsigned int n_kept;
static _Atomic int32_t exchanging; /* pid of the process that exchanges environ; fork may copy it */

static bool begin_exchange(void)
{
	int32_t pid = (int32_t)sys0(__NR_getpid);
	int32_t seen = atomic_load(&exchanging);

	return seen != pid && atomic_compare_exchange_strong(&exchanging, &seen, pid);
}

static char **map_environment(char **before)
{
	size_t bytes = environment_bytes(before, "");
	unsigned int i = n_kept++ % (sizeof(kept) / sizeof(kept[0]));
	long block = sys6(__NR_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(block))
		return NULL;
	if (kept[i].block)
		sys2(__NR_munmap, kept[i].block, kept[i].bytes);
	kept[i].block = (void *)block;
	kept[i].bytes = bytes;
	return environment_build(before, "", (void *)block);
}

static FILE *popen_with_agent(__typeof__(&popen) next, const char *command, const char *mode)
{
	char **before = environ;
	char **environment = map_environment(before);
	FILE *stream;

	if (!environment)
		return next(command, mode);
	environ = environment;
	stream = next(command, mode);
	if (environ == environment)
		environ = before;
	else
		environment_hide(environ); /* another thread has set a variable, and so copied the
					      environment */
	return stream;
}

AGENT_EXPORT FILE *popen(const char *command, const char *mode)
{
	__typeof__(&popen) next = NEXT(popen);
	FILE *stream;

	if (!next) {
		agent_set_errno(ENOSYS);
		return NULL;
	}
	if (!launch_wanted() || !&environ || !environ || !launch_fits("/bin/sh", environ) ||
	    !begin_exchange())
		return next(command, mode);
	stream = popen_with_agent(next, command, mode);
	atomic_store(&exchanging, 0);
	return stream;
}

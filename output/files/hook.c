/* hook.c - one run of the --on-rotate command */
#include "output/files/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_up(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files)
{
	sigset_t all;
	sigset_t none;
	int r;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
							 POSIX_SPAWN_SETPGROUP);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
	return r;
}

pid_t hook_start(const char *command, const char *path)
{
	/* posix_spawn() takes them without const and leaves them alone */
	char *const argv[] = {(char *)"sh",   (char *)"-c", (char *)command,
			      (char *)"wick", (char *)path, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid = 0;
	int r;

	if (posix_spawnattr_init(&attributes) != 0)
		return -ENOMEM;
	if (posix_spawn_file_actions_init(&files) != 0) {
		(void)posix_spawnattr_destroy(&attributes);
		return -ENOMEM;
	}
	r = set_up(&attributes, &files);
	if (r == 0)
		r = posix_spawn(&pid, "/bin/sh", &files, &attributes, argv, environ);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
	return r ? -r : pid;
}

int hook_cause(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return HOOK_CAUSE_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

void hook_describe(int cause, char *to, size_t size)
{
	if (cause >= HOOK_CAUSE_START)
		(void)snprintf(to, size, "could not start: %s",
			       strerrordesc_np(cause - HOOK_CAUSE_START));
	else if (cause >= HOOK_CAUSE_SIGNAL)
		(void)snprintf(to, size, "was killed by signal %d", cause - HOOK_CAUSE_SIGNAL);
	else
		(void)snprintf(to, size, "exited with status %d", cause);
}

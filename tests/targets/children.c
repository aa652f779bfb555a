/* children.c - starts itself again by every way there is; each child burns in a function of its
 * own; prints nothing
 * usage: children all|fork|vfork|spawn|spawnp|exec|system|popen SECONDS [burn NAME] */
#include "burn.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

BURN_FUNCTION(burn_fork)
BURN_FUNCTION(burn_vfork)
BURN_FUNCTION(burn_spawn)
BURN_FUNCTION(burn_spawnp)
BURN_FUNCTION(burn_exec)
BURN_FUNCTION(burn_system)
BURN_FUNCTION(burn_popen)

static const struct {
	const char *name;
	void (*burn)(uint64_t);
} ways[] = {
	{"fork", burn_fork},     {"vfork", burn_vfork}, {"spawn", burn_spawn},
	{"spawnp", burn_spawnp}, {"exec", burn_exec},   {"system", burn_system},
	{"popen", burn_popen},
};

static const char *self;
static const char *seconds;

/* Beside what it has used until it is here: a shell and a linker of its own, some of them. */
static int burn(const char *name)
{
	const double began = thread_seconds();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, name) != 0)
			continue;
		while (thread_seconds() - began < strtod(seconds, NULL))
			ways[i].burn(100000);
		return 0;
	}
	return 1;
}

static int start(const char *way)
{
	char *arguments[] = {(char *)self, (char *)way, (char *)seconds, (char *)"burn", NULL};
	/* An empty environment must not lose the child. */
	char *empty[] = {NULL};
	char line[512];
	FILE *pipe;
	pid_t pid = -1;

	(void)snprintf(line, sizeof(line), "exec '%s' %s %s burn", self, way, seconds);
	if (!strcmp(way, "system"))
		return system(line);
	if (!strcmp(way, "popen")) {
		pipe = popen(line, "r");
		return pipe ? pclose(pipe) : 1;
	}
	if (!strcmp(way, "spawn")) {
		if (posix_spawn(&pid, self, NULL, NULL, arguments, empty))
			return 1;
	} else if (!strcmp(way, "spawnp")) {
		if (posix_spawnp(&pid, self, NULL, NULL, arguments, environ))
			return 1;
	} else if (!strcmp(way, "vfork")) {
		pid = vfork();
		if (pid == 0) {
			(void)execv(self, arguments);
			_exit(127);
		}
	} else {
		pid = fork();
		if (pid == 0 && !strcmp(way, "fork"))
			_exit(burn(way));
		if (pid == 0) {
			(void)execve(self, arguments, empty);
			_exit(127);
		}
	}
	return pid < 0 || waitpid(pid, NULL, 0) != pid;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 3)
		return 2;
	self = argv[0];
	seconds = argv[2];
	if (argc > 3)
		return burn(argv[1]);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!strcmp(argv[1], "all") || !strcmp(argv[1], ways[i].name))
			failed |= start(ways[i].name);
	}
	return failed ? 1 : 0;
}

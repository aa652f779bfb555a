/* agent_path.c - finds the agent of an installed wick and of a build tree */
#include "tools/target/target.h"

#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From the directory of the program: installed in PREFIX/bin, built in BUILD/bin or tools. */
static const char *const places[] = {
	"../lib/wick/libwick-agent.so",
	"../sampler/agent/libwick-agent.so",
};

static int own_directory(char *to, size_t size, struct err *err)
{
	ssize_t n = readlink("/proc/self/exe", to, size - 1);
	char *slash;

	if (n < 0)
		return err_set(err, errno, "read '/proc/self/exe'");
	to[n] = '\0';
	slash = strrchr(to, '/');
	if (slash)
		*slash = '\0';
	return 0;
}

/* Absolute, and readable. */
static int take(const char *path, char **ret_path)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	if (!real || access(real, R_OK) < 0)
		return -errno;
	*ret_path = steal_pointer(&real);
	return 0;
}

int agent_path_find(char **ret_path, struct err *err)
{
	const char *given = getenv("WICK_AGENT");
	char directory[PATH_MAX];
	char path[PATH_MAX + 64];
	int r;

	if (given && *given) {
		r = take(given, ret_path);
		return r < 0 ? err_set(err, -r, "open the agent '%s' (WICK_AGENT)", given) : 0;
	}
	r = own_directory(directory, sizeof(directory), err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory, places[i]);
		if (take(path, ret_path) == 0)
			return 0;
	}
	(void)err_set(err, ENOENT, "open the agent '%s/%s'", directory, places[0]);
	err_hint(err, "installing all of wick, or WICK_AGENT=/path/to/libwick-agent.so");
	return -ENOENT;
}

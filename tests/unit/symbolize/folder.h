/* folder.h - a temporary folder, filled with copies, for tests of finding files */
#ifndef TESTS_UNIT_SYMBOLIZE_FOLDER_H
#define TESTS_UNIT_SYMBOLIZE_FOLDER_H

#include "tests/unit/folder_fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[FOLDER_BYTES];

static inline const char *in_folder(const char *name)
{
	static char paths[64][PATH_MAX + 256];
	static int next;
	char *path = paths[next++ % 64];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static inline int make_folder(void **state)
{
	(void)state;
	folder_make(folder);
	return 0;
}

static inline int remove_folder(void **state)
{
	(void)state;
	folder_remove(folder);
	return 0;
}

/* For a process that has the folder as its root from now on; that takes rights. */
static inline bool go_to_folder(void)
{
	return chroot(folder) == 0 && chdir("/") == 0;
}

/* The folders above a path in the folder. */
static inline void make_parents(const char *path)
{
	char copy[PATH_MAX + 256];

	(void)snprintf(copy, sizeof(copy), "%s", path);
	for (char *slash = strchr(copy + strlen(folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(copy, 0755);
		*slash = '/';
	}
}

/* NAME in the folder becomes a copy of FROM, with MORE bytes behind it. */
static inline bool put_copy(const char *from, const char *name, const char *more)
{
	const char *path = in_folder(name);
	char bytes[64 * 1024];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out;
	ssize_t n;

	make_parents(path);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (in < 0 || out < 0)
		return false;
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)n) != n)
			return false;
	if (write(out, more, strlen(more)) != (ssize_t)strlen(more))
		return false;
	return close(in) == 0 && close(out) == 0;
}

static inline bool put_text(const char *name, const char *text)
{
	return put_copy("/dev/null", name, text);
}

#endif

/* control_place.c - the directories in which recordings can be found */
#include "tools/control_place.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of a socket in it has to fit as well. */
enum { SOCKET_NAME_BYTES = 32, PRIVATE = 0700 };

static bool is_owned(const char *path, uid_t uid)
{
	struct stat at;

	return lstat(path, &at) == 0 && S_ISDIR(at.st_mode) && at.st_uid == uid &&
	       !(at.st_mode & (S_IWGRP | S_IWOTH));
}

bool control_place_is_private(const char *path, uid_t uid)
{
	struct stat at;

	return lstat(path, &at) == 0 && S_ISDIR(at.st_mode) && at.st_uid == uid &&
	       (at.st_mode & 07777) == PRIVATE;
}

__attribute__((format(printf, 2, 3))) static void add(struct control_places *places,
						      const char *format, ...)
{
	char *to = places->at[places->n];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(to, sizeof(places->at[0]), format, args);
	va_end(args);
	if (n <= 0 || (size_t)n + SOCKET_NAME_BYTES > sizeof(places->at[0]))
		return;
	for (size_t i = 0; i < places->n; i++)
		if (strcmp(places->at[i], to) == 0)
			return;
	places->n++;
}

void control_places_list(uid_t uid, struct control_places *ret_places)
{
	/* Nobody changes the environment. */
	const char *runtime = getenv("XDG_RUNTIME_DIR"); /* NOLINT(concurrency-mt-unsafe) */
	char path[64];

	*ret_places = (struct control_places){0};
	if (runtime && runtime[0] == '/' && is_owned(runtime, uid))
		add(ret_places, "%s/wick", runtime);
	(void)snprintf(path, sizeof(path), "/run/user/%u", (unsigned)uid);
	if (is_owned(path, uid))
		add(ret_places, "%s/wick", path);
	add(ret_places, "/tmp/wick-%u", (unsigned)uid);
}

int control_place_make(char ret_path[static sizeof(((struct sockaddr_un *)0)->sun_path)],
		       struct err *err)
{
	struct control_places places;
	uid_t uid = geteuid();
	int r = -ENOENT;

	control_places_list(uid, &places);
	for (size_t i = 0; i < places.n; i++) {
		const char *path = places.at[i];

		bool made = mkdir(path, PRIVATE) == 0;

		if (!made && errno != EEXIST) {
			r = err_set(err, errno, "make '%s'", path);
			continue;
		}
		if (made) /* whatever the umask is */
			(void)chmod(path, PRIVATE);
		if (!control_place_is_private(path, uid)) {
			r = err_set(err, EPERM, "'%s' is not a directory for you alone", path);
			continue;
		}
		(void)snprintf(ret_path, sizeof(places.at[0]), "%s", path);
		return 0;
	}
	return r;
}

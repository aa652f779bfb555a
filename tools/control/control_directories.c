/* control_directories.c - the directories in which recordings can be found */
#include "tools/control/control.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of a socket in it has to fit as well. */
enum { SOCKET_NAME_BYTES = 32, PRIVATE = 0700, RANDOM_BYTES = 6 };

#define SHARED "/tmp"

static bool is_owned(const char *path, uid_t uid)
{
	struct stat at;

	return lstat(path, &at) == 0 && S_ISDIR(at.st_mode) && at.st_uid == uid &&
	       !(at.st_mode & (S_IWGRP | S_IWOTH));
}

bool control_directory_is_private(const char *path, uid_t uid)
{
	struct stat at;

	return lstat(path, &at) == 0 && S_ISDIR(at.st_mode) && at.st_uid == uid &&
	       (at.st_mode & 07777) == PRIVATE;
}

__attribute__((format(printf, 2, 3))) static void add(struct control_directories *places,
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

/*
 * If another user has made /tmp/wick-UID, a name with a random end replaces it.  It is found by its
 * owner, which cannot be forged.
 */
static void add_own_names(struct control_directories *places, uid_t uid)
{
	const struct dirent *entry;
	DIR *entries = opendir(SHARED);
	char begin[32];

	(void)snprintf(begin, sizeof(begin), "wick-%u.", (unsigned)uid);
	if (!entries)
		return;
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(entries))) { /* NOLINT(concurrency-mt-unsafe) */
		char path[sizeof(places->at[0])];

		if (strncmp(entry->d_name, begin, strlen(begin)) != 0 ||
		    strlen(entry->d_name) != strlen(begin) + RANDOM_BYTES)
			continue;
		(void)snprintf(path, sizeof(path), SHARED "/%.64s", entry->d_name);
		if (places->n < CONTROL_PLACES && control_directory_is_private(path, uid))
			add(places, "%s", path);
	}
	(void)closedir(entries);
}

void control_directories_list(uid_t uid, struct control_directories *ret_places)
{
	/* No thread changes the environment. */
	const char *runtime = getenv("XDG_RUNTIME_DIR"); /* NOLINT(concurrency-mt-unsafe) */
	char path[64];

	*ret_places = (struct control_directories){0};
	if (runtime && runtime[0] == '/' && is_owned(runtime, uid))
		add(ret_places, "%s/wick", runtime);
	(void)snprintf(path, sizeof(path), "/run/user/%u", (unsigned)uid);
	if (is_owned(path, uid))
		add(ret_places, "%s/wick", path);
	add(ret_places, SHARED "/wick-%u", (unsigned)uid);
	add_own_names(ret_places, uid);
}

/* The last resort, which other users cannot predict. */
static int make_random(char *ret_path, size_t size, struct err *err)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

	(void)snprintf(path, sizeof(path), SHARED "/wick-%u.XXXXXX", (unsigned)geteuid());
	if (!mkdtemp(path))
		return err_set(err, errno, "make '%s'", path);
	(void)snprintf(ret_path, size, "%s", path);
	return 1;
}

int control_directory_make(char ret_path[static sizeof(((struct sockaddr_un *)0)->sun_path)],
			   struct err *err)
{
	struct control_directories places;
	uid_t uid = geteuid();
	bool refused = false;

	control_directories_list(uid, &places);
	for (size_t i = 0; i < places.n; i++) {
		const char *path = places.at[i];
		bool made = mkdir(path, PRIVATE) == 0;

		if (!made && errno != EEXIST) {
			(void)err_set(err, errno, "make '%s'", path);
			continue;
		}
		if (made) /* whatever the umask is */
			(void)chmod(path, PRIVATE);
		if (!control_directory_is_private(path, uid)) {
			(void)err_set(err, 0, "'%s' is not a directory that only you can use",
				      path);
			refused = true;
			continue;
		}
		(void)snprintf(ret_path, sizeof(places.at[0]), "%s", path);
		return refused;
	}
	return make_random(ret_path, sizeof(places.at[0]), err);
}

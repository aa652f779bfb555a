/* view_input.c - the files that a command line names: recordings, and folders of them */
#include "tools/view/view.h"

#include "tools/cli/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int append_path(struct view_input *input, char *path, struct err *err)
{
	if (!path)
		return err_set(err, ENOMEM, "list the files");
	if (input->n_paths == VIEW_INPUT_MAX_FILES) {
		free(path);
		return err_set(err, E2BIG, "list more than %d files", VIEW_INPUT_MAX_FILES);
	}
	if (input->n_paths == input->room) {
		size_t room = input->room ? 2 * input->room : 16;
		char **paths = realloc(input->paths, room * sizeof(*paths));

		if (!paths) {
			free(path);
			return err_set(err, ENOMEM, "list the files");
		}
		input->paths = paths;
		input->room = room;
	}
	input->paths[input->n_paths++] = path;
	return 0;
}

static bool ends_with(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && strncmp(name + len - n, end, n) == 0;
}

/* Whether a name in a directory is a recording's. */
static bool is_wanted(const struct view_input *input, const char *name)
{
	size_t len = strlen(name);

	if (name[0] == '.')
		return false;
	if (input->prefix)
		return strncmp(name, input->prefix, strlen(input->prefix)) == 0;
	if (ends_with(name, len, ".gz"))
		len -= strlen(".gz");
	else if (ends_with(name, len, ".zst"))
		len -= strlen(".zst");
	return ends_with(name, len, ".perf") || ends_with(name, len, ".folded");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_entry(struct view_input *input, const char *directory, const char *name,
		     struct err *err)
{
	struct stat st;
	char *path;

	if (!is_wanted(input, name))
		return 0;
	if (asprintf(&path, "%s%s%s", directory, directory[strlen(directory) - 1] == '/' ? "" : "/",
		     name) < 0)
		return err_set(err, ENOMEM, "list the files");
	/* a pipe would be waited for, and directories are not gone into */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		free(path);
		return 0;
	}
	return append_path(input, path, err);
}

static int add_directory(struct view_input *input, const char *path, struct err *err)
{
	size_t first = input->n_paths;
	struct dirent *entry;
	DIR *dir = opendir(path);
	int r = 0;

	if (!dir)
		return err_set(err, errno, "list '%s'", path);
	/* a stream of our own: no other thread reads it */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while (r == 0 && (entry = readdir(dir)))
		r = add_entry(input, path, entry->d_name, err);
	(void)closedir(dir);
	if (r < 0)
		return r;
	if (input->n_paths == first) {
		if (input->prefix)
			(void)err_set(err, ENOENT, "find a file '%s*' in '%s'", input->prefix,
				      path);
		else
			(void)err_set(err, ENOENT, "find a recording (*.perf) in '%s'", path);
		err_hint(err, "--prefix with the start of a file name");
		return -ENOENT;
	}
	qsort(input->paths + first, input->n_paths - first, sizeof(*input->paths), compare_names);
	return 0;
}

static bool is_piped_in(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

static const char *newest_of(const struct view_input *input)
{
	struct timespec newest = {0};
	const char *path = NULL;

	for (size_t i = 0; i < input->n_paths; i++) {
		struct stat st;

		if (stat(input->paths[i], &st) < 0 || st.st_mtim.tv_sec < newest.tv_sec ||
		    (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec < newest.tv_nsec))
			continue;
		newest = st.st_mtim;
		path = input->paths[i];
	}
	return path;
}

int view_input_add_newest(struct view_input *input, const char *verb, bool pipes, struct err *err)
{
	struct view_input here = {.prefix = input->prefix};
	const char *newest = NULL;
	struct err none = {0};
	int r;

	if (!is_piped_in() && add_directory(&here, ".", &none) == 0)
		newest = newest_of(&here);
	if (newest) {
		newest += strncmp(newest, "./", 2) == 0 ? 2 : 0;
		say_note("'%s' is the newest recording here", newest);
		r = append_path(input, strdup(newest), err);
	} else {
		r = err_set(err, 0, "no file given, try: wick %s FILE%s", verb,
			    pipes ? ", or - for standard input" : "");
	}
	view_input_release(&here);
	return r;
}

int view_input_add(struct view_input *input, const char *path, struct err *err)
{
	struct stat st;

	if (*path && strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return add_directory(input, path, err);
	return append_path(input, strdup(path), err);
}

bool view_input_holds(const struct view_input *input, const char *path)
{
	struct stat there, own;

	if (stat(path, &there) < 0)
		return false;
	for (size_t i = 0; i < input->n_paths; i++)
		if (stat(input->paths[i], &own) == 0 && own.st_dev == there.st_dev &&
		    own.st_ino == there.st_ino)
			return true;
	return false;
}

void view_input_release(struct view_input *input)
{
	for (size_t i = 0; i < input->n_paths; i++)
		free(input->paths[i]);
	free(input->paths);
	*input = (struct view_input){0};
}

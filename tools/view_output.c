/* view_output.c - files that appear when they are whole, and what their names say */
#include "tools/view_output.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Longer ends before those that they end in. */
static const struct {
	const char *end;
	enum view_format format;
} ends[] = {
	{".speedscope.json", VIEW_SPEEDSCOPE},
	{".firefox.json.gz", VIEW_FIREFOX},
	{".firefox.json", VIEW_FIREFOX},
	{".pb.gz", VIEW_PPROF},
	{".pprof", VIEW_PPROF},
	{".perf", VIEW_PERF},
	{".perf.gz", VIEW_PERF},
	{".folded", VIEW_FOLDED},
	{".txt", VIEW_TXT},
	{".csv", VIEW_CSV},
	{".json", VIEW_JSON},
	{".md", VIEW_MD},
	{".svg", VIEW_SVG},
	{".html", VIEW_HTML},
};

enum view_format view_format_of(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i].end);

		if (len > n && strcmp(path + len - n, ends[i].end) == 0)
			return ends[i].format;
	}
	return VIEW_NONE;
}

enum view_format view_format_named(const char *name)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(ends[i].end + 1, name) == 0)
			return ends[i].format;
	return VIEW_NONE;
}

/* What a file is made with: what the user's umask leaves of rw-rw-rw-. */
static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return 0666 & ~mask;
}

static int open_temporary(struct view_file *file, struct err *err)
{
	const char *slash = strrchr(file->path, '/');
	int dir_len = slash ? (int)(slash - file->path) + 1 : 0;
	char name[PATH_MAX];
	int n = snprintf(name, sizeof(name), "%.*s.wick.XXXXXX", dir_len, file->path);

	if (n < 0 || n >= (int)sizeof(name))
		return err_set(err, ENAMETOOLONG, "write '%s'", file->path);
	file->fd = mkostemp(name, O_CLOEXEC);
	if (file->fd < 0)
		return err_set(err, errno, "write '%s'", file->path);
	(void)fchmod(file->fd, new_mode());
	file->temporary = strdup(name);
	if (file->temporary)
		return 0;
	(void)unlink(name);
	return err_set(err, ENOMEM, "write '%s'", file->path);
}

int view_file_open(struct view_file *file, const char *path, const struct view_input *input,
		   struct err *err)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	int r;

	*file = (struct view_file){.fd = -1};
	if (there && S_ISDIR(st.st_mode))
		return err_set(err, EISDIR, "write '%s'", path);
	if (input && view_input_holds(input, path)) {
		(void)err_set(err, 0, "'%s' is the recording itself: it is not written over", path);
		return -EEXIST;
	}
	file->path = strdup(path);
	if (!file->path)
		return err_set(err, ENOMEM, "write '%s'", path);
	if (!there || S_ISREG(st.st_mode)) {
		r = open_temporary(file, err);
	} else {
		file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		r = file->fd < 0 ? err_set(err, errno, "write '%s'", path) : 0;
	}
	if (r < 0)
		view_file_drop(file);
	return r;
}

int view_file_close(struct view_file *file, struct err *err)
{
	int r = 0;

	if (close(steal_fd(&file->fd)) < 0)
		r = err_set(err, errno, "write '%s'", file->path);
	if (r == 0 && file->temporary && rename(file->temporary, file->path) < 0)
		r = err_set(err, errno, "write '%s'", file->path);
	if (r == 0) {
		free(file->temporary);
		file->temporary = NULL;
	}
	view_file_drop(file);
	return r;
}

void view_file_drop(struct view_file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	if (file->temporary)
		(void)unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	*file = (struct view_file){.fd = -1};
}

int view_output_write(const char *path, struct buf *text, const struct view_input *input,
		      struct err *err)
{
	struct view_file file;
	int r;

	if (text->failed) {
		(void)err_set(err, 0,
			      "what is to be written is larger than %zu MiB, try: "
			      "--time, --only or --threshold",
			      text->limit >> 20);
		return -EFBIG;
	}
	if (!path || strcmp(path, "-") == 0) {
		r = io_write_all(STDOUT_FILENO, buf_text(text), text->len, NULL);
		return r == 0 || r == -EPIPE ? 0 : err_set(err, -r, "write to stdout");
	}
	r = view_file_open(&file, path, input, err);
	if (r < 0)
		return r;
	r = io_write_all(file.fd, buf_text(text), text->len, NULL);
	if (r == 0)
		return view_file_close(&file, err);
	r = err_set(err, -r, "write '%s'", path);
	view_file_drop(&file);
	return r;
}

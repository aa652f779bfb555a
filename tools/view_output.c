/* view_output.c - files that appear when they are whole, and what their names say */
#include "tools/view_output.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/say.h"
#include "tools/unfinished.h"

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

/* END in the folder that PATH is in; false: that is too long for a name. */
static bool name_beside(const char *path, const char *end, char name[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int n = snprintf(name, PATH_MAX, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, end);

	return n > 0 && n < PATH_MAX;
}

/* A file without a name is gone with its program, however that ends; not all file systems have it.
 */
static int open_temporary(struct view_file *file, struct err *err)
{
	char name[PATH_MAX];

	if (name_beside(file->path, ".", name))
		file->fd = open(name, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	file->nameless = file->fd >= 0;
	if (file->nameless)
		return 0;
	if (!name_beside(file->path, ".wick.XXXXXX", name))
		return err_set(err, ENAMETOOLONG, "write '%s'", file->path);
	file->fd = mkostemp(name, O_CLOEXEC);
	if (file->fd < 0)
		return err_set(err, errno, "write '%s'", file->path);
	unfinished_begin(name);
	(void)fchmod(file->fd, new_mode());
	file->temporary = strdup(name);
	if (file->temporary)
		return 0;
	(void)unlink(name);
	unfinished_end();
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

/* Gives a nameless file its own name, or where that is taken one that it is renamed from. */
static int name_it(struct view_file *file)
{
	enum { TRIES = 100 };
	char end[64], from[64], name[PATH_MAX];

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", file->fd);
	if (linkat(AT_FDCWD, from, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	for (int i = 0; errno == EEXIST && i < TRIES; i++) {
		(void)snprintf(end, sizeof(end), ".wick.%d.%d", (int)getpid(), i);
		if (!name_beside(file->path, end, name))
			return -ENAMETOOLONG;
		if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0)
			continue;
		unfinished_begin(name);
		file->temporary = strdup(name);
		if (file->temporary)
			return 0;
		(void)unlink(name);
		unfinished_end();
		return -ENOMEM;
	}
	return -errno;
}

int view_file_close(struct view_file *file, struct err *err)
{
	int r = file->nameless ? name_it(file) : 0;

	if (r < 0)
		(void)err_set(err, -r, "write '%s'", file->path);
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
	unfinished_end();
	free(file->temporary);
	free(file->path);
	*file = (struct view_file){.fd = -1};
}

int view_output_make(const char *path, const struct view_input *input, view_writer *write,
		     void *context, struct err *err)
{
	struct view_file file;
	int r;

	if (!path || strcmp(path, "-") == 0) {
		r = write(context, STDOUT_FILENO, err);
		return r == -EPIPE ? 0 : r;
	}
	r = view_file_open(&file, path, input, err);
	if (r < 0)
		return r;
	r = write(context, file.fd, err);
	if (r == 0)
		return view_file_close(&file, err);
	view_file_drop(&file);
	return r;
}

struct text_output {
	const char *path;
	struct buf *text;
};

static int write_text(void *context, int fd, struct err *err)
{
	const struct text_output *output = context;
	int r = io_write_all(fd, buf_text(output->text), output->text->len, NULL);

	if (r == 0)
		return 0;
	if (fd == STDOUT_FILENO)
		return err_set(err, -r, "write to stdout");
	return err_set(err, -r, "write '%s'", output->path);
}

int view_output_write(const char *path, struct buf *text, const struct view_input *input,
		      struct err *err)
{
	struct text_output output = {path, text};

	if (!text->failed)
		return view_output_make(path, input, write_text, &output, err);
	(void)err_set(err, 0,
		      "what is to be written is larger than %zu MiB, try: "
		      "--time, --only or --threshold",
		      text->limit >> 20);
	return -EFBIG;
}

/* view_output.c - files that appear when they are whole, and what their names say */
#include "tools/view/view.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/terminal.h"
#include "tools/record/output_check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char unfinished[PATH_MAX]; /* changes only while THERE is 0 */
static volatile sig_atomic_t there;

/* SA_RESETHAND has put the default back: the signal ends wick as it would have. */
static void on_signal(int number)
{
	if (there)
		(void)unlink(unfinished);
	(void)raise(number);
}

static void catch_ends(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	struct sigaction old;

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &action, NULL);
}

/*
 * From now on a signal that ends wick unlinks PATH first. Signals that are ignored or caught
 * already stay as they are.  Of two, only the last one counts.
 */
static void unfinished_begin(const char *path)
{
	size_t len = strlen(path);

	there = 0;
	if (len >= sizeof(unfinished))
		return;
	memcpy(unfinished, path, len + 1);
	there = 1;
	catch_ends();
}

/* There is no such file any more, or it has its name. */
static void unfinished_end(void)
{
	there = 0;
}

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

static mode_t mode_of(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 ? st.st_mode : 0;
}

/* Permissions that one of the recordings lacks are not given to the output. */
static mode_t new_mode(const struct view_output *output)
{
	mode_t mask = umask(0);
	mode_t mode = 0666 & ~mask;
	bool any = false;

	(void)umask(mask);
	for (size_t i = 0; i < VIEW_OUTPUT_INPUTS; i++) {
		const struct view_input *input = output->inputs[i];

		for (size_t j = 0; input && j < input->n_paths; j++) {
			mode &= mode_of(input->paths[j]);
			any = true;
		}
	}
	return (any ? mode : 0) | 0600;
}

static bool is_stdout(const struct view_output *output)
{
	return !output->path || strcmp(output->path, "-") == 0;
}

static int refuse(const char *path, int code, struct err *err)
{
	(void)err_set(err, code, "write '%s'", path);
	output_check_hint(code, err);
	return -code;
}

int view_output_check(const struct view_output *output, struct err *err)
{
	if (is_stdout(output))
		return 0;
	for (size_t i = 0; i < VIEW_OUTPUT_INPUTS; i++) {
		if (!output->inputs[i] || !view_input_holds(output->inputs[i], output->path))
			continue;
		(void)err_set(err, 0, "'%s' is the recording itself: wick does not overwrite it",
			      output->path);
		err_hint(err, "another name");
		return -EEXIST;
	}
	return output_check_name(output->path, output->force, err);
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
static int open_temporary(struct view_file *file, mode_t mode, struct err *err)
{
	char name[PATH_MAX];

	if (name_beside(file->path, ".", name))
		file->fd = open(name, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	file->nameless = file->fd >= 0;
	if (file->nameless) {
		(void)fchmod(file->fd, mode);
		return 0;
	}
	if (!name_beside(file->path, ".wick.XXXXXX", name))
		return err_set(err, ENAMETOOLONG, "write '%s'", file->path);
	file->fd = mkostemp(name, O_CLOEXEC);
	if (file->fd < 0)
		return refuse(file->path, errno, err);
	unfinished_begin(name);
	(void)fchmod(file->fd, mode);
	file->temporary = strdup(name);
	if (file->temporary)
		return 0;
	(void)unlink(name);
	unfinished_end();
	return err_set(err, ENOMEM, "write '%s'", file->path);
}

int view_file_open(struct view_file *file, const struct view_output *output, struct err *err)
{
	int r;

	*file = (struct view_file){.fd = -1, .force = output->force};
	r = view_output_check(output, err);
	if (r < 0)
		return r;
	file->path = strdup(output->path);
	if (!file->path)
		return err_set(err, ENOMEM, "write '%s'", output->path);
	r = open_temporary(file, new_mode(output), err);
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
	for (int i = 0; file->force && errno == EEXIST && i < TRIES; i++) {
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

/* Not every file system can refuse to replace: there it was checked before. */
static int put_in_place(const struct view_file *file, struct err *err)
{
	unsigned flags = file->force ? 0 : RENAME_NOREPLACE;
	int r = renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, flags);

	if (r < 0 && errno == EINVAL && !file->force)
		r = rename(file->temporary, file->path);
	if (r == 0)
		return 0;
	return refuse(file->path, errno, err);
}

int view_file_close(struct view_file *file, struct err *err)
{
	int r = file->nameless ? name_it(file) : 0;

	if (r < 0)
		(void)refuse(file->path, -r, err);
	if (close(steal_fd(&file->fd)) < 0)
		r = err_set(err, errno, "write '%s'", file->path);
	if (r == 0 && file->temporary)
		r = put_in_place(file, err);
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

int view_output_make(const struct view_output *output, view_writer *write, void *context,
		     struct err *err)
{
	struct view_file file;
	int r;

	if (is_stdout(output)) {
		r = write(context, STDOUT_FILENO, err);
		return r == -EPIPE ? 0 : r;
	}
	r = view_file_open(&file, output, err);
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

int view_output_write(const struct view_output *output, struct buf *text, struct err *err)
{
	struct text_output written = {output->path, text};

	if (!text->failed)
		return view_output_make(output, write_text, &written, err);
	(void)err_set(err, 0,
		      "the output would be larger than %zu MiB, try: --time, --only or --threshold",
		      text->limit >> 20);
	return -EFBIG;
}

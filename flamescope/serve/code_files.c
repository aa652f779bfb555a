/* code_files.c - modules and source files: only what may be read is */
#include "flamescope/serve/code.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define NS_PER_S INT64_C(1000000000)

enum { MAX_PATH_PARTS = 64 };

static int refuse(struct err *err, int code, const char *path, const char *why)
{
	(void)err_set(err, 0, "Its module %s %s.", path, why); /* strerror() would not help */
	return -code;
}

int code_open_module(const char *path, const char *build_id, int64_t until_ns, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;
	int r;

	if (*path != '/')
		return refuse(err, ENOENT, path, "is no file");
	fd = regular_file_open(AT_FDCWD, path, 0);
	if (fd < 0 || fstat(fd, &st) < 0)
		return refuse(err, ENOENT, path, "cannot be read on this machine");
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return refuse(err, EPERM, path, "belongs to another user");
	r = regular_file_is_hollow(&st) ? -ENOEXEC : symbolize_check_file(fd, build_id);
	if (r < 0 && r != -ESTALE)
		return refuse(err, ENOEXEC, path, "is no program");
	if (r < 0)
		return refuse(err, ESTALE, path, "is another build than the one that ran");
	if (!*build_id && st.st_mtim.tv_sec > until_ns / NS_PER_S)
		return refuse(err, ESTALE, path, "has changed since the recording");
	return steal_fd(&fd);
}

/* A secret may have any name, but hardly one of these. */
static bool is_source_name(const char *path)
{
	static const char *const ends[] = {
		"c",   "h",   "cc",   "hh",  "cpp", "hpp", "cxx",  "hxx", "c++",   "h++",
		"inc", "inl", "ipp",  "tcc", "def", "tpp", "rs",   "go",  "s",     "asm",
		"f",   "for", "f90",  "f95", "f03", "f08", "d",    "zig", "nim",   "swift",
		"m",   "mm",  "pas",  "pp",  "adb", "ads", "ml",   "hs",  "cr",    "v",
		"y",   "l",   "re2c", "cu",  "cuh", "cl",  "java", "kt",  "scala", "jl",
		"py",  "pyx", "js",   "mjs", "ts",  "rb",  "php",  "lua", "pl",    "pm",
	};
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name ? name : path, '.');

	for (size_t i = 0; dot && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcasecmp(dot + 1, ends[i]) == 0)
			return true;
	return false;
}

/* PATH without "//", "/./" and "/x/.."; false: it leads above where it begins, or is too deep. */
static bool plain_path(const char *path, char *plain)
{
	size_t starts[MAX_PATH_PARTS];
	size_t n = 0, at = 0;

	while (*path) {
		const size_t len = strcspn(path, "/");

		if (len == 2 && memcmp(path, "..", 2) == 0) {
			if (n == 0)
				return false;
			at = starts[--n];
		} else if (len && !(len == 1 && *path == '.')) {
			if (n == MAX_PATH_PARTS)
				return false;
			starts[n++] = at;
			if (at)
				plain[at++] = '/';
			memcpy(plain + at, path, len);
			at += len;
		}
		path += len + (path[len] == '/');
	}
	plain[at] = '\0';
	return n > 0;
}

/* The file, if it is below the folder or the end of its path is. */
static int open_below(const char *folder, const char *path)
{
	_cleanup_free_ char *real = realpath(folder, NULL);
	_cleanup_fd_ int at = real ? open(real, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	const size_t len = real ? strlen(real) - 1 : 0; /* without its first '/' */
	int r = -ENOENT;

	if (at < 0)
		return -errno;
	if (len && strncmp(path, real + 1, len) == 0 && path[len] == '/') {
		_cleanup_fd_ int place = beneath_open(at, path + len + 1, O_PATH);

		return place < 0 ? place : regular_file_reopen(place);
	}
	for (const char *end = path; end; end = strchr(end, '/') ? strchr(end, '/') + 1 : NULL) {
		_cleanup_fd_ int place = beneath_open(at, end, O_PATH);

		if (place >= 0)
			return regular_file_reopen(place);
		if (place != -ENOENT && place != -ENOTDIR)
			r = place;
	}
	return r;
}

static int read_text(int fd, struct buf *text, int64_t *ret_mtime_ns)
{
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > CODE_SOURCE_BYTES)
		return -EFBIG;
	bytes = malloc((size_t)st.st_size + 1);
	if (!bytes)
		return -ENOMEM;
	n = io_pread(fd, bytes, (size_t)st.st_size, 0);
	if (n < 0)
		return (int)n;
	if (memchr(bytes, '\0', (size_t)n))
		return -EINVAL;
	*ret_mtime_ns = catalog_stamp_of(&st).mtime_ns;
	return buf_append(text, bytes, (size_t)n);
}

int code_read_source(const struct code_options *options, const char *path, struct buf *text,
		     int64_t *ret_mtime_ns)
{
	_cleanup_free_ char *plain = malloc(strlen(path) + 1);
	int r = -ENOENT;

	if (!plain)
		return -ENOMEM;
	if (!is_source_name(path) || !plain_path(path, plain))
		return -EACCES; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
	for (size_t i = 0; i < options->n_folders; i++) {
		_cleanup_fd_ int fd = open_below(options->folders[i], plain);

		if (fd >= 0)
			return read_text(fd, text, ret_mtime_ns);
		if (fd != -ENOENT)
			r = fd;
	}
	return r;
}

/* compress.c - closed files made smaller */
#include "output/files/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
	CHUNK = 64 * 1024,
	GZ_LEVEL = 4, /* of 9: text of stacks gains little above */
	GZ_WINDOW = 15 + 16,
	ZST_LEVEL = 3,
};

/* The state of one codec, and its two calls. */
struct packer {
	enum recording_compress how;
	z_stream gz;
	ZSTD_CCtx *zst;
	char out[CHUNK];
};

static int packer_init(struct packer *packer, enum recording_compress how)
{
	packer->how = how;
	packer->gz = (z_stream){0};
	packer->zst = NULL;
	if (how == COMPRESS_GZ)
		return deflateInit2(&packer->gz, GZ_LEVEL, Z_DEFLATED, GZ_WINDOW, 8,
				    Z_DEFAULT_STRATEGY) == Z_OK
			       ? 0
			       : -ENOMEM;
	packer->zst = ZSTD_createCCtx();
	if (!packer->zst)
		return -ENOMEM;
	(void)ZSTD_CCtx_setParameter(packer->zst, ZSTD_c_compressionLevel, ZST_LEVEL);
	(void)ZSTD_CCtx_setParameter(packer->zst, ZSTD_c_checksumFlag, 1);
	return 0;
}

static void packer_release(struct packer *packer)
{
	if (packer->how == COMPRESS_GZ)
		(void)deflateEnd(&packer->gz);
	(void)ZSTD_freeCCtx(packer->zst);
}

static int pack_gz(struct packer *packer, int fd, char *bytes, size_t len, bool last)
{
	z_stream *gz = &packer->gz;
	int r;

	gz->next_in = (Bytef *)bytes;
	gz->avail_in = (uInt)len;
	do {
		gz->next_out = (Bytef *)packer->out;
		gz->avail_out = CHUNK;
		if (deflate(gz, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
			return -EIO;
		r = io_write_all(fd, packer->out, CHUNK - gz->avail_out, NULL);
		if (r < 0)
			return r;
	} while (gz->avail_out == 0);
	return 0;
}

static int pack_zst(struct packer *packer, int fd, const char *bytes, size_t len, bool last)
{
	ZSTD_inBuffer in = {.src = bytes, .size = len};
	size_t left;
	int r;

	do {
		ZSTD_outBuffer out = {.dst = packer->out, .size = CHUNK};

		left = ZSTD_compressStream2(packer->zst, &out, &in,
					    last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return -EIO;
		r = io_write_all(fd, packer->out, out.pos, NULL);
		if (r < 0)
			return r;
	} while (last ? left > 0 : in.pos < in.size);
	return 0;
}

static int pack_all(struct packer *packer, int from, int to, const atomic_bool *stop)
{
	char bytes[CHUNK];
	uint64_t offset = 0;

	for (;;) {
		ssize_t n = io_pread(from, bytes, sizeof(bytes), offset);
		bool last = n < (ssize_t)sizeof(bytes);
		int r;

		if (n < 0)
			return (int)n;
		if (atomic_load_explicit(stop, memory_order_relaxed)) /* set by archive_free() */
			return -ECANCELED;
		if (packer->how == COMPRESS_GZ)
			r = pack_gz(packer, to, bytes, (size_t)n, last);
		else
			r = pack_zst(packer, to, bytes, (size_t)n, last);
		if (r < 0 || last)
			return r;
		offset += (uint64_t)n;
	}
}

static int pack_file(int from, int to, enum recording_compress how, const atomic_bool *stop)
{
	_cleanup_free_ struct packer *packer = malloc(sizeof(*packer));
	int r;

	if (!packer)
		return -ENOMEM;
	r = packer_init(packer, how);
	if (r == 0)
		r = pack_all(packer, from, to, stop);
	packer_release(packer);
	return r; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
}

/* Give a file its name unless the name is taken, on file systems that can only link too. */
static int rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(from, to) < 0)
		return -errno;
	(void)unlink(from);
	return 0;
}

static void remove_original(const char *path, const struct stat *read)
{
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == read->st_dev && st.st_ino == read->st_ino)
		(void)unlink(path);
}

/* "dir/x.perf" to "dir/.x.perf.XXXXXX" */
static int temporary_name(const char *path, char to[static PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash + 1 - path) : 0;

	return snprintf(to, PATH_MAX, "%.*s.%s.XXXXXX", dir, path, path + dir) < PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

static int pack_beside(const char *path, const char *name, enum recording_compress how,
		       const atomic_bool *stop, struct stat *ret_st)
{
	_cleanup_fd_ int from = regular_file_open(AT_FDCWD, path, O_NOFOLLOW);
	_cleanup_fd_ int to = -1;
	char temporary[PATH_MAX];
	struct stat st;
	int r;

	if (from < 0)
		return from;
	if (fstat(from, &st) < 0)
		return -errno;
	r = temporary_name(path, temporary);
	if (r < 0)
		return r;
	to = mkostemp(temporary, O_CLOEXEC);
	if (to < 0)
		return -errno;
	r = pack_file(from, to, how, stop);
	if (r == 0)
		r = fstat(to, ret_st) < 0 ? -errno : rename_new(temporary, name);
	if (r < 0) {
		(void)unlink(temporary);
		return r;
	}
	remove_original(path, &st);
	return 0;
}

const char *recording_ending(enum recording_compress how)
{
	static const char *const endings[] = {
		[COMPRESS_NONE] = "", [COMPRESS_GZ] = ".gz", [COMPRESS_ZST] = ".zst"};

	return endings[how];
}

int compress_file(const char *path, enum recording_compress how, const atomic_bool *stop,
		  char **ret_path, struct stat *ret_st, struct err *err)
{
	_cleanup_free_ char *name = NULL;
	int r;

	if (asprintf(&name, "%s%s", path, recording_ending(how)) < 0) {
		name = NULL;
		return err_set(err, ENOMEM, "compress '%s'", path);
	}
	r = pack_beside(path, name, how, stop, ret_st);
	if (r < 0)
		return err_set(err, -r, "compress '%s'", path);
	*ret_path = steal_pointer(&name);
	return 0;
}

/*
 * wasm_load.c - a file that was given to the page, as a profile
 *
 * It is read by the loader of the commands (flamescope/load), from memory: here are the parts of it
 * that need a system, without files, threads and an index.
 */
#include "flamescope/wasm/internal.h"

#include "base/io.h"
#include "flamescope/flame/flame.h"
#include "flamescope/load/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char perf_magic[] = "PERFILE2";

/*
 * Of samples and stacks, beside the file itself: what the file is so many times, and some; a page
 * has 4 GiB in all.  Folded stacks of distinct names of four letters take a hundred times as many
 * bytes.
 */
enum { MOST_TIMES = 128, FREE_BYTES = 64 << 20 };
static const uint64_t max_bytes = UINT64_C(2) << 30;

static uint64_t memory_for(uint64_t n_bytes)
{
	const uint64_t bytes = FREE_BYTES + MOST_TIMES * n_bytes;

	return bytes < max_bytes ? bytes : max_bytes;
}

/* The only source there is. */
struct source {
	const char *bytes;
	size_t len, at;
};

static struct source given;

int source_open(const char *path, struct source **ret_source, struct err *err)
{
	(void)path;
	(void)err;
	*ret_source = &given;
	return 0;
}

void source_close(struct source *source)
{
	(void)source;
}

ssize_t source_read(struct source *source, void *to, size_t len, struct err *err)
{
	size_t left = source->len - source->at;

	(void)err;
	len = len < left ? len : left;
	memcpy(to, source->bytes + source->at, len);
	source->at += len;
	return (ssize_t)len;
}

int source_plain(const struct source *source, uint64_t *ret_bytes)
{
	*ret_bytes = source->len;
	return -1;
}

/* There are no files, and no time that a file may take. */
int stat(const char *restrict path, struct stat *restrict ret_stat)
{
	(void)path;
	(void)ret_stat;
	errno = ENOENT;
	return -1;
}

int fstat(int fd, struct stat *ret_stat)
{
	(void)fd;
	(void)ret_stat;
	errno = EBADF;
	return -1;
}

ssize_t io_pread(int fd, void *to, size_t len, uint64_t offset)
{
	(void)fd;
	(void)to;
	(void)len;
	(void)offset;
	return -EBADF;
}

uint64_t io_now_ns(void)
{
	return 0;
}

int parallel_read(const struct parallel *parallel)
{
	(void)parallel;
	return -EAGAIN;
}

bool index_key(const struct load_options *options, char ret_key[INDEX_KEY_SIZE])
{
	(void)options;
	*ret_key = '\0';
	return false;
}

struct profile *index_read(const struct load_options *options, const char *key)
{
	(void)options;
	(void)key;
	return NULL;
}

void index_write(const struct load_options *options, const char *key, const struct profile *profile)
{
	(void)options;
	(void)key;
	(void)profile;
}

uint64_t text_hash_secret[4];

void text_hash_seed(void)
{
	static bool seeded;

	if (!seeded && getentropy(text_hash_secret, sizeof(text_hash_secret)) == 0)
		for (size_t i = 0; i < 4; i++)
			text_hash_secret[i] |= UINT64_C(1) << (8 * i + 7); /* never nothing */
	seeded = true;
}

/* Of N_BYTES at BYTES, which are of allocate() and stay the page's. */
WASM_EXPORT("loaded_new")
struct profile *wasm_loaded_new(const char *name, const char *bytes, size_t n_bytes)
{
	struct err *err = wasm_err();
	struct load_options options = {
		.paths = &name, .n_paths = 1, .memory_bytes = memory_for(n_bytes)};
	struct profile *profile = NULL;

	if (n_bytes >= strlen(perf_magic) && memcmp(bytes, perf_magic, strlen(perf_magic)) == 0) {
		(void)err_set(err, 0, "'%s' is perf's own file, not its text", name);
		err_hint(err, "perf script -i FILE > FILE.perf");
		return NULL;
	}
	given = (struct source){.bytes = bytes, .len = n_bytes};
	if (load_profile(&options, &profile, err) < 0)
		return NULL;
	if (profile->n_samples > 0) {
		(void)flame_sort_profile(profile); /* else graphs take longer */
		return profile;
	}
	profile_say_empty(profile, err);
	profile_free(profile);
	return NULL;
}

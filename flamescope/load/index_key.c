/* index_key.c - the state of files as a hash */
#include "flamescope/load/index_key.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/load/build/text_hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	END_BYTES = 64 * 1024,
	PAGE_BYTES = 4096,
	N_PAGES = 32,
	MIN_BYTES = 4 * 1024 * 1024, /* of all files; reading less is as quick */
};

/* A file that changed just now may change again within the same tick of its clock. */
static const int64_t settled_ns = INT64_C(2000000000);

struct key {
	uint64_t low;
	uint64_t high;
};

/* The process's secret will not do for a name that has to last. */
static void add(struct key *key, const void *bytes, size_t len)
{
	const char *at = bytes;

	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, at + i, len - i < sizeof(word) ? len - i : sizeof(word));
		key->low = text_hash_mix(key->low ^ word, UINT64_C(0x9e3779b97f4a7c15));
		key->high = text_hash_mix(key->high + word, UINT64_C(0xd6e8feb86659fd93)) ^ word;
	}
	key->low += len;
}

static bool add_bytes(struct key *key, int fd, uint64_t from, size_t len)
{
	_cleanup_free_ char *bytes = malloc(len);
	ssize_t n = bytes ? io_pread(fd, bytes, len, from) : -1;

	if (n >= 0)
		add(key, bytes, (size_t)n);
	return n >= 0;
}

/*
 * Only files are opened: who writes to a pipe would take this for his reader, and be gone when the
 * reader comes.  "-" is standard input, whatever file has that name.
 */
static int open_regular(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool add_file(struct key *key, const char *path, uint64_t *ret_bytes)
{
	_cleanup_fd_ int fd = open_regular(path);
	struct stat st;
	int64_t changed_ns;
	uint64_t size;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	size = (uint64_t)st.st_size;
	/* times that are past the end of all numbers are somebody's joke */
	if (__builtin_mul_overflow(st.st_mtim.tv_sec, INT64_C(1000000000), &changed_ns) ||
	    __builtin_add_overflow(changed_ns, st.st_mtim.tv_nsec, &changed_ns) || changed_ns < 0)
		return false;
	if ((int64_t)io_realtime_ns() - changed_ns < settled_ns)
		return false;
	add(key, &st.st_dev, sizeof(st.st_dev));
	add(key, &st.st_ino, sizeof(st.st_ino));
	add(key, &size, sizeof(size));
	add(key, &changed_ns, sizeof(changed_ns));
	for (uint64_t i = 1; i <= N_PAGES; i++)
		if (!add_bytes(key, fd, size / (N_PAGES + 1) * i, PAGE_BYTES))
			return false;
	*ret_bytes += size;
	return add_bytes(key, fd, 0, END_BYTES) &&
	       add_bytes(key, fd, size > END_BYTES ? size - END_BYTES : 0, END_BYTES);
}

bool index_key(const struct load_options *options, char ret_key[INDEX_KEY_SIZE])
{
	static const char version[] = WICK_VERSION;
	struct key key = {.low = INDEX_FORMAT, .high = options->n_paths};
	uint64_t bytes = 0;

	add(&key, version, sizeof(version));
	for (size_t i = 0; i < options->n_paths; i++)
		if (!add_file(&key, options->paths[i], &bytes))
			return false;
	if (bytes < MIN_BYTES)
		return false;
	(void)snprintf(ret_key, INDEX_KEY_SIZE, "%016llx%016llx", (unsigned long long)key.low,
		       (unsigned long long)key.high);
	return true;
}

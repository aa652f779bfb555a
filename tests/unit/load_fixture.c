/* load_fixture.c - text to a profile by all ways */
#include "load_fixture.h"

#include "base/io.h"
#include "flamescope/pack/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

void fixture_pack(const struct profile *profile, struct buf *ret_bytes)
{
	int fd = file_in_memory("", 0);

	assert_int_equal(pack_write(profile, fd, NULL), 0);
	buf_init(ret_bytes, 64 * 1024 * 1024);
	assert_int_equal(io_read_fd(fd, ret_bytes), 0);
	(void)close(fd);
}

static struct profile *load_by(const char *path, const struct load_by *by)
{
	struct load_options options = {.paths = &path, .n_paths = 1, .n_threads = 3};
	struct profile *profile = NULL;
	struct err err = {0};

	if (load_profile_by(&options, by, &profile, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

static void assert_same(const struct profile *slow, const char *path, const struct load_by *by)
{
	struct profile *profile = load_by(path, by);
	struct buf expected;
	struct buf bytes;

	fixture_pack(slow, &expected);
	fixture_pack(profile, &bytes);
	assert_int_equal(expected.len, bytes.len);
	assert_memory_equal(expected.data, bytes.data, bytes.len);
	buf_release(&expected);
	buf_release(&bytes);
	profile_free(profile);
}

struct profile *fixture_load(const void *bytes, size_t len)
{
	char *path = file_make(bytes, len);
	struct profile *slow = load_by(path, &(struct load_by){.way = LOAD_SLOW});

	assert_same(slow, path, &(struct load_by){.way = LOAD_ONE});
	assert_same(slow, path, &(struct load_by){.way = LOAD_ANY, .chunk_bytes = 100});
	if (len > 4096)
		assert_same(slow, path,
			    &(struct load_by){.way = LOAD_ANY, .chunk_bytes = 64 * 1024});
	file_remove(path);
	return slow;
}

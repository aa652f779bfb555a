/* fuzz_load.c - any bytes as a recording, plain or compressed: the quick way and the slow agree */
#include "base/io.h"
#include "flamescope/load/load_way.h"
#include "flamescope/pack/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int load(const char *path, const struct load_by *by, struct buf *ret_bytes)
{
	struct load_options options = {
		.paths = &path, .n_paths = 1, .n_threads = 2, .memory_bytes = 256 << 20};
	struct profile *profile = NULL;
	int fd;

	buf_init(ret_bytes, 256 << 20);
	if (load_profile_by(&options, by, &profile, NULL) < 0)
		return -1;
	fd = memfd_create("pack", MFD_CLOEXEC);
	if (fd < 0 || pack_write(profile, fd, NULL) < 0 || io_read_fd(fd, ret_bytes) < 0)
		abort();
	(void)close(fd);
	profile_free(profile);
	profile = NULL;
	/* what the writer makes the reader takes */
	if (pack_read(ret_bytes->data, ret_bytes->len, &profile, NULL) < 0)
		abort();
	profile_free(profile);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct load_by ways[] = {
		{.way = LOAD_SLOW}, {.way = LOAD_ONE}, {.way = LOAD_ANY, .chunk_bytes = 64}};
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct buf bytes[3];
	char path[64];

	if (fd < 0 || io_write_all(fd, data, size, NULL) < 0)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < 3; i++)
		if (load(path, &ways[i], &bytes[i]) < 0)
			abort();
	for (size_t i = 1; i < 3; i++)
		if (bytes[i].len != bytes[0].len ||
		    memcmp(bytes[i].data, bytes[0].data, bytes[0].len) != 0)
			abort();
	for (size_t i = 0; i < 3; i++)
		buf_release(&bytes[i]);
	(void)close(fd);
	return 0;
}

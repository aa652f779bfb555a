/* fuzz_load.c - any bytes as a recording, plain or compressed: the quick way and the slow agree */
#include "base/io.h"
#include "flamescope/load/internal.h"
#include "flamescope/pack/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a load takes and gives back is a megabyte: kept from use for long, it is new pages each
 * time. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=4:malloc_context_size=4";
}

/* What takes more memory than it may is refused; everything else is read, maybe to no sample. */
static bool load(const char *path, const struct load_by *by, struct buf *ret_bytes)
{
	struct load_options options = {
		.paths = &path, .n_paths = 1, .n_threads = 2, .memory_bytes = 192 << 20};
	struct profile *profile = NULL;
	int r = load_profile_by(&options, by, &profile, NULL);
	int fd;

	buf_init(ret_bytes, 512 << 20);
	if (r < 0 && r != -E2BIG)
		abort();
	if (r < 0)
		return false;
	fd = memfd_create("pack", MFD_CLOEXEC);
	if (fd < 0 || pack_write(profile, fd, NULL) < 0 || io_read_fd(fd, ret_bytes) < 0)
		abort();
	(void)close(fd);
	profile_free(profile);
	return true;
}

/* What the writer makes the reader takes. */
static void read_back(const struct buf *bytes)
{
	struct profile *profile = NULL;

	if (pack_read(bytes->data, bytes->len, &profile, NULL) < 0)
		abort();
	profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct load_by slow = {.way = LOAD_SLOW};
	/* pieces that a line may be longer than, and never thousands of them */
	const struct load_by quick[] = {{.way = LOAD_ONE},
					{.way = LOAD_ANY, .chunk_bytes = 64 + size / 64}};
	/* threads take their time: one input in eight, whatever else it is */
	const struct load_by *by = &quick[size % 8 == 0];
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct buf one = {0}, other = {0};
	char path[64];

	if (fd < 0 || io_write_all(fd, data, size, NULL) < 0)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* the ways keep different things at once, so that one may take a little more than another
	 */
	if (load(path, &slow, &one) && load(path, by, &other)) {
		if (one.len != other.len || memcmp(one.data, other.data, one.len) != 0)
			abort();
		read_back(&one);
	}
	buf_release(&one);
	buf_release(&other);
	(void)close(fd);
	return 0;
}

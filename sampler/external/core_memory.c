/* core_memory.c - memory of a process that has dumped core: from the core, else from its files */
#include "base/io.h"
#include "base/regular_file.h"
#include "sampler/external/core_internal.h"
#include "sampler/external/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is in the core at an address, up to the end of its segment. */
static const struct core_segment *find_segment(const struct core *core, uint64_t address)
{
	size_t lo = 0;
	size_t hi = core->n_segments;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct core_segment *segment = &core->segments[mid];

		if (address - segment->start < segment->len && address >= segment->start)
			return segment;
		if (address < segment->start)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

const struct core_range *core_range(const struct core *core, uint64_t address)
{
	size_t lo = 0;
	size_t hi = core->n_ranges;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct core_range *range = &core->ranges[mid];

		if (address >= range->start && address < range->end)
			return range;
		if (address < range->start)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

/* From the core alone.  Return: how many bytes, 0 to LEN. */
static size_t read_core(struct core *core, uint64_t address, void *to, size_t len)
{
	const struct core_segment *segment = find_segment(core, address);
	uint64_t skipped;
	ssize_t n;

	if (!segment)
		return 0;
	skipped = address - segment->start;
	if (segment->len - skipped < len)
		len = (size_t)(segment->len - skipped);
	n = io_pread(core->fd, to, len, segment->offset + skipped);
	return n < 0 ? 0 : (size_t)n;
}

/* A module's memory, for its headers. */
struct in_core {
	struct core *core;
	uint64_t base;
};

static bool read_in_core(void *context, uint64_t at, void *to, size_t len)
{
	const struct in_core *in = context;

	return in->base <= UINT64_MAX - at && read_core(in->core, in->base + at, to, len) == len;
}

static bool read_in_file(void *context, uint64_t at, void *to, size_t len)
{
	const int *fd = context;

	return io_pread(*fd, to, len, at) == (ssize_t)len;
}

static void fail(struct core *core, size_t module, const char *why)
{
	struct core_image *image = &core->images[module];

	(void)snprintf(image->why, sizeof(image->why), "%s", why);
	core->modules[module].why = image->why;
}

static void spell(struct core *core, size_t module)
{
	struct core_image *image = &core->images[module];

	for (size_t i = 0; i < image->elf.n_build_id; i++)
		(void)snprintf(image->build_id + 2 * i, 3, "%02x", image->elf.build_id[i]);
	core->modules[module].build_id = image->build_id;
}

static bool same_build(const struct core_elf *a, const struct core_elf *b)
{
	return a->n_build_id == b->n_build_id &&
	       memcmp(a->build_id, b->build_id, a->n_build_id) == 0;
}

/*
 * The file counts when it has the build-id that the process's memory has, or when that is not
 * known: pages of files are in few cores, the first of each in most.
 */
static void open_file(struct core *core, size_t module)
{
	struct core_image *image = &core->images[module];
	struct core_elf_source source = {.read = read_in_file, .context = &image->fd};
	struct core_elf elf;

	image->opened = true;
	image->fd = regular_file_open(AT_FDCWD, core->modules[module].path, 0);
	if (image->fd < 0) {
		fail(core, module, strerrordesc_np(-image->fd));
		image->fd = -1;
		return;
	}
	if (!core_elf_read(&source, &elf))
		fail(core, module, "it is no ELF file");
	else if (image->examined && image->elf.n_build_id && !same_build(&image->elf, &elf))
		fail(core, module, "it is another one than the process ran");
	else if (!image->examined) {
		image->elf = elf;
		image->examined = true;
		spell(core, module);
		return;
	} else
		return;
	(void)close(image->fd);
	image->fd = -1;
}

const struct core_image *core_image(struct core *core, size_t module)
{
	struct core_image *image = &core->images[module];
	struct in_core in = {.core = core, .base = image->base};
	struct core_elf_source source = {.read = read_in_core, .context = &in, .in_memory = true};

	if (!image->examined && !image->opened) {
		image->examined = core_elf_read(&source, &image->elf);
		spell(core, module);
		open_file(core, module);
	}
	return image->examined ? image : NULL;
}

/* Return: how many bytes, 0 to LEN, of the one file that is mapped there. */
static size_t read_mapped(struct core *core, uint64_t address, void *to, size_t len)
{
	const struct core_range *range = core_range(core, address);
	const struct core_image *image;
	ssize_t n;

	if (!range || !core_image(core, range->module))
		return 0;
	image = &core->images[range->module];
	if (image->fd < 0 || address - range->start > UINT64_MAX - range->pgoff)
		return 0;
	if (range->end - address < len)
		len = (size_t)(range->end - address);
	n = io_pread(image->fd, to, len, range->pgoff + (address - range->start));
	return n < 0 ? 0 : (size_t)n;
}

bool core_memory(struct core *core, uint64_t address, void *to, size_t len)
{
	unsigned char *bytes = to;

	core->work += len;
	if (core->work > CORE_MOST_WORK)
		return false;
	while (len > 0) {
		size_t n = read_core(core, address, bytes, len);

		if (n == 0)
			n = read_mapped(core, address, bytes, len);
		if (n == 0 || n > UINT64_MAX - address)
			return false;
		address += n;
		bytes += n;
		len -= n;
	}
	return true;
}

/* core_files.c - the files that a process had mapped, from the NT_FILE note */
#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/external/core_internal.h"
#include "sampler/external/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The note: two words, then three a range, then the ranges' names. */
struct files {
	struct core *core;
	const char *words;
	size_t n;
	uint64_t page;
	const char *names;
	const char *end;
};

enum { HEAD_BYTES = 16, ENTRY_BYTES = 24 };

static uint64_t word(const struct files *files, size_t index)
{
	uint64_t value;

	memcpy(&value, files->words + index * sizeof(value), sizeof(value));
	return value;
}

/*
 * The module of a name; a new one when it is not that of the range before, or begins once more.
 */
static size_t module_of(struct core *core, const char *path, const struct core_range *range)
{
	const struct core_range *last = core->n_ranges ? &core->ranges[core->n_ranges - 1] : NULL;
	const char *last_path = last ? core->modules[last->module].path : NULL;

	if (last_path && strcmp(last_path, path) == 0 && (range->pgoff > 0 || last->pgoff == 0))
		return last->module;
	core->images[core->n_modules] = (struct core_image){.base = range->start, .fd = -1};
	core->modules[core->n_modules] =
		(struct core_module){.path = path, .build_id = "", .why = ""};
	return core->n_modules++;
}

/* Return: whether there can be more. */
static bool add_range(struct files *files, size_t i)
{
	struct core *core = files->core;
	const char *name = files->names;
	size_t len = strnlen(name, (size_t)(files->end - name));
	uint64_t above = core->n_ranges ? core->ranges[core->n_ranges - 1].end : 0;
	struct core_range range = {.start = word(files, 3 * i), .end = word(files, 3 * i + 1)};

	if (name + len == files->end)
		return false; /* cut off within its name */
	files->names += len + 1;
	if (range.end <= range.start || range.start < above ||
	    __builtin_mul_overflow(word(files, 3 * i + 2), files->page, &range.pgoff))
		return true;
	range.module = module_of(core, name, &range);
	core->ranges[core->n_ranges++] = range;
	return true;
}

static int make_room(struct core *core, size_t n)
{
	core->ranges = calloc(n + 1, sizeof(*core->ranges));
	core->modules = calloc(n + 2, sizeof(*core->modules));
	core->images = calloc(n + 2, sizeof(*core->images));
	return core->ranges && core->modules && core->images ? 0 : -ENOMEM;
}

static int read_files(struct core *core, uint64_t len)
{
	struct files files = {.core = core, .words = core->names + HEAD_BYTES};
	uint64_t n;
	int r;

	memcpy(&n, core->names, sizeof(n));
	memcpy(&files.page, core->names + sizeof(n), sizeof(files.page));
	if (n > (len - HEAD_BYTES) / ENTRY_BYTES || n > CORE_MOST_RANGES)
		return -EBADMSG;
	files.n = (size_t)n;
	files.names = files.words + n * ENTRY_BYTES;
	files.end = core->names + len;
	r = make_room(core, files.n);
	for (size_t i = 0; r == 0 && i < files.n; i++)
		if (!add_range(&files, i))
			break;
	return r;
}

int core_files_read(struct core *core, uint64_t offset, uint64_t len)
{
	ssize_t n;

	if (len < HEAD_BYTES || len > CORE_MOST_FILE_LIST || core->names)
		return -EBADMSG;
	core->names = malloc(len);
	if (!core->names)
		return -ENOMEM;
	n = io_pread(core->fd, core->names, len, offset);
	if (n != (ssize_t)len)
		return n < 0 ? (int)n : -EBADMSG;
	return read_files(core, len);
}

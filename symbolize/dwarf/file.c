/* file.c - opening a module's debugging information, and finding its units */
#include "symbolize/dwarf/file.h"

#include "base/array.h"
#include "base/search.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/dwarf/directory.h"
#include "symbolize/dwarf/split.h"
#include "symbolize/sections/dwarf_fallback.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void take_alt(struct dwarf_file *file, const struct dwarf_finder *finder)
{
	if (split_open_alt(&file->sections, finder, &file->alt_sections) < 0)
		return; /* names that are in it are missing, lines are not */
	memcpy(file->alt.of, file->alt_sections.of, sizeof(file->alt.of));
	file->source.alt = &file->alt;
}

int dwarf_file_new(struct dwarf_sections *sections, const struct dwarf_options *options,
		   struct dwarf_file **ret_file)
{
	struct dwarf_file *file;
	int r;

	if (!sections->of[DWARF_INFO].len || !sections->of[DWARF_ABBREV].len) {
		dwarf_sections_close(sections);
		return -ENODATA;
	}
	file = calloc(1, sizeof(*file));
	if (!file) {
		dwarf_sections_close(sections);
		return -ENOMEM;
	}
	file->sections = *sections;
	*sections = (struct dwarf_sections){.elf = NULL};
	file->head = options->head;
	memcpy(file->source.of, file->sections.of, sizeof(file->source.of));
	(void)pthread_mutex_init(&file->lock, NULL);
	take_alt(file, options->finder);
	r = directory_new(&file->source, file->head, &file->directory);
	if (r == 0)
		r = split_new(&file->source, options->finder, &file->split);
	if (r == 0)
		r = dwarf_fallback_new(&file->sections, &file->fallback);
	if (r < 0) {
		dwarf_file_free(file);
		return r;
	}
	*ret_file = file;
	return 0;
}

void dwarf_file_free(struct dwarf_file *file)
{
	if (!file)
		return;
	directory_free(file->directory);
	split_free(file->split);
	dwarf_fallback_free(file->fallback);
	free(file->units.offsets);
	free(file->alt_units.offsets);
	dwarf_sections_close(&file->sections);
	dwarf_sections_close(&file->alt_sections);
	(void)pthread_mutex_destroy(&file->lock);
	free(file);
}

/* Only the lengths are read; a unit with a wrong length ends the list. */
static int make_list(const struct dwarf_source *source, struct unit_list *list)
{
	uint64_t len = source->of[DWARF_INFO].len;
	size_t size = 0;

	for (uint64_t at = 0, next; at < len && list->n_offsets < UNIT_MAX_COUNT; at = next) {
		next = unit_next(source, at);
		if (next <= at || loader_is_stopping())
			break;
		if (array_reserve(&list->offsets, list->n_offsets, &size, 256) < 0)
			return -ENOMEM;
		list->offsets[list->n_offsets++] = at;
	}
	list->made = true;
	return 0;
}

static const uint64_t *last_not_after(const struct unit_list *list, uint64_t offset)
{
	size_t n = search_up_to(list->offsets, list->n_offsets, sizeof(*list->offsets), offset);

	return n ? &list->offsets[n - 1] : NULL;
}

int dwarf_file_unit_around(struct dwarf_file *file, const struct dwarf_source *source,
			   uint64_t offset, uint64_t *ret_unit)
{
	struct unit_list *list = source == &file->source ? &file->units
				 : source == &file->alt  ? &file->alt_units
							 : NULL;
	const uint64_t *found;
	int r = 0;

	if (!list)
		return -ENOENT;
	(void)pthread_mutex_lock(&file->lock);
	if (!list->made) {
		list->n_offsets = 0;
		r = make_list(source, list);
	}
	(void)pthread_mutex_unlock(&file->lock);
	if (r < 0)
		return r;
	found = last_not_after(list, offset);
	if (!found || offset >= unit_next(source, *found))
		return -ENOENT;
	*ret_unit = *found;
	return 0;
}

uint64_t dwarf_unit_of(struct dwarf_file *file, uint64_t addr)
{
	uint64_t offset;

	return directory_find(file->directory, addr, 0, &offset) ? offset + 1 : 0;
}

void dwarf_file_drop(const struct dwarf_file *file, const struct dwarf_unit *unit)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t mapped = (uintptr_t)file->sections.mapped;
	uintptr_t info = (uintptr_t)file->source.of[DWARF_INFO].data;
	uintptr_t start;
	uintptr_t end;

	if (unit->source != &file->source || !mapped || info < mapped ||
	    info - mapped >= file->sections.n_mapped)
		return;
	start = (info + unit->offset + page - 1) / page * page;
	end = (info + unit->end) / page * page;
	if (start < end)
		(void)madvise((void *)start, end - start, MADV_DONTNEED);
}

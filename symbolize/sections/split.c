/* split.c - every file beside the module is opened once, found units are remembered by id */
#include "symbolize/sections/split.h"

#include "base/map.h"
#include "symbolize/sections/package.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Mappings are scarce (65,530 in a process), and so are guarded ranges. */
enum { MAX_FILES = 16 * 1024, MAX_UNITS_OF_FILE = 64 * 1024, MAX_CANDIDATES = 64 };

struct split_file {
	struct split_file *next;
	const char *comp_dir; /* as the skeleton has them */
	const char *name;
	struct dwarf_sections sections;
	struct dwarf_source source;
};

/* A split unit that was found.  One that was looked for in vain has no source. */
struct split_unit {
	struct split_unit *next;
	const struct dwarf_source *source;
	uint64_t offset;
	struct dwarf_source slices; /* of a package: SOURCE is this */
};

struct split {
	const struct dwarf_source *source; /* the module's */
	const struct dwarf_finder *finder;
	pthread_mutex_t lock; /* all below */
	bool package_tried;
	struct dwarf_sections package;
	struct split_file *files;
	size_t n_files;
	struct split_unit *units;
	struct map by_id;   /* struct split_unit */
	struct map by_name; /* struct split_file, by a hash of its names */
};

int split_new(const struct dwarf_source *source, const struct dwarf_finder *finder,
	      struct split **ret_split)
{
	struct split *split = calloc(1, sizeof(*split));

	if (!split)
		return -ENOMEM;
	split->source = source;
	split->finder = finder;
	(void)pthread_mutex_init(&split->lock, NULL);
	*ret_split = split;
	return 0;
}

static void free_file(struct split_file *file)
{
	dwarf_sections_close(&file->sections);
	free(file);
}

void split_free(struct split *split)
{
	if (!split)
		return;
	while (split->units) {
		struct split_unit *unit = split->units;

		split->units = unit->next;
		free(unit);
	}
	while (split->files) {
		struct split_file *file = split->files;

		split->files = file->next;
		free_file(file);
	}
	dwarf_sections_close(&split->package);
	map_release(&split->by_id);
	map_release(&split->by_name);
	(void)pthread_mutex_destroy(&split->lock);
	free(split);
}

/* What a split file takes from the module: 7.3.2.2. */
static void complete(const struct split *split, struct dwarf_source *source)
{
	source->split = true;
	source->of[DWARF_ADDR] = split->source->of[DWARF_ADDR];
	source->of[DWARF_RANGES] = split->source->of[DWARF_RANGES];
	source->of[DWARF_LINE] = split->source->of[DWARF_LINE];
	source->of[DWARF_LINE_STR] = split->source->of[DWARF_LINE_STR];
}

static struct split_unit *remember(struct split *split, uint64_t dwo_id)
{
	struct split_unit *unit = calloc(1, sizeof(*unit));

	if (!unit)
		return NULL;
	if (map_put(&split->by_id, dwo_id, unit) < 0) {
		free(unit);
		return NULL;
	}
	unit->next = split->units;
	split->units = unit;
	return unit;
}

/* Where in a source the unit of an id begins.  DWARF 4 has the id among the root's attributes. */
static int find_unit(const struct dwarf_source *source, uint64_t dwo_id, uint64_t *ret_offset)
{
	uint64_t offset = 0;

	for (int n = 0; n < MAX_UNITS_OF_FILE && offset < source->of[DWARF_INFO].len; n++) {
		struct dwarf_unit unit;
		uint64_t next = unit_next(source, offset);

		if (next <= offset)
			break;
		if (unit_read(source, offset, &unit) == 0 && unit.has_dwo_id &&
		    unit.dwo_id == dwo_id) {
			*ret_offset = offset;
			return 0;
		}
		offset = next;
	}
	return -ENOENT;
}

/* Whether there is an nth candidate; SECTIONS are empty when it cannot be read. */
static bool open_candidate(const struct split *split, const char *comp_dir, const char *name,
			   size_t nth, struct dwarf_sections *sections)
{
	int fd = nth < MAX_CANDIDATES
			 ? split->finder->open_dwo(split->finder->context, comp_dir, name, nth)
			 : -ENOENT;

	dwarf_sections_close(sections);
	if (fd >= 0)
		(void)dwarf_sections_open(fd, true, sections);
	return fd >= 0;
}

/* The first package that has the unit; where none has it, the first: it has others, perhaps. */
static void open_package(struct split *split, uint64_t dwo_id)
{
	struct dwarf_bytes of[N_DWARF_SECTIONS];
	size_t nth = 0;

	if (split->package_tried)
		return;
	split->package_tried = true;
	for (; open_candidate(split, "", NULL, nth, &split->package); nth++)
		if (split->package.of[DWARF_CU_INDEX].len &&
		    package_find(&split->package, dwo_id, of) == 0)
			return;
	if (nth)
		(void)open_candidate(split, "", NULL, 0, &split->package);
}

static int find_in_package(struct split *split, uint64_t dwo_id, struct split_unit *ret_unit)
{
	int r;

	open_package(split, dwo_id);
	if (split->package.of[DWARF_CU_INDEX].len == 0)
		return -ENOENT;
	r = package_find(&split->package, dwo_id, ret_unit->slices.of);
	if (r < 0)
		return r;
	complete(split, &ret_unit->slices);
	r = find_unit(&ret_unit->slices, dwo_id, &ret_unit->offset);
	if (r == 0)
		ret_unit->source = &ret_unit->slices;
	return r;
}

static uint64_t hash(uint64_t seed, const char *text)
{
	for (; *text; text++)
		seed = (seed ^ (uint8_t)*text) * 0x100000001b3;
	return seed;
}

static bool read_candidate(const struct split *split, const struct dwarf_unit *skeleton, size_t nth,
			   struct split_file *file)
{
	bool there =
		open_candidate(split, skeleton->comp_dir, skeleton->dwo_name, nth, &file->sections);

	memcpy(file->source.of, file->sections.of, sizeof(file->source.of));
	complete(split, &file->source);
	return there;
}

/* As open_package(). */
static void read_file(const struct split *split, const struct dwarf_unit *skeleton,
		      struct split_file *file)
{
	uint64_t offset;
	size_t nth = 0;

	for (; read_candidate(split, skeleton, nth, file); nth++)
		if (find_unit(&file->source, skeleton->dwo_id, &offset) == 0)
			return;
	if (nth)
		(void)read_candidate(split, skeleton, 0, file);
}

/* Units of a partial link share a file, and one that is not there is not looked for again. */
static struct split_file *open_file(struct split *split, const struct dwarf_unit *skeleton)
{
	uint64_t key = hash(hash(0xcbf29ce484222325, skeleton->comp_dir), skeleton->dwo_name);
	struct split_file *file = map_get(&split->by_name, key);

	if (file && strcmp(file->comp_dir, skeleton->comp_dir) == 0 &&
	    strcmp(file->name, skeleton->dwo_name) == 0)
		return file;
	if (split->n_files == MAX_FILES)
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->comp_dir = skeleton->comp_dir;
	file->name = skeleton->dwo_name;
	if (map_put(&split->by_name, key, file) < 0) {
		free(file);
		return NULL;
	}
	file->next = split->files;
	split->files = file;
	split->n_files++;
	read_file(split, skeleton, file);
	return file;
}

static int find_in_file(struct split *split, const struct dwarf_unit *skeleton,
			struct split_unit *ret_unit)
{
	struct split_file *file = skeleton->dwo_name[0] ? open_file(split, skeleton) : NULL;

	if (!file || find_unit(&file->source, skeleton->dwo_id, &ret_unit->offset) < 0)
		return -ENOENT;
	ret_unit->source = &file->source;
	return 0;
}

static int find(struct split *split, const struct dwarf_unit *skeleton,
		struct split_unit **ret_unit)
{
	struct split_unit *unit = map_get(&split->by_id, skeleton->dwo_id);

	if (!unit) {
		unit = remember(split, skeleton->dwo_id);
		if (!unit)
			return -ENOMEM;
		if (find_in_package(split, skeleton->dwo_id, unit) < 0)
			(void)find_in_file(split, skeleton, unit);
	}
	*ret_unit = unit;
	return unit->source ? 0 : -ENOENT;
}

int split_find(struct split *split, const struct dwarf_unit *skeleton,
	       const struct dwarf_source **ret_source, uint64_t *ret_offset)
{
	struct split_unit *unit;
	int r;

	if (!split->finder || !split->finder->open_dwo || !skeleton->has_dwo_id)
		return -ENOENT;
	(void)pthread_mutex_lock(&split->lock);
	r = find(split, skeleton, &unit);
	if (r == 0) {
		*ret_source = unit->source;
		*ret_offset = unit->offset;
	}
	(void)pthread_mutex_unlock(&split->lock);
	return r;
}

/* split.c - every file beside the module is opened once, found units are remembered by id */
#include "symbolize/dwarf/split.h"

#include "base/map.h"
#include "symbolize/bounds/cursor.h"
#include "symbolize/elf/elf_symbols.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * The index of a .dwp (7.3.5; GNU's version 2 before DWARF 5): a hash table from ids to rows, and
 * for each unit a row of offsets and sizes.
 */
enum { MAX_COLUMNS = 16, HEAD_BYTES = 16 };

struct index {
	uint16_t version;
	uint32_t n_columns;
	uint32_t n_units;
	uint32_t n_slots;
	const uint8_t *ids;     /* n_slots, 64 bits */
	const uint8_t *rows;    /* n_slots, 32 bits; from 1, 0: the slot is free */
	const uint8_t *columns; /* n_columns, 32 bits: which section */
	const uint8_t *offsets; /* n_units times n_columns, 32 bits */
	const uint8_t *sizes;
};

static uint32_t u32_at(const uint8_t *table, uint64_t i)
{
	uint32_t value;

	memcpy(&value, table + i * sizeof(value), sizeof(value));
	return value;
}

static uint64_t u64_at(const uint8_t *table, uint64_t i)
{
	uint64_t value;

	memcpy(&value, table + i * sizeof(value), sizeof(value));
	return value;
}

static int read_index(const struct dwarf_bytes *bytes, struct index *ret_index)
{
	struct cursor cursor = cursor_over(bytes->data, bytes->len, 0, bytes->len);
	struct index index = {.version = (uint16_t)cursor_u32(&cursor)}; /* 5 has 16 bits unused */
	uint64_t table;

	index.n_columns = cursor_u32(&cursor);
	index.n_units = cursor_u32(&cursor);
	index.n_slots = cursor_u32(&cursor);
	if ((index.version != 2 && index.version != 5) || index.n_columns > MAX_COLUMNS ||
	    (index.n_slots & (index.n_slots - 1)))
		return -EBADMSG;
	table = (uint64_t)index.n_units * index.n_columns * 4;
	index.ids = cursor_skip(&cursor, (uint64_t)index.n_slots * 8);
	index.rows = cursor_skip(&cursor, (uint64_t)index.n_slots * 4);
	index.columns = cursor_skip(&cursor, (uint64_t)index.n_columns * 4);
	index.offsets = cursor_skip(&cursor, table);
	index.sizes = cursor_skip(&cursor, table);
	if (cursor.failed)
		return -EBADMSG;
	*ret_index = index;
	return 0;
}

/* The row of an id, from 1; 0: it has none.  Double hashing over a power of two. */
static uint32_t row_of(const struct index *index, uint64_t dwo_id)
{
	uint64_t mask = index->n_slots - 1;
	uint64_t slot = dwo_id & mask;
	uint64_t step = ((dwo_id >> 32) & mask) | 1;

	for (uint32_t n = 0; n < index->n_slots; n++) {
		uint32_t row = u32_at(index->rows, slot);

		if (row == 0)
			return 0;
		if (u64_at(index->ids, slot) == dwo_id)
			return row <= index->n_units ? row : 0;
		slot = (slot + step) & mask;
	}
	return 0;
}

/* DW_SECT_* as far as they are of use; the numbers of both versions agree in these but for 8. */
static int section_of(uint16_t version, uint32_t column)
{
	switch (column) {
	case 1:
		return DWARF_INFO;
	case 3:
		return DWARF_ABBREV;
	case 4:
		return DWARF_LINE;
	case 6:
		return DWARF_STR_OFFSETS;
	case 8:
		return version == 5 ? DWARF_RNGLISTS : -1;
	default:
		return -1;
	}
}

static int slice(const struct index *index, uint32_t row, struct dwarf_bytes *of)
{
	for (uint32_t column = 0; column < index->n_columns; column++) {
		uint64_t at = (uint64_t)(row - 1) * index->n_columns + column;
		uint64_t offset = u32_at(index->offsets, at);
		uint64_t size = u32_at(index->sizes, at);
		int which = section_of(index->version, u32_at(index->columns, column));

		if (which < 0)
			continue;
		if (offset > of[which].len || size > of[which].len - offset)
			return -EBADMSG;
		of[which] = (struct dwarf_bytes){
			.data = of[which].data ? of[which].data + offset : NULL, .len = size};
	}
	return 0;
}

int split_package_find(const struct dwarf_sections *sections, uint64_t dwo_id,
		       struct dwarf_bytes *of)
{
	struct index index;
	uint32_t row;
	int r = read_index(&sections->of[DWARF_CU_INDEX], &index);

	if (r < 0)
		return r;
	row = index.n_slots ? row_of(&index, dwo_id) : 0;
	if (row == 0)
		return -ENOENT;
	memcpy(of, sections->of, sizeof(sections->of));
	return slice(&index, row, of);
}

/* Mappings are scarce (65,530 in a process), and so are guarded ranges. */
enum { MAX_FILES = 16 * 1024, MAX_UNITS_OF_FILE = 64 * 1024, MAX_CANDIDATES = 64 };

struct split_file {
	struct split_file *next;
	const char *comp_dir; /* as the skeleton has them */
	const char *name;
	struct dwarf_sections sections;
	struct dwarf_source source;
};

/* A split unit that was found.  One that was not found has no source. */
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
		    split_package_find(&split->package, dwo_id, of) == 0)
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
	r = split_package_find(&split->package, dwo_id, ret_unit->slices.of);
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

/* Units of a partial link share a file, and one that is not there is not searched again. */
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

/* The alternate file, which dwz -m moved to what several modules have in common. */
struct link {
	const char *name;
	const uint8_t *id;
	size_t id_len;
	bool is_alt; /* .debug_sup: it is the other one */
};

/* The bytes of a section; a failed cursor: there is none. */
static struct cursor section_named(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_named(elf, name, &header);
	const Elf_Data *data =
		section && header.sh_type != SHT_NOBITS ? elf_rawdata(section, NULL) : NULL;

	return data ? cursor_over(data->d_buf, data->d_size, 0, data->d_size)
		    : (struct cursor){.failed = true};
}

/* GNU's: a name, then a build-id as long as what is left. */
static int read_gnu_link(Elf *elf, struct link *ret_link)
{
	struct cursor cursor = section_named(elf, ".gnu_debugaltlink");
	const char *name = cursor.failed ? NULL : cursor_string(&cursor);

	if (!name || cursor_left(&cursor) == 0)
		return -ENOENT;
	*ret_link = (struct link){.name = name, .id = cursor.at, .id_len = cursor_left(&cursor)};
	return 0;
}

/* 7.3.6 */
static int read_sup(Elf *elf, struct link *ret_link)
{
	struct cursor cursor = section_named(elf, ".debug_sup");
	struct link link = {0};

	if (cursor.failed || cursor_u16(&cursor) != 5)
		return -ENOENT;
	link.is_alt = cursor_u8(&cursor) != 0;
	link.name = cursor_string(&cursor);
	link.id_len = cursor_uleb(&cursor);
	link.id = cursor_skip(&cursor, link.id_len);
	if (cursor.failed || link.id_len == 0)
		return -ENOENT;
	*ret_link = link;
	return 0;
}

static bool same(const struct link *link, const void *id, size_t len)
{
	return len == link->id_len && memcmp(id, link->id, len) == 0;
}

/* Another file of that name would give other names. */
static bool is_the_one(const struct link *link, Elf *alt)
{
	const void *id;
	ssize_t len = dwelf_elf_gnu_build_id(alt, &id);
	struct link own;

	if (len > 0 && same(link, id, (size_t)len))
		return true;
	return read_sup(alt, &own) == 0 && own.is_alt && same(link, own.id, own.id_len);
}

int split_open_alt(const struct dwarf_sections *sections, const struct dwarf_finder *finder,
		   struct dwarf_sections *ret_alt)
{
	struct dwarf_sections alt;
	struct link link;
	int fd;
	int r;

	if (read_gnu_link(sections->elf, &link) < 0 &&
	    (read_sup(sections->elf, &link) < 0 || link.is_alt))
		return -ENOENT;
	if (!finder || !finder->open_alt)
		return -ENOENT;
	fd = finder->open_alt(finder->context, link.name, link.id, link.id_len);
	if (fd < 0)
		return fd;
	r = dwarf_sections_open(fd, false, &alt);
	if (r < 0)
		return r;
	if (!is_the_one(&link, alt.elf)) {
		dwarf_sections_close(&alt);
		return -ESTALE;
	}
	*ret_alt = alt;
	return 0;
}

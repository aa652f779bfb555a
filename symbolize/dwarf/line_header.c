/* line_header.c - two shapes of tables: lists of strings until DWARF 4, any forms since 5 */
#include "symbolize/dwarf/line_header.h"

#include "base/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONTENTS = 32 }; /* of an entry of DWARF 5; five are known */

struct line_file {
	const char *name;
	uint64_t folder;
	char *path; /* made when it is requested */
};

/* Folder 0 is where the compiler ran, and others are relative to it.  Before DWARF 5 file 0 is
 * the unit's own. */
struct line_files {
	char *joined; /* folder 0 where it is one of two parts, owned */
	const char **folders;
	size_t n_folders;
	size_t folders_room;
	struct line_file *files;
	size_t n_files;
	size_t files_room;
};

/* How the entries of a table of DWARF 5 are put together (6.2.4.1). */
struct contents {
	struct {
		uint16_t type;
		uint16_t form;
	} of[MAX_CONTENTS];
	size_t n;
};

int line_files_add(struct line_files *files, const char *name, uint64_t folder)
{
	int r = array_reserve(&files->files, files->n_files, &files->files_room, 16);

	if (r == 0)
		files->files[files->n_files++] = (struct line_file){.name = name, .folder = folder};
	return r;
}

static int add_folder(struct line_files *files, const char *name)
{
	int r = array_reserve(&files->folders, files->n_folders, &files->folders_room, 16);

	if (r == 0)
		files->folders[files->n_folders++] = name;
	return r;
}

size_t line_files_count(const struct line_files *files)
{
	return files ? files->n_files : 0;
}

/* FOLDER/NAME in a new string; NAME alone when it is absolute or there is no folder. */
static char *join(const char *folder, const char *name)
{
	size_t folder_len = name[0] == '/' ? 0 : strnlen(folder, LINE_PATH_MAX);
	size_t name_len = strnlen(name, LINE_PATH_MAX);
	bool slash = folder_len && folder[folder_len - 1] != '/';
	char *path;

	if (folder_len == LINE_PATH_MAX || name_len == LINE_PATH_MAX)
		return strdup("");
	path = malloc(folder_len + slash + name_len + 1);
	if (!path)
		return NULL;
	memcpy(path, folder, folder_len);
	if (slash)
		path[folder_len] = '/';
	memcpy(path + folder_len + slash, name, name_len + 1);
	return path;
}

const char *line_files_path(struct line_files *files, uint64_t file)
{
	struct line_file *entry;
	char *folder;

	if (!files || file >= files->n_files)
		return "";
	entry = &files->files[file];
	if (entry->path)
		return entry->path;
	if (entry->name[0] == '\0')
		return "";
	folder = join(files->n_folders && entry->folder ? files->folders[0] : "",
		      entry->folder < files->n_folders ? files->folders[entry->folder] : "");
	entry->path = folder ? join(folder, entry->name) : NULL;
	free(folder);
	return entry->path ? entry->path : "";
}

void line_files_free(struct line_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n_files; i++)
		free(files->files[i].path);
	free(files->files);
	free(files->folders);
	free(files->joined);
	free(files);
}

/* Folders and files as DWARF 2 to 4 have them: each list ends in an empty string. */
static int read_lists(struct cursor *cursor, const struct dwarf_unit *unit,
		      struct line_files *files)
{
	const char *name;
	int r = add_folder(files, unit->comp_dir);

	if (r == 0)
		r = line_files_add(files, unit->name, 0);
	while (r == 0 && (name = cursor_string(cursor)) && name[0])
		r = add_folder(files, name);
	while (r == 0 && (name = cursor_string(cursor)) && name[0]) {
		uint64_t folder = cursor_uleb(cursor);

		cursor_uleb_skip(cursor); /* time of its last change */
		cursor_uleb_skip(cursor); /* size */
		r = line_files_add(files, name, folder);
	}
	return r < 0 ? r : cursor->failed ? -EBADMSG : 0;
}

static int read_contents(struct cursor *cursor, struct contents *ret_contents)
{
	size_t n = cursor_u8(cursor);

	if (n > MAX_CONTENTS)
		return -EBADMSG;
	ret_contents->n = n;
	for (size_t i = 0; i < n; i++) {
		uint64_t type = cursor_uleb(cursor);
		uint64_t form = cursor_uleb(cursor);

		/* A type that is unknown is passed over, a form cannot be. */
		ret_contents->of[i].type = type > UINT16_MAX ? UINT16_MAX : (uint16_t)type;
		ret_contents->of[i].form = form > UINT16_MAX ? UINT16_MAX : (uint16_t)form;
	}
	return cursor->failed ? -EBADMSG : 0;
}

static void read_entry(struct cursor *cursor, const struct dwarf_unit *unit,
		       const struct line_header *header, const struct contents *contents,
		       struct line_file *ret_entry)
{
	*ret_entry = (struct line_file){.name = ""};
	for (size_t i = 0; i < contents->n; i++) {
		struct form_value value;
		const char *name;

		switch (contents->of[i].type) {
		case DW_LNCT_path:
			form_read(cursor, &header->format, contents->of[i].form, 0, &value);
			name = form_string(unit, &value);
			ret_entry->name = name ? name : "";
			break;
		case DW_LNCT_directory_index:
			form_read(cursor, &header->format, contents->of[i].form, 0, &value);
			ret_entry->folder =
				value.class == FORM_CONSTANT ? value.number : UINT64_MAX;
			break;
		default: /* time, size, MD5 */
			form_skip(cursor, &header->format, contents->of[i].form);
			break;
		}
	}
}

/* One of the two tables of DWARF 5. */
static int read_table(struct cursor *cursor, const struct dwarf_unit *unit,
		      const struct line_header *header, bool folders, struct line_files *files)
{
	struct contents contents;
	struct line_file entry;
	int r = read_contents(cursor, &contents);
	uint64_t n = cursor_uleb(cursor);

	/* An entry has at least a byte: none of the forms of a path is empty. */
	if (r < 0 || cursor->failed || n > cursor_left(cursor))
		return -EBADMSG;
	for (uint64_t i = 0; i < n && r == 0; i++) {
		read_entry(cursor, unit, header, &contents, &entry);
		if (cursor->failed)
			return -EBADMSG;
		r = folders ? add_folder(files, entry.name)
			    : line_files_add(files, entry.name, entry.folder);
	}
	return r;
}

/* Folder 0 of DWARF 5 repeats DW_AT_comp_dir, unless it is relative and that is not. */
static int place_root(struct line_files *files, const char *comp_dir)
{
	if (files->n_folders == 0 || files->folders[0][0] == '/' || comp_dir[0] != '/')
		return 0;
	files->joined = join(comp_dir, files->folders[0]);
	if (!files->joined)
		return -ENOMEM;
	files->folders[0] = files->joined;
	return 0;
}

static int read_files(struct cursor *cursor, const struct dwarf_unit *unit,
		      const struct line_header *header, struct line_files **ret_files)
{
	struct line_files *files = calloc(1, sizeof(*files));
	int r;

	if (!files)
		return -ENOMEM;
	if (header->format.version < 5) {
		r = read_lists(cursor, unit, files);
	} else {
		r = read_table(cursor, unit, header, true, files);
		if (r == 0)
			r = read_table(cursor, unit, header, false, files);
		if (r == 0)
			r = place_root(files, unit->comp_dir);
	}
	if (r < 0) {
		line_files_free(files);
		return r;
	}
	*ret_files = files;
	return 0;
}

/* What stands before the tables.  The tables are left in CURSOR. */
static int read_fixed(struct cursor *cursor, const struct dwarf_unit *unit,
		      struct line_header *header)
{
	uint64_t length = cursor_initial_length(cursor, &header->format.offset_size);
	struct cursor whole = *cursor;

	(void)cursor_skip(&whole, length);
	cursor->end = whole.at;
	header->format.version = cursor_u16(cursor);
	header->format.address_size = unit->format.address_size;
	if (cursor->failed || header->format.version < 2 || header->format.version > 5)
		return -EBADMSG;
	if (header->format.version == 5) {
		header->format.address_size = cursor_u8(cursor);
		if (cursor_u8(cursor) != 0) /* segment selectors */
			return -EBADMSG;
	}
	length = cursor_unsigned(cursor, header->format.offset_size);
	header->program = *cursor;
	(void)cursor_skip(&header->program, length);
	cursor->end = header->program.at;
	header->min_instruction = cursor_u8(cursor);
	header->max_operations = header->format.version >= 4 ? cursor_u8(cursor) : 1;
	header->default_is_stmt = cursor_u8(cursor) != 0;
	header->line_base = (int8_t)cursor_u8(cursor);
	header->line_range = cursor_u8(cursor);
	header->opcode_base = cursor_u8(cursor);
	if (header->opcode_base == 0 || header->line_range == 0 || header->max_operations == 0)
		return -EBADMSG;
	header->lengths = cursor_skip(cursor, header->opcode_base - 1U);
	return cursor->failed || header->program.failed ? -EBADMSG : 0;
}

int line_header_read(const struct dwarf_unit *unit, struct line_header *ret_header,
		     struct line_files **ret_files)
{
	const struct dwarf_bytes *bytes = &unit->source->of[DWARF_LINE];
	struct line_header header = {0};
	struct cursor cursor;
	int r;

	if (!unit->has_stmt_list || bytes->len == 0)
		return -ENODATA;
	cursor = cursor_over(bytes->data, bytes->len, unit->stmt_list, bytes->len);
	r = read_fixed(&cursor, unit, &header);
	if (r == 0 && ret_files)
		r = read_files(&cursor, unit, &header, ret_files);
	if (r == 0)
		*ret_header = header;
	return r;
}

/* alt.c - the file that dwz -m moved what several modules have in common to */
#include "symbolize/sections/split.h"

#include "symbolize/dwarf/cursor.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

/* What a file says of the other one. */
struct link {
	const char *name;
	const uint8_t *id;
	size_t id_len;
	bool is_alt; /* .debug_sup: it is the other one */
};

static struct cursor section_named(Elf *elf, const char *wanted)
{
	struct cursor none = {.failed = true};
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) < 0)
		return none;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(scn, &header)
					   ? elf_strptr(elf, strings, header.sh_name)
					   : NULL;
		const Elf_Data *data;

		if (!name || strcmp(name, wanted) != 0 || header.sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf)
			return cursor_over(data->d_buf, data->d_size, 0, data->d_size);
	}
	return none;
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

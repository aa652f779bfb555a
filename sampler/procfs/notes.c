/* notes.c - notes that modules of a process carry for wick */
#include "sampler/procfs/notes.h"

#include "base/elf_segments.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_maps.h"

enum {
	MAX_NOTES = 4096, /* bytes of one note segment; the rest is not read */
	MAX_MODULES = 4096,
};

/* While a maps file is gone through. */
struct finder {
	int mem_fd;
	uint64_t dev; /* of the module seen last */
	uint64_t inode;
	uint32_t n_modules;
	bool ended;
	bool (*visit)(void *context, const struct module_note *note);
	void *context;
};

bool notes_in(const unsigned char *bytes, size_t len, uint64_t address, uint64_t module,
	      bool (*visit)(void *context, const struct module_note *note), void *context)
{
	struct elf_notes notes = {.bytes = bytes, .len = len, .align = 4};
	struct elf_note note;

	while (elf_notes_next(&notes, &note)) {
		const struct module_note found = {.type = note.type,
						  .desc = note.desc,
						  .desc_len = note.desc_len,
						  .address =
							  address + (uint64_t)(note.desc - bytes),
						  .module = module};

		if (elf_note_is(&note, "wick", note.type) && !visit(context, &found))
			return false;
	}
	return true;
}

static bool copy(void *context, uint64_t address, void *to, size_t len)
{
	return proc_memory_copy(((const struct finder *)context)->mem_fd, address, to, len);
}

static void read_notes(struct finder *finder, const Elf64_Phdr *segment, uint64_t bias,
		       uint64_t module)
{
	unsigned char notes[MAX_NOTES];
	size_t len = segment->p_memsz < sizeof(notes) ? segment->p_memsz : sizeof(notes);
	uint64_t address = bias + segment->p_vaddr;

	if (copy(finder, address, notes, len))
		finder->ended =
			!notes_in(notes, len, address, module, finder->visit, finder->context);
}

/* The module whose ELF header is at START. */
static void read_module(struct finder *finder, uint64_t start)
{
	struct elf_segments segments;

	if (!elf_segments_read(&segments, start, copy, finder))
		return;
	for (size_t i = 0; i < segments.n && !finder->ended; i++)
		if (segments.at[i].p_type == PT_NOTE)
			read_notes(finder, &segments.at[i], segments.bias, start);
}

/* A module begins with the first mapping of its file, at offset 0; the vdso has no file. */
static bool visit_line(void *context, const struct maps_line *line)
{
	struct finder *finder = context;

	if (line->inode == 0 || line->pgoff != 0 ||
	    (line->inode == finder->inode && line->dev == finder->dev))
		return true;
	finder->inode = line->inode;
	finder->dev = line->dev;
	finder->n_modules++;
	read_module(finder, line->start);
	return !finder->ended && finder->n_modules < MAX_MODULES;
}

void notes_find(int mem_fd, const char *maps, size_t len,
		bool (*visit)(void *context, const struct module_note *note), void *context)
{
	struct finder finder = {.mem_fd = mem_fd, .visit = visit, .context = context};

	proc_maps_each(maps, len, visit_line, &finder);
}

/* target_maps.c - /proc/PID/maps and program headers */
#include "tests/oracle/target_maps.h"

#include "base/cleanup.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

enum {
	MAX_PHDRS = 64,
};

struct line {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char rights[8];
	char path[512];
};

static bool next_line(FILE *file, struct line *line)
{
	char text[1024];

	if (!fgets(text, sizeof(text), file))
		return false;
	line->path[0] = '\0';
	return sscanf(text, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]",
		      &line->start, &line->end, line->rights, &line->offset, line->path) >= 4;
}

static FILE *open_maps(const struct target *target)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)target->pid);
	return fopen(path, "re");
}

/* The end and the .eh_frame_hdr (0: none) of an image whose ELF header is at BASE. */
static bool read_image(struct target *target, uint64_t base, struct unwind_module *module)
{
	Elf64_Phdr phdrs[MAX_PHDRS];
	uint64_t eh_frame_hdr = 0;
	bool biased = false;
	uint64_t bias = 0;
	uint64_t end = 0;
	Elf64_Ehdr ehdr;

	if (!target_read(target, base, &ehdr, sizeof(ehdr)) ||
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0 || ehdr.e_phnum > MAX_PHDRS ||
	    !target_read(target, base + ehdr.e_phoff, phdrs, ehdr.e_phnum * sizeof(phdrs[0])))
		return false;
	for (unsigned i = 0; i < ehdr.e_phnum; i++) {
		if (phdrs[i].p_type == PT_LOAD && phdrs[i].p_offset == 0) {
			bias = base - phdrs[i].p_vaddr;
			biased = true;
		}
		if (phdrs[i].p_type == PT_LOAD && phdrs[i].p_vaddr + phdrs[i].p_memsz > end)
			end = phdrs[i].p_vaddr + phdrs[i].p_memsz;
		if (phdrs[i].p_type == PT_GNU_EH_FRAME)
			eh_frame_hdr = phdrs[i].p_vaddr;
	}
	module->start = base;
	module->end = bias + end;
	module->eh_frame_hdr = eh_frame_hdr ? bias + eh_frame_hdr : 0;
	return biased;
}

static void add_module(struct target *target, const struct line *line)
{
	struct target_module *module = &target->modules[target->n_modules];
	const char *slash = strrchr(line->path, '/');

	if (target->n_modules == TARGET_MODULES ||
	    !read_image(target, line->start, &module->module))
		return;
	target->n_modules++;
	(void)snprintf(module->name, sizeof(module->name), "%.63s", slash ? slash + 1 : line->path);
}

bool target_maps_read(struct target *target)
{
	_cleanup_file_ FILE *file = open_maps(target);
	struct line line;

	target->n_modules = 0;
	target->n_code = 0;
	if (!file)
		return false;
	while (next_line(file, &line)) {
		if (line.rights[2] == 'x' && target->n_code < TARGET_RANGES)
			target->code[target->n_code++] =
				(struct target_range){line.start, line.end};
		if (line.offset == 0 && (line.path[0] == '/' || strcmp(line.path, "[vdso]") == 0))
			add_module(target, &line);
	}
	return true;
}

uint64_t target_maps_end(const struct target *target, uint64_t address)
{
	_cleanup_file_ FILE *file = open_maps(target);
	struct line line;

	while (file && next_line(file, &line))
		if (address >= line.start && address < line.end)
			return line.end;
	return 0;
}

const struct target_module *target_module_at(const struct target *target, uint64_t address)
{
	for (size_t i = 0; i < target->n_modules; i++)
		if (address >= target->modules[i].module.start &&
		    address < target->modules[i].module.end)
			return &target->modules[i];
	return NULL;
}

bool target_is_code(const struct target *target, uint64_t address)
{
	for (size_t i = 0; i < target->n_code; i++)
		if (address >= target->code[i].start && address < target->code[i].end)
			return true;
	return false;
}

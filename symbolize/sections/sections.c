/* sections.c - which sections a file has, and their bytes */
#include "symbolize/sections/sections.h"

#include "base/cleanup.h"
#include "symbolize/elf/file_guard.h"
#include "symbolize/sections/inflate.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that says that it has more is not looked through. */
enum { MAX_SECTIONS = 1 << 20 };

/* Some file systems tell how many blocks a file has only after seconds. */
enum { LEAST_REAL_BYTES = 1 << 20 };

static const char *const names[N_DWARF_SECTIONS] = {
	[DWARF_INFO] = "info",
	[DWARF_TYPES] = "types",
	[DWARF_ABBREV] = "abbrev",
	[DWARF_LINE] = "line",
	[DWARF_LINE_STR] = "line_str",
	[DWARF_STR] = "str",
	[DWARF_STR_OFFSETS] = "str_offsets",
	[DWARF_ADDR] = "addr",
	[DWARF_RANGES] = "ranges",
	[DWARF_RNGLISTS] = "rnglists",
	[DWARF_ARANGES] = "aranges",
	[DWARF_CU_INDEX] = "cu_index",
};

/* The section of a name: .debug_NAME, .zdebug_NAME, and these with .dwo at the end. */
static int section_of(const char *name, bool dwo, bool *ret_gnu)
{
	size_t len;

	*ret_gnu = strncmp(name, ".zdebug_", 8) == 0;
	if (!*ret_gnu && strncmp(name, ".debug_", 7) != 0)
		return -1;
	name += *ret_gnu ? 8 : 7;
	len = strlen(name);
	if (strcmp(name, "cu_index") == 0)
		return DWARF_CU_INDEX; /* of a package; it never has .dwo in its name */
	if (dwo) {
		if (len < 4 || strcmp(name + len - 4, ".dwo") != 0)
			return -1;
		len -= 4;
	}
	for (int i = 0; i < N_DWARF_SECTIONS; i++) {
		if (strlen(names[i]) == len && memcmp(name, names[i], len) == 0)
			return i;
	}
	return -1;
}

/* The section's bytes as they lie in the file, or a job to decompress them. */
static void take(struct dwarf_sections *sections, int which, Elf_Scn *scn, bool gnu,
		 struct inflate_job *job)
{
	GElf_Shdr header;
	GElf_Chdr compressed;
	const Elf_Data *data;

	if (sections->of[which].data || job->bytes || !gelf_getshdr(scn, &header) ||
	    header.sh_type == SHT_NOBITS)
		return;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return;
	if (gnu) {
		inflate_job_gnu(job, data->d_buf, data->d_size);
	} else if (header.sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(scn, &compressed) || data->d_size < sizeof(Elf64_Chdr))
			return;
		*job = (struct inflate_job){
			.bytes = (const uint8_t *)data->d_buf + sizeof(Elf64_Chdr),
			.n_bytes = data->d_size - sizeof(Elf64_Chdr),
			.way = compressed.ch_type == ELFCOMPRESS_ZLIB   ? INFLATE_ZLIB
			       : compressed.ch_type == INFLATE_ELF_ZSTD ? INFLATE_ZSTD
									: INFLATE_UNKNOWN,
			.n_inflated = compressed.ch_size,
		};
	} else {
		sections->of[which] =
			(struct dwarf_bytes){.data = data->d_buf, .len = data->d_size};
	}
}

static int inflate_claimed(struct dwarf_sections *sections, struct inflate_job *jobs)
{
	size_t n_bytes = 0;

	for (int i = 0; i < N_DWARF_SECTIONS; i++)
		if (jobs[i].n_inflated / INFLATE_MAX_RATIO <= jobs[i].n_bytes)
			n_bytes += jobs[i].n_inflated;
	if (memory_claim(&sections->claim, n_bytes) < 0)
		return -EFBIG;
	inflate_all(jobs, N_DWARF_SECTIONS, sections->real_bytes);
	return 0;
}

static int find(struct dwarf_sections *sections, bool dwo)
{
	struct inflate_job jobs[N_DWARF_SECTIONS] = {0};
	Elf_Scn *scn = NULL;
	size_t strings;
	bool any = false;
	int r;

	if (elf_getshdrstrndx(sections->elf, &strings) < 0)
		return -ENODATA;
	for (size_t n = 0; n < MAX_SECTIONS && (scn = elf_nextscn(sections->elf, scn)); n++) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(scn, &header)
					   ? elf_strptr(sections->elf, strings, header.sh_name)
					   : NULL;
		bool gnu;
		int which = name ? section_of(name, dwo, &gnu) : -1;

		if (which >= 0)
			take(sections, which, scn, gnu, &jobs[which]);
	}
	r = inflate_claimed(sections, jobs);
	if (r < 0)
		return r;
	for (int i = 0; i < N_DWARF_SECTIONS; i++) {
		if (jobs[i].inflated) {
			sections->inflated[i] = jobs[i].inflated;
			sections->of[i] = (struct dwarf_bytes){.data = jobs[i].inflated,
							       .len = jobs[i].n_inflated};
		}
		any = any || sections->of[i].len > 0;
	}
	return any ? 0 : -ENODATA;
}

static int open_memory(void *bytes, size_t n_bytes, bool dwo, struct dwarf_sections *sections)
{
	const char *ident;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	sections->elf = elf_memory(bytes, n_bytes);
	if (!sections->elf || elf_kind(sections->elf) != ELF_K_ELF)
		return -ENOEXEC;
	ident = elf_getident(sections->elf, NULL);
	if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	return find(sections, dwo);
}

/* Mapped by ourselves, so that the guard is there before libelf reads the first byte. */
static int map(int fd, struct dwarf_sections *sections)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return -ENOEXEC;
	sections->n_mapped = (size_t)st.st_size;
	sections->real_bytes = (size_t)st.st_blocks * 512; /* stat(2) */
	if (sections->real_bytes < LEAST_REAL_BYTES)
		sections->real_bytes = LEAST_REAL_BYTES;
	if (sections->real_bytes > sections->n_mapped)
		sections->real_bytes = sections->n_mapped;
	return file_guard_map(fd, sections->n_mapped, &sections->mapped);
}

int dwarf_sections_open(int fd, bool dwo, struct dwarf_sections *ret_sections)
{
	struct dwarf_sections sections = {0};
	_cleanup_fd_ int taken = fd;
	int r = map(taken, &sections);

	if (r == 0)
		r = open_memory(sections.mapped, sections.n_mapped, dwo, &sections);
	if (r < 0) {
		dwarf_sections_close(&sections);
		return r;
	}
	*ret_sections = sections;
	return 0;
}

int dwarf_sections_memory(const void *bytes, size_t n_bytes, struct dwarf_sections *ret_sections)
{
	struct dwarf_sections sections = {.real_bytes = n_bytes};
	/* libelf does not write to what it is given to read. */
	int r = open_memory((void *)(uintptr_t)bytes, n_bytes, false, &sections);

	if (r < 0) {
		dwarf_sections_close(&sections);
		return r;
	}
	*ret_sections = sections;
	return 0;
}

void dwarf_sections_close(struct dwarf_sections *sections)
{
	if (sections->elf)
		(void)elf_end(sections->elf);
	for (int i = 0; i < N_DWARF_SECTIONS; i++)
		free(sections->inflated[i]);
	(void)memory_claim(&sections->claim, 0);
	file_guard_unmap(sections->mapped, sections->n_mapped);
	*sections = (struct dwarf_sections){0};
}

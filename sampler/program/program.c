/*
 * program.c - reads the headers of an executable to predict what the kernel would run
 *
 * The file is not trusted and may change: every number is checked before use, every loop has a
 * bound, and an inconsistent file is PROGRAM_NOT_ELF.
 */
#include "sampler/program/program.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#else
#error "name this machine's e_machine"
#endif

enum {
	SCRIPT_LINE_BYTES = 256, /* the kernel's BINPRM_BUF_SIZE */
	MAX_SCRIPTS = 5,
	MAX_PHDRS = 512,     /* the kernel takes 64 KiB of them */
	MAX_DYNAMIC = 4096,  /* entries read */
	BATCH = 8,           /* headers or entries a read */
	MODE_SETUID = 04000, /* <sys/stat.h> needs a libc */
	MODE_SETGID = 02000,
	MODE_GROUP_EXECUTES = 00010,
};

struct segment {
	uint64_t offset;
	uint64_t address;
	uint64_t size; /* bytes in the file */
};

struct image {
	const struct program_io *io;
	int fd;
	Elf64_Ehdr header;
};

/* Where DT_STRTAB is, and where DT_NEEDED is found. */
struct dynamic {
	struct segment table;
	uint64_t names;
	uint64_t names_bytes;
};

static bool read_exactly(const struct image *image, void *to, size_t len, uint64_t offset)
{
	return image->io->pread(image->fd, to, len, offset) == (long)len;
}

static bool is_privileged(const struct image *image)
{
	uint32_t mode, uid, gid;
	bool capable;

	if (image->io->stat(image->fd, &mode, &uid, &gid, &capable) < 0)
		return false;
	if ((mode & MODE_SETUID) && uid != image->io->uid)
		return true;
	if ((mode & MODE_SETGID) && (mode & MODE_GROUP_EXECUTES) && gid != image->io->gid)
		return true;
	return capable && image->io->uid != 0;
}

/*
 * Calls SEE with each program header until SEE returns true. Return: whether it did.
 * Return: whether it did.
 */
static bool any_phdr(const struct image *image, bool (*see)(const Elf64_Phdr *phdr, void *arg),
		     void *arg)
{
	unsigned int n = image->header.e_phnum;
	Elf64_Phdr phdrs[BATCH];

	if (image->header.e_phentsize != sizeof(Elf64_Phdr) || n > MAX_PHDRS)
		return false;
	for (unsigned int at = 0; at < n; at += BATCH) {
		unsigned int batch = n - at < BATCH ? n - at : BATCH;

		if (!read_exactly(image, phdrs, batch * sizeof(phdrs[0]),
				  image->header.e_phoff + at * sizeof(phdrs[0])))
			return false;
		for (unsigned int i = 0; i < batch; i++)
			if (see(&phdrs[i], arg))
				return true;
	}
	return false;
}

static bool see_interpreter(const Elf64_Phdr *phdr, void *arg)
{
	(void)arg;
	return phdr->p_type == PT_INTERP;
}

static bool see_dynamic(const Elf64_Phdr *phdr, void *arg)
{
	struct segment *table = arg;

	if (phdr->p_type != PT_DYNAMIC)
		return false;
	table->offset = phdr->p_offset;
	table->address = phdr->p_vaddr;
	table->size = phdr->p_filesz;
	return true;
}

/* Converts ->address into a file offset if a PT_LOAD segment has it in the file. */
static bool see_load(const Elf64_Phdr *phdr, void *arg)
{
	struct segment *wanted = arg;

	if (phdr->p_type != PT_LOAD || wanted->address < phdr->p_vaddr ||
	    wanted->address - phdr->p_vaddr >= phdr->p_filesz)
		return false;
	wanted->offset = phdr->p_offset + (wanted->address - phdr->p_vaddr);
	wanted->size = phdr->p_filesz - (wanted->address - phdr->p_vaddr);
	return true;
}

/* As any_phdr(), for the entries of the dynamic section. */
static bool any_dynamic(const struct image *image, const struct segment *table,
			bool (*see)(const struct image *image, const Elf64_Dyn *entry, void *arg),
			void *arg)
{
	uint64_t n = table->size / sizeof(Elf64_Dyn);
	Elf64_Dyn entries[BATCH];

	if (n > MAX_DYNAMIC)
		n = MAX_DYNAMIC;
	for (uint64_t at = 0; at < n; at += BATCH) {
		uint64_t batch = n - at < BATCH ? n - at : BATCH;

		if (!read_exactly(image, entries, batch * sizeof(entries[0]),
				  table->offset + at * sizeof(entries[0])))
			return false;
		for (uint64_t i = 0; i < batch; i++) {
			if (entries[i].d_tag == DT_NULL)
				return false;
			if (see(image, &entries[i], arg))
				return true;
		}
	}
	return false;
}

static bool see_names(const struct image *image, const Elf64_Dyn *entry, void *arg)
{
	struct dynamic *dynamic = arg;

	(void)image;
	if (entry->d_tag == DT_STRTAB)
		dynamic->names = entry->d_un.d_ptr;
	if (entry->d_tag == DT_STRSZ)
		dynamic->names_bytes = entry->d_un.d_val;
	return dynamic->names && dynamic->names_bytes;
}

static bool starts_with(const char *name, const char *prefix)
{
	while (*prefix)
		if (*name++ != *prefix++)
			return false;
	return true;
}

struct asan_search {
	struct segment names;
	struct program *program;
};

static bool see_asan(const struct image *image, const Elf64_Dyn *entry, void *arg)
{
	const struct asan_search *search = arg;
	char *name = search->program->asan;
	uint64_t at = entry->d_un.d_val;
	uint64_t len = sizeof(search->program->asan) - 1;
	long n;

	if (entry->d_tag != DT_NEEDED || at >= search->names.size)
		return false;
	if (search->names.size - at < len)
		len = search->names.size - at;
	n = image->io->pread(image->fd, name, len, search->names.offset + at);
	name[n > 0 ? n : 0] = '\0';
	if (starts_with(name, "libasan.so") || starts_with(name, "libclang_rt.asan"))
		return true;
	name[0] = '\0';
	return false;
}

/* Sets ->asan when the loader would find ASan's runtime among the needed libraries. */
static void look_for_asan(const struct image *image, struct program *program)
{
	struct dynamic dynamic = {.names = 0};
	struct asan_search search = {.program = program};

	if (!any_phdr(image, see_dynamic, &dynamic.table) ||
	    !any_dynamic(image, &dynamic.table, see_names, &dynamic))
		return;
	search.names.address = dynamic.names;
	if (!any_phdr(image, see_load, &search.names))
		return;
	if (search.names.size > dynamic.names_bytes)
		search.names.size = dynamic.names_bytes;
	program->needs_asan = any_dynamic(image, &dynamic.table, see_asan, &search);
}

static enum program_kind examine_elf(const struct image *image, struct program *program)
{
	const unsigned char *ident = image->header.e_ident;
	uint16_t type = image->header.e_type;

	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
	    image->header.e_machine != OWN_MACHINE)
		return PROGRAM_OTHER_ARCH;
	if (type != ET_EXEC && type != ET_DYN)
		return PROGRAM_NOT_ELF;
	if (is_privileged(image))
		return PROGRAM_PRIVILEGED;
	if (!any_phdr(image, see_interpreter, NULL))
		return PROGRAM_STATIC;
	look_for_asan(image, program);
	return PROGRAM_DYNAMIC;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The interpreter that a line "#! /path argument" names.  Return: false where it names none. */
static bool parse_script(const char *line, size_t len, char *ret_interpreter, size_t size)
{
	size_t at = 2, n = 0;

	while (at < len && is_blank(line[at]))
		at++;
	while (at + n < len && line[at + n] && line[at + n] != '\n' && !is_blank(line[at + n])) {
		if (n + 1 >= size)
			return false;
		ret_interpreter[n] = line[at + n];
		n++;
	}
	ret_interpreter[n] = '\0';
	/* The kernel would have cut this name off. */
	return n > 0 && at + n < SCRIPT_LINE_BYTES;
}

/* Return:  whether the file is a script, whose interpreter is to be examined next. */
static bool examine_script(const struct image *image, struct program *program)
{
	char line[SCRIPT_LINE_BYTES];
	long n = image->io->pread(image->fd, line, sizeof(line), 0);

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	return parse_script(line, (size_t)n, program->interpreter, sizeof(program->interpreter));
}

static bool is_elf(const unsigned char *ident)
{
	return ident[EI_MAG0] == ELFMAG0 && ident[EI_MAG1] == ELFMAG1 &&
	       ident[EI_MAG2] == ELFMAG2 && ident[EI_MAG3] == ELFMAG3;
}

/* Return: whether PATH was a script and ->interpreter is to be examined. */
static bool examine_file(struct image *image, const char *path, struct program *program)
{
	bool script = false;
	long n;

	image->fd = image->io->open(path);
	if (image->fd < 0) {
		program->kind = image->fd == -ENOENT || image->fd == -ENOTDIR ? PROGRAM_MISSING
									      : PROGRAM_NOT_ELF;
		return false;
	}
	program->kind = PROGRAM_NOT_ELF;
	n = image->io->pread(image->fd, &image->header, sizeof(image->header), 0);
	/* The header of a 32-bit program is shorter, and says enough in its first 20 bytes. */
	if (n >= (long)offsetof(Elf64_Ehdr, e_version) && is_elf(image->header.e_ident)) {
		if (n == (long)sizeof(image->header) ||
		    image->header.e_ident[EI_CLASS] != ELFCLASS64)
			program->kind = examine_elf(image, program);
	} else {
		script = examine_script(image, program);
	}
	image->io->close(image->fd);
	return script;
}

void program_examine(const struct program_io *io, const char *path, struct program *ret_program)
{
	struct image image;
	const char *next = path;

	image.io = io;
	ret_program->kind = PROGRAM_NOT_ELF;
	ret_program->needs_asan = false;
	ret_program->asan[0] = '\0';
	ret_program->interpreter[0] = '\0';
	for (int depth = 0; depth <= MAX_SCRIPTS; depth++) {
		if (!examine_file(&image, next, ret_program))
			return;
		next = ret_program->interpreter;
	}
	ret_program->kind = PROGRAM_NOT_ELF; /* the kernel says ELOOP */
}

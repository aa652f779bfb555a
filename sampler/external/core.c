/* core.c - opens a core file: its headers, and memory in order */
#include "sampler/external/core.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "sampler/external/core_internal.h"
#include "sampler/external/limits.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where its program headers are. */
struct table {
	uint64_t offset;
	uint64_t n;
};

static int refuse(const char *path, int code, struct err *err)
{
	(void)err_set(err, code, "open '%s'", path);
	if (code == ENOENT || code == ENOTDIR)
		err_hint(err, "another name: ls shows what is there");
	else if (code == EACCES)
		err_hint(err, "as its owner, or as root");
	return -code;
}

static int open_file(struct core *core, const char *path, struct err *err)
{
	struct stat st;

	core->fd = regular_file_open(AT_FDCWD, path, 0);
	if (core->fd == -ENODEV || core->fd == -EISDIR)
		return err_set(err, 0, "'%s' is no file, try: a core file in it", path);
	if (core->fd < 0)
		return refuse(path, -core->fd, err);
	if (fstat(core->fd, &st) < 0)
		return err_set(err, errno, "open '%s'", path);
	core->size = (uint64_t)st.st_size;
	return 0;
}

static bool read_all(const struct core *core, uint64_t at, void *to, size_t len)
{
	return io_pread(core->fd, to, len, at) == (ssize_t)len;
}

/* More than 65,534 segments are counted in the first section header. */
static uint64_t count_segments(const struct core *core, const Elf64_Ehdr *header)
{
	Elf64_Shdr section;

	if (header->e_phnum != PN_XNUM)
		return header->e_phnum;
	if (header->e_shoff > core->size ||
	    !read_all(core, header->e_shoff, &section, sizeof(section)))
		return 0;
	return section.sh_info;
}

static int read_header(const struct core *core, const char *path, struct table *ret_table,
		       struct err *err)
{
	Elf64_Ehdr header;

	if (!read_all(core, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_CORE) {
		(void)err_set(err, 0, "'%s' is no core file", path);
		err_hint(err, "one that gcore PID or coredumpctl dump has written");
		return -EINVAL;
	}
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
		return err_set(err, 0, "'%s' is of a program for another machine than x86-64",
			       path);
	ret_table->offset = header.e_phoff;
	ret_table->n = count_segments(core, &header);
	if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > core->size ||
	    ret_table->n > (core->size - header.e_phoff) / sizeof(Elf64_Phdr) ||
	    ret_table->n > CORE_MOST_SEGMENTS)
		return err_set(err, 0, "'%s' is cut off or broken: its headers are not in it",
			       path);
	return 0;
}

/* What of it is in the file, which may have been cut off. */
static void take_memory(struct core *core, const Elf64_Phdr *header)
{
	struct core_segment segment = {header->p_vaddr, header->p_filesz, header->p_offset};

	if (segment.offset >= core->size || segment.start > UINT64_MAX - segment.len)
		return;
	if (core->size - segment.offset < segment.len)
		segment.len = core->size - segment.offset;
	if (segment.len > 0)
		core->segments[core->n_segments++] = segment;
}

static int by_start(const void *a, const void *b)
{
	const struct core_segment *x = a;
	const struct core_segment *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Those that overlap make no sense: the first one stands. */
static void sort_memory(struct core *core)
{
	size_t kept = 0;

	if (core->n_segments == 0)
		return;
	qsort(core->segments, core->n_segments, sizeof(core->segments[0]), by_start);
	for (size_t i = 1; i < core->n_segments; i++)
		if (core->segments[i].start - core->segments[kept].start >=
		    core->segments[kept].len)
			core->segments[++kept] = core->segments[i];
	core->n_segments = kept + 1;
}

static int take_segment(struct core *core, const Elf64_Phdr *header)
{
	uint64_t len = header->p_filesz;

	if (header->p_type == PT_LOAD)
		take_memory(core, header);
	if (header->p_type != PT_NOTE || header->p_offset > core->size)
		return 0;
	if (core->size - header->p_offset < len)
		len = core->size - header->p_offset;
	return core_notes_read(core, header->p_offset, len);
}

static int read_segments(struct core *core, const struct table *table)
{
	size_t size = (size_t)table->n * sizeof(Elf64_Phdr);
	_cleanup_free_ Elf64_Phdr *headers = NULL;
	int r = 0;

	core->segments = calloc((size_t)table->n + 1, sizeof(*core->segments));
	if (!core->segments)
		return -ENOMEM;
	headers = malloc(size + 1);
	if (!headers)
		return -ENOMEM;
	if (!read_all(core, table->offset, headers, size))
		return -EIO;
	for (uint64_t i = 0; r == 0 && i < table->n; i++)
		r = take_segment(core, &headers[i]);
	sort_memory(core);
	return r;
}

/* The program is where execution began. */
static void name_exe(struct core *core, const char *exe)
{
	const struct core_range *range = core->entry ? core_range(core, core->entry) : NULL;

	if (exe && range)
		core->modules[range->module].path = exe;
}

int core_open(const char *path, const char *exe, struct core **ret_core, struct err *err)
{
	struct core *core = calloc(1, sizeof(*core));
	struct table table = {0};
	int r;

	if (!core)
		return err_set(err, ENOMEM, "open '%s'", path);
	core->fd = -1;
	r = open_file(core, path, err);
	if (r == 0)
		r = read_header(core, path, &table, err);
	if (r == 0) {
		r = read_segments(core, &table);
		if (r < 0)
			(void)err_set(err, -r, "read '%s'", path);
	}
	if (r == 0 && core->n_threads == 0)
		r = err_set(err, 0, "'%s' has no threads in it", path);
	if (r < 0) {
		core_free(core);
		return r;
	}
	name_exe(core, exe);
	*ret_core = core;
	return 0;
}

size_t core_modules(const struct core *core, const struct core_module **ret_modules)
{
	*ret_modules = core->modules;
	return core->n_modules;
}

pid_t core_pid(const struct core *core)
{
	return core->pid;
}

void core_free(struct core *core)
{
	if (!core)
		return;
	for (size_t i = 0; i < core->n_modules; i++)
		cleanup_fd(&core->images[i].fd);
	cleanup_fd(&core->fd);
	free(core->segments);
	free(core->ranges);
	free(core->modules);
	free(core->images);
	free(core->names);
	free(core->threads);
	free(core);
}

/*
 * loader.c - the modules of a process, as its loader has them
 *
 * The list begins at DT_DEBUG of the program (glibc, elf/link.h: struct r_debug, struct link_map;
 * musl has the same).  Where each of them has its thread-local block stands in the private part of
 * a link_map: for glibc, libc's own words for libthread_db say where (nptl_db/structs.def); in
 * musl's struct dso (ldso/dynlink.c) it is found by what must stand before it.
 */
#include "sampler/collector/context/loader.h"

#include "base/cleanup.h"
#include "base/elf_segments.h"
#include "base/io.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_maps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_AUXV = 64,
	MAX_NOTES = 4096, /* bytes of one note segment; the rest is not read */
	DSO_WORDS = 96,   /* of musl's struct dso, which has 60 or so */
	MAX_TLS_OFFSET = 1 << 30,
	MAX_TLS_MODULE = 1 << 20,
	MAX_FIELD = 1 << 14, /* offset in a link_map */
};

static bool read_auxv(struct loader *loader, pid_t pid)
{
	Elf64_auxv_t auxv[MAX_AUXV];
	char path[32];
	_cleanup_fd_ int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : io_pread(fd, auxv, sizeof(auxv), 0);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(auxv[0]); i++) {
		if (auxv[i].a_type == AT_PHDR)
			loader->program = auxv[i].a_un.a_val;
		if (auxv[i].a_type == AT_PHNUM)
			loader->n_headers = auxv[i].a_un.a_val;
	}
	return loader->program && loader->n_headers;
}

/* The program's headers say where they are themselves. */
static bool read_program(const struct loader *loader, struct elf_segments *ret_segments)
{
	struct elf_segments *to = ret_segments;

	to->n = loader->n_headers < ELF_SEGMENTS_MOST ? loader->n_headers : ELF_SEGMENTS_MOST;
	to->bias = 0;
	if (!proc_memory_copy(loader->mem_fd, loader->program, to->at, to->n * sizeof(to->at[0])))
		return false;
	for (size_t i = 0; i < to->n; i++)
		if (to->at[i].p_type == PT_PHDR)
			to->bias = loader->program - to->at[i].p_vaddr;
	return true;
}

static bool read_segments(const struct loader *loader, const struct loader_module *module,
			  struct elf_segments *ret_segments)
{
	int mem_fd = loader->mem_fd;

	if (module == loader->at)
		return read_program(loader, ret_segments);
	return elf_segments_read(ret_segments, module->bias, proc_memory_read, &mem_fd);
}

/* Return:  address of the first link_map; 0: none. */
static uint64_t first_map(const struct loader *loader)
{
	int mem_fd = loader->mem_fd;
	const struct elf_memory memory = {.read = proc_memory_read, .context = &mem_fd};
	struct elf_dynamic dynamic = {0};
	struct elf_segments segments;
	struct {
		uint64_t version;
		uint64_t map;
	} debug;

	if (!read_program(loader, &segments))
		return 0;
	for (size_t i = 0; i < segments.n; i++)
		if (segments.at[i].p_type == PT_DYNAMIC)
			(void)elf_dynamic_read(&dynamic, &memory, segments.bias,
					       segments.bias + segments.at[i].p_vaddr,
					       ELF_DYNAMIC_BYTES);
	if (!dynamic.debug || !proc_memory_copy(mem_fd, dynamic.debug, &debug, sizeof(debug)))
		return 0;
	return debug.map;
}

static int add(struct loader *loader, const struct loader_module *module)
{
	size_t n = loader->n;
	struct loader_module *at;

	if ((n & (n - 1)) == 0) {
		at = realloc(loader->at, (n ? 2 * n : 1) * sizeof(*at));
		if (!at)
			return -ENOMEM;
		loader->at = at;
	}
	loader->at[loader->n++] = *module;
	return 0;
}

/* The public part of struct link_map. */
struct map_head {
	uint64_t addr;
	uint64_t name;
	uint64_t dynamic;
	uint64_t next;
};

static int read_list(struct loader *loader)
{
	struct map_head map;
	uint64_t at = first_map(loader);
	int r = 0;

	while (r == 0 && at && loader->n < LOADER_MODULES &&
	       proc_memory_copy(loader->mem_fd, at, &map, sizeof(map))) {
		const struct loader_module module = {
			.map = at, .bias = map.addr, .name = map.name, .dynamic = map.dynamic};

		r = add(loader, &module);
		at = map.next;
	}
	if (r == 0 && loader->n == 0)
		r = -ENOENT;
	return r;
}

void loader_name(const struct loader *loader, const struct loader_module *module,
		 char ret_name[LOADER_NAME_BYTES])
{
	char path[LOADER_NAME_BYTES];
	ssize_t n = module->name < USER_ADDRESS_END
			    ? io_pread(loader->mem_fd, path, sizeof(path) - 1, module->name)
			    : 0;
	const char *name;

	path[n > 0 ? n : 0] = '\0';
	name = strrchr(path, '/');
	(void)snprintf(ret_name, LOADER_NAME_BYTES, "%s", name ? name + 1 : path);
}

bool loader_symbol(const struct loader *loader, const struct elf_dynamic *dynamic, const char *name,
		   unsigned type, uint64_t *ret_value)
{
	int mem_fd = loader->mem_fd;
	const struct elf_memory memory = {.read = proc_memory_read, .context = &mem_fd};
	Elf64_Sym symbol;

	if (!elf_dynamic_find(dynamic, &memory, name, type, &symbol))
		return false;
	*ret_value = symbol.st_value;
	return true;
}

bool loader_dynamic(const struct loader *loader, const struct loader_module *module,
		    struct elf_dynamic *ret_dynamic)
{
	int mem_fd = loader->mem_fd;
	const struct elf_memory memory = {.read = proc_memory_read, .context = &mem_fd};

	return elf_dynamic_read(ret_dynamic, &memory, module->bias, module->dynamic,
				ELF_DYNAMIC_BYTES);
}

/* A word of libc's for libthread_db: { bits, how many, offset } of a field; 0: it has none. */
static uint64_t field_offset(const struct loader *loader, const struct elf_dynamic *dynamic,
			     const char *name)
{
	uint32_t field[3];
	uint64_t value;

	if (!loader_symbol(loader, dynamic, name, STT_OBJECT, &value) ||
	    !proc_memory_copy(loader->mem_fd, dynamic->bias + value, field, sizeof(field)) ||
	    field[0] != 64 || field[2] > MAX_FIELD)
		return 0;
	return field[2];
}

static void find_glibc(struct loader *loader)
{
	struct elf_dynamic dynamic;
	char name[LOADER_NAME_BYTES];

	for (size_t i = 1; i < loader->n && !loader->tls_modid; i++) {
		loader_name(loader, &loader->at[i], name);
		/* libpthread before glibc 2.34 */
		if ((strcmp(name, "libc.so.6") != 0 && strcmp(name, "libpthread.so.0") != 0) ||
		    !loader_dynamic(loader, &loader->at[i], &dynamic))
			continue;
		loader->tls_modid =
			field_offset(loader, &dynamic, "_thread_db_link_map_l_tls_modid");
		loader->tls_offset =
			field_offset(loader, &dynamic, "_thread_db_link_map_l_tls_offset");
	}
}

int loader_read(struct loader *ret_loader, pid_t pid, int mem_fd)
{
	struct loader loader = {.mem_fd = mem_fd};
	int r = read_auxv(&loader, pid) ? read_list(&loader) : -ENOENT;

	if (r < 0) {
		loader_release(&loader);
		return r;
	}
	find_glibc(&loader);
	*ret_loader = loader;
	return 0;
}

void loader_release(struct loader *loader)
{
	free(loader->at);
	*loader = (struct loader){.mem_fd = -1};
}

bool loader_has_more(const struct loader *loader)
{
	struct map_head map;

	return loader->n > 0 &&
	       proc_memory_copy(loader->mem_fd, loader->at[loader->n - 1].map, &map, sizeof(map)) &&
	       map.next;
}

bool loader_same(const struct loader *a, const struct loader *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n * sizeof(a->at[0])) == 0);
}

/* A block's offset is 0 before the loader has decided, and -1 or -2 if it is in no static block. */
static bool tls_of_glibc(const struct loader *loader, const struct loader_module *module,
			 struct loader_tls *ret_tls)
{
	uint64_t id;
	int64_t offset;

	if (!proc_memory_copy(loader->mem_fd, module->map + loader->tls_modid, &id, sizeof(id)) ||
	    !proc_memory_copy(loader->mem_fd, module->map + loader->tls_offset, &offset,
			      sizeof(offset)) ||
	    id == 0 || id > MAX_TLS_MODULE)
		return false;
	if (offset > 0 && offset <= MAX_TLS_OFFSET)
		*ret_tls = (struct loader_tls){.place = CONTEXT_TP, .offset = -offset};
	else
		*ret_tls = (struct loader_tls){.place = CONTEXT_DTV, .module = (uint32_t)id};
	return true;
}

/* struct tls_module { next, image, len, size, align, offset }, and then tls_id: image and len are
 * those of PT_TLS. */
static bool tls_of_musl(const struct loader *loader, const struct loader_module *module,
			const Elf64_Phdr *tls, struct loader_tls *ret_tls)
{
	uint64_t words[DSO_WORDS];
	uint64_t image = module->bias + tls->p_vaddr;
	/* A struct dso may be shorter, and end at the end of a mapping. */
	ssize_t n = module->map < USER_ADDRESS_END
			    ? io_pread(loader->mem_fd, words, sizeof(words), module->map)
			    : 0;

	for (ssize_t i = 0; i + 5 < n / 8; i++) {
		if (words[i] != image || words[i + 1] != tls->p_filesz || !words[i + 5] ||
		    words[i + 5] > MAX_TLS_MODULE)
			continue;
		*ret_tls = (struct loader_tls){.place = CONTEXT_DTV_MUSL,
					       .module = (uint32_t)words[i + 5]};
		return true;
	}
	return false;
}

bool loader_tls(const struct loader *loader, const struct loader_module *module,
		struct loader_tls *ret_tls)
{
	struct elf_segments segments;

	if (loader->tls_modid && loader->tls_offset)
		return tls_of_glibc(loader, module, ret_tls);
	if (!read_segments(loader, module, &segments))
		return false;
	for (size_t i = 0; i < segments.n; i++)
		if (segments.at[i].p_type == PT_TLS)
			return tls_of_musl(loader, module, &segments.at[i], ret_tls);
	return false;
}

/* Return:  where the note's text is in LEN bytes of notes; NULL: it has none. */
static const unsigned char *note_in(const unsigned char *bytes, size_t len, uint32_t type,
				    size_t desc_len)
{
	struct elf_notes notes = {.bytes = bytes, .len = len, .align = 4};
	struct elf_note note;

	while (elf_notes_next(&notes, &note))
		if (elf_note_is(&note, "wick", type) && note.desc_len == desc_len)
			return note.desc;
	return NULL;
}

bool loader_note(const struct loader *loader, const struct loader_module *module, uint32_t type,
		 void *to, size_t len, uint64_t *ret_at)
{
	unsigned char notes[MAX_NOTES];
	struct elf_segments segments;

	if (!read_segments(loader, module, &segments))
		return false;
	for (size_t i = 0; i < segments.n; i++) {
		const Elf64_Phdr *segment = &segments.at[i];
		uint64_t at = segments.bias + segment->p_vaddr;
		size_t n = segment->p_memsz < sizeof(notes) ? segment->p_memsz : sizeof(notes);
		const unsigned char *desc;

		if (segment->p_type != PT_NOTE || !proc_memory_copy(loader->mem_fd, at, notes, n))
			continue;
		desc = note_in(notes, n, type, len);
		if (!desc)
			continue;
		memcpy(to, desc, len);
		*ret_at = at + (uint64_t)(desc - notes);
		return true;
	}
	return false;
}

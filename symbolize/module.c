/* module.c - reading a module's names */
#include "symbolize/module.h"

#include "base/cleanup.h"
#include "symbolize/batch.h"
#include "symbolize/debug_search.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int open_alt(void *context, const char *name, const uint8_t *build_id, size_t len)
{
	const struct module *module = (const struct module *)context;

	if (!module->search)
		return -ENOENT;
	return debug_search_alt(module->search, module,
				module->debug_path ? module->debug_path : module->path, name,
				build_id, len);
}

static int open_dwo(void *context, const char *comp_dir, const char *name, size_t nth)
{
	const struct module *module = (const struct module *)context;

	if (!module->search)
		return -ENOENT;
	return debug_search_dwo(module->search, module,
				module->debug_path ? module->debug_path : module->path, comp_dir,
				name, nth);
}

struct module *module_new(enum module_kind kind, const char *path)
{
	struct module *module = calloc(1, sizeof(*module));

	if (!module)
		return NULL;
	module->kind = kind;
	module->path = path;
	module->fd = -1;
	module->dwarf.finder = (struct dwarf_finder){
		.context = module, .open_alt = open_alt, .open_dwo = open_dwo};
	atomic_init(&module->elf.state, kind == MODULE_ELF ? MODULE_NEW : MODULE_LOADED);
	return module;
}

void module_free(struct module *module)
{
	if (!module)
		return;
	if (module->fd >= 0)
		(void)close(module->fd);
	batch_free(module->batch);
	module_close_dwarf(module);
	answers_release(&module->answers);
	symbol_table_release(&module->elf.symbols);
	fde_table_release(&module->elf.fdes);
	jit_free(module->jit);
	free(module->debug_path);
	free(module->image);
	free(module);
}

void module_set_head(struct module *module, const struct elf_head *head)
{
	module->head = *head;
	for (size_t i = 0; i < head->build_id_len; i++)
		(void)snprintf(module->build_id + 2 * i, 3, "%02x", head->build_id[i]);
}

void module_fail(struct module *module, const char *format, ...)
{
	va_list args;

	if (module->why[0])
		return;
	va_start(args, format);
	(void)vsnprintf(module->why, sizeof(module->why), format, args);
	va_end(args);
}

bool module_is_jit_place(const struct module *module)
{
	return module->not_elf ||
	       (module->kind == MODULE_BARE && strcmp(module->path, "[vsyscall]") != 0);
}

static Elf *open_elf(const struct module *module)
{
	if (module->image)
		return elf_memory(module->image, module->image_bytes);
	/* Not mapped: a file that somebody truncates must not raise SIGBUS here. */
	return elf_begin(module->fd, ELF_C_READ, NULL);
}

/* The bound of a symbol without a size. */
static uint64_t end_of(void *context, uint64_t addr)
{
	return fde_end((const struct fde_table *)context, addr);
}

static uint64_t limit_of(void *context, uint64_t addr)
{
	return fde_limit((const struct fde_table *)context, addr);
}

static bool has_dwarf(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
			return true;
	}
	return false;
}

static void note_dwarf(struct module *module, int fd)
{
	struct stat st;

	module->has_dwarf = true;
	module->quality = SYMBOLS_DEBUG;
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	module->debug_size = (uint64_t)st.st_size;
	module->debug_mtime_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* DWARF of the separate debug file, and its .symtab if the module has none. */
static int read_debug_file(struct module *module, Elf *elf, const struct elf_bounds *bounds,
			   bool symtab)
{
	struct debug_file file = {.fd = -1};
	Elf *debug;
	int r = 0;

	if (!module->search || debug_search_module(module->search, module, elf, &file) < 0)
		return 0;
	module->debug_path = file.path;
	module->debug_found = file.found;
	debug = elf_begin(file.fd, ELF_C_READ, NULL);
	if (debug && symtab)
		r = elf_symbols_read(debug, ELF_SYMTAB, bounds, &module->elf.symbols);
	if (debug && has_dwarf(debug))
		note_dwarf(module, file.fd);
	else if (r > 0)
		module->quality = SYMBOLS_DEBUG;
	if (debug)
		(void)elf_end(debug);
	(void)close(file.fd);
	return r;
}

/* Names of the file, then of what was found beside it or packed into it. */
static int read_tables(struct module *module, Elf *elf)
{
	struct symbol_table *table = &module->elf.symbols;
	struct elf_bounds of_fdes = {
		.end = end_of, .limit = limit_of, .context = &module->elf.fdes};
	bool bounded = fde_table_read(elf, &module->elf.fdes) == 0 && module->elf.fdes.n_fdes;
	const struct elf_bounds *bounds = bounded ? &of_fdes : NULL;
	int found = elf_symbols_read(elf, ELF_SYMTAB | ELF_DYNSYM, bounds, table);
	int r = found;

	if (found > 0)
		module->quality = found & ELF_SYMTAB ? SYMBOLS_SYMTAB : SYMBOLS_DYNSYM;
	if (has_dwarf(elf))
		note_dwarf(module, module->fd);
	else if (r >= 0)
		r = read_debug_file(module, elf, bounds, !(found & ELF_SYMTAB));
	if (r >= 0 && module->quality <= SYMBOLS_DYNSYM &&
	    elf_minidebug_read(elf, bounds, table) > 0)
		module->quality = SYMBOLS_MINIDEBUG;
	symbol_table_finish(table);
	if (r >= 0)
		r = elf_plt_read(elf, table);
	if (r > 0)
		symbol_table_finish(table);
	return r;
}

void module_load(void *context)
{
	struct module *module = (struct module *)context;
	Elf *elf = module->image || module->fd >= 0 ? open_elf(module) : NULL;

	if (elf && elf_kind(elf) == ELF_K_ELF) {
		int r = read_tables(module, elf);

		if (r < 0)
			module_fail(module, "its symbol tables: %s", strerrordesc_np(-r));
		else if (module->quality == SYMBOLS_NONE)
			module_fail(module, "no symbols in it, and no debug file found");
	} else {
		module_fail(module, "%s", elf ? "not an ELF file" : elf_errmsg(-1));
	}
	if (elf)
		(void)elf_end(elf);
	if (module->close_fd && module->fd >= 0) {
		(void)close(module->fd);
		module->fd = -1;
		module->dwarf.finder = (struct dwarf_finder){
			.context = module, .open_alt = open_alt, .open_dwo = open_dwo};
		module->has_dwarf = module->has_dwarf && module->debug_path;
	}
	atomic_store_explicit(&module->elf.state, MODULE_LOADED, memory_order_release);
}

void module_close_dwarf(struct module *module)
{
	struct module_dwarf *dwarf = &module->dwarf;

	for (size_t i = 0; i < LOADER_THREADS; i++) {
		dwarf_reader_free(dwarf->readers[i]);
		dwarf->readers[i] = NULL;
	}
	dwarf_file_free(dwarf->file);
	dwarf->file = NULL;
	cache_module_close(dwarf->cached);
	dwarf->cached = NULL;
}

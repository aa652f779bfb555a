/* module.c - reading a module's names */
#include "symbolize/module.h"

#include "base/cleanup.h"
#include "symbolize/debug_file.h"
#include "symbolize/dwarf_functions.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/jit.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct module *module_new(enum module_kind kind, const char *path)
{
	struct module *module = calloc(1, sizeof(*module));

	if (!module)
		return NULL;
	module->kind = kind;
	module->path = path;
	module->fd = -1;
	atomic_init(&module->elf.state, kind == MODULE_ELF ? MODULE_NEW : MODULE_LOADED);
	atomic_init(&module->dwarf.state, MODULE_NEW);
	return module;
}

void module_free(struct module *module)
{
	if (!module)
		return;
	if (module->fd >= 0)
		(void)close(module->fd);
	free(module->elf.readable);
	free(module->dwarf.readable);
	symbol_table_release(&module->elf.symbols);
	symbol_table_release(&module->dwarf.symbols);
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

static Elf *open_elf(const struct module *module)
{
	if (module->image)
		return elf_memory(module->image, module->image_bytes);
	/* Not mapped: a file that somebody truncates must not raise SIGBUS here. */
	return elf_begin(module->fd, ELF_C_READ, NULL);
}

/* Where the FDE around an address ends: the bound of a symbol without a size. */
static uint64_t fde_end(void *context, uint64_t addr)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr start;
	Dwarf_Addr end = 0;
	bool signal;

	if (dwarf_cfi_addrframe((Dwarf_CFI *)context, addr, &frame) != 0)
		return 0;
	if (dwarf_frame_info(frame, &start, &end, &signal) < 0)
		end = 0;
	free(frame);
	return end;
}

static bool has_section(Elf *elf, const char *wanted)
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
		if (name && strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

/* .symtab and DWARF of the separate debug file. */
static int read_debug_file(struct module *module, Elf *elf, const struct elf_bounds *bounds)
{
	_cleanup_fd_ int fd = debug_file_open(module, elf, &module->debug_path);
	Elf *debug;
	int r;

	if (fd < 0)
		return 0;
	debug = elf_begin(fd, ELF_C_READ, NULL);
	if (!debug)
		return 0;
	r = elf_symbols_read(debug, ELF_SYMTAB, bounds, &module->elf.symbols);
	module->has_dwarf = has_section(debug, ".debug_info");
	if (r > 0 || module->has_dwarf)
		module->quality = SYMBOLS_DEBUG;
	(void)elf_end(debug);
	return r;
}

static int read_tables(struct module *module, Elf *elf)
{
	struct symbol_table *table = &module->elf.symbols;
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	struct elf_bounds bounds = {.end = fde_end, .context = cfi};
	int found = elf_symbols_read(elf, ELF_SYMTAB | ELF_DYNSYM, cfi ? &bounds : NULL, table);
	int r = found;

	if (found > 0)
		module->quality = found & ELF_SYMTAB ? SYMBOLS_SYMTAB : SYMBOLS_DYNSYM;
	module->has_dwarf = has_section(elf, ".debug_info");
	if (module->has_dwarf)
		module->quality = SYMBOLS_DEBUG;
	else if (found >= 0 && !(found & ELF_SYMTAB))
		r = read_debug_file(module, elf, cfi ? &bounds : NULL);
	if (cfi)
		(void)dwarf_cfi_end(cfi);
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
		module->has_dwarf = module->has_dwarf && module->debug_path;
	}
	atomic_store_explicit(&module->elf.state, MODULE_LOADED, memory_order_release);
}

void module_load_dwarf(void *context)
{
	struct module *module = (struct module *)context;
	_cleanup_fd_ int fd =
		module->debug_path ? open(module->debug_path, O_RDONLY | O_CLOEXEC) : -1;
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : open_elf(module);

	if (elf)
		(void)dwarf_functions_read(elf, &module->head, &module->dwarf.symbols);
	symbol_table_finish(&module->dwarf.symbols);
	if (elf)
		(void)elf_end(elf);
	atomic_store_explicit(&module->dwarf.state, MODULE_LOADED, memory_order_release);
}

/* module.c - reading a module's names */
#include "symbolize/module.h"

#include "base/cleanup.h"
#include "symbolize/batch.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/mapped_file.h"
#include "symbolize/jit/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct debug_module for_search(const struct module *module)
{
	return (struct debug_module){.path = module->path,
				     .head = &module->head,
				     .pid = module->pid,
				     .dev = module->id.dev,
				     .inode = module->id.inode};
}

int module_find_debug(const struct module *module, Elf *elf, struct debug_file *ret_file)
{
	const struct debug_module wanted = for_search(module);

	if (!module->search)
		return -ENOENT;
	return debug_search_module(module->search, &wanted, elf, ret_file);
}

static int open_alt(void *context, const char *name, const uint8_t *build_id, size_t len)
{
	const struct module *module = (const struct module *)context;
	const struct debug_module wanted = for_search(module);

	if (!module->search)
		return -ENOENT;
	return debug_search_alt(module->search, &wanted,
				module->debug_path ? module->debug_path : module->path, name,
				build_id, len);
}

static int open_dwo(void *context, const char *comp_dir, const char *name, size_t nth)
{
	const struct module *module = (const struct module *)context;
	const struct debug_module wanted = for_search(module);

	if (!module->search)
		return -ENOENT;
	return debug_search_dwo(module->search, &wanted,
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
	address_cache_release(&module->addresses);
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

void module_set_partial(struct module *module, int error)
{
	module_fail(module,
		    error == -EFBIG
			    ? "names not read: they take more memory than --mem-limit allows"
			    : "names not read: the recording had ended");
	atomic_store_explicit(&module->partial, true, memory_order_relaxed);
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
	/* Not mapped: a file that is truncated must not raise SIGBUS here. */
	return elf_begin(module->fd, ELF_C_READ, NULL);
}

/* Which file has the DWARF, and when it was made. */
static void note_contents(struct module *module, int contents, int fd)
{
	struct stat st;

	module->has_symtab = module->has_symtab || contents & ELF_SYMTAB;
	if (!(contents & ELF_DWARF))
		return;
	module->has_dwarf = true;
	module->quality = SYMBOLS_DEBUG;
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	module->debug_size = (uint64_t)st.st_size;
	module->debug_mtime_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* A path in the root of the process, by ours where that is the same file: it stays when the process
 * ends. */
static void use_our_root(char *path, int fd)
{
	static const char PROC[] = "/proc/";
	char *below = strncmp(path, PROC, strlen(PROC)) == 0 ? strstr(path, "/root/") : NULL;
	struct stat found;
	struct stat ours;

	if (!below)
		return;
	below += strlen("/root");
	if (fstat(fd, &found) == 0 && stat(below, &ours) == 0 && found.st_dev == ours.st_dev &&
	    found.st_ino == ours.st_ino)
		memmove(path, below, strlen(below) + 1);
}

/* The separate debug file of a module without DWARF. */
static void find_debug_file(struct module *module, Elf *elf)
{
	struct debug_file file = {.fd = -1};
	Elf *debug;

	if (module_find_debug(module, elf, &file) < 0)
		return;
	module->debug_path = file.path;
	module->debug_found = file.found;
	use_our_root(file.path, file.fd);
	debug = elf_begin(file.fd, ELF_C_READ, NULL);
	if (debug) {
		note_contents(module, elf_contents(debug), file.fd);
		(void)elf_end(debug);
	}
	(void)close(file.fd);
}

/* .symtab of the debug file, for a module without one. */
static int read_debug_symbols(struct module *module)
{
	_cleanup_fd_ int fd =
		module->debug_path ? open(module->debug_path, O_RDONLY | O_CLOEXEC) : -1;
	Elf *debug = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	int r;

	if (!debug)
		return 0;
	r = elf_symbols_read(debug, ELF_SYMTAB, &module->elf.fdes, &module->elf.symbols);
	(void)elf_end(debug);
	return r;
}

/* Names of the file, then of what was found beside it or packed into it. */
static int read_tables(struct module *module, Elf *elf, enum symbol_quality *ret_quality)
{
	struct symbol_table *table = &module->elf.symbols;
	const struct fde_table *fdes = &module->elf.fdes;
	enum symbol_quality quality;
	int found;
	int r;

	(void)fde_table_read(elf, &module->elf.fdes); /* without them fewer symbols have an end */
	found = elf_symbols_read(elf, ELF_SYMTAB | ELF_DYNSYM, fdes, table);
	quality = found <= 0 ? SYMBOLS_NONE : found & ELF_SYMTAB ? SYMBOLS_SYMTAB : SYMBOLS_DYNSYM;
	r = found;
	if (r >= 0 && !(found & ELF_SYMTAB)) {
		r = read_debug_symbols(module);
		if (r > 0)
			quality = SYMBOLS_DEBUG;
	}
	if (r >= 0 && quality <= SYMBOLS_DYNSYM && elf_minidebug_read(elf, fdes, table) > 0)
		quality = SYMBOLS_MINIDEBUG;
	symbol_table_finish(table);
	if (r >= 0)
		r = elf_plt_read(elf, table);
	if (r > 0)
		symbol_table_finish(table);
	*ret_quality = quality;
	return r;
}

static int read_names(struct module *module, Elf *elf, enum symbol_quality *ret_quality)
{
	int r = read_tables(module, elf, ret_quality);

	if (loader_is_stopping())
		r = -ECANCELED;
	if (r == -ECANCELED || r == -EFBIG) { /* incomplete tables would give wrong names */
		symbol_table_release(&module->elf.symbols);
		fde_table_release(&module->elf.fdes);
		*ret_quality = SYMBOLS_NONE;
		module_set_partial(module, r);
	}
	/* Pairs with module_has_names(). */
	atomic_store_explicit(&module->elf.read, true, memory_order_release);
	return r;
}

bool module_has_names(const struct module *module)
{
	return atomic_load_explicit(&module->elf.read, memory_order_acquire);
}

void module_read_names(struct module *module)
{
	enum symbol_quality quality;
	Elf *elf = module_has_names(module) ? NULL : open_elf(module);

	if (!elf)
		return;
	(void)read_names(module, elf, &quality);
	(void)elf_end(elf);
}

/* With DWARF symbols can wait, unless their files may be gone by then. */
static bool may_wait(const struct module *module)
{
	return module->has_dwarf && !module->close_fd &&
	       !(module->debug_path && strncmp(module->debug_path, "/proc/", 6) == 0);
}

static void load(struct module *module, Elf *elf)
{
	enum symbol_quality quality;
	int contents = elf_contents(elf);
	int r;

	note_contents(module, contents, module->fd);
	if (!module->has_dwarf)
		find_debug_file(module, elf);
	if (may_wait(module))
		return;
	r = read_names(module, elf, &quality);
	if (!module->has_dwarf)
		module->quality = quality;
	if (r < 0)
		module_fail(module, "its symbol tables: %s", strerrordesc_np(-r));
	else if (module->quality == SYMBOLS_NONE)
		module_fail(module, "no symbols in it, and no debug file found");
}

void module_load(void *context)
{
	struct module *module = (struct module *)context;
	bool sparse = !module->image && module->fd >= 0 && mapped_file_is_sparse(module->fd);
	Elf *elf = !sparse && (module->image || module->fd >= 0) ? open_elf(module) : NULL;

	if (sparse)
		module_fail(module, "names not read: nearly all of the file is holes");
	else if (elf && elf_kind(elf) == ELF_K_ELF)
		load(module, elf);
	else
		module_fail(module, "%s", elf ? "not an ELF file" : elf_errmsg(-1));
	if (elf)
		(void)elf_end(elf);
	if (module->close_fd && module->fd >= 0) {
		(void)close(module->fd);
		module->fd = -1;
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

/* module.c - finds or makes the module of a mapping, and reads its names */
#include "symbolize/module.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "symbolize/batch.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/image.h"
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
#include <unistd.h>

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

enum { INDEX_BYTES = 256 }; /* what a module takes in the tables that it is found by */

/* Descriptors are few: beyond this a module's file is closed once it is read. */
enum { MAX_KEPT_FDS = 512 };

void modules_init(struct modules *modules, const char *debug_root)
{
	*modules = (struct modules){
		.debug_root = debug_root, .started_ns = io_now_ns(), .claim.use = MEMORY_MODULES};
}

void modules_release(struct modules *modules)
{
	while (modules->first) {
		struct module *module = modules->first;

		modules->first = module->next;
		module_free(module);
	}
	(void)memory_claim(&modules->claim, 0);
	map_release(&modules->by_inode);
	map_release(&modules->by_file);
	map_release(&modules->by_path);
	map_release(&modules->by_build);
	intern_release(&modules->strings);
}

static uint64_t inode_key(uint64_t dev, uint64_t inode)
{
	return inode ^ dev * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t text_key(const char *interned)
{
	return (uint64_t)(uintptr_t)interned;
}

struct module *modules_add(struct modules *modules, enum module_kind kind, const char *path)
{
	size_t n_bytes = sizeof(struct module) + strlen(path) + INDEX_BYTES;
	const char *kept = NULL;
	struct module *module;

	if (memory_claim(&modules->claim, modules->claim.bytes + n_bytes) == 0)
		kept = intern_string(&modules->strings, path);
	module = kept ? module_new(kind, kept) : NULL;
	if (!module)
		return NULL;
	module->debug_root = modules->debug_root;
	module->search = modules->search;
	module->next = modules->first;
	modules->first = module;
	modules->n_modules++;
	return module;
}

/* Frames in it are its path and an offset in the file. */
static struct module *get_others(struct modules *modules)
{
	struct module *module = modules->others ? NULL : module_new(MODULE_ELF, "(others)");

	if (!module)
		return modules->others;
	module_set_partial(module, -EFBIG);
	atomic_store_explicit(&module->elf.state, MODULE_LOADED, memory_order_relaxed);
	module->next = modules->first;
	modules->first = module;
	modules->n_modules++;
	modules->others = module;
	return module;
}

struct module *modules_bare(struct modules *modules, const char *name)
{
	const char *kept = intern_string(&modules->strings, name);
	struct module *module = kept ? map_get(&modules->by_path, text_key(kept)) : NULL;

	if (module || !kept)
		return module;
	module = modules_add(modules, MODULE_BARE, kept);
	if (!module)
		return NULL;
	module_fail(module, "not a file");
	(void)map_put(&modules->by_path, text_key(kept), module);
	return module;
}

struct module *modules_jit(struct modules *modules, pid_t pid)
{
	struct module *module;
	char path[64];

	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	module = modules_add(modules, MODULE_JIT, path);
	if (!module)
		return NULL;
	module->quality = SYMBOLS_JIT;
	module->jit = jit_new(pid);
	return module->jit ? module : NULL;
}

static struct module *get_vdso(struct modules *modules)
{
	struct elf_head head;
	struct module *module;
	int r;

	if (modules->vdso)
		return modules->vdso;
	module = modules_add(modules, MODULE_ELF, "[vdso]");
	if (!module)
		return NULL;
	r = image_own_vdso(&module->image, &module->image_bytes);
	if (r == 0)
		r = elf_head_read(&(struct elf_source){.bytes = module->image,
						       .n_bytes = module->image_bytes},
				  &head);
	if (r == 0)
		module_set_head(module, &head);
	else
		module_fail(module, "the vDSO: %s", strerrordesc_np(-r));
	modules->vdso = module;
	return module;
}

/* The file is known by its place in maps, and it is still what it was. */
static struct module *known(const struct modules *modules, const struct mapping *mapping)
{
	struct module *module;
	struct file_id now;

	if (!mapping->inode)
		return NULL;
	module = map_get(&modules->by_inode, inode_key(mapping->dev, mapping->inode));
	if (!module || module->map_dev != mapping->dev || module->map_inode != mapping->inode)
		return NULL;
	/* The open descriptor keeps the inode from being given to another file. */
	if (module->close_fd || module->fd < 0 || mapped_file_stat(module->fd, &now) < 0 ||
	    now.mtime_ns != module->id.mtime_ns || now.size != module->id.size)
		return NULL;
	return module;
}

static bool same_file(const struct file_id *a, const struct file_id *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

/* The same file, or a copy of it: a build-id and a size in common. */
static struct module *find_file(struct modules *modules, const struct mapped_file *file)
{
	const char *id = intern_bytes(&modules->strings, (const char *)file->head.build_id,
				      file->head.build_id_len);
	struct module *module = map_get(&modules->by_file, inode_key(file->id.dev, file->id.inode));

	if (module && same_file(&module->id, &file->id))
		return module;
	if (file->head_error < 0 || !file->head.build_id_len || !id)
		return NULL;
	module = map_get(&modules->by_build, text_key(id));
	return module && module->id.size == file->id.size ? module : NULL;
}

static void remember(struct modules *modules, struct module *module, const struct mapping *mapping)
{
	const char *id = intern_bytes(&modules->strings, (const char *)module->head.build_id,
				      module->head.build_id_len);

	module->map_dev = mapping->dev;
	module->map_inode = mapping->inode;
	if (mapping->inode)
		(void)map_put(&modules->by_inode, inode_key(mapping->dev, mapping->inode), module);
	(void)map_put(&modules->by_file, inode_key(module->id.dev, module->id.inode), module);
	if (id && module->head.build_id_len)
		(void)map_put(&modules->by_build, text_key(id), module);
}

static struct module *add_file(struct modules *modules, const struct mapping *mapping,
			       struct mapped_file *file)
{
	struct module *module = find_file(modules, file);

	if (module || !(module = modules_add(modules, MODULE_ELF, mapping->path))) {
		(void)close(file->fd);
		return module;
	}
	module->id = file->id;
	module->pid = mapping->pid;
	module->fd = file->fd;
	module->close_fd = modules->n_fds >= MAX_KEPT_FDS;
	modules->n_fds += !module->close_fd;
	if (file->head_error == 0) {
		module_set_head(module, &file->head);
	} else {
		module->not_elf = file->head_error == -ENOEXEC;
		module_fail(module, "%s", elf_head_why(file->head_error));
		atomic_store_explicit(&module->elf.state, MODULE_LOADED, memory_order_relaxed);
	}
	remember(modules, module, mapping);
	return module;
}

/* No file: what the process's own memory has. */
static struct module *add_image(struct modules *modules, const struct mapping *mapping,
				const struct image *image, int error)
{
	struct module *module = modules_add(modules, MODULE_ELF, mapping->path);

	if (!module)
		return NULL;
	module->pid = mapping->pid;
	if (image->readable) {
		module_set_head(module, &image->head);
		if (image_symbols(image, &module->elf.symbols) > 0)
			module->quality = SYMBOLS_DYNSYM;
		symbol_table_finish(&module->elf.symbols);
		atomic_store_explicit(&module->elf.read, true, memory_order_relaxed);
	}
	module_fail(module, "%s",
		    error == -ESTALE ? "the file was replaced since it was mapped"
		    : mapping->deleted
			    ? "the file was deleted; as root it can be read while it is mapped"
			    : strerrordesc_np(-error));
	atomic_store_explicit(&module->elf.state, MODULE_LOADED, memory_order_relaxed);
	return module;
}

/* Modules without names differ in nothing but the path: one is enough. */
static struct module *add_nameless(struct modules *modules, const struct mapping *mapping,
				   int error)
{
	const char *path = intern_string(&modules->strings, mapping->path);
	struct module *module = path ? map_get(&modules->by_path, text_key(path)) : NULL;

	if (module || !path)
		return module;
	module = add_image(modules, mapping, &(struct image){0}, error);
	if (module)
		(void)map_put(&modules->by_path, text_key(path), module);
	return module;
}

struct module *modules_get(struct modules *modules, const struct mapping *mapping)
{
	struct mapped_file file;
	struct module *module;
	struct image image;
	int r;

	if (strcmp(mapping->path, "[vdso]") == 0 && (module = get_vdso(modules)) &&
	    elf_head_span(&module->head) == mapping->end - mapping->start)
		return module;
	module = known(modules, mapping);
	if (module)
		return module;
	image_find(mapping, &image);
	r = mapped_file_open(mapping, &image,
			     mapping->time_ns ? mapping->time_ns : modules->started_ns, &file);
	if (r == 0)
		module = add_file(modules, mapping, &file);
	else if (!image.readable)
		module = add_nameless(modules, mapping, r);
	else
		module = add_image(modules, mapping, &image, r);
	return module ? module : get_others(modules);
}

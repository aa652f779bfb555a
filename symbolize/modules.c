/* modules.c - finding the module of a mapping, or making it */
#include "symbolize/modules.h"

#include "base/io.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/mapped_file.h"
#include "symbolize/jit/jit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

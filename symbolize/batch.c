/* batch.c - sorts addresses, looks them up in the cache, reads the rest by unit, fills the cache */
#include "symbolize/batch.h"

#include "base/io.h"
#include "base/search.h"
#include "symbolize/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One reader reads smaller batches: it still has the units of the last batches. */
enum { SHARED = 64 };

struct hit {
	uint64_t vaddr;
	uint64_t unit;
	struct function_table table; /* bytes NULL: nothing is known */
	struct hit *next;            /* another address in the same function */
	bool known;                  /* from the cache, or with another address */
	bool owned;                  /* this hit frees the bytes */
};

/* Hits of one unit, which one thread reads. */
struct group {
	size_t first;
	size_t n;
};

struct batch {
	struct module *module;
	struct loader *loader;
	struct cache *cache;
	uint64_t *addrs;
	size_t n_addrs;
	struct hit *hits;
	size_t n_hits;
	struct group *groups;
	size_t n_groups;
	uint64_t started_ns;
	uint64_t ended_ns;
	_Atomic size_t next; /* group to be read */
	_Atomic size_t left; /* groups that are not read yet */
	_Atomic int users;   /* the main thread, and the second reader's job */
	_Atomic bool done;
};

static int compare_addrs(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Known addresses come first, the others by unit. */
static int compare_hits(const void *a, const void *b)
{
	const struct hit *left = (const struct hit *)a;
	const struct hit *right = (const struct hit *)b;

	if (left->known != right->known)
		return left->known ? -1 : 1;
	if (left->unit != right->unit)
		return left->unit < right->unit ? -1 : 1;
	return (left->vaddr > right->vaddr) - (left->vaddr < right->vaddr);
}

static void unref(void *context)
{
	struct batch *batch = (struct batch *)context;

	/* The last user sees all writes of the others. */
	if (atomic_fetch_sub_explicit(&batch->users, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < batch->n_hits; i++)
		if (batch->hits[i].owned)
			free((void *)(uintptr_t)batch->hits[i].table.bytes);
	free(batch->hits);
	free(batch->groups);
	free(batch->addrs);
	free(batch);
}

static void open_cache(struct batch *batch)
{
	struct module *module = batch->module;
	struct module_dwarf *dwarf = &module->dwarf;
	const struct cache_key key = {
		.build_id = module->head.build_id,
		.build_id_len = module->head.build_id_len,
		.size = module->id.size,
		.inode = module->id.inode,
		.mtime_ns = module->id.mtime_ns,
		.debug_size = module->debug_size,
		.debug_mtime_ns = module->debug_mtime_ns,
		.level = module->has_symtab ? CACHE_SYMTAB : CACHE_DEBUG,
	};

	if (!dwarf->cached && batch->cache &&
	    cache_module_open(batch->cache, &key, module->path, &dwarf->cached) < 0)
		dwarf->cached = NULL; /* DWARF is read again instead */
}

static int open_sections(const struct module *module, struct dwarf_sections *ret_sections)
{
	int fd;

	if (module->image)
		return dwarf_sections_memory(module->image, module->image_bytes, ret_sections);
	fd = module->debug_path ? open(module->debug_path, O_RDONLY | O_CLOEXEC)
				: fcntl(module->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : dwarf_sections_open(fd, false, ret_sections);
}

static int open_dwarf(struct module *module)
{
	struct module_dwarf *dwarf = &module->dwarf;
	struct dwarf_sections sections;
	int r;

	if (dwarf->file || dwarf->failed)
		return dwarf->file ? 0 : -ENODATA;
	r = open_sections(module, &sections);
	dwarf->options = (struct dwarf_options){.head = &module->head, .finder = &dwarf->finder};
	if (r == 0)
		r = dwarf_file_new(&sections, &dwarf->options, &dwarf->file);
	dwarf->failed = r < 0;
	if (r == -EFBIG)
		module_set_partial(module, r);
	return r;
}

/* A table without a name: the cache can then tell that nothing is known. */
static void make_empty(uint64_t vaddr, struct function_table *ret_table)
{
	struct function_builder *builder = NULL;

	if (function_builder_new(&builder) == 0 &&
	    function_builder_node(builder, 0, "", FUNCTION_NO_FILE, 0, 0) == 0 &&
	    function_builder_range(builder, 0, vaddr, vaddr + 1) == 0)
		(void)function_builder_finish(builder, ret_table);
	function_builder_free(builder);
}

/* The other addresses of a group that are in the same function. */
static void spread(struct hit *hits, size_t n, struct hit *from)
{
	uint64_t lo;
	uint64_t hi;

	for (size_t nth = 0; function_table_range(&from->table, nth, &lo, &hi); nth++) {
		size_t first = lo ? search_up_to(hits, n, sizeof(*hits), lo - 1) : 0;

		for (; first < n && hits[first].vaddr < hi; first++) {
			if (hits[first].known)
				continue;
			hits[first].table = from->table;
			hits[first].known = true;
			hits[first].next = from->next;
			from->next = &hits[first];
		}
	}
}

/* Adds symbols and readable names to a function's table.  Without memory the table lacks them. */
static void name_hits(struct naming *naming, struct module *module, struct hit *first)
{
	const struct function_table plain = first->table;
	struct function_table named;

	naming_begin(naming, module, &plain);
	for (const struct hit *hit = first; hit; hit = hit->next)
		naming_request(naming, hit->vaddr);
	if (naming_finish(naming, &named) < 0)
		return;
	for (struct hit *hit = first; hit; hit = hit->next)
		hit->table = named;
	free((void *)(uintptr_t)plain.bytes);
}

static void read_group(struct batch *batch, const struct group *group, struct dwarf_reader *reader,
		       struct naming *naming)
{
	struct hit *hits = &batch->hits[group->first];

	for (size_t i = 0; i < group->n; i++) {
		int r;

		if (hits[i].known)
			continue;
		r = dwarf_read_function(reader, hits[i].vaddr, &hits[i].table);
		if (loader_is_stopping()) { /* the table may be incomplete */
			if (r == 0)
				free((void *)(uintptr_t)hits[i].table.bytes);
			hits[i].table = (struct function_table){0};
			return;
		}
		if (r == -ENOENT)
			make_empty(hits[i].vaddr, &hits[i].table);
		else if (r < 0)
			hits[i].table = (struct function_table){0};
		hits[i].known = true;
		hits[i].owned = hits[i].table.bytes != NULL;
		if (!hits[i].owned)
			continue;
		spread(hits, group->n, &hits[i]);
		name_hits(naming, batch->module, &hits[i]);
	}
}

static void finish(struct batch *batch)
{
	struct cache_module *cached = batch->module->dwarf.cached;

	for (size_t i = 0; cached && i < batch->n_hits; i++)
		if (batch->hits[i].owned)
			(void)cache_add(cached, &batch->hits[i].table);
	batch->ended_ns = io_now_ns();
	/* Pairs with batch_is_done(). */
	atomic_store_explicit(&batch->done, true, memory_order_release);
}

/* Reads groups until none is left; the thread that reads the last one finishes the batch. */
static void read_groups(struct batch *batch, unsigned nth)
{
	struct module_dwarf *dwarf = &batch->module->dwarf;
	struct naming naming = {.n_symbols = 0};
	size_t next;

	while ((next = atomic_fetch_add_explicit(&batch->next, 1, memory_order_relaxed)) <
	       batch->n_groups) {
		if (!dwarf->readers[nth])
			(void)dwarf_reader_new(dwarf->file, &dwarf->readers[nth]);
		if (dwarf->readers[nth])
			read_group(batch, &batch->groups[next], dwarf->readers[nth], &naming);
		/* The last thread sees what the other has read. */
		if (atomic_fetch_sub_explicit(&batch->left, 1, memory_order_acq_rel) == 1)
			finish(batch);
	}
	naming_release(&naming);
}

static void run_second(void *context)
{
	struct batch *batch = (struct batch *)context;

	read_groups(batch, 1);
	unref(batch);
}

static int make_hits(struct batch *batch)
{
	qsort(batch->addrs, batch->n_addrs, sizeof(*batch->addrs), compare_addrs);
	batch->hits = calloc(batch->n_addrs + 1, sizeof(*batch->hits));
	if (!batch->hits)
		return -ENOMEM;
	for (size_t i = 0; i < batch->n_addrs; i++)
		if (i == 0 || batch->addrs[i] != batch->addrs[i - 1])
			batch->hits[batch->n_hits++].vaddr = batch->addrs[i];
	return 0;
}

/* Return: how many addresses the cache does not have. */
static size_t find_in_cache(struct batch *batch)
{
	size_t n_unknown = 0;

	open_cache(batch);
	for (size_t i = 0; i < batch->n_hits; i++) {
		struct hit *hit = &batch->hits[i];

		hit->known = batch->module->dwarf.cached &&
			     cache_find(batch->module->dwarf.cached, hit->vaddr, &hit->table) == 0;
		n_unknown += !hit->known;
	}
	return n_unknown;
}

static int make_groups(struct batch *batch, size_t n_unknown)
{
	struct group *group = NULL;

	batch->groups = calloc(n_unknown, sizeof(*batch->groups));
	if (!batch->groups)
		return -ENOMEM;
	for (size_t i = 0; i < batch->n_hits; i++)
		if (!batch->hits[i].known)
			batch->hits[i].unit =
				dwarf_unit_of(batch->module->dwarf.file, batch->hits[i].vaddr);
	qsort(batch->hits, batch->n_hits, sizeof(*batch->hits), compare_hits);
	for (size_t i = batch->n_hits - n_unknown; i < batch->n_hits; i++) {
		if (!group || batch->hits[i].unit != batch->hits[group->first].unit) {
			group = &batch->groups[batch->n_groups++];
			group->first = i;
		}
		group->n++;
	}
	return 0;
}

static void run_first(void *context)
{
	struct batch *batch = (struct batch *)context;
	size_t n_unknown = make_hits(batch) == 0 ? find_in_cache(batch) : 0;

	if (n_unknown)
		module_read_names(batch->module);
	if (n_unknown && open_dwarf(batch->module) == 0)
		(void)make_groups(batch, n_unknown); /* without memory there are none */
	if (batch->n_groups == 0) {
		finish(batch);
		return;
	}
	/* From here on the batch may be done, and the main thread may free it at any time. */
	atomic_fetch_add_explicit(&batch->users, 2, memory_order_relaxed);
	atomic_store_explicit(&batch->left, batch->n_groups, memory_order_relaxed);
	if (batch->n_groups < 2 || n_unknown < SHARED ||
	    loader_push_owned(batch->loader, run_second, unref, batch) < 0)
		unref(batch);
	read_groups(batch, 0);
	unref(batch);
}

int batch_start(struct loader *loader, struct cache *cache, struct module *module, uint64_t *addrs,
		size_t n_addrs, struct batch **ret_batch)
{
	struct batch *batch = calloc(1, sizeof(*batch));
	int r;

	if (!batch) {
		free(addrs);
		return -ENOMEM;
	}
	batch->module = module;
	batch->loader = loader;
	batch->cache = cache;
	batch->addrs = addrs;
	batch->n_addrs = n_addrs;
	batch->started_ns = io_now_ns();
	atomic_init(&batch->users, 1);
	r = loader_push(loader, run_first, batch);
	if (r < 0)
		unref(batch);
	else
		*ret_batch = batch;
	return r;
}

bool batch_is_done(const struct batch *batch)
{
	/* Pairs with finish(). */
	return atomic_load_explicit(&batch->done, memory_order_acquire);
}

bool batch_table(const struct batch *batch, size_t nth, uint64_t *ret_vaddr,
		 struct function_table *ret_table)
{
	if (nth >= batch->n_hits)
		return false;
	*ret_vaddr = batch->hits[nth].vaddr;
	*ret_table = batch->hits[nth].table;
	return true;
}

uint64_t batch_time_ns(const struct batch *batch)
{
	return batch->ended_ns - batch->started_ns;
}

void batch_free(struct batch *batch)
{
	if (batch)
		unref(batch);
}

void batch_close_files(void *context)
{
	struct module *module = (struct module *)context;

	module_close_dwarf(module);
	/* Pairs with the main thread's check before its next batch. */
	atomic_store_explicit(&module->dwarf.closed, true, memory_order_release);
}

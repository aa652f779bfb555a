/* cache_store.c - batches of every address that a function begins at, as a recording would make
 * them */
#include "symbolize/batch.h"
#include "symbolize/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_ADDRS = 8192 }; /* some 16 MiB of tables */

#define WAIT_NS UINT64_C(100000000)

/* Where functions begin. */
struct starts {
	uint64_t *addrs;
	size_t n;
};

static int compare(const void *left, const void *right)
{
	const uint64_t *a = (const uint64_t *)left;
	const uint64_t *b = (const uint64_t *)right;

	return (*a > *b) - (*a < *b);
}

static void add_start(const struct module *module, struct starts *starts, uint64_t addr)
{
	if (elf_head_executable(&module->head, addr))
		starts->addrs[starts->n++] = addr;
}

static int find_starts(const struct module *module, struct starts *starts)
{
	const struct module_names *names = &module->elf;
	size_t n = 0;

	starts->addrs =
		calloc(names->fdes.n_fdes + names->symbols.n_symbols + 1, sizeof(*starts->addrs));
	if (!starts->addrs)
		return -ENOMEM;
	for (size_t i = 0; i < names->fdes.n_fdes; i++)
		add_start(module, starts, names->fdes.fdes[i].start);
	for (size_t i = 0; i < names->symbols.n_symbols; i++)
		add_start(module, starts, names->symbols.symbols[i].addr);
	qsort(starts->addrs, starts->n, sizeof(*starts->addrs), compare);
	for (size_t i = 0; i < starts->n; i++)
		if (n == 0 || starts->addrs[n - 1] != starts->addrs[i])
			starts->addrs[n++] = starts->addrs[i];
	starts->n = n;
	return 0;
}

static int run_batch(struct symbolizer *symbolizer, struct module *module, const uint64_t *from,
		     size_t n)
{
	struct batch *batch = NULL;
	uint64_t *addrs = malloc(n * sizeof(*addrs));
	int r;

	if (!addrs)
		return -ENOMEM;
	memcpy(addrs, from, n * sizeof(*addrs));
	r = batch_start(symbolizer->loader, symbolizer->cache, module, addrs, n, &batch);
	if (r < 0)
		return r;
	while (!batch_is_done(batch))
		loader_wait(symbolizer->loader, WAIT_NS, false);
	batch_free(batch);
	return 0;
}

/* What the batch has added is written, and its memory given back. */
static int save(struct module *module, struct err *err)
{
	struct cache_module *cached = module->dwarf.cached;
	int r;

	if (!cached)
		return err_set(err, EIO, "keep '%s'", module->path);
	r = cache_save(cached, err);
	module->dwarf.cached = NULL;
	cache_module_close(cached);
	return r;
}

static int store_all(struct symbolizer *symbolizer, struct module *module,
		     void (*progress)(size_t n_done, size_t n_all), struct err *err)
{
	struct starts starts = {0};
	int r;

	module_read_names(module);
	r = find_starts(module, &starts);
	if (r < 0)
		(void)err_set(err, -r, "read '%s'", module->path);
	for (size_t at = 0; r == 0 && at < starts.n; at += BATCH_ADDRS) {
		const size_t left = starts.n - at;

		if (progress)
			progress(at, starts.n);
		r = run_batch(symbolizer, module, starts.addrs + at,
			      left < BATCH_ADDRS ? left : BATCH_ADDRS);
		if (r < 0)
			(void)err_set(err, -r, "read '%s'", module->path);
		else
			r = save(module, err);
	}
	free(starts.addrs);
	return r;
}

int symbolizer_store(struct symbolizer *symbolizer, const char *path,
		     void (*progress)(size_t n_done, size_t n_all), struct err *err)
{
	struct module *module;

	if (!symbolizer->cache)
		return err_set(err, ENOTSUP, "keep '%s'", path);
	err->code = 0;
	module = symbolizer_open(symbolizer, path, -1, "", err);
	if (!module)
		return err->code ? -err->code : -EIO;
	while (!symbolizer_is_loaded(module))
		loader_wait(symbolizer->loader, WAIT_NS, false);
	if (!module->has_dwarf) {
		(void)err_set(err, 0, "'%s' has no debugging information%s%s", path,
			      *module->build_id ? ", and no debug file is found for build-id " : "",
			      module->build_id);
		err_hint(err, "--symbol-dir DIR, --debuginfod, or its package of debug symbols");
		return -ENODATA;
	}
	return store_all(symbolizer, module, progress, err);
}

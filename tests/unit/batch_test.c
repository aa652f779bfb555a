/* batch_test.c - addresses looked up together: once a function, by unit, from the cache first */
#include "symbolize/batch.h"

#include "symbolize/naming.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Functions of 0x100 bytes, eight a unit; the cache knows those from 0x100000 on. */
enum { FUNCTION = 0x100, UNIT = 0x800, CACHED = 0x100000, BAD_UNIT = 0x8000, HOLE = 0x9000 };

static struct {
	_Atomic int n_read; /* functions read from DWARF */
	_Atomic int n_readers;
	_Atomic int n_files;
	_Atomic int n_asked;      /* names that are going to be shown */
	_Atomic int n_names_read; /* times that symbol tables were read */
	int n_added;
	bool hide_cache;
} world;

static void make_table(uint64_t addr, const char *name, struct function_table *ret_table)
{
	struct function_builder *builder = NULL;
	uint64_t lo = addr - addr % FUNCTION;

	assert_int_equal(function_builder_new(&builder), 0);
	assert_int_equal(function_builder_node(builder, 0, name, FUNCTION_NO_FILE, 0, 0), 0);
	assert_int_equal(function_builder_range(builder, 0, lo, lo + FUNCTION), 0);
	assert_int_equal(function_builder_finish(builder, ret_table), 0);
	function_builder_free(builder);
}

int dwarf_sections_open(int fd, bool dwo, struct dwarf_sections *ret_sections)
{
	(void)dwo;
	memset(ret_sections, 0, sizeof(*ret_sections));
	assert_int_equal(close(fd), 0);
	return 0;
}

int dwarf_sections_memory(const void *bytes, size_t n_bytes, struct dwarf_sections *ret_sections)
{
	(void)bytes;
	(void)n_bytes;
	(void)ret_sections;
	return -ENODATA;
}

int dwarf_file_new(struct dwarf_sections *sections, const struct dwarf_options *options,
		   struct dwarf_file **ret_file)
{
	(void)sections;
	(void)options;
	*ret_file = (struct dwarf_file *)&world;
	world.n_files++;
	return 0;
}

int dwarf_reader_new(struct dwarf_file *file, struct dwarf_reader **ret_reader)
{
	*ret_reader = (struct dwarf_reader *)file;
	atomic_fetch_add(&world.n_readers, 1);
	return 0;
}

uint64_t dwarf_unit_of(struct dwarf_file *file, uint64_t addr)
{
	(void)file;
	return 1 + addr / UNIT;
}

int dwarf_read_function(struct dwarf_reader *reader, uint64_t addr,
			struct function_table *ret_table)
{
	(void)reader;
	atomic_fetch_add(&world.n_read, 1);
	if (addr - addr % UNIT == BAD_UNIT)
		return -EBADMSG;
	if (addr - addr % FUNCTION == HOLE)
		return -ENOENT;
	make_table(addr, "read", ret_table);
	return 0;
}

int cache_module_open(struct cache *cache, const struct cache_key *key, const char *name,
		      struct cache_module **ret_module)
{
	(void)key;
	(void)name;
	*ret_module = (struct cache_module *)cache;
	return 0;
}

int cache_find(struct cache_module *module, uint64_t addr, struct function_table *ret_table)
{
	static struct function_table kept;

	(void)module;
	if (addr < CACHED || world.hide_cache)
		return -ENOENT;
	if (!kept.bytes)
		make_table(CACHED, "kept", &kept);
	*ret_table = kept;
	return 0;
}

int cache_add(struct cache_module *module, const struct function_table *table)
{
	(void)module;
	assert_int_equal(function_table_check(table), 0);
	world.n_added++;
	return 0;
}

void module_read_names(struct module *module)
{
	(void)module;
	atomic_fetch_add(&world.n_names_read, 1);
}

void module_set_partial(struct module *module, int error)
{
	(void)module;
	(void)error;
}

void naming_begin(struct naming *naming, struct module *module, const struct function_table *table)
{
	(void)module;
	assert_int_equal(world.n_names_read, 1);
	function_show_begin(&naming->show, table);
}

void naming_request(struct naming *naming, uint64_t vaddr)
{
	assert_int_equal(function_table_find(&naming->show.table, vaddr, &naming->chain), 0);
	function_show_readable(&naming->show, naming->chain.levels[0].name, "shown");
	atomic_fetch_add(&world.n_asked, 1);
}

int naming_finish(struct naming *naming, struct function_table *ret_table)
{
	return function_show_finish(&naming->show, ret_table);
}

void naming_release(struct naming *naming)
{
	function_show_release(&naming->show);
}

void module_close_dwarf(struct module *module)
{
	module->dwarf.file = NULL;
}

static struct batch *run(struct module *module, bool wait, const uint64_t *addrs, size_t n)
{
	uint64_t *copy = calloc(n, sizeof(*copy));
	struct loader *loader = NULL;
	struct batch *batch = NULL;

	assert_non_null(copy);
	memcpy(copy, addrs, n * sizeof(*copy));
	assert_int_equal(loader_new(wait, &loader), 0);
	assert_int_equal(batch_start(loader, (struct cache *)&world, module, copy, n, &batch), 0);
	while (!batch_is_done(batch))
		loader_wait(loader, UINT64_C(1000000000), false);
	loader_free(loader);
	return batch;
}

static struct module *new_module(void)
{
	struct module *module = calloc(1, sizeof(*module));

	assert_non_null(module);
	memset(&world, 0, sizeof(world));
	module->path = "/bin/true";
	module->fd = dup(0);
	return module;
}

static void free_module(struct module *module)
{
	(void)close(module->fd);
	free(module);
}

/* The innermost level at an address; NULL: nothing is known. */
static const struct function_level *level_at(const struct batch *batch, uint64_t vaddr)
{
	static struct function_chain chain;
	struct function_table table;
	uint64_t at;

	for (size_t nth = 0; batch_table(batch, nth, &at, &table); nth++)
		if (at == vaddr)
			return table.bytes && function_table_find(&table, vaddr, &chain) == 0
				       ? &chain.levels[0]
				       : NULL;
	fail_msg("address %llx is not in the batch", (unsigned long long)vaddr);
	return NULL;
}

/* Its name, "" where it is said that there is none. */
static const char *name_at(const struct batch *batch, uint64_t vaddr)
{
	const struct function_level *level = level_at(batch, vaddr);

	return level ? level->name : NULL;
}

static void a_function_is_read_once(void **state)
{
	static const uint64_t addrs[] = {0x1010, 0x10f0, 0x1010, 0x1080, 0x1120, 0x1000};
	struct module *module = new_module();
	struct batch *batch = run(module, true, addrs, 6);
	struct function_table table;
	uint64_t vaddr;
	size_t n = 0;

	(void)state;
	assert_int_equal(world.n_read, 2);
	while (batch_table(batch, n, &vaddr, &table))
		n++;
	assert_int_equal(n, 5); /* each address once */
	assert_string_equal(name_at(batch, 0x10f0), "read");
	assert_int_equal(world.n_asked, 5);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(level_at(batch, addrs[i])->readable, "shown");
	assert_int_equal(world.n_added, 2);
	batch_free(batch);
	free_module(module);
}

static void what_the_cache_knows_opens_no_file(void **state)
{
	static const uint64_t addrs[] = {CACHED + 1, CACHED + 2};
	struct module *module = new_module();
	struct batch *batch = run(module, true, addrs, 2);

	(void)state;
	assert_int_equal(world.n_files, 0);
	assert_int_equal(world.n_read, 0);
	assert_int_equal(world.n_names_read, 0);
	assert_int_equal(world.n_added, 0);
	assert_string_equal(name_at(batch, CACHED + 1), "kept");
	batch_free(batch);
	free_module(module);
}

static void that_nothing_is_known_is_kept_too(void **state)
{
	static const uint64_t addrs[] = {HOLE + 5};
	struct module *module = new_module();
	struct batch *batch = run(module, true, addrs, 1);

	(void)state;
	assert_string_equal(name_at(batch, HOLE + 5), "");
	assert_int_equal(world.n_added, 1);
	batch_free(batch);
	free_module(module);
}

static void a_unit_that_is_refused_costs_only_itself(void **state)
{
	static const uint64_t addrs[] = {BAD_UNIT + 1, 0x1010, BAD_UNIT + FUNCTION};
	struct module *module = new_module();
	struct batch *batch = run(module, true, addrs, 3);

	(void)state;
	assert_null(name_at(batch, BAD_UNIT + 1));
	assert_null(name_at(batch, BAD_UNIT + FUNCTION));
	assert_string_equal(name_at(batch, 0x1010), "read");
	assert_int_equal(world.n_added,
			 1); /* of the refused nothing is kept: it may be read later */
	batch_free(batch);
	free_module(module);
}

static void two_threads_share_the_units(void **state)
{
	enum { N = 2000 };
	static uint64_t addrs[N];
	struct module *module = new_module();
	struct batch *batch;

	(void)state;
	for (size_t i = 0; i < N; i++)
		addrs[i] = 0x20000 + (i * 7919 % N) * 0x20;
	batch = run(module, false, addrs, N);
	for (size_t i = 0; i < N; i++)
		assert_string_equal(name_at(batch, addrs[i]), "read");
	assert_int_equal(world.n_read, N * 0x20 / FUNCTION);
	assert_int_equal(world.n_added, world.n_read);
	assert_true(world.n_readers <= LOADER_THREADS);
	batch_free(batch);
	free_module(module);
}

static void a_batch_may_end_with_the_loader(void **state)
{
	static const uint64_t from[] = {0x1010, 0x4010, 0x7010};
	struct module *module = new_module();
	struct loader *loader = NULL;

	(void)state;
	for (int i = 0; i < 200; i++) {
		uint64_t *addrs = calloc(3, sizeof(*addrs));
		struct batch *batch = NULL;

		memcpy(addrs, from, sizeof(from));
		assert_int_equal(loader_new(false, &loader), 0);
		assert_int_equal(batch_start(loader, NULL, module, addrs, 3, &batch), 0);
		loader_free(loader);
		batch_free(batch);
		atomic_store(&world.n_names_read, 0);
	}
	free_module(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_read_once),
		cmocka_unit_test(what_the_cache_knows_opens_no_file),
		cmocka_unit_test(that_nothing_is_known_is_kept_too),
		cmocka_unit_test(a_unit_that_is_refused_costs_only_itself),
		cmocka_unit_test(two_threads_share_the_units),
		cmocka_unit_test(a_batch_may_end_with_the_loader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * cache_bench.c - what function tables cost to build, keep and find again
 *
 * A build as large as ceph-osd: 49,000 functions of 48 inlined calls, 150 rows and names of C++,
 * at addresses 6 KiB apart.  The file is in the page cache: what is measured is our own.
 */
#include "symbolize/cache/cache.h"

#include "base/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	FUNCTIONS = 49000,
	TAIL = 4400, /* of them are appended: a little less than makes the file be written anew */
	STEP = 6144,
	NODES = 48,
	ROWS = 150,
	MOST_ADDRS = 100000,
};

static const uint8_t build_id[20] = {0xbe, 0x7c, 0x11};
static struct function_chain chain;
static uint64_t addrs[MOST_ADDRS];

static double cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void fail(const char *what)
{
	(void)fprintf(stderr, "cache_bench: %s failed\n", what);
	exit(1);
}

/* As many strings as one function has of its own, and 12 that all share. */
static void fill(struct function_builder *builder, uint64_t nth)
{
	uint32_t files[6];
	char text[96];

	function_builder_reset(builder);
	for (int i = 0; i < 6; i++) {
		(void)snprintf(text, sizeof(text), "/usr/src/project/include/part_%d.h", i);
		files[i] = function_builder_file(builder, text);
	}
	for (uint32_t i = 0; i < NODES; i++) {
		if (i < 12)
			(void)snprintf(text, sizeof(text), "_ZN7project6detail5Outer%luI%uE4callEv",
				       nth, i);
		else
			(void)snprintf(text, sizeof(text), "_ZNSt6vectorIiSaIiEE%uEv", i % 12);
		(void)function_builder_node(builder, i ? (i - 1) / 2 : 0, text, files[i % 6], i * 7,
					    i);
		(void)function_builder_range(builder, i, nth * STEP + i * 20,
					     nth * STEP + STEP - 2048 - i * 20);
	}
	for (uint32_t i = 0; i < ROWS; i++)
		(void)function_builder_row(builder, nth * STEP + i * 24, files[i % 6], i * 3,
					   i % 80);
}

static struct cache_module *open_module(struct cache *cache)
{
	const struct cache_key key = {
		.build_id = build_id,
		.build_id_len = sizeof(build_id),
		.debug_size = 1,
		.level = CACHE_SYMTAB,
	};
	struct cache_module *module;

	if (cache_module_open(cache, &key, "/usr/bin/bench", &module) < 0)
		fail("opening a module");
	return module;
}

static struct cache *open_cache(const char *folder)
{
	const struct cache_options options = {.folder = folder};
	struct cache *cache;
	struct err err = {0};

	if (cache_open(&options, &cache, &err) < 0)
		fail(err.text);
	return cache;
}

static void build_and_keep(const char *folder, uint64_t from, uint64_t to)
{
	struct cache *cache = open_cache(folder);
	struct cache_module *module = open_module(cache);
	struct function_builder *builder;
	double built = 0;
	double begun;
	uint64_t bytes = 0;

	if (function_builder_new(&builder) < 0)
		fail("a builder");
	for (uint64_t nth = from; nth < to; nth++) {
		struct function_table table;

		begun = cpu_ms();
		fill(builder, nth);
		if (function_builder_finish(builder, &table) < 0 || cache_add(module, &table) < 0)
			fail("building");
		built += cpu_ms() - begun;
		bytes += table.n_bytes;
		free((void *)table.bytes);
	}
	function_builder_free(builder);
	begun = cpu_ms();
	cache_module_close(module);
	cache_close(cache);
	(void)printf(
		"%lu functions, %.1f MB: built and added in %.1f us each, written in %.0f ms\n",
		to - from, (double)bytes / 1e6, built * 1e3 / (double)(to - from),
		cpu_ms() - begun);
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left;
	const uint64_t *b = right;

	return (*a > *b) - (*a < *b);
}

static void find(struct cache_module *module, uint64_t addr)
{
	struct function_table table;

	if (cache_find(module, addr, &table) < 0 || function_table_find(&table, addr, &chain) < 0)
		fail("finding");
}

static void ask(const char *folder, size_t n)
{
	struct cache_module *module;
	struct cache *cache;
	uint64_t begun_ns;
	double first_ms;
	double begun;

	srand(1);
	for (size_t i = 0; i < n; i++)
		addrs[i] = (uint64_t)(rand() % FUNCTIONS) * STEP + (uint64_t)(rand() % 4096);
	qsort(addrs, n, sizeof(*addrs), compare);
	begun = cpu_ms();
	begun_ns = io_now_ns();
	cache = open_cache(folder);
	module = open_module(cache);
	find(module, addrs[n / 2]);
	first_ms = (double)(io_now_ns() - begun_ns) / 1e6;
	for (size_t i = 0; i < n; i++)
		find(module, addrs[i]);
	(void)printf("%6zu addresses: the first after %.3f ms, all in %.1f ms of CPU\n", n,
		     first_ms, cpu_ms() - begun);
	cache_module_close(module);
	cache_close(cache);
}

static void remove_all(const char *folder)
{
	struct cache *cache = open_cache(folder);
	char path[64];

	(void)cache_remove(cache, NULL, NULL);
	cache_close(cache);
	(void)snprintf(path, sizeof(path), "%s/%02x", folder, build_id[0]);
	(void)rmdir(path);
	(void)rmdir(folder);
}

int main(void)
{
	char folder[] = "/tmp/wick-cache-bench-XXXXXX";

	if (!mkdtemp(folder))
		fail("mkdtemp");
	build_and_keep(folder, 0, FUNCTIONS - TAIL);
	build_and_keep(folder, FUNCTIONS - TAIL, FUNCTIONS);
	ask(folder, 1);                  /* the tail is indexed when the file is opened */
	build_and_keep(folder, 0, TAIL); /* once more: all is written anew */
	ask(folder, 1);
	ask(folder, 10000);
	ask(folder, MOST_ADDRS);
	remove_all(folder);
	return 0;
}

/* tables_fixture.c - tables as a program with wick.h keeps them, made by hand in the test itself */
#include "tests/unit/tables_fixture.h"

#include "base/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

struct tables_state fixture_state = {.abi = TABLES_ABI, .bytes = sizeof(fixture_state)};
struct tables_anchor fixture_anchor = {.abi = TABLES_ABI};

/* As wick.h writes it: the type is TABLES_NOTE. */
__asm__(".pushsection .note.wick, \"a\", @note\n"
	".balign 4\n"
	".long 5, 24, 0x74\n"
	".asciz \"wick\"\n"
	".balign 4\n"
	".8byte fixture_anchor - .\n"
	".8byte 0, 0\n"
	".popsection\n");

_Static_assert(TABLES_NOTE == 0x74, "what the note above says");

static struct fixture_tables made;

static void *map(size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

void fixture_reset(void)
{
	for (size_t i = 0; i < TABLES_THREADS; i++)
		if (made.threads[i])
			(void)munmap(made.threads[i], sizeof(*made.threads[i]));
	if (made.tables)
		(void)munmap(made.tables, sizeof(*made.tables));
	memset(&made, 0, sizeof(made));
	fixture_state = (struct tables_state){.abi = TABLES_ABI, .bytes = sizeof(fixture_state)};
	fixture_anchor =
		(struct tables_anchor){.abi = TABLES_ABI, .state = (uintptr_t)&fixture_state};
}

struct fixture_tables *fixture_make(unsigned n_threads)
{
	struct tables *tables = map(sizeof(*tables));

	made.tables = tables;
	tables->n_names = 2;
	tables->n_nodes = 2;
	tables->n_cells = 1;
	tables->n_threads = n_threads;
	tables->names[TABLES_OTHER] =
		(struct table_name){.kind = NAME_TASK, .bytes = 5, .text = "other"};
	tables->nodes[TABLES_OTHER] = TABLES_OTHER;
	for (unsigned i = 0; i < n_threads; i++) {
		made.threads[i] = map(sizeof(*made.threads[i]));
		made.threads[i]->tid = i + 1;
		tables->threads[i] = (uintptr_t)made.threads[i];
	}
	fixture_state.tables = (uintptr_t)tables;
	return &made;
}

uint32_t fixture_name(enum table_name_kind kind, const char *name, const char *file, uint32_t line)
{
	uint32_t number = made.tables->n_names++;
	struct table_name *at = &made.tables->names[number];

	at->bytes = (uint16_t)strlen(name);
	at->file_bytes = (uint16_t)strlen(file);
	at->line = line;
	memcpy(at->text, name, at->bytes);
	memcpy(at->text + at->bytes + 1, file, at->file_bytes);
	at->kind = kind;
	return number;
}

uint32_t fixture_node(uint32_t parent, uint32_t name)
{
	uint32_t number = made.tables->n_nodes++;

	made.tables->nodes[number] = (uint64_t)parent << 32 | name;
	return number;
}

uint32_t fixture_cell(uint32_t tier, uint32_t identity)
{
	uint32_t number = made.tables->n_cells++;

	made.tables->cells[number] = (uint64_t)tier << 32 | identity;
	return number;
}

void fixture_count(unsigned thread, uint32_t cell, uint64_t ns)
{
	struct table_thread *block = made.threads[thread];
	struct table_cell_row *row = &block->cells[cell];
	uint32_t bucket = histogram_bucket_of(ns);
	uint16_t *chunk = &row->chunks[bucket / TABLES_STEPS];

	if (!*chunk)
		*chunk = (uint16_t)++block->n_chunks;
	block->chunks[*chunk - 1][bucket % TABLES_STEPS]++;
	if (row->count++ == 0 || ns < row->min_ns)
		row->min_ns = ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	row->sum_ns += ns;
	row->self_ns += ns;
}

void fixture_run(unsigned thread, uint32_t node, uint64_t self, uint64_t wall)
{
	struct table_node_row *row = &made.threads[thread]->nodes[node];

	row->begun++;
	row->ended++;
	row->self += self;
	row->wall += wall;
	if (self > row->max)
		row->max = self;
}

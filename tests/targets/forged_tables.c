/* forged_tables.c - tables of exact counts, and contexts, that no program that uses wick.h has
 *
 * forged_tables SECONDS KIND... */
#include "sampler/wire/tables.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STATES = 16, NS_PER_S = 1000000000, SEEN_TRIES = 300, SEEN_US = 10000 };

static struct tables_state states[STATES];
__thread struct otel_record *otel_thread_ctx_v1;

/* One note leads to the first state; further ones to the anchors behind it. */
struct tables_anchor anchors[STATES];
#define NOTE(offset)                                                                               \
	__asm__(".pushsection .note.wick, \"a\", %note\n"                                          \
		"	.balign 4\n"                                                                     \
		"	.long 5, 24, 0x74\n"                                                             \
		"	.asciz \"wick\"\n"                                                               \
		"	.balign 4\n"                                                                     \
		"	.8byte anchors + 16 * " #offset " - .\n"                                   \
		"	.8byte 0\n"                                                                      \
		"	.8byte otel_thread_ctx_v1@dtpoff\n"                                              \
		"	.popsection\n")
NOTE(0);
NOTE(1);
NOTE(2);
NOTE(3);
NOTE(4);
NOTE(5);
NOTE(6);
NOTE(7);
NOTE(8);
NOTE(9);
NOTE(10);
NOTE(11);
NOTE(12);
NOTE(13);
NOTE(14);
NOTE(15);

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

/* What was counted before would be taken away. */
static void wait_for_lease(const struct tables_state *state)
{
	for (int i = 0; i < SEEN_TRIES; i++) {
		if (__atomic_load_n(&state->until, __ATOMIC_RELAXED))
			return;
		(void)usleep(SEEN_US);
	}
}

static void fill_names(struct tables *tables, unsigned number)
{
	for (unsigned i = 1; i < TABLES_NAMES; i++) {
		struct table_name *name = &tables->names[i];

		*name = (struct table_name){.kind = i % 4 + 1,
					    .line = i,
					    .bytes = UINT16_MAX,
					    .file_bytes = UINT16_MAX};
		(void)snprintf(name->text, sizeof(name->text),
			       "n\n\"\x1b[31m\xff\xef\xbf\xbd<b>\n# wick-end : {} %u-%u", number,
			       i);
	}
}

static void fill_rows(struct tables *tables, struct table_thread *thread, uint8_t byte)
{
	memset(thread, byte, sizeof(*thread));
	for (unsigned i = 1; i < TABLES_NODES; i++)
		tables->nodes[i] = (uint64_t)(i % 3 ? i - 1 : i + 1) << 32 | i;
	for (unsigned i = 1; i < TABLES_CELLS; i++) {
		tables->cells[i] = (uint64_t)i << 32 | i;
		for (unsigned octave = 0; octave < TABLES_OCTAVES; octave++)
			thread->cells[i].chunks[octave] =
				(uint16_t)((i * TABLES_OCTAVES + octave) % (TABLES_CHUNKS + 8));
	}
}

/* All of a thousand threads have one block. */
static void fill(struct tables_state *state, unsigned number, uint8_t byte)
{
	struct tables *tables = map(sizeof(*tables));
	struct table_thread *thread = map(sizeof(*thread));

	tables->n_names = tables->n_nodes = tables->n_cells = tables->n_threads = UINT32_MAX;
	fill_names(tables, number);
	fill_rows(tables, thread, byte);
	for (unsigned i = 0; i < TABLES_THREADS; i++)
		tables->threads[i] = (uint64_t)thread;
	__atomic_store_n(&state->tables, (uint64_t)tables, __ATOMIC_RELEASE);
}

static void *change(void *argument)
{
	uint8_t *bytes = argument;
	unsigned random = 1;

	for (;;) {
		random = random * 1664525 + 1013904223;
		bytes[(random >> 4) % (sizeof(struct tables) - sizeof(uint64_t))] = (uint8_t)random;
	}
	return NULL;
}

/* Writes where the collector writes, too. */
static void *change_lease(void *argument)
{
	struct tables_state *state = argument;

	for (;;) {
		__atomic_store_n(&state->mult, UINT64_MAX, __ATOMIC_RELAXED);
		__atomic_store_n(&state->clock, 77, __ATOMIC_RELAXED);
		(void)usleep(1000);
	}
	return NULL;
}

static void start(void *(*run)(void *argument), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument) != 0)
		abort();
}

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Each context is another lie; the last page of MEMORY goes and comes. */
static void show_contexts(uint64_t until_ns)
{
	const size_t page = 4096;
	unsigned char *memory = map(2 * page);
	struct otel_record *inside = (void *)memory;

	for (unsigned i = 0; now_ns() < until_ns; i++) {
		uint64_t lies[] = {(uint64_t)memory + page - 30,
				   (uint64_t)inside,
				   UINT64_MAX - 7,
				   UINT64_C(1) << 60,
				   (uint64_t)&anchors,
				   (uint64_t)memory + page,
				   4094};

		memset(memory, (int)i, page);
		inside->valid = 1;
		inside->attrs_bytes = UINT16_MAX;
		memcpy(inside->attrs + 2, "\n\n# wick-end : {}\n", 18);
		memory[page - 30 + 24] = 1;
		__atomic_store_n(&otel_thread_ctx_v1,
				 (void *)lies[i % (sizeof(lies) / sizeof(lies[0]))],
				 __ATOMIC_RELAXED);
		for (volatile int k = 0; k < 100000; k++)
			;
		(void)munmap(memory + page, page);
		for (volatile int k = 0; k < 100000; k++)
			;
		(void)mmap(memory + page, page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}

static void forge(const char *kind)
{
	unsigned n = strcmp(kind, "states") == 0 ? STATES : 1;

	for (unsigned i = 0; i < n; i++) {
		states[i].abi = TABLES_ABI;
		states[i].bytes = sizeof(states[i]);
		anchors[i] = (struct tables_anchor){TABLES_ABI, (uint64_t)&states[i]};
	}
	for (unsigned i = 0; i < n; i++)
		wait_for_lease(&states[i]);
	for (unsigned i = 0; i < n; i++)
		fill(&states[i], i, strcmp(kind, "numbers") == 0 ? 0xff : 1);
	if (strcmp(kind, "changing") == 0)
		start(change, (void *)states[0].tables);
	if (strcmp(kind, "lease") == 0)
		start(change_lease, &states[0]);
}

int main(int argc, char **argv)
{
	uint64_t until_ns = now_ns() + (uint64_t)(argc > 1 ? atof(argv[1]) * NS_PER_S : 0);

	if (argc > 2 && strcmp(argv[2], "contexts") != 0)
		forge(argv[2]);
	if (argc > 2 && strcmp(argv[2], "contexts") == 0)
		show_contexts(until_ns);
	while (now_ns() < until_ns)
		;
	(void)puts("survived");
	return 0;
}

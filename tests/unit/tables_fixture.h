/* tables_fixture.h - tables as a program with wick.h keeps them, made by hand in the test itself */
#ifndef TABLES_FIXTURE_H
#define TABLES_FIXTURE_H

#include "sampler/wire/tables.h"

/* What the note of the test leads to. */
extern struct tables_state fixture_state;
extern struct tables_anchor fixture_anchor;

struct fixture_tables {
	struct tables *tables;
	struct table_thread *threads[TABLES_THREADS];
};

/**
 * fixture_reset - a program that has counted nothing
 *
 * Context: main thread, as all of these.
 */
void fixture_reset(void);

/**
 * fixture_make - tables with N threads, and the state that leads to them
 *
 * Return:  what was made.
 * Owns:    the fixture, to fixture_reset().
 */
struct fixture_tables *fixture_make(unsigned n_threads);

/** fixture_name - a new name; FILE and LINE of a task or function.  Return: its number */
uint32_t fixture_name(enum table_name_kind kind, const char *name, const char *file, uint32_t line);

/** fixture_node - a new node.  Return: its number */
uint32_t fixture_node(uint32_t parent, uint32_t name);

/** fixture_cell - a new cell.  Return: its number */
uint32_t fixture_cell(uint32_t tier, uint32_t identity);

/** fixture_count - one more of a duration in a thread's cell, as the program counts it */
void fixture_count(unsigned thread, uint32_t cell, uint64_t ns);

/** fixture_run - a task, function or tier of a node that began and ended: self and wall in ticks */
void fixture_run(unsigned thread, uint32_t node, uint64_t self, uint64_t wall);

#endif

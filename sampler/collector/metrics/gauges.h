/*
 * gauges.h - the numbers that a program keeps by include/wick.h, read from outside
 *
 * Tables are found by a note in the program's modules; nothing of the program runs for it.
 * All of it is the target's word: names, addresses and ELF headers are copied, checked, then used.
 */
#ifndef METRICS_GAUGES_H
#define METRICS_GAUGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GAUGE_TABLES = 16 }; /* modules with gauges in one process; further ones are not seen */

/**
 * gauge_notes_in - the addresses of the tables that notes lead to (procfs/notes.h), each once
 * @notes:   LEN bytes of a note segment
 * @address: where they stand in the process
 * @n:       how many TABLES has already
 *
 * Return:  how many it has now.
 * Context: any thread.
 */
size_t gauge_notes_in(const unsigned char *notes, size_t len, uint64_t address,
		      uint64_t tables[GAUGE_TABLES], size_t n);

struct gauges;

/**
 * gauges_new - find gauges of these names in a process
 * @names: N of them, each at most 23 bytes; kept by the caller
 *
 * Reads nothing yet.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to gauges_free().
 * Context: any thread, one at a time with a struct gauges.
 */
int gauges_new(struct gauges **ret_gauges, pid_t pid, const char *const *names, size_t n);

/**
 * gauges_free - forget them; NULL is fine
 *
 * Context: any thread, one at a time with a struct gauges.
 */
void gauges_free(struct gauges *gauges);

/**
 * gauges_read - the value of each name
 * @values: N; one that cannot be read is left as it was
 *
 * Modules are searched while a name is missing, less and less often.
 *
 * Return:  bit i: the program has names[i].
 * Context: any thread, one at a time with a struct gauges.
 */
uint32_t gauges_read(struct gauges *gauges, uint64_t now_ns, int64_t *values);

#endif

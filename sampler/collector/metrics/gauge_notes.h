/* gauge_notes.h - the notes that say where a process's tables of gauges are */
#ifndef METRICS_GAUGE_NOTES_H
#define METRICS_GAUGE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GAUGE_TABLES = 16 }; /* modules with gauges in one process; further ones are not seen */

/**
 * gauge_notes_find - the addresses of all tables, in the order of the modules
 * @mem_fd: /proc/PID/mem
 * @maps:   LEN bytes of /proc/PID/maps
 *
 * Some 3 us a module.
 *
 * Return:  how many there are, each once.
 * Context: any thread.
 */
size_t gauge_notes_find(int mem_fd, const char *maps, size_t len, uint64_t tables[GAUGE_TABLES]);

/**
 * gauge_notes_in - the same from the bytes of a note segment
 * @notes:   LEN bytes
 * @address: where they stand in the process
 * @n:       how many TABLES has already
 *
 * Return:  how many it has now.
 * Context: any thread.
 */
size_t gauge_notes_in(const unsigned char *notes, size_t len, uint64_t address,
		      uint64_t tables[GAUGE_TABLES], size_t n);

/**
 * gauge_notes_copy - bytes of another process
 * @mem_fd: /proc/PID/mem
 *
 * Nobody is waited for, not even whoever serves a userfaultfd.
 *
 * Return:  whether all LEN of them could be read.
 * Context: any thread.
 */
bool gauge_notes_copy(int mem_fd, uint64_t address, void *to, size_t len);

#endif

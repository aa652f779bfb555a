/*
 * notes.h - notes that modules of a process carry for wick: name "wick" (include/wick.h)
 *
 * All of it is the target's word: ELF headers and notes are copied, checked, then used.
 *
 * Context: any thread.
 */
#ifndef PROCFS_NOTES_H
#define PROCFS_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_note {
	uint32_t type;
	const unsigned char *desc; /* a view, good during the visit */
	size_t desc_len;
	uint64_t address; /* where the desc stands in the process */
	uint64_t module;  /* where its module's ELF header stands */
};

/**
 * notes_find - call VISIT for all notes of all modules, in the order of their addresses
 * @mem_fd: /proc/PID/mem
 * @maps:   LEN bytes of /proc/PID/maps
 * @visit:  false: the search ends
 *
 * Some 3 us a module.
 */
void notes_find(int mem_fd, const char *maps, size_t len,
		bool (*visit)(void *context, const struct module_note *note), void *context);

/**
 * notes_in - the same from the bytes of one note segment
 * @notes:   LEN bytes
 * @address: where they stand in the process
 * @module:  where their module's ELF header stands
 *
 * Return:  false: VISIT has said so.
 */
bool notes_in(const unsigned char *notes, size_t len, uint64_t address, uint64_t module,
	      bool (*visit)(void *context, const struct module_note *note), void *context);

#endif

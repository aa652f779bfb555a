/*
 * eh_table.h - the search table of a program's .eh_frame, where its linker has made none
 *
 * Static programs of glibc have .eh_frame in memory and no .eh_frame_hdr: only the section headers
 * of the file say where it is.
 */
#ifndef REMOTE_EH_TABLE_H
#define REMOTE_EH_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An .eh_frame_hdr of our own, as if it lay at an address where nothing is.  Zero is none. */
struct eh_table {
	uint64_t at;
	unsigned char *bytes;
	size_t n;
};

/**
 * eh_table_make - from the file that a process runs
 * @headers: the first 64 bytes of the module in memory: of the same file, or nothing is made
 * @bias:    from its addresses to those in memory
 * @end:     of the module in memory
 *
 * Return:  0; -ENOEXEC: it is another file, or has no .eh_frame that can be read; -ENOMEM; -errno.
 * Owns:    the caller; eh_table_release().
 * Context: collector thread.
 */
int eh_table_make(pid_t pid, const void *headers, uint64_t bias, uint64_t end,
		  struct eh_table *ret_table);

/**
 * eh_table_from - the same from the bytes of an .eh_frame
 * @vaddr: where it lies in memory
 *
 * Return:  0; -ENOEXEC; -ENOMEM.
 * Owns:    the caller; eh_table_release().
 * Context: any thread.
 */
int eh_table_from(const unsigned char *bytes, size_t n, uint64_t vaddr, uint64_t end,
		  struct eh_table *ret_table);

/**
 * eh_table_release - give the memory back
 *
 * Context: any thread.
 */
void eh_table_release(struct eh_table *table);

#endif

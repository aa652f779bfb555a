/* procmap.h - one mapping of a process, asked of the kernel by address (Linux 6.11 and later) */
#ifndef ELF_PROCMAP_H
#define ELF_PROCMAP_H

#include "symbolize/elf/elf_head.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct procmap {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint64_t dev;
	uint64_t inode;
	/* Of the file that is mapped, whatever its path names now. */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len; /* 0: it has none, or the kernel did not read it */
	char path[4096];     /* as in maps, " (deleted)" included */
};

/**
 * procmap_open - what procmap_query() asks through
 *
 * Return:  a descriptor of /proc/PID/maps; -errno.
 * Owns:    the caller, to close().
 * Context: any thread.
 */
int procmap_open(pid_t pid);

/**
 * procmap_query - the mapping that holds an address
 *
 * Return:  0; -ENOENT: nothing is mapped there; -ENOTTY: the kernel cannot tell; -errno.
 * Context: any thread.
 */
int procmap_query(int fd, uint64_t addr, struct procmap *ret_map);

#endif

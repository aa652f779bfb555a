/* proc_maps.h - the lines of /proc/PID/maps */
#ifndef PROCFS_PROC_MAPS_H
#define PROCFS_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* User addresses of every supported machine end here (x86-64 with five-level tables). */
#define USER_ADDRESS_END (UINT64_C(1) << 56)

enum {
	MAPS_MAX_BYTES = 32 << 20, /* of a maps file */
};

/* One line.  The path is a view into the text, with the kernel's \012 still in it. */
struct maps_line {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint64_t dev;
	uint64_t inode;
	bool writable;
	bool executable;
	bool deleted; /* " (deleted)" was there; it is not part of the path */
	const char *path;
	size_t path_len;
};

/**
 * proc_maps_line - parse one line
 * @text: LEN bytes without the newline
 *
 * Return:  true and *RET_LINE; false when it is no line of a maps file.
 * Owns:    the path is TEXT's.
 * Context: any thread.
 */
bool proc_maps_line(const char *text, size_t len, struct maps_line *ret_line);

/**
 * proc_maps_path - a line's path with its newlines restored (the kernel escapes them as \012)
 * @to: room for line->path_len bytes
 *
 * Return:  how many bytes were written.
 * Context: any thread.
 */
size_t proc_maps_path(const struct maps_line *line, char *to);

/**
 * proc_maps_each - call VISIT for every line of TEXT that parses
 *
 * A last line without its newline was cut off and is left out.  Stops when VISIT says false.
 *
 * Context: any thread.
 */
void proc_maps_each(const char *text, size_t len,
		    bool (*visit)(void *context, const struct maps_line *line), void *context);

/**
 * proc_maps_of - the same for the maps file of a process
 *
 * Return:  0; -errno of reading it.
 * Context: any thread.
 */
int proc_maps_of(pid_t pid, bool (*visit)(void *context, const struct maps_line *line),
		 void *context);

#endif

/* mapped_file.h - opens the file that a process has mapped, and no other */
#ifndef ELF_MAPPED_FILE_H
#define ELF_MAPPED_FILE_H

#include "base/sample.h"
#include "symbolize/elf/image.h"

/* What tells one file from another. */
struct file_id {
	uint64_t dev;
	uint64_t inode;
	uint64_t size;
	int64_t mtime_ns;
};

struct mapped_file {
	int fd;
	struct file_id id;
	struct elf_head head;
	int head_error; /* negative errno when it is not an ELF that we read */
};

/**
 * mapped_file_open - find and open the file of a mapping
 * @image: what the process's memory says about it
 * @since_ns: when the mapping began, CLOCK_MONOTONIC
 *
 * Tries /proc/PID/map_files, /proc/PID/exe, /proc/PID/root/PATH, PATH, and what the process has
 * open.  A file counts only if it is provably the one that is mapped: its build-id is the
 * mapping's, and where it is another inode its code is what the memory holds; where one of them
 * has no build-id, device and inode are the mapping's; where those are not known and the process
 * is gone, the file has not changed since the mapping began.
 *
 * Return:  0; -errno of the last try; -ESTALE: there is a file, but another one.
 * Owns:    the caller, to close RET_FILE->fd.
 * Context: main thread.
 */
int mapped_file_open(const struct mapping *mapping, const struct image *image, uint64_t since_ns,
		     struct mapped_file *ret_file);

/**
 * mapped_file_stat - the identity of the file of a descriptor
 *
 * Return:  0; -EINVAL: not a regular file; -errno.
 * Context: any thread.
 */
int mapped_file_stat(int fd, struct file_id *ret_id);

/**
 * mapped_file_is_sparse - is a large file nearly all holes?  No linker makes one
 *
 * Such a file could make wick read terabytes of zeros.
 *
 * Context: any thread.
 */
bool mapped_file_is_sparse(int fd);

#endif

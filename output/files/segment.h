/* segment.h - one file of a recording: made new, and always ending on whole text */
#ifndef FILES_SEGMENT_H
#define FILES_SEGMENT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How bytes reach a disk; the tests put faults here. */
struct segment_disk {
	ssize_t (*write)(int fd, const void *bytes, size_t len, off_t offset);
	int (*truncate)(int fd, off_t len);
};

extern const struct segment_disk segment_real_disk;

struct segment {
	const struct segment_disk *disk;
	int fd; /* -1: none */
	char *path;
	uint64_t len; /* of whole text; the file is as long but inside segment_write() */
	bool ragged;  /* it could not be cut: bytes after len wait to be overwritten */
	dev_t dev;
	ino_t ino;
	uint64_t opened_ns;
};

/**
 * segment_make_way - remove the regular file that has a segment's name, if there is one
 *
 * Context: any thread.
 */
void segment_make_way(const char *path);

/**
 * segment_open - make a file that did not exist
 *
 * Return:  0; -EEXIST when the name is taken, by a link too; -errno of open.
 * Owns:    the caller, to segment_close().
 * Context: main thread.
 */
int segment_open(struct segment *segment, const struct segment_disk *disk, const char *path,
		 struct err *err);

/**
 * segment_write - try to add bytes at the end
 * @ret_written: how many the disk took, also on failure
 *
 * Nothing is added to segment.len: say how much of it is whole text by segment_keep().
 *
 * Return:  0 when all were taken; -errno of write (-ENOSPC when it took none).
 * Context: main thread.
 */
int segment_write(struct segment *segment, const void *bytes, size_t len, size_t *ret_written);

/**
 * segment_keep - of the bytes written last the first LEN are whole text; cut the file after them
 *
 * Return:  0; -errno of ftruncate.
 * Context: main thread.
 */
int segment_keep(struct segment *segment, size_t len);

/**
 * segment_cut - shorten the file to LEN bytes of whole text
 *
 * Return:  0; -errno of ftruncate, and the file is as it was.
 * Context: main thread.
 */
int segment_cut(struct segment *segment, uint64_t len);

/**
 * segment_is_gone - whether somebody removed the file
 *
 * Context: main thread.
 */
bool segment_is_gone(const struct segment *segment);

/**
 * segment_close - close the file, remove it if it is empty, give back the memory
 *
 * Context: main thread.
 */
void segment_close(struct segment *segment);

#endif

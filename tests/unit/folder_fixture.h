/* folder_fixture.h - folders and files that a test makes, reads and removes */
#ifndef UNIT_FOLDER_FIXTURE_H
#define UNIT_FOLDER_FIXTURE_H

#include <stddef.h>
#include <sys/types.h>

enum { FOLDER_BYTES = 64 };

/**
 * folder_make - an empty folder in $TMPDIR, or in /tmp; the test fails where it cannot be had
 *
 * Context: any thread, as for all of these.
 */
void folder_make(char path[FOLDER_BYTES]);

/**
 * folder_remove - remove a folder and all in it, if it is still there
 *
 * Context: any thread.
 */
void folder_remove(const char *path);

/**
 * folder_count - how many files a folder has, hidden ones too
 *
 * Context: any thread.
 */
size_t folder_count(const char *path);

/**
 * folder_path - the path of a file of a folder
 *
 * Return:  the path.
 * Owns:    the caller, to free().
 * Context: any thread.
 */
char *folder_path(const char *path, const char *name);

/**
 * folder_put - write a text into a file of a folder, in place of what was there
 *
 * Context: any thread.
 */
void folder_put(const char *path, const char *name, const char *text);

/**
 * file_write - write bytes into a file, in place of what was there
 *
 * Context: any thread.
 */
void file_write(const char *path, const void *bytes, size_t len);

/**
 * file_make - a temporary file of these bytes
 *
 * Return:  its path.
 * Owns:    the caller, to file_remove().
 * Context: any thread.
 */
char *file_make(const void *bytes, size_t len);

/**
 * file_remove - remove what file_make() made, and free its path
 *
 * Context: any thread.
 */
void file_remove(char *path);

/**
 * file_text - a file, whole
 *
 * Return:  its text; "" when there is none.
 * Owns:    the caller, to free().
 * Context: any thread.
 */
char *file_text(const char *path);

/**
 * file_in_memory - a file of these bytes that has no name
 *
 * Return:  its descriptor, which is at the start.
 * Owns:    the caller, to close().
 * Context: any thread.
 */
int file_in_memory(const void *bytes, size_t len);

#endif

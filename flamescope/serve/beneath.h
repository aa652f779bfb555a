/* beneath.h - opens files under a folder, and nothing else, whatever their names say */
#ifndef SERVE_BENEATH_H
#define SERVE_BENEATH_H

/**
 * beneath_open - open NAME, a path relative to FOLDER, for reading
 * @folder: a descriptor of the directory
 * @flags: of open(2), O_RDONLY or O_PATH among them
 *
 * No component may be "", ".", ".." or a symbolic link, nor begin with a dot.  It never waits for
 * the other side of a FIFO.
 *
 * Return:  a descriptor; -EACCES: such a name or link (with O_PATH a link itself where the
 *          kernel has no openat2); -errno of open.
 * Owns:    the caller.
 * Context: any thread.
 */
int beneath_open(int folder, const char *name, int flags);

#endif

/*
 * cleanup.h - locals that are released at the end of their scope (GNU attribute cleanup)
 *
 * Context: any thread.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** cleanup_free - what _cleanup_free_ calls with the local's address */
static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

/** cleanup_fd - what _cleanup_fd_ calls; a negative descriptor is left alone */
static inline void cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/** cleanup_file - what _cleanup_file_ calls; NULL is left alone */
static inline void cleanup_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

/** cleanup_dir - what _cleanup_dir_ calls; NULL is left alone */
static inline void cleanup_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

#define _cleanup_free_ __attribute__((cleanup(cleanup_free)))
#define _cleanup_fd_   __attribute__((cleanup(cleanup_fd)))
#define _cleanup_file_ __attribute__((cleanup(cleanup_file)))
#define _cleanup_dir_  __attribute__((cleanup(cleanup_dir)))

/**
 * steal_fd - take a descriptor out of a local that would close it
 *
 * Return:  the descriptor; *FD is -1 afterwards.
 */
static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

/* The same for a pointer: `return steal_pointer(&text);` */
#define steal_pointer(pointer)                                                                     \
	({                                                                                         \
		__typeof__(*(pointer)) *at_ = (pointer);                                           \
		__typeof__(*(pointer)) stolen_ = *at_;                                             \
		*at_ = NULL;                                                                       \
		stolen_;                                                                           \
	})

#endif

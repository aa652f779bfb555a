/* program.h - what the kernel would run for a path, and whether it takes an agent */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a program is or is not sampled.  The numbers travel on the wire (hello.why): only append. */
enum program_kind {
	PROGRAM_DYNAMIC = 0, /* takes a preloaded agent */
	PROGRAM_STATIC = 1,  /* no PT_INTERP: no loader that could preload */
	PROGRAM_PRIVILEGED =
		2, /* set-user-ID, set-group-ID or capabilities: the loader ignores us */
	PROGRAM_OTHER_ARCH = 3, /* 32-bit or another machine: the agent does not fit */
	PROGRAM_NOT_ELF = 4,    /* a directory, no permission, text without #!: exec will say */
	PROGRAM_MISSING = 5,
	PROGRAM_ATTACHED = 6, /* executed by one that has joined: no hook of ours has seen it */
};

/*
 * The calls that an examination makes, so that the agent can bring raw system calls and the
 * collector libc's.  Each returns -errno on failure.
 */
struct program_io {
	/* O_RDONLY | O_CLOEXEC; of a regular file only (a FIFO would block): else -EACCES */
	int (*open)(const char *path);
	long (*pread)(int fd, void *to, size_t len, uint64_t offset);
	void (*close)(int fd);
	/* mode and owner, and whether the file carries security.capability */
	int (*stat)(int fd, uint32_t *ret_mode, uint32_t *ret_uid, uint32_t *ret_gid,
		    bool *ret_capable);
	uint32_t uid; /* effective ids of the process that is going to exec */
	uint32_t gid;
};

struct program {
	enum program_kind kind;
	bool needs_asan;       /* DT_NEEDED names libasan: it has to be preloaded first */
	char asan[32];         /* its soname, "libasan.so.8" */
	char interpreter[256]; /* of a #! script, the last of a chain; "" otherwise */
};

/**
 * program_examine - look at what exec of PATH would run, through #! lines (at most 5, as the
 * kernel)
 *
 * Freestanding, less than 2 KiB of stack, no memory of its own.
 *
 * Return:  *RET_PROGRAM is always set.
 * Context: agent; also between vfork and exec.  Any thread.
 */
void program_examine(const struct program_io *io, const char *path, struct program *ret_program);

#endif

/* program.h - what the kernel would run for a path, and whether that program can load the agent */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a program is or is not sampled. The numbers are in the handshake (why): only append. */
enum program_kind {
	PROGRAM_DYNAMIC = 0, /* can load a preloaded agent */
	PROGRAM_STATIC = 1,  /* no PT_INTERP: no dynamic loader */
	PROGRAM_PRIVILEGED =
		2, /* set-user-ID, set-group-ID or capabilities: the loader ignores LD_PRELOAD */
	PROGRAM_OTHER_ARCH = 3, /* 32-bit or another machine: the agent does not fit */
	PROGRAM_NOT_ELF =
		4, /* a directory, not readable, or a text without #!: exec reports the error */
	PROGRAM_MISSING = 5,
	PROGRAM_ATTACHED =
		6, /* executed by a process that wick attached to: no hook saw the exec */
};

/*
 * The system calls that an examination makes: raw ones in the agent, libc's in the collector. Each
 * returns -errno on failure.
 */
struct program_io {
	/* O_RDONLY | O_CLOEXEC; -EACCES unless it is a regular file (a FIFO would block) */
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
 * program_examine - examine what exec of PATH would run, through at most 5 #! lines (as the kernel)
 *
 * Freestanding, less than 2 KiB of stack, no memory of its own.
 *
 * Return:  *RET_PROGRAM is always set.
 * Context: agent; also between vfork and exec.  Any thread.
 */
void program_examine(const struct program_io *io, const char *path, struct program *ret_program);

#endif

/* attach_place.h - finds libc's functions in a process, and an agent that is already loaded */
#ifndef ATTACH_ATTACH_PLACE_H
#define ATTACH_ATTACH_PLACE_H

#include "base/err.h"
#include "sampler/attach/inject.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A loaded file, and where in it a thread must not be interrupted. */
struct attach_module {
	uint64_t start;
	uint64_t end;
	bool loader; /* ld.so or the agent: never interrupt a thread in it */
	bool examined;
	uint64_t critical[64][2]; /* code of its allocator, loader and threads: [start, end) */
	size_t n_critical;
};

struct attach_modules {
	pid_t pid;
	int signal;               /* sampling signal of a loaded agent; 0: none */
	struct attach_module *at; /* by address */
	size_t n;
	size_t size;
	size_t n_examined;
};

/**
 * attach_place_find - read the process's maps, and find functions in its libc
 *
 * Return:  0; -ENOEXEC: no libc that could load the agent (a static program); -EPROTO: it has the
 *          agent of another version of wick; -errno. The reason is in ERR.
 * Owns:    the caller: attach_modules_release().
 * Context: any thread.
 */
int attach_place_find(pid_t pid, struct inject_place *ret_place, struct attach_modules *ret_modules,
		      struct err *err);

/**
 * attach_modules_release - free the list of modules
 *
 * Context: any thread.
 */
void attach_modules_release(struct attach_modules *modules);

/**
 * attach_is_critical - whether a thread with this pc on its stack may hold a lock of libc's
 *
 * That is code of an allocator, of a loader, or code that creates and ends threads and processes.
 *
 * Context: any thread.
 */
bool attach_is_critical(struct attach_modules *modules, uint64_t pc);

#endif

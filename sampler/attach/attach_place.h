/* attach_place.h - where in a process its libc's functions are, and an agent that is there already
 */
#ifndef ATTACH_ATTACH_PLACE_H
#define ATTACH_ATTACH_PLACE_H

#include "base/err.h"
#include "sampler/attach/inject.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A loaded file whose code is walked through, as far as it matters who may be interrupted. */
struct attach_module {
	uint64_t start;
	uint64_t end;
	bool loader; /* ld.so, or the agent: never to be interrupted */
	bool examined;
	uint64_t critical[64][2]; /* of its allocator, loader and threads: [start, end) */
	size_t n_critical;
};

struct attach_modules {
	pid_t pid;
	int signal;               /* of an agent that is there; 0: none */
	struct attach_module *at; /* by address */
	size_t n;
	size_t size;
	size_t n_examined;
};

/**
 * attach_place_find - read the process's maps, and of its libc's symbols what is needed
 *
 * Return:  0; -ENOEXEC: no libc that could load the agent (a static program); -EPROTO: an
 *          agent of another version of wick is in it; -errno.  The reason is in ERR.
 * Owns:    the caller: attach_modules_release().
 * Context: any thread.
 */
int attach_place_find(pid_t pid, struct inject_place *ret_place, struct attach_modules *ret_modules,
		      struct err *err);

/**
 * attach_modules_release - forget them
 *
 * Context: any thread.
 */
void attach_modules_release(struct attach_modules *modules);

/**
 * attach_is_critical - whether a thread with this pc among its callers may hold a lock of libc's
 *
 * In an allocator, a loader, or where threads and processes are made and end.
 *
 * Context: any thread.
 */
bool attach_is_critical(struct attach_modules *modules, uint64_t pc);

#endif

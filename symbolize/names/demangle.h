/*
 * demangle.h - readable names, through libiberty, within a time
 *
 * The cost of a mangled name does not depend on its length: 30 bytes can take forever.  A name that
 * takes more than some 10 ms of CPU stays mangled.  Once the names of an origin have taken 100 ms
 * more than 20 us each, its further names stay mangled too.
 */
#ifndef NAMES_DEMANGLE_H
#define NAMES_DEMANGLE_H

#include <stdatomic.h>
#include <stdbool.h>

/* CPU that the names of one origin, a module or a process's map, have used.  Zero: none. */
struct demangle_budget {
	_Atomic unsigned n_names;
	_Atomic unsigned ticks; /* of 4 ms of CPU */
};

/**
 * demangle - a readable name
 * @name: mangled (C++ Itanium, Rust legacy or v0) or plain; those over 64 KiB (Rust v0: 8 KiB) are
 *        not read
 * @full: with parameters
 * @budget: NAME's origin's
 *
 * The thread's first call creates a timer and unblocks its signal, SIGVTALRM.
 *
 * Return:  0; -EINVAL: NAME is not mangled; -ETIME: it took too long; -E2BIG: it is over 32 KiB;
 *          -EDQUOT: it was not tried, as others of its origin took too long; -ENOMEM.
 * Owns:    the caller, to free() RET_READABLE.
 * Context: any thread.
 */
int demangle(const char *name, bool full, struct demangle_budget *budget, char **ret_readable);

#endif

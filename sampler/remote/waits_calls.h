/* waits_calls.h - which system calls wait, for what, and where their arguments say so */
#ifndef REMOTE_WAITS_CALLS_H
#define REMOTE_WAITS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum waits_object_kind {
	OBJECT_NONE,
	OBJECT_FD,         /* a descriptor */
	OBJECT_POLL,       /* a list of pollfd, and how many in the next argument */
	OBJECT_FUTEX,      /* an address */
	OBJECT_FUTEX_LIST, /* a list of struct futex_waitv */
	OBJECT_PATH,       /* a path */
	OBJECT_PEER,       /* a descriptor, a socket address and its length */
	OBJECT_PID,        /* as wait4 has it */
	OBJECT_WAITID,     /* a kind of id, and an id */
	OBJECT_MSG,        /* a System V id */
	OBJECT_SEM,
	OBJECT_SHM,
};

enum waits_timeout_kind {
	TIMEOUT_NONE,
	TIMEOUT_MS,       /* milliseconds; negative: none */
	TIMEOUT_TIMESPEC, /* the address of one; NULL: none */
	TIMEOUT_TIMEVAL,
	TIMEOUT_CLOCK, /* a struct timespec; a moment with TIMER_ABSTIME in the argument before it
			*/
};

struct waits_call {
	const char *word;
	enum waits_object_kind object;
	uint8_t object_arg;
	enum waits_timeout_kind timeout;
	uint8_t timeout_arg;
	bool for_process; /* it waits for another process, and cannot be interrupted */
};

/**
 * waits_call - what is known of a system call
 *
 * Return:  its row; NULL for a call that is not in the table.
 * Owns:    static.
 * Context: any thread.
 */
const struct waits_call *waits_call(long nr);

#endif

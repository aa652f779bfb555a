/* waits.h - what a blocked thread waits in, and for what, in words */
#ifndef REMOTE_WAITS_H
#define REMOTE_WAITS_H

#include "base/sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct blocked_at;
struct remote;

/**
 * waits_word - the kind of call that a blocked thread is in
 *
 * One word for calls that wait alike: "futex", "epoll", "poll", "select", "read", "write",
 * "accept", "recv", "send", "connect", "sleep", "wait", "signal", "msg", "sem", "flock", "fsync",
 * "open", "io_uring" and so on; a call's own name where it stands alone; "page-fault" outside of
 * any call (a stopped thread can be there too: it waits in nothing); "other" for unknown calls.
 *
 * Return:  the word, never NULL.
 * Owns:    static.
 * Context: any thread.
 */
const char *waits_word(const struct blocked_at *at);

/**
 * waits_state - the state of a thread from the letter of its stat file and the call it is in
 * @at: NULL when the call is not known
 *
 * 'R' is STATE_RUNNING: only schedstat tells running from runnable.  'D' in a call that waits for
 * another process, not for a disk (vfork), is STATE_SLEEPING.  What will not run again is
 * STATE_STOPPED, an unknown letter STATE_SLEEPING.
 *
 * Context: any thread.
 */
enum sample_state waits_state(char stat_letter, const struct blocked_at *at);

/**
 * waits_object - what a blocked thread waits for in its call, as far as it is cheap to know
 *
 * "futex:0x7f00", the link of a descriptor ("pipe:[12]", "socket:[7]", "/path/file",
 * "anon_inode:[eventpoll]"), a time-out ("500ms", after a comma where there is more to say),
 * "deadline" for a sleep up to a moment, "pid:12", "sem:3", a path, an address to connect to.  What
 * is too long begins with "...".  "" when nothing is known.  The bytes are the target's: any may
 * be there.  No file of the target is opened, and of its memory at most a path's 4 KiB are read.
 *
 * Costs 0.2 us from the arguments alone, 2 us more for what they point to, 4.5 us for a
 * descriptor's link: for a thread that has begun another wait, not at every scan.
 *
 * Context: collector thread.
 */
void waits_object(struct remote *remote, const struct blocked_at *at, char to[SAMPLE_OBJECT_SIZE]);

/**
 * waits_restarted - find out which call it is that the kernel has restarted
 *
 * A sleep, poll or futex wait that a stop interrupted goes on as restart_syscall; its arguments
 * are still there, and its number stands in the instructions before the pc.  Others, and those
 * without a number there, are left as they are.
 *
 * Context: collector thread.
 */
void waits_restarted(struct remote *remote, struct blocked_at *at);

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

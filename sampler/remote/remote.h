/*
 * remote.h - memory and modules of another process, as the unwinder reads them
 *
 * Everything that is read here is the target's word: sizes and addresses are checked, loops and
 * memory have a bound, and a process that lies gets wrong stacks of itself, no more.
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "sampler/unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	REMOTE_STACK_FIRST = 16 << 10, /* bytes of a stack that are copied at once */
};

/* Keeps pages of read-only files, modules and unwind rules between walks: one a process. */
struct remote;

/**
 * remote_new - a view of a process's memory
 *
 * Nothing is read yet: a process that may not be read is found out by remote_begin().
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; remote_free().
 */
int remote_new(struct remote **ret, pid_t pid);

/** remote_free - give it back; NULL is fine */
void remote_free(struct remote *remote);

/**
 * remote_changed - its mappings have changed: forget modules, pages and rules
 *
 * Without it a change is noticed by a code address that nothing known covers, and by looking
 * again from time to time.
 */
void remote_changed(struct remote *remote);

/** remote_pid - whose memory it is */
pid_t remote_pid(const struct remote *remote);

/**
 * remote_copy - bytes at an address, apart from any walk
 *
 * Waits for no userfaultfd, and reads what the process itself may not (PROT_NONE) too.
 *
 * Return:  how many could be read, 0 to LEN.
 */
size_t remote_copy(struct remote *remote, uint64_t address, void *to, size_t len);

/**
 * remote_begin - copy the stack from SP on, for one walk
 *
 * Return:  0; -ESRCH: there is no such process; -EPERM: it may not be read; -EFAULT: there is no
 *          memory at SP.
 */
int remote_begin(struct remote *remote, uint64_t sp);

/**
 * remote_hold - copy BYTES of the stack now, or all of it when it is shorter
 *
 * For a thread that is about to run on: what was not copied is read as it is later.
 */
void remote_hold(struct remote *remote, size_t bytes);

/**
 * remote_reader - what the unwinder reads by, after remote_begin()
 *
 * Owns:    the remote's; what it reads of the stack is as it was at remote_begin(), or later.
 */
struct unwind_reader *remote_reader(struct remote *remote);

/**
 * remote_rules - the rules of this process's code
 *
 * Owns:    the remote's.
 */
struct unwind_cache *remote_rules(struct remote *remote);

/**
 * remote_take_refused - the last address that was requested and that no user memory can have
 *
 * Return:  0 when there was none since the last call.
 */
uint64_t remote_take_refused(struct remote *remote);

/**
 * remote_is_spent - whether this walk has read so much that nothing more is read for it
 *
 * Unwind tables, code and stacks can be made so that a walk would take minutes.
 */
bool remote_is_spent(const struct remote *remote);

/** remote_is_code - whether an address can be executed */
bool remote_is_code(const struct remote *remote, uint64_t address);

/**
 * remote_stop_text - why a stack is incomplete, for people
 * @stop: enum unwind_stop
 *
 * Return:  a few words; "" for a complete stack.
 * Owns:    static.
 * Context: any thread.
 */
const char *remote_stop_text(unsigned stop);

#endif

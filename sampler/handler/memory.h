/* memory.h - the unwinder's reader inside the target: reads nothing that could fault */
#ifndef HANDLER_MEMORY_H
#define HANDLER_MEMORY_H

#include "sampler/handler/modules.h"
#include "sampler/handler/slot.h"
#include "sampler/unwind/unwind.h"

enum {
	MEMORY_PAGES = 4, /* pages proven readable during this walk */
	MEMORY_NEW = 3,   /* new modules that a walk can carry */
	MEMORY_BUFFERS = 64,
};

/* A reader for one walk. */
struct memory {
	struct unwind_reader reader; /* first: the unwinder hands it back */
	struct unwind_regs regs;     /* where the thread was interrupted */
	struct process *p;
	bool no_syscalls; /* no system call may be made */
	bool unloading;   /* module bytes may go away: they are read through the kernel */
	uint8_t n_seen;
	uint8_t next_page;
	uint64_t module_start; /* of the last find() */
	uint64_t module_end;
	uint64_t pages[MEMORY_PAGES];
	uint64_t seen[MEMORY_NEW]; /* a pc in each module to be announced before the sample */
};

/**
 * memory_acquire - room for a reader that is not on the stack, which is a guest's
 * @start: where to begin to look, best the slot's number
 *
 * Return:  the room, or NULL when MEMORY_BUFFERS handlers have one each.
 * Owns:    the caller, until memory_release().
 * Context: handler.  Any number of threads.
 */
struct memory *memory_acquire(uint32_t start);

/**
 * memory_release - the walk is over
 *
 * Context: handler.
 */
void memory_release(struct memory *m);

/**
 * memory_init - a reader for a thread that was interrupted at SP
 *
 * The window of the stack that is known to be readable stands in the slot; it is proven page by
 * page, up to where the thread's stack must end, the first time.
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void memory_init(struct memory *m, struct process *p, struct slot_own *own, uint64_t sp);

/**
 * memory_prove_window - find out how far above SP the stack can be read, for later walks
 *
 * Context: handler.  Between slot_enter() and slot_leave(); not in AGENT_NO_SYSCALLS.
 */
void memory_prove_window(struct process *p, struct slot_own *own, uint64_t sp);

/**
 * memory_probe - whether the 8 bytes at ADDRESS can be read
 *
 * rt_sigprocmask with an impossible HOW: EFAULT or EINVAL, and nothing changes.
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
bool memory_probe(uint64_t address);

/**
 * memory_was_blocked - whether the thread was in a system call that the signal has ended
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
bool memory_was_blocked(const ucontext_t *uc);

#endif

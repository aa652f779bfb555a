/* memory.h - reads memory for the unwinder inside the target without ever faulting */
#ifndef HANDLER_MEMORY_H
#define HANDLER_MEMORY_H

#include "sampler/handler/modules.h"
#include "sampler/handler/slot.h"
#include "sampler/unwind/unwind.h"

enum {
	MEMORY_PAGES = 4, /* pages found readable during this walk */
	MEMORY_NEW = 3,   /* new modules that a walk can record */
	MEMORY_BUFFERS = 64,
};

/* A reader for one walk. */
struct memory {
	struct unwind_reader reader; /* first: the unwinder passes its address back */
	struct unwind_regs regs;     /* where the thread was interrupted */
	struct process *p;
	bool no_syscalls; /* system calls are forbidden */
	bool unloading;   /* a module may be unmapped: read through the kernel */
	uint8_t n_seen;
	uint8_t next_page;
	uint64_t module_start; /* of the last find() */
	uint64_t module_end;
	uint64_t pages[MEMORY_PAGES];
	uint64_t seen[MEMORY_NEW]; /* a pc in each module to announce before the sample */
};

/**
 * memory_acquire - a reader that is not on the stack of the program's thread
 * @start: where the search begins, best the slot's number
 *
 * Return:  the reader, or NULL when all MEMORY_BUFFERS are in use.
 * Owns:    the caller, until memory_release().
 * Context: handler.  Any number of threads.
 */
struct memory *memory_acquire(uint32_t start);

/**
 * memory_release - return the reader of memory_acquire()
 *
 * Context: handler.
 */
void memory_release(struct memory *m);

/**
 * memory_init - prepare a reader for a thread that was interrupted at SP
 *
 * The slot keeps the range of the stack that is known to be readable. It is probed page by page, up
 * to the end of the thread's stack, the first time.
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void memory_init(struct memory *m, struct process *p, struct slot_own *own, uint64_t sp);

/**
 * memory_prove_window - find out how far above SP the stack is readable, for later walks
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
 * memory_was_blocked - whether the signal interrupted a blocking system call
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
bool memory_was_blocked(const ucontext_t *uc);

#endif

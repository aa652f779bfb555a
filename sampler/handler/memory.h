/*
 * memory.h - reads memory for the unwinder inside the target without ever faulting, and
 * finds modules, also those that the collector does not know yet
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef HANDLER_MEMORY_H
#define HANDLER_MEMORY_H

#include "sampler/handler/process.h"
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

/** memory_release - return the reader of memory_acquire() */
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
 * memory_copy - copy bytes that may be unmapped at any moment
 *
 * process_vm_readv of the process itself.
 *
 * Return:  whether all LEN of them could be read.
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
bool memory_copy(const struct process *p, uint64_t address, void *to, size_t len);

/**
 * memory_was_blocked - whether the signal interrupted a blocking system call
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
bool memory_was_blocked(const ucontext_t *uc);

/* A module seen for the first time; path belongs to the loader. */
struct module_seen {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	const char *path;
};

/** modules_page_known - whether a page of a module is known to be readable */
static inline bool modules_page_known(struct process *p, uint64_t page)
{
	return atomic_load_explicit(&p->pages[page / RING_PAGE % PROCESS_PAGES],
				    memory_order_relaxed) == page;
}

/** modules_page_keep - note that a page of a module is readable */
static inline void modules_page_keep(struct process *p, uint64_t page)
{
	atomic_store_explicit(&p->pages[page / RING_PAGE % PROCESS_PAGES], page,
			      memory_order_relaxed);
}

/**
 * modules_find - the module at a pc
 * @ret_seen: also its name; path is NULL without _dl_find_object
 *
 * Return:  false for code outside any module.
 */
bool modules_find(struct process *p, uint64_t pc, struct unwind_module *ret_module,
		  struct module_seen *ret_seen);

/**
 * modules_have_loader - whether libc has _dl_find_object; otherwise a snapshot of the modules is
 * used
 */
bool modules_have_loader(void);

/**
 * modules_announce - mark a module as known to the collector
 *
 * Return:  true for the one caller that has to announce it; false when it is known, or the table is
 *          full (then it is not announced).
 * Context: handler.  Any number of threads.
 */
bool modules_announce(struct process *p, uint64_t start);

/**
 * modules_forget_gone - remove unloaded modules, so that a successor at the address is announced
 *
 * Context: agent.  One caller at a time (dlclose).
 */
void modules_forget_gone(struct process *p);

#endif

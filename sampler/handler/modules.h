/* modules.h - which module a pc is in, and which modules the collector has not heard of */
#ifndef HANDLER_MODULES_H
#define HANDLER_MODULES_H

#include "sampler/handler/process.h"

/* A module that was met for the first time; path belongs to the loader. */
struct module_seen {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	const char *path;
};

/**
 * modules_find - the module at a pc
 * @ret_seen: its name as well; path is NULL where libc has no _dl_find_object
 *
 * Return:  false for code that belongs to no module.
 * Context: handler.
 */
bool modules_find(struct process *p, uint64_t pc, struct unwind_module *ret_module,
		  struct module_seen *ret_seen);

/**
 * modules_have_loader - whether libc tells modules by pc; otherwise the snapshot must be kept
 *
 * Context: handler.
 */
bool modules_have_loader(void);

/**
 * modules_announce - note that the collector knows a module
 *
 * Return:  true for the one caller that has to tell it; false when it is known, and when the
 *          table is full (the module goes unannounced).
 * Context: handler.  Any number of threads.
 */
bool modules_announce(struct process *p, uint64_t start);

/**
 * modules_forget_gone - drop what is no longer loaded, so that its successor is announced
 *
 * Context: agent.  One caller at a time (dlclose).
 */
void modules_forget_gone(struct process *p);

/**
 * modules_page_known - whether a page of a module was proven readable
 *
 * Context: handler.
 */
static inline bool modules_page_known(struct process *p, uint64_t page)
{
	return atomic_load_explicit(&p->pages[page / RING_PAGE % PROCESS_PAGES],
				    memory_order_relaxed) == page;
}

/**
 * modules_page_keep - note that it was
 *
 * Context: handler.
 */
static inline void modules_page_keep(struct process *p, uint64_t page)
{
	atomic_store_explicit(&p->pages[page / RING_PAGE % PROCESS_PAGES], page,
			      memory_order_relaxed);
}

#endif

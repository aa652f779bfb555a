/* modules.h - finds the module of a pc, and the modules that the collector does not know yet */
#ifndef HANDLER_MODULES_H
#define HANDLER_MODULES_H

#include "sampler/handler/process.h"

/* A module seen for the first time; path belongs to the loader. */
struct module_seen {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	const char *path;
};

/**
 * modules_find - the module at a pc
 * @ret_seen: also its name; path is NULL without _dl_find_object
 *
 * Return:  false for code outside any module.
 * Context: handler.
 */
bool modules_find(struct process *p, uint64_t pc, struct unwind_module *ret_module,
		  struct module_seen *ret_seen);

/**
 * modules_have_loader - whether libc has _dl_find_object; otherwise a snapshot of the modules is
 * used
 *
 * Context: handler.
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

/**
 * modules_page_known - whether a page of a module is known to be readable
 *
 * Context: handler.
 */
static inline bool modules_page_known(struct process *p, uint64_t page)
{
	return atomic_load_explicit(&p->pages[page / RING_PAGE % PROCESS_PAGES],
				    memory_order_relaxed) == page;
}

/**
 * modules_page_keep - note that a page of a module is readable
 *
 * Context: handler.
 */
static inline void modules_page_keep(struct process *p, uint64_t page)
{
	atomic_store_explicit(&p->pages[page / RING_PAGE % PROCESS_PAGES], page,
			      memory_order_relaxed);
}

#endif

/* module_list.h - what the symbolizer says of its modules, as the "# wick-end" line has it */
#ifndef SUMMARY_MODULE_LIST_H
#define SUMMARY_MODULE_LIST_H

#include "base/json.h"
#include "output/text/perf_script.h"
#include "symbolize/symbolize.h"

#include <stddef.h>

/* Zero is empty. */
struct module_list {
	struct perf_script_modules modules;
	struct perf_script_module *at;
	size_t room;
};

/**
 * module_list_set - take what the symbolizer says now
 *
 * Owns:    the strings are the symbolizer's.
 * Context: main thread.
 */
void module_list_set(struct module_list *list, const struct symbolize_module *from, size_t n);

/**
 * module_list_release - give back the memory
 *
 * Context: main thread.
 */
void module_list_release(struct module_list *list);

/**
 * module_list_text - a string of the list, read back: its escapes undone
 *
 * What does not fit is cut.
 *
 * Context: any thread.
 */
void module_list_text(const struct json_pair *pair, char *to, size_t size);

/**
 * servers_print - "3 modules requested, 1 found in 0.50 s", and what went wrong first
 *
 * Context: any thread.
 */
void servers_print(const struct symbolize_servers *servers, struct buf *buf);

#endif

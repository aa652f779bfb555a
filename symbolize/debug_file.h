/* debug_file.h - the separate file that holds what was stripped from a module */
#ifndef SYMBOLIZE_DEBUG_FILE_H
#define SYMBOLIZE_DEBUG_FILE_H

#include <libelf.h>

struct module;

/**
 * debug_file_open - find the debug file of a module
 * @elf: the module, opened
 *
 * By build-id below DEBUG_ROOT/.build-id, then by .gnu_debuglink in the module's folder, its
 * .debug and its folder below DEBUG_ROOT; as the process sees them, then as we do.  A file
 * counts only if its build-id is the module's, or, where the module has none, its CRC the
 * link's.
 *
 * Return:  a descriptor, and its path; -ENOENT.
 * Owns:    the caller, to close() and free().
 * Context: any thread.  One at a time for one ELF.
 */
int debug_file_open(const struct module *module, Elf *elf, char **ret_path);

#endif

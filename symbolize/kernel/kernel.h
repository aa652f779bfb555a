/*
 * kernel.h - names of the kernel, its modules and bpf programs, from /proc/kallsyms
 *
 * Context: any thread.
 */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include <stdint.h>

struct kernel_symbols;

/**
 * kernel_symbols_new - read kallsyms, or what was kept of it for this boot
 * @path: NULL: /proc/kallsyms
 * @cache_folder: where a copy is kept by boot id; NULL: nowhere
 *
 * Return:  0; -EPERM: the addresses in it are hidden (kernel.kptr_restrict); -EBADMSG; -ENOMEM;
 *          -errno.
 * Owns:    the caller; kernel_symbols_free().
 */
int kernel_symbols_new(const char *path, const char *cache_folder,
		       struct kernel_symbols **ret_symbols);

/** kernel_symbols_free - NULL is fine */
void kernel_symbols_free(struct kernel_symbols *symbols);

/**
 * kernel_symbols_find - the symbol an address is in
 * @ret_module: "[kernel.kallsyms]", "[ext4]", "[bpf]"
 *
 * Return:  its name; NULL: none.
 * Owns:    the symbols.
 */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t addr,
				uint64_t *ret_start, const char **ret_module);

#endif

/*
 * symbols.h - dynamic symbols of a module in another process's memory
 *
 * It comes from the process and is not trusted: every length is bounded.
 *
 * Context: collector thread.
 */
#ifndef CONTEXT_SYMBOLS_H
#define CONTEXT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_symbols {
	int mem_fd; /* /proc/PID/mem */
	uint64_t bias;
	uint64_t symbols;
	uint64_t strings;
	uint64_t strings_bytes;
	uint64_t gnu_hash; /* 0: it has none */
	uint64_t hash;
	uint64_t debug; /* DT_DEBUG: address of the loader's struct r_debug; 0: none */
};

/**
 * module_memory - copy bytes of a process
 *
 * It never waits, not even for a userfaultfd handler.
 *
 * Return:  whether all LEN of them could be read.
 */
bool module_memory(int mem_fd, uint64_t address, void *to, size_t len);

/**
 * module_symbols_read - find the symbol table in a module's dynamic section
 * @bias:    what to add to the module's addresses
 * @dynamic: where the section is
 *
 * Return:  whether there is one that can be searched; debug is set in any case.
 */
bool module_symbols_read(struct module_symbols *ret_symbols, int mem_fd, uint64_t bias,
			 uint64_t dynamic);

/**
 * module_symbols_find - a symbol that the module defines
 * @type:      STT_TLS, STT_OBJECT
 * @ret_value: its st_value, without the bias
 *
 * Return:  false: it defines none of that name and type.
 */
bool module_symbols_find(const struct module_symbols *symbols, const char *name, unsigned type,
			 uint64_t *ret_value);

#endif

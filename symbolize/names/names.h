/*
 * names.h - readable names; each is demangled once
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef NAMES_NAMES_H
#define NAMES_NAMES_H

#include "base/intern.h"
#include "base/map.h"
#include "symbolize/names/demangle.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero has none, and shows them without parameters. */
struct names {
	struct intern strings; /* mangled and readable */
	struct map readable;   /* interned name -> interned readable name */
	struct map mangled;    /* interned names that could not be demangled within bounds */
	bool full;             /* with parameters */
};

/**
 * names_intern - the one copy of a string
 *
 * Return:  NULL when memory ran out.
 * Owns:    the names, until names_release().
 */
const char *names_intern(struct names *names, const char *text);

/**
 * names_readable - the readable name of a symbol
 * @budget: of its module or map
 *
 * Return:  NULL when memory ran out.
 * Owns:    the names.
 */
const char *names_readable(struct names *names, const char *symbol, struct demangle_budget *budget);

/**
 * names_same_function - does a symbol table's name mean the function that DWARF names?
 *
 * Marks of a part or a copy (.cold, .part.0) do not matter, nor which of its constructors or
 * destructors it is; of one that only DWARF has unmangled the last word tells.
 */
bool names_same_function(struct names *names, const char *symbol, const char *dwarf,
			 struct demangle_budget *budget);

/**
 * names_mangled - different names that took too long to demangle, counted for each struct names
 *
 * Context: any thread.
 */
uint64_t names_mangled(void);

/** names_release - free all names */
void names_release(struct names *names);

#endif

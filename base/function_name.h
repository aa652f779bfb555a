/* function_name.h - the suffixes that compilers append to the names of copies of a function */
#ifndef BASE_FUNCTION_NAME_H
#define BASE_FUNCTION_NAME_H

#include <stddef.h>

/**
 * function_name_len - the bytes of a function's name without the marks of a copy
 *
 * "f" for f.constprop.0, f.isra.0.cold, f.part.0, f.lto_priv.0 and f.llvm.123; all of "f.func1"
 * (Go's closures) and of what does not end with such a mark.
 *
 * Source:  gcc's clone_function_name(), LLVM's ThinLTO promotion (".llvm.").
 * Context: any thread.
 */
size_t function_name_len(const char *name);

#endif

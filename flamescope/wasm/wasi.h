/* wasi.h - what wasi-libc lacks; the compiler reads it before every file of the page's models */
#ifndef WASM_WASI_H
#define WASM_WASI_H

#include <stddef.h>

/**
 * qsort_r - sort N elements of SIZE bytes by a comparison that has a context (qsort_r(3), GNU's)
 *
 * Context: main thread, of a page; not from within a comparison.
 */
void qsort_r(void *base, size_t n, size_t size,
	     int (*compare)(const void *a, const void *b, void *context), void *context);

#endif

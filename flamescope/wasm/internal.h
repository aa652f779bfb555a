/*
 * internal.h - what the page calls, and what it is given
 *
 * The page knows no struct: it holds addresses, reads columns as views, and everything else as
 * JSON.  Names of columns are those of flamescope/web/models/model.js.
 *
 * Context: main thread, of a page.
 */
#ifndef WASM_INTERNAL_H
#define WASM_INTERNAL_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WASM_EXPORT(name) __attribute__((export_name(name), visibility("default")))
#define WASM_IMPORT(name) __attribute__((import_module("page"), import_name(name)))

/* How the elements of a column are to be read. */
enum wasm_type { WASM_U8, WASM_U16, WASM_U32, WASM_I32, WASM_F64 };

/* A column: the page copies it, and frees what is OWNED. */
struct wasm_view {
	const void *data;
	uint32_t n;
	uint32_t type;
	uint32_t owned;
};

/** wasm_err - the error that the page asks for when a call has failed; zeroed before each */
struct err *wasm_err(void);

/** wasm_answer - an empty buffer for the JSON that a call returns; it lasts until the next */
struct buf *wasm_answer(void);

/** wasm_view - a column that lasts as long as what it is part of */
const struct wasm_view *wasm_view(const void *data, size_t n, enum wasm_type type);

/**
 * wasm_doubles - a column of N doubles to be filled, which the page frees
 *
 * Return:  the view; without data when memory ran out.
 */
const struct wasm_view *wasm_doubles(size_t n, double **ret_values);

/** wasm_numbers - the same of 32-bit numbers */
const struct wasm_view *wasm_numbers(size_t n, uint32_t **ret_values);

/** WASM_DOUBLES - a column out of a field of an array of N structs */
#define WASM_DOUBLES(array, n, field)                                                              \
	__extension__({                                                                            \
		double *wasm_to = NULL;                                                            \
		const struct wasm_view *wasm_of = wasm_doubles(n, &wasm_to);                       \
                                                                                                   \
		for (size_t wasm_i = 0; wasm_to && wasm_i < (n); wasm_i++)                         \
			wasm_to[wasm_i] = (double)(array)[wasm_i].field;                           \
		wasm_of;                                                                           \
	})

/** WASM_NUMBERS - the same of 32-bit numbers */
#define WASM_NUMBERS(array, n, field)                                                              \
	__extension__({                                                                            \
		uint32_t *wasm_to = NULL;                                                          \
		const struct wasm_view *wasm_of = wasm_numbers(n, &wasm_to);                       \
                                                                                                   \
		for (size_t wasm_i = 0; wasm_to && wasm_i < (n); wasm_i++)                         \
			wasm_to[wasm_i] = (uint32_t)(array)[wasm_i].field;                         \
		wasm_of;                                                                           \
	})

#endif

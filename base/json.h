/*
 * json.h - JSON (RFC 8259): written whatever a name holds, and scanned for plain values
 *
 * Context: any thread.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The names are not jansson's: a function of the program's would stand in for the library's. */

/**
 * json_add_string - a string literal, its quotes included
 *
 * It may stand in a line of a recording, inside <script>, and on a terminal: `"`, `\`, `<`, `>`,
 * white space but for the blank, and all that is not seen as itself are \u escapes.  Bytes that are
 * no UTF-8 are U+FFFD.
 */
void json_add_string(struct buf *buf, const char *text);

/**
 * json_add_text - a member: "NAME":"TEXT", with a comma before it unless it is the first
 * @name: of our own: it is not escaped, as for all of these
 */
void json_add_text(struct buf *buf, const char *name, const char *text);

/** json_add_number - a member: "NAME":VALUE */
void json_add_number(struct buf *buf, const char *name, uint64_t value);

/** json_add_bool - a member: "NAME":true or false */
void json_add_bool(struct buf *buf, const char *name, bool value);

/* json_scan: the names and plain values of a line of JSON, in order, without building anything */

/* Zero it but for at, which points to the text. */
struct json_scan {
	const char *at;
	unsigned depth; /* brackets that are open */
};

/* A "name":value whose value is a string, a number or a word; views into the text. */
struct json_pair {
	const char *name;
	size_t name_len;
	const char *value; /* a string's without its quotes, escapes as they stand */
	size_t value_len;
	unsigned depth; /* 1: of the outermost object */
	bool is_string;
};

/**
 * json_scan_next - the next name with a plain value
 *
 * Return:  true and *RET_PAIR; false at the end, or where it is no JSON any more.
 */
bool json_scan_next(struct json_scan *scan, struct json_pair *ret_pair);

/** json_scan_is - whether a pair has this name */
bool json_scan_is(const struct json_pair *pair, const char *name);

/**
 * json_scan_number - the value of a pair as a number
 *
 * Return:  true; false when it is no whole number from 0 to UINT64_MAX.
 */
bool json_scan_number(const struct json_pair *pair, uint64_t *ret_value);

/*
 * json_walk: the values of a text that ends with a NUL, by their places in it
 *
 * A place may have blanks before it, and NULL is that of what is not there: it has no members and
 * no elements.  Each call takes as long as what it passes over.
 */

/** json_skip - what comes after a value; NULL: the text ends first, or is no JSON */
const char *json_skip(const char *value);

/** json_find - the member of an object by its name, which has no escapes; NULL: there is none */
const char *json_find(const char *object, const char *name);

/** json_first - the first element of an array; NULL: it has none */
const char *json_first(const char *array);

/** json_next - the element after one; NULL: there is none */
const char *json_next(const char *element);

/**
 * json_string - a string as UTF-8, added to BUF; what cannot be a part of a name is U+FFFD
 *
 * Return:  true; false: it is no string.
 */
bool json_string(const char *value, struct buf *buf);

/**
 * json_decimal - a number times 10^DIGITS, rounded; what does not fit is the nearest that does
 *
 * Return:  true; false: it is no number.
 */
bool json_decimal(const char *value, int digits, int64_t *ret_value);

#endif

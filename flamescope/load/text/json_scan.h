/* json_scan.h - the names and plain values of a line of JSON, in order, without building anything
 */
#ifndef TEXT_JSON_SCAN_H
#define TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * Context: any thread.
 */
bool json_scan_next(struct json_scan *scan, struct json_pair *ret_pair);

/**
 * json_scan_is - whether a pair has this name
 *
 * Context: any thread.
 */
bool json_scan_is(const struct json_pair *pair, const char *name);

/**
 * json_scan_number - the value of a pair as a number
 *
 * Return:  true; false when it is no whole number from 0 to UINT64_MAX.
 * Context: any thread.
 */
bool json_scan_number(const struct json_pair *pair, uint64_t *ret_value);

#endif

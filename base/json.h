/* json.h - strings and members of JSON (RFC 8259); whatever a name holds, the result is JSON */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* The names are not jansson's: a function of the program's would stand in for the library's. */

/**
 * json_add_string - a string literal, its quotes included
 *
 * It may stand in a line of a recording, inside <script>, and on a terminal: `"`, `\`, `<`, `>`,
 * white space but for the blank, and all that is not seen as itself are \u escapes.  Bytes that are
 * no UTF-8 are U+FFFD.
 *
 * Context: any thread, as for all of these.
 */
void json_add_string(struct buf *buf, const char *text);

/**
 * json_add_text - a member: "NAME":"TEXT", with a comma before it unless it is the first
 * @name: of our own: it is not escaped, as for all of these
 *
 * Context: any thread.
 */
void json_add_text(struct buf *buf, const char *name, const char *text);

/**
 * json_add_number - a member: "NAME":VALUE
 *
 * Context: any thread.
 */
void json_add_number(struct buf *buf, const char *name, uint64_t value);

/**
 * json_add_bool - a member: "NAME":true or false
 *
 * Context: any thread.
 */
void json_add_bool(struct buf *buf, const char *name, bool value);

#endif

/* json.h - members of a JSON object, one after the other */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include "base/buf.h"

#include <stdint.h>

/**
 * json_string - "NAME":"TEXT", with a comma before it unless it is the first
 *
 * Context: any thread, as for all of these.
 */
void json_string(struct buf *buf, const char *name, const char *text);

/**
 * json_number - "NAME":VALUE
 *
 * Context: any thread.
 */
void json_number(struct buf *buf, const char *name, uint64_t value);

#endif

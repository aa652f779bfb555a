/* markup.h - text on its way into HTML: whatever it says, it stays text */
#ifndef SERVE_MARKUP_H
#define SERVE_MARKUP_H

#include "base/buf.h"

#include <stddef.h>

/**
 * markup_text - TEXT for between tags or within a quoted attribute
 *
 * Context: any thread, as for all of these.
 */
void markup_text(struct buf *buf, const char *text);

/**
 * markup_json_string - "TEXT" with its quotes, for JSON that may stand inside <script>
 *
 * Neither `<`, `>` nor `&` is left as it is, so no text can end the element or open a comment.
 *
 * Context: any thread.
 */
void markup_json_string(struct buf *buf, const char *text);

/**
 * markup_base64 - bytes in base64 (RFC 4648 section 4), padded: all but the last piece of a text
 *                 have to be a multiple of 3 long
 *
 * Context: any thread.
 */
void markup_base64(struct buf *buf, const unsigned char *bytes, size_t len);

#endif

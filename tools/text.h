/* text.h - numbers as people read them */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include "base/buf.h"

#include <stdint.h>

/**
 * text_count - 1,234,567
 *
 * Context: any thread, as for all of these.
 */
void text_count(struct buf *buf, uint64_t value);

/**
 * text_of - "1 thread", "2 threads", "3 processes"
 * @noun: in the singular
 *
 * Context: any thread.
 */
void text_of(struct buf *buf, uint64_t value, const char *noun);

/**
 * text_bytes - 512 B, 12.3 KiB, 4.5 GiB
 *
 * Context: any thread.
 */
void text_bytes(struct buf *buf, uint64_t bytes);

/**
 * text_seconds - 0.25 s, 12.3 s, 3 min 20 s
 *
 * Context: any thread.
 */
void text_seconds(struct buf *buf, uint64_t ns);

/**
 * text_share - PART of WHOLE in percent: 0.12 %, 12.3 %
 *
 * Context: any thread.
 */
void text_share(struct buf *buf, double part, double whole);

/**
 * text_visible - any bytes, for a terminal: what it might obey is U+FFFD, as words_plain() does it
 *
 * Context: any thread.
 */
void text_visible(struct buf *buf, const char *text);

/**
 * text_defuse - the same in place: each byte that a terminal might obey becomes a question mark
 *
 * Context: any thread.
 */
void text_defuse(char *text);

#endif

/* text.h - numbers in sentences; the amounts of pictures and tables are in base/words.h */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "base/buf.h"

#include <stdint.h>

/**
 * text_of - "1 thread", "2 threads", "3 processes"
 * @noun: in the singular
 *
 * Context: any thread, as for all of these.
 */
void text_of(struct buf *buf, uint64_t value, const char *noun);

/**
 * text_seconds - 0.25 s, 12.3 s, 3 min 20 s
 *
 * Context: any thread.
 */
void text_seconds(struct buf *buf, uint64_t ns);

/**
 * text_sampled - "3.99 s of CPU", "12.0 s of wall time, 3.99 s of it CPU"
 * @ns:     what samples of a clock stand for
 * @cpu_ns: of it that threads were running
 *
 * Context: any thread.
 */
void text_sampled(struct buf *buf, uint64_t ns, uint64_t cpu_ns);

/**
 * text_share - PART of WHOLE in percent: 0.12 %, 12.3 %
 *
 * Context: any thread.
 */
void text_share(struct buf *buf, double part, double whole);

/**
 * text_rate - "99 Hz", or "31 Hz effective of 99 asked"
 *
 * Context: any thread.
 */
void text_rate(struct buf *buf, uint32_t effective_hz, uint32_t hz);

/**
 * text_defuse - in place, what words_plain() replaces: each such byte becomes a question mark
 *
 * Context: any thread.
 */
void text_defuse(char *text);

#endif

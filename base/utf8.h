/* utf8.h - one code point at a time, and which of them are not safe to show */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD: stands for what is no text */

enum { UTF8_MAX_BYTES = 4, UTF8_REPLACEMENT_CODE = 0xfffd };

/**
 * utf8_next - the code point at the start of LEFT bytes
 *
 * Overlong forms, surrogates and numbers over U+10FFFF are no code points.
 *
 * Return:  its length in bytes (1 to 4); 0 when the bytes are not UTF-8 (or LEFT is 0).
 * Context: any thread.
 */
size_t utf8_next(const char *text, size_t left, uint32_t *ret_code);

/**
 * utf8_breaks - whether some consumer takes the code point for white space or a control
 *
 * True for the blank too.  Follows Unicode's White_Space and ECMAScript's \s, whichever is wider.
 *
 * Context: any thread.
 */
bool utf8_breaks(uint32_t code);

/**
 * utf8_is_shown - whether a code point is seen as itself: it is no control, no noncharacter, and
 *                 nothing that is invisible or turns the direction of what follows
 *
 * Context: any thread.
 */
bool utf8_is_shown(uint32_t code);

#endif

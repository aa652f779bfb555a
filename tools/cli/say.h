/* say.h - the one place that writes to people; a closed or full stderr never hurts */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "base/buf.h"

#include <stdbool.h>

/**
 * say_init - whose messages these are
 * @command: NULL for wick itself
 *
 * Context: main thread.
 */
void say_init(const char *command);

/**
 * say_quiet - from now on only errors are written
 *
 * Context: main thread.
 */
void say_quiet(void);

/**
 * say_about - what errors and notes are about from now on, beside the command
 * @where: "'/etc/wick.ini' line 3"; NULL: nothing.  It is copied.
 *
 * Context: main thread, while there is no other.
 */
void say_about(const char *where);

/**
 * say_error - one line on stderr: "wick CMD: MESSAGE", however quiet
 *
 * Context: any thread; the line is one write(2).
 */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * say_note - the same, unless quiet
 *
 * Context: any thread.
 */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * say_text - text as it is on stderr, unless quiet
 *
 * Context: any thread.
 */
void say_text(struct buf *text);

/**
 * say_live - replace the line at the bottom of the terminal; "" removes it
 *
 * Nothing happens where stderr is no terminal, or when quiet.
 *
 * Context: main thread.
 */
void say_live(const char *text);

/**
 * say_is_live - whether say_live() shows anything
 *
 * Context: main thread.
 */
bool say_is_live(void);

/**
 * say_result - what a command was asked for, on stdout
 *
 * Return:  0; -EPIPE when the reader has gone; -errno.
 * Context: main thread.
 */
int say_result(struct buf *text);

#endif

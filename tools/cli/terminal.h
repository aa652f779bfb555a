/* terminal.h - what stdout can show */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * terminal_columns - how wide the terminal is that stdout is
 *
 * Return:  0: it is none, or does not say.
 * Context: main thread.
 */
uint32_t terminal_columns(void);

/**
 * terminal_has_colours - whether stdout shows 256 colours and characters of UTF-8
 *
 * NO_COLOR and TERM=dumb are obeyed.
 *
 * Context: main thread.
 */
bool terminal_has_colours(void);

#endif

/* unfinished.h - a file under a passing name, which a signal that ends wick takes with it */
#ifndef CLI_UNFINISHED_H
#define CLI_UNFINISHED_H

/**
 * unfinished_begin - from now on a signal that ends wick unlinks PATH first
 *
 * Signals that are ignored or caught already stay as they are.  Of two, only the last one counts.
 *
 * Context: main thread.
 */
void unfinished_begin(const char *path);

/**
 * unfinished_end - there is no such file any more, or it has its name
 *
 * Context: main thread.
 */
void unfinished_end(void);

#endif

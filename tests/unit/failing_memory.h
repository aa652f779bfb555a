/* failing_memory.h - the Nth allocation of the code under test fails
 *
 * Works on programs linked with --wrap for malloc, calloc and realloc.
 */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#include <stdbool.h>

/**
 * memory_fail_at - the Nth allocation from here on fails (1: the next one); 0: none does
 *
 * Context: main thread.
 */
void memory_fail_at(unsigned n);

/**
 * memory_has_failed - whether the one has failed since memory_fail_at()
 *
 * Context: main thread.
 */
bool memory_has_failed(void);

/**
 * memory_fail_each - try with every allocation of a test failing once
 * @try: tries with the Nth; false: it made fewer
 *
 * Return:  how many allocations it made.
 * Context: main thread.
 */
unsigned memory_fail_each(bool (*try)(unsigned n));

#endif

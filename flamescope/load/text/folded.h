/* folded.h - `main;work;read 12`: stacks as stackcollapse writes them, one a line */
#ifndef TEXT_FOLDED_H
#define TEXT_FOLDED_H

#include "flamescope/load/text/perf_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the samples of a text whose counts have fractions are called: each counts 1,000. */
#define FOLDED_THOUSANDTHS "thousandths"

/**
 * folded_scale - whether a file that begins so is one of folded stacks, not of perf-script text
 *
 * It is when most of its first lines are such stacks, and none begins a sample of perf's.
 *
 * Return:  what its counts have to be multiplied with: 1,000 when one of them has a fraction,
 *          else 1; 0: it is no such file.
 * Context: any thread.
 */
uint32_t folded_scale(const char *text, size_t len);

/**
 * folded_file_scale - the same of a file, which may be compressed
 *
 * It is read once more for that: of a pipe nothing is taken, and it is 0.
 *
 * Return:  as folded_scale(); -errno of open; -EIO when it is damaged.
 * Context: any thread.
 */
int folded_file_scale(const char *path, struct err *err);

/**
 * folded_line - a stack and its count as a sample; TEXT is cut into strings
 * @frames: room for PERF_TEXT_MAX_FRAMES
 *
 * The count is the last word: whole or with a fraction, as flamegraph.pl takes it.
 *
 * Return:  true, and *RET_SAMPLE, which points into TEXT and FRAMES; false: it is no such line.
 * Context: any thread.
 */
bool folded_line(char *text, uint32_t scale, struct perf_frame *frames,
		 struct perf_text_sample *ret_sample);

/**
 * folded_is_aside - whether a line is empty or a comment
 *
 * Context: any thread.
 */
bool folded_is_aside(const char *text);

#endif

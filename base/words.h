/*
 * words.h - names and amounts, as each kind of file wants them; a name is never markup
 *
 * Context: any thread.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In all of them, bytes that are not UTF-8 and invisible code points become U+FFFD. */

/** words_xml - as text or as an attribute's value of XML */
void words_xml(struct buf *buf, const char *text);

/** words_xml_cut - the same, of the first N code points; a cut one ends in two dots */
void words_xml_cut(struct buf *buf, const char *text, size_t n);

/** words_plain - for a terminal or a line of a text file */
void words_plain(struct buf *buf, const char *text);

/**
 * words_command - a "# cmdline" as it was typed, on one line
 *
 * The writer percent-encodes what could harm a consumer: that is decoded, and what parts lines is
 * a blank.
 */
void words_command(struct buf *buf, const char *text);

/**
 * words_csv - one field, always in quotes; what a spreadsheet would take for a formula is not one
 *
 * A text that begins with = + - @ or a tab gets a ' in front.
 */
void words_csv(struct buf *buf, const char *text);

/** words_markdown - the inside of a code span in a cell of a table */
void words_markdown(struct buf *buf, const char *text);

/** words_width - how many code points words_plain() writes */
size_t words_width(const char *text);

/** words_count - 1,234,567 */
void words_count(struct buf *buf, uint64_t value);

/**
 * words_amount - a number of a unit as people read it: "12.3 ms", "4.5 MiB", "1,234"
 * @unit: "ns", "us", "B", "KiB"; others are counts, and are not named
 */
void words_amount(struct buf *buf, uint64_t value, const char *unit);

/**
 * words_unit - what words_amount() would say MOST in, for numbers that are to have one unit
 * @ret_divisor: what numbers are divided by for it; 1: they stay as they are
 *
 * Owns:    a constant, or UNIT.
 */
const char *words_unit(uint64_t most, const char *unit, double *ret_divisor);

/** words_bytes - the size of a file and the like, to one decimal: "512 B", "2.0 KiB", "4.5 GiB" */
void words_bytes(struct buf *buf, uint64_t value);

/**
 * words_precision_points - how far chance may have moved a share, in points (95 %), 100 at most
 * @weight:  of all samples
 * @squares: the sum of their weights' squares
 *
 * Of a share of a half, which chance moves most: 1.96 deviations of a binomial share of as many
 * samples of equal weight as say the same, WEIGHT * WEIGHT / SQUARES (Kish, Survey Sampling, 1965).
 */
double words_precision_points(double weight, double squares);

/** words_precision - the same in words: "within 2.5 points (95 %)" */
void words_precision(struct buf *buf, double weight, double squares);

/** words_signed - the same with a sign in front, "+" too */
void words_signed(struct buf *buf, int64_t value, const char *unit);

/** words_share - PART of WHOLE: "12.34 %" */
void words_share(struct buf *buf, double part, double whole);

/** words_seconds - a moment on the recording's clock, with as many decimals as STEP needs */
void words_seconds(struct buf *buf, uint64_t ns, uint64_t step_ns);

#endif

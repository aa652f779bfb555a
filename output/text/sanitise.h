/* sanitise.h - names as they are, to names that every consumer of perf-script text reads whole */
#ifndef TEXT_SANITISE_H
#define TEXT_SANITISE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	SANITISED_COMM_SIZE = 80,  /* 15 bytes, each 3 after repair, marks added, and a NUL */
	SANITISE_MAX_NAME = 16384, /* bytes of a symbol or path; longer ones are cut */
};

/**
 * sanitise_comm - a thread's name, ready for the header line of a sample
 * @text:  at most LEN bytes, or up to a NUL
 * @out:   the name, NUL-terminated
 *
 * Return:  true when it had to be altered.
 * Context: any thread.
 */
bool sanitise_comm(const char *text, size_t len, pid_t tid, char out[static SANITISED_COMM_SIZE]);

/**
 * sanitise_symbol - a symbol's name, ready for a frame line
 *
 * Return:  false, and nothing is added, when nothing of it is left.
 * Context: any thread.
 */
bool sanitise_symbol(struct buf *buf, const char *symbol);

/**
 * sanitise_module - a module's path, ready to stand in the parentheses of a frame line
 *
 * Return:  false, and nothing is added, when it is empty.
 * Context: any thread.
 */
bool sanitise_module(struct buf *buf, const char *module);

/**
 * sanitise_basename - the last part of a module's path, ready to stand in a symbol's place
 *
 * Return:  false, and nothing is added, when it is empty.
 * Context: any thread.
 */
bool sanitise_basename(struct buf *buf, const char *module);

/**
 * sanitise_word - percent-encode everything that is not visible ASCII, and % < > \
 *
 * For values in a "# s" line: the bytes come back whole by decoding every %XX.
 *
 * Context: any thread.
 */
void sanitise_word(struct buf *buf, const char *text, size_t len);

/**
 * sanitise_line - percent-encode < > \, controls, bytes that are not UTF-8, and a % that would
 *                 read as an encoded byte
 *
 * For the rest of a comment line: blanks and UTF-8 stay readable.
 *
 * Context: any thread.
 */
void sanitise_line(struct buf *buf, const char *text);

/* markup: what makes libmagic call a recording a web page or TeX */

/**
 * markup_opens - whether the `<` or `\` at the start of LEFT bytes opens such a word
 *
 * libmagic looks for these words anywhere in the first kilobytes: a mark before them does not
 * help, one after the first character does.  A word that has marks gets one more, so that
 * markup_restore() gives every name back.
 *
 * Context: any thread.
 */
bool markup_opens(const char *text, size_t left);

/**
 * markup_restore - take the marks out of a name again
 *
 * Context: any thread.
 */
void markup_restore(char *text);

#endif

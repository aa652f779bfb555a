/* markup.h - what makes libmagic call a recording a web page or TeX */
#ifndef TEXT_MARKUP_H
#define TEXT_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

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

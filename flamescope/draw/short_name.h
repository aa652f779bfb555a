/* short_name.h - names of functions for a terminal that is narrower than they are */
#ifndef DRAW_SHORT_NAME_H
#define DRAW_SHORT_NAME_H

#include "base/buf.h"

#include <stddef.h>

/**
 * short_name - a name as words_plain() writes it, in at most COLUMNS code points
 * @columns: 0: whatever it takes
 *
 * One that is too long loses the arguments of its templates, `std::map<..>::find`; if that is not
 * enough, its end.
 *
 * Context: any thread.
 */
void short_name(struct buf *buf, const char *name, size_t columns);

#endif

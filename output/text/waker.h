/* waker.h - who let go of what a thread waited for, as a word of the "# s" line */
#ifndef TEXT_WAKER_H
#define TEXT_WAKER_H

#include "base/buf.h"
#include "base/sample.h"

/* No frame more is begun behind so many bytes: names can be very long. */
enum { WAKER_BYTES = 1024 };

/**
 * waker_add - " waker=TID:INNERMOST;CALLER;..." of a sample whose waker is known
 *
 * Names are percent-encoded as in sanitise_word(), and so are ';' and ',' in them.  A frame without
 * a name is its module in brackets, or [unknown].
 *
 * Context: any thread.
 */
void waker_add(struct buf *buf, const struct sample *sample);

#endif

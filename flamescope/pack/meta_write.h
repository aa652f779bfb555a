/* meta_write.h - the `meta` section */
#ifndef PACK_META_WRITE_H
#define PACK_META_WRITE_H

#include "base/buf.h"
#include "flamescope/profile.h"

/**
 * meta_write - what a profile is, as JSON
 *
 * Context: any thread.
 */
void meta_write(const struct profile *profile, struct buf *buf);

#endif

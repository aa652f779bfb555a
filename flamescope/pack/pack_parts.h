/* pack_parts.h - the steps of pack_read(), each in a file of its own */
#ifndef PACK_PACK_PARTS_H
#define PACK_PACK_PARTS_H

#include "flamescope/profile.h"
#include "flamescope/profile_memory.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * meta_read - fill a profile with what the `meta` section says
 *
 * Numbers of strings are not checked yet: the strings need not be there.
 *
 * Return:  0; -EBADMSG; -ENOMEM.
 * Context: any thread.
 */
int meta_read(struct profile *profile, const char *text, size_t len);

/**
 * pack_check - whether all numbers in a profile are of things that it has
 *
 * Return:  NULL; else what is wrong.
 * Context: any thread.
 */
const char *pack_check(const struct profile *profile);

#endif

/* load_fixture.h - text to a profile by all ways, which have to agree byte for byte */
#ifndef UNIT_LOAD_FIXTURE_H
#define UNIT_LOAD_FIXTURE_H

#include "base/buf.h"
#include "flamescope/load/internal.h"
#include "tests/unit/folder_fixture.h"

/**
 * fixture_pack - the bytes of a profile
 *
 * Owns:    the caller, to buf_release().
 * Context: any thread.
 */
void fixture_pack(const struct profile *profile, struct buf *ret_bytes);

/**
 * fixture_load - load a text by the slow way, by one thread and by three in small chunks
 *
 * Fails the test unless all give the same.
 *
 * Owns:    the caller, to profile_free().
 * Context: any thread.
 */
struct profile *fixture_load(const void *bytes, size_t len);

#endif

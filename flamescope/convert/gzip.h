/* gzip.h - a sink that compresses, in front of another one */
#ifndef CONVERT_GZIP_H
#define CONVERT_GZIP_H

#include "flamescope/convert/convert.h"

struct gzip;

/**
 * gzip_new - compress into SINK, as one member: readers in browsers stop after the first
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to gzip_free(); SINK has to outlive it.
 * Context: any thread; one user at a time, as for all of these.
 */
int gzip_new(const struct convert_sink *sink, struct gzip **ret_gzip);

/**
 * gzip_sink - where to write what is to be compressed
 *
 * Owns:    the gzip.
 * Context: any thread.
 */
const struct convert_sink *gzip_sink(const struct gzip *gzip);

/**
 * gzip_finish - the end of the file
 *
 * Return:  0; what the sink behind it returned.
 * Context: any thread.
 */
int gzip_finish(struct gzip *gzip);

/**
 * gzip_free - forget it
 *
 * Context: any thread.  NULL is fine.
 */
void gzip_free(struct gzip *gzip);

#endif

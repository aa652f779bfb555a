/*
 * pack.h - a profile as bytes: the index on disk, what a page holds, what the server sends
 *
 * Little-endian, every section at a multiple of 8:
 *   0   8  "wickpack"
 *   8   4  version (PACK_VERSION)
 *   12  4  number of sections
 *   16  8  bytes in all
 *   24  40 each: name (16, NUL-padded), offset (8), count (8), bytes of an element (4), CRC-32 (4)
 * Sections: `facts` (5 of 64 bits: start_ns, length_ns, epoch_offset_ns, flags and hz, command and
 * captured; flags 1: has_epoch, 2: is_wick, 4: has_times), `tag_name`, `metric_name`,
 * `metric_unit`, `event_name` (u32, strings), `metric_kind` (u8, enum metric_kind), `file_facts`
 * (13 of 64 bits a file: bytes, samples, bad_lines, 8 of bad, lost, flags 8: cut, 16: unended, 32:
 * has a problem), `file_text` (bytes: path and problem of each, either with a NUL), `strings`
 * (bytes) and `string_ends` (u32), `frame_name` `frame_module` (u32) `frame_inlined` (u8)
 * `frame_addr` `frame_offset` (u64), `node_parent` `node_frame` (u32), `thread_comm` `thread_host`
 * (u32) `thread_pid` `thread_tid` (i32), `tag0_word`... (u32, the strings that the codes of a tag
 * stand for; the first is ""), and one element a sample (a count of 1: the same for all samples;
 * but `stack` has as many as there are samples), of 1, 2, 4 or 8 bytes, but no more than is said
 * here, all unsigned: `time` (8, ns since start) `weight` (8) `thread` `stack` (4) `cpu` (2)
 * `event` (1) `tag0`... (4, 0xffffffff: one that there was no room for) `delta0`... `value0`... (8,
 * folded: 0 is none, then 1, 2, 3... are 0, -1, 1...). Where they are smaller, there are instead:
 * `time_step`: what to add to the sample's before; `value0_step`...: folded, what to add to the
 * value that the same thread had last (0) and to the sample's delta (none: 0).
 *
 * Context: any thread.
 */
#ifndef PACK_PACK_H
#define PACK_PACK_H

#include "base/buf.h"
#include "flamescope/profile.h"

#include <stddef.h>
#include <stdint.h>

enum { PACK_VERSION = 5 };

/**
 * pack_write - write a profile to a descriptor
 *
 * Return:  0; -errno of write.
 */
int pack_write(const struct profile *profile, int fd, struct err *err);

/**
 * pack_read - a profile out of BYTES, checked as foreign data
 *
 * Return:  0; -EBADMSG and what is wrong; -ENOMEM.
 * Owns:    the caller; the profile's arrays are views into BYTES where those are as wide and stand
 *          well, so BYTES must outlive it.
 */
int pack_read(const void *bytes, size_t n_bytes, struct profile **ret_profile, struct err *err);

#endif

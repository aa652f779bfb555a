/*
 * internal.h - what the writers of formats share
 *
 * Context: any thread, unless a function says another.
 */
#ifndef CONVERT_INTERNAL_H
#define CONVERT_INTERNAL_H

#include "base/buf.h"
#include "flamescope/convert/convert.h"
#include "flamescope/query/query.h"

#include <stddef.h>
#include <stdint.h>

/* out: bytes on their way into a sink, and what all writers of formats share */

/* Append to BUF, and call out_step() now and then. */
struct out {
	struct buf buf;
	const struct convert_sink *sink;
	const struct selection *selection;
	const struct convert_options *options;
	struct convert_report report;
	int error; /* the first failure; nothing is written after it */
};

/* What the selection's values are, for formats that know units. */
enum out_unit { OUT_COUNT, OUT_NANOSECONDS, OUT_MICROSECONDS, OUT_BYTES };

/* A value times MULTIPLY is in UNIT. */
struct out_scale {
	enum out_unit unit;
	uint64_t multiply;
};

/**
 * out_step - give what has gathered to the sink, when it is worth a call
 *
 * Return:  whether to go on.
 * Context: any thread, as for all of these; one user at a time.
 */
bool out_step(struct out *out);

/**
 * out_flush - give everything to the sink
 *
 * Return:  0, or the first failure.
 */
int out_flush(struct out *out);

/** out_write - write the format that the options say to the sink: 0; as convert_write() */
int out_write(struct out *out);

/** out_gzip - the same, compressed as one member: readers in browsers stop after the first */
int out_gzip(struct out *out);

/** out_signed - add a decimal with its sign */
void out_signed(struct buf *buf, int64_t value);

/**
 * out_event - the event of the selection's samples: of the first one, when there are several
 *
 * Return:  its name, "" when the file names none.
 * Owns:    the profile.
 */
const char *out_event(const struct selection *selection);

/**
 * out_tag - the number of the tag that has a name
 *
 * Return:  n_tags, when the profile has none.
 */
size_t out_tag(const struct profile *profile, const char *name);

/**
 * out_is_release - whether a sample is a release of memory
 * @op: out_tag() of "op"
 */
bool out_is_release(const struct profile *profile, size_t op, uint32_t sample);

/** out_scale_of - what the selection's values are */
struct out_scale out_scale_of(const struct selection *selection);

/** out_scaled - a value in its unit; what does not fit becomes the most that does */
int64_t out_scaled(const struct out_scale *scale, int64_t value);

/**
 * out_count - the value of the selection's sample I, for formats that count
 *
 * A period is its weight as the text has it: programs that know no units take it for samples.
 */
int64_t out_count(const struct selection *selection, size_t i);

/**
 * out_title - what the recording is called
 *
 * Owns:    the options or the profile.
 */
const char *out_title(const struct out *out);

/** out_is_label - whether a frame number is a group's, not a function's */
bool out_is_label(const struct selection *selection, uint32_t frame);

/**
 * out_module - the module of a frame; "" when it has none
 *
 * Owns:    the profile.
 */
const char *out_module(const struct selection *selection, uint32_t frame);

/** out_in_kernel - whether a frame is the kernel's, by its module */
bool out_in_kernel(const struct selection *selection, uint32_t frame);

/* The samples of a selection, thread after thread, each thread's in the order of time. */
struct out_threads {
	size_t *first; /* [n_threads + 1]: where a thread's begin in ORDER */
	uint32_t *order;
};

/**
 * out_threads_make - sort the samples of a selection by thread
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to out_threads_release(), also after a failure.
 */
int out_threads_make(const struct selection *selection, struct out_threads *ret_threads);

/** out_threads_release - free them */
void out_threads_release(struct out_threads *threads);

/**
 * folded_write - stacks and their values, a line each
 *
 * Return:  0; -ENOMEM.  Failures of the sink are in OUT, as for all of these.
 */
int folded_write(struct out *out);

/**
 * pprof_write - profile.proto, not yet compressed
 *
 * Return:  0; -ENOMEM.
 */
int pprof_write(struct out *out);

/**
 * speedscope_write - speedscope's JSON
 *
 * Return:  0; -ENOMEM.
 */
int speedscope_write(struct out *out);

/**
 * firefox_write - the Firefox Profiler's processed format
 *
 * Return:  0; -ENOMEM.
 */
int firefox_write(struct out *out);

/**
 * perf_write - perf-script text
 *
 * Return:  0; -ENOMEM.
 */
int perf_write(struct out *out);

/* proto: fields of protocol buffers (protobuf.dev/programming-guides/encoding) */

/** proto_number - a field of a number; left out when it is 0, as its default is */
void proto_number(struct buf *buf, unsigned field, uint64_t value);

/** proto_bytes - a field of bytes: a text, or a message that is made already */
void proto_bytes(struct buf *buf, unsigned field, const void *bytes, size_t len);

/** proto_message - a field of a message, which is then empty for the next */
void proto_message(struct buf *buf, unsigned field, struct buf *message);

/** proto_text - a field of a text, made UTF-8 where it is none, as decoders insist */
void proto_text(struct buf *buf, unsigned field, const char *text);

/** proto_varint - a number alone, as packed fields are made of */
void proto_varint(struct buf *buf, uint64_t value);

/*
 * locations: pprof's places: a function and the calls that were inlined into it are one
 *
 * A place is a chain from an inlined call outwards to the function that was really called; a
 * longer one than LOCATIONS_MAX_CHAIN is parted, since a file writes the chain of each of its
 * links.
 */

enum { LOCATIONS_MAX_CHAIN = 100 };

/* Number 0 is none. */
struct location {
	uint32_t frame;
	uint32_t outer;  /* the location that it is inlined into */
	uint32_t length; /* of the chain from it on */
};

struct locations {
	size_t n;
	struct location *at;
	uint32_t *of_node; /* of each of the selection's nodes */
};

/**
 * locations_make - the places of all stacks of a selection
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to locations_release(), also after a failure.
 */
int locations_make(const struct selection *selection, struct locations *ret_locations);

/** locations_release - free them */
void locations_release(struct locations *locations);

#endif

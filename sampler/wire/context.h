/* context.h - whose work a thread does: what programs publish for each thread, where the handler
 * finds it, and what it copies into a sample's record */
#ifndef WIRE_CONTEXT_H
#define WIRE_CONTEXT_H

#include <stdint.h>

enum {
	CONTEXT_MAX_ATTRS = 612, /* bytes of attributes that are copied */
	CONTEXT_VARIABLES = 4,   /* thread-local variables that a handler reads */
};

/*
 * The record of OpenTelemetry's thread context (OTEP 4947).  The thread-local variable
 * otel_thread_ctx_v1 points to it; NULL: the thread has none.
 */
struct otel_record {
	uint8_t trace_id[16]; /* as in a W3C traceparent; zero: none */
	uint8_t span_id[8];
	uint8_t valid; /* 1: may be read */
	uint8_t trace_flags;
	uint16_t attrs_bytes;
	uint8_t attrs[CONTEXT_MAX_ATTRS]; /* { key index, length, value[length] } one after another;
					     the last of a key counts */
};

enum { OTEL_RECORD_HEAD = 28 };

/* Key indices of the attributes that wick.h writes. */
enum context_key {
	CONTEXT_IDENTITY = 0, /* "wick.identity" */
	CONTEXT_TASK = 1,     /* "wick.task": NAME@FILE:LINE */
	CONTEXT_TIER = 2,     /* "wick.tier" */
	CONTEXT_FUNCTION = 3, /* "wick.function": inside WICK_PROFILE_FN or wick_profile_start() */
};

/* Which request a thread works for, by value, so that it can be handed on. */
struct context_value {
	uint8_t trace_id[16]; /* zero: for none */
	uint8_t span_id[8];
	uint32_t identity; /* the number of its name in struct tables; 0: none */
	uint32_t flags;    /* W3C trace flags */
};

/* The thread-local variable wick_thread_1 of wick.h. */
struct context_thread {
	uint64_t block; /* address of the thread's struct table_thread; 0: none yet */
	struct context_value value;
	uint64_t pad[3];
};

/* What a variable is, and so what the handler copies. */
enum context_format {
	CONTEXT_OTEL =
		1, /* a pointer to a struct otel_record: its head and attributes are copied */
	CONTEXT_WICK = 2,   /* a struct context_thread: its value is copied, unless it is zero */
	CONTEXT_LABELS = 3, /* custom-labels v1: a pointer to a set, whose labels are copied */
};

/* How the address of a thread-local variable is found from the thread pointer. */
enum context_place {
	CONTEXT_NOWHERE = 0,
	CONTEXT_TP = 1,  /* thread pointer + offset */
	CONTEXT_DTV = 2, /* dtv[module] + offset; glibc's dtv has 16 bytes an entry, and -1 where
			    nothing is allocated (sysdeps/x86_64/dl-tls.h); musl's has 8
			    (src/internal/pthread_impl.h) */
	CONTEXT_DTV_MUSL = 3,
};

/*
 * One variable of a program that a handler reads.  The collector writes it at any time: place 0,
 * the rest, then place (release).  A handler that finds another place or serial after it has read
 * the rest reads nothing.
 */
struct context_variable {
	uint32_t place;  /* enum context_place, atomic */
	uint16_t format; /* enum context_format */
	uint16_t flags;  /* enum context_flags */
	uint32_t module; /* CONTEXT_DTV, CONTEXT_DTV_MUSL */
	uint32_t serial; /* of this variable: never given to another one, never 0 */
	int64_t offset;
};

enum context_flags {
	CONTEXT_STAYS = 1, /* of wick.h, whose records are never unmapped: a page that was once
			      found to be the thread's block is read again without asking */
	CONTEXT_KEPT = 2,  /* its module is never unloaded.  Others are not read from the start of a
			      dlclose until the collector has found them again.  CONTEXT_WICK: a new
			      thread gets the value of the one that creates it */
};

/* Whose work a sample is: behind the pcs of a record, where its length says that there is more. */
struct record_context {
	uint32_t serial; /* of the variable that it was read from */
	uint16_t format; /* enum context_format */
	uint16_t bytes;  /* of data; the record ends at the next multiple of 8 */
	uint8_t data[];  /* CONTEXT_OTEL: a struct otel_record as far as its attributes go;
			    CONTEXT_WICK: a struct context_value; CONTEXT_LABELS: { length, key,
			    length, value } one after another, of one byte each length */
};

enum {
	CONTEXT_MAX_BYTES = OTEL_RECORD_HEAD + CONTEXT_MAX_ATTRS, /* of data */
	CONTEXT_MAX_LABELS = 16, /* of custom-labels v1 that are read */
};

_Static_assert(sizeof(struct otel_record) == OTEL_RECORD_HEAD + CONTEXT_MAX_ATTRS, "OTEP 4947");
_Static_assert(sizeof(struct context_value) == 32, "docs/wire.md");
_Static_assert(sizeof(struct context_thread) == 64, "docs/wire.md");
_Static_assert(sizeof(struct context_variable) == 24, "docs/wire.md");
_Static_assert(sizeof(struct record_context) == 8 && CONTEXT_MAX_BYTES % 8 == 0, "docs/wire.md");

#endif

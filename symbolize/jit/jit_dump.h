/*
 * jit_dump.h - reading the records of a jitdump file as it grows
 *
 * The format is that of "JITDUMP specification version 2" in the kernel's tools/perf
 * documentation: a header, then records of a type, a size and a time.
 */
#ifndef JIT_JIT_DUMP_H
#define JIT_JIT_DUMP_H

#include "symbolize/jit/jit_code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JIT_DUMP_MAX_PENDING = 16,
	JIT_DUMP_MAX_BYTES = 4 * 1024 * 1024, /* with so many at once every record is whole */
};

/* A record of lines, which comes before the record of its code. */
struct jit_dump_lines {
	uint64_t addr;
	uint8_t *record; /* owned; NULL: free */
	size_t len;
};

/* Zero it, then set the first four. */
struct jit_dump {
	uint32_t pid;        /* of the writer, in the innermost namespace; 0: any */
	uint32_t outer_pid;  /* in our namespace */
	uint64_t started_ns; /* its start: earlier records of its parent count too */
	bool other_clock;    /* times cannot be compared with ours */

	struct jit_code code;
	uint64_t at;  /* bytes read */
	bool started; /* the header was read */
	bool full;    /* memory ran out at least once */
	bool ended;   /* by CLOSE, or by a record that is not valid */
	struct jit_dump_lines pending[JIT_DUMP_MAX_PENDING];
	size_t next_pending;
};

/**
 * jit_dump_read - read whole records
 * @bytes: of the file, from dump->at on
 * @now_ns: CLOCK_MONOTONIC: records of a later time use another clock
 *
 * When memory for the code runs out, all earlier code is dropped.  Bytes of code are skipped and
 * need not be in BYTES.
 *
 * Return:  0: dump->at has moved, possibly beyond BYTES; -EAGAIN: the first record is not complete;
 *          -EBADMSG: not a jitdump, or not one any more; -ENOMEM.
 * Context: any thread.  One owner at a time.
 */
int jit_dump_read(struct jit_dump *dump, const uint8_t *bytes, size_t len, uint64_t now_ns);

/**
 * jit_dump_release - free the memory
 *
 * Context: any thread.
 */
void jit_dump_release(struct jit_dump *dump);

#endif

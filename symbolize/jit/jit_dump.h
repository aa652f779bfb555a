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

/* Lines wait for the code that they are of: the record with them comes first. */
struct jit_dump_lines {
	uint64_t addr;
	uint8_t *record; /* owned; NULL: free */
	size_t len;
};

/* Zero it, then set who may have written it. */
struct jit_dump {
	uint32_t pid;       /* in the innermost namespace; 0: anybody */
	uint32_t outer_pid; /* as we see it */
	uint64_t birth_ns;  /* when it started: others' records count up to then (it was forked) */
	bool other_clock;   /* times cannot be compared with ours */

	struct jit_code code;
	uint64_t at;  /* bytes taken in */
	bool started; /* the header was read */
	bool full;    /* there was too much to be held, at least once */
	bool ended;   /* by CLOSE, or by what makes no sense */
	struct jit_dump_lines pending[JIT_DUMP_MAX_PENDING];
	size_t next_pending;
};

/**
 * jit_dump_take - take in whole records
 * @now_ns: CLOCK_MONOTONIC: what is of later shows another clock
 *
 * When there is too much to be held, all until then is forgotten.
 *
 * BYTES are what the file has from dump->at on, LEN of them, of which the first records are
 * taken; code is passed over and need not be there.
 *
 * Return:  0: dump->at has moved, maybe beyond BYTES; -EAGAIN: the first record is not whole;
 *          -EBADMSG: it is no jitdump, or not one any more; -ENOMEM.
 * Context: any thread.  One owner at a time.
 */
int jit_dump_take(struct jit_dump *dump, const uint8_t *bytes, size_t len, uint64_t now_ns);

/**
 * jit_dump_release - give back the memory
 *
 * Context: any thread.
 */
void jit_dump_release(struct jit_dump *dump);

#endif

/*
 * spans.h - what was mapped where, and when, in one process
 *
 * Context: main thread.
 */
#ifndef SYMBOLIZE_SPANS_H
#define SYMBOLIZE_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct module;

/* Part of a module in the address space, from a time until another. */
struct span {
	uint64_t start;
	uint64_t end;
	uint64_t base;  /* where the mapping began: the span may be what is left of it */
	uint64_t bytes; /* and how long it was */
	uint64_t pgoff; /* bytes into the file at BASE */
	uint64_t from_ns;
	uint64_t until_ns; /* SPAN_FOREVER while it is mapped */
	uint64_t max_end;  /* no span up to and including this one reaches further */
	struct module *module;
	const char *path; /* the module as this process sees it */
};

#define SPAN_FOREVER UINT64_MAX

/* Zero is empty. */
struct spans {
	struct span *spans; /* by start */
	size_t n_spans;
	size_t n_room;
};

/**
 * spans_add - SPAN is mapped from its from_ns on; what it covers is unmapped then
 *
 * The same mapping added twice is stored once, from the earlier time on.
 *
 * Return:  0; -ENOMEM; -ENOSPC when the process has too many.
 */
int spans_add(struct spans *spans, const struct span *span);

/**
 * spans_unmap - [START, END) is not mapped any more from TIME_NS on
 *
 * Return:  0; -ENOMEM or -ENOSPC, and some of it stays.
 */
int spans_unmap(struct spans *spans, uint64_t start, uint64_t end, uint64_t time_ns);

/**
 * spans_find - what was mapped at ADDR at TIME_NS
 *
 * The newest that had begun and was not gone; else the earliest that began later (a
 * mapping may be announced after the first samples in it).
 *
 * Return:  the span, NULL if nothing was.
 * Owns:    the spans; valid until the next add or unmap.
 */
const struct span *spans_find(const struct spans *spans, uint64_t addr, uint64_t time_ns);

/** spans_release - free the memory */
void spans_release(struct spans *spans);

#endif

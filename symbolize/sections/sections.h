/*
 * sections.h - the bytes of debugging information, found, mapped and decompressed by libelf
 *
 * A set of sections is that of one file: the module or its debug file, the alternate file of
 * dwz -m, a .dwo, or a .dwp.  Bytes are never written and never trusted.
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef SECTIONS_SECTIONS_H
#define SECTIONS_SECTIONS_H

#include "symbolize/bounds/memory_limit.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dwarf_section {
	DWARF_INFO,
	DWARF_TYPES, /* .debug_types of DWARF 4: only to be passed over */
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_LINE_STR,
	DWARF_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ARANGES,
	DWARF_CU_INDEX, /* of a .dwp */
	N_DWARF_SECTIONS,
};

/* A section's bytes; data NULL and len 0 when the file has none. */
struct dwarf_bytes {
	const uint8_t *data;
	size_t len;
};

struct dwarf_sections {
	struct dwarf_bytes of[N_DWARF_SECTIONS];
	void *inflated[N_DWARF_SECTIONS]; /* owned: what was decompressed by hand */
	Elf *elf;                         /* owned; its bytes are the mapped ones */
	void *mapped;                     /* owned; NULL: the caller's memory */
	size_t n_mapped;
	size_t real_bytes;         /* of the file: holes are none */
	struct memory_claim claim; /* on what was decompressed */
};

/**
 * dwarf_sections_open - map a file and find its sections
 * @fd: taken, also on failure; it is not needed any more once the file is mapped
 * @dwo: find the sections whose names end in .dwo
 *
 * Sections that do not decompress are as if they were not there.  A file that shrinks while it
 * is mapped reads as zeros (symbolize/elf/file_guard.h).
 *
 * Return:  0; -ENOEXEC: not an ELF of 64 bits, little-endian; -ENODATA: none of the sections;
 *          -EFBIG: they are too large for the memory that names may take; -ENOMEM; -errno.
 * Owns:    the caller; dwarf_sections_close().
 * Context: any thread that has not blocked SIGBUS, one at a time for one set.
 */
int dwarf_sections_open(int fd, bool dwo, struct dwarf_sections *ret_sections);

/**
 * dwarf_sections_memory - the same of an ELF file in memory
 * @bytes: outlives the sections
 *
 * Return:  as dwarf_sections_open().
 * Owns:    the caller; dwarf_sections_close().
 * Context: any thread, one at a time for one set.
 */
int dwarf_sections_memory(const void *bytes, size_t n_bytes, struct dwarf_sections *ret_sections);

/** dwarf_sections_close - unmap; closed ones may be closed again */
void dwarf_sections_close(struct dwarf_sections *sections);

enum inflate_way { INFLATE_UNKNOWN, INFLATE_ZLIB, INFLATE_ZSTD };

enum {
	INFLATE_ELF_ZSTD = 2,    /* ch_type; libelf 0.188 has no name for it and cannot read it */
	INFLATE_MAX_RATIO = 100, /* bytes for one of the section, and of the file in all */
};

/* One section.  Zero: there is nothing to do. */
struct inflate_job {
	const uint8_t *bytes;
	size_t n_bytes;
	enum inflate_way way;
	size_t n_inflated; /* as its header tells */
	void *inflated;    /* result; NULL: it could not be had */
};

/** inflate_job_gnu - what a .zdebug section holds: "ZLIB", the size in big-endian, the stream */
void inflate_job_gnu(struct inflate_job *job, const void *bytes, size_t n_bytes);

/**
 * inflate_all - do the jobs, the largest first, on a second thread too when they are large
 * @file_bytes: of the file that they come from, without holes: in all at most INFLATE_MAX_RATIO
 *              times as much
 *
 * A section whose stream is damaged, or is not as long as its header tells, has no result.
 *
 * Owns:    the caller, to free() what was inflated.
 * Context: any thread, one that has not blocked SIGBUS.
 */
void inflate_all(struct inflate_job *jobs, size_t n_jobs, size_t file_bytes);

#endif

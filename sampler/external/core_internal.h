/* core_internal.h - what the files about cores share, and nobody else */
#ifndef EXTERNAL_CORE_INTERNAL_H
#define EXTERNAL_CORE_INTERNAL_H

#include "base/sample.h"
#include "sampler/external/core.h"
#include "sampler/external/core_elf.h"
#include "sampler/unwind/unwind.h"

#include <stdbool.h>
#include <sys/types.h>

/* Memory that is in the core file: LEN bytes from START on are at OFFSET in it. */
struct core_segment {
	uint64_t start;
	uint64_t len;
	uint64_t offset;
};

/* Memory that was a file's, whether or not it is in the core file, too. */
struct core_range {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	size_t module;
};

/* Its public half is in the same place of core.modules. */
struct core_image {
	uint64_t base;
	bool examined;
	bool opened;
	int fd;              /* -1: not open */
	struct core_elf elf; /* what is known of its headers */
	char build_id[2 * CORE_BUILD_ID_MAX + 1];
	char why[128];
};

struct core_thread {
	uint32_t tid;
	int signal;
	bool narrow; /* it ran 32-bit code */
	struct unwind_regs regs;
};

struct core {
	struct unwind_reader reader; /* first: it is what the unwinder holds */
	int fd;
	uint64_t size; /* of the file */
	pid_t pid;
	char comm[SAMPLE_COMM_SIZE];
	uint64_t entry;                /* where the program begins (AT_ENTRY); 0: not known */
	struct core_segment *segments; /* sorted, apart */
	size_t n_segments;
	struct core_range *ranges; /* sorted, apart */
	size_t n_ranges;
	char *names; /* of files, as the note has them */
	struct core_module *modules;
	struct core_image *images;
	size_t n_modules;
	size_t n_notes; /* read so far */
	struct core_thread *threads;
	size_t n_threads;
	size_t threads_size;
	uint64_t work; /* bytes read for one walk */
};

/**
 * core_notes_read - threads, files and the rest from the notes at [OFFSET, OFFSET + LEN)
 *
 * What is cut off or makes no sense is left out.
 *
 * Return:  0; -ENOMEM; -errno of the file.
 * Context: main thread, as for all of these.
 */
int core_notes_read(struct core *core, uint64_t offset, uint64_t len);

/**
 * core_files_read - the files of the NT_FILE note at [OFFSET, OFFSET + LEN)
 *
 * Return:  0; -ENOMEM; -EBADMSG: it makes no sense; -errno of the file.
 * Context: main thread.
 */
int core_files_read(struct core *core, uint64_t offset, uint64_t len);

/**
 * core_memory - bytes of the process's memory, from the core file and its files
 *
 * Return:  false unless all are to be had.
 * Context: main thread.
 */
bool core_memory(struct core *core, uint64_t address, void *to, size_t len);

/**
 * core_image - what is known of a module, whose headers are read the first time
 *
 * Return:  NULL when they cannot be had.
 * Owns:    the core.
 * Context: main thread.
 */
const struct core_image *core_image(struct core *core, size_t module);

/**
 * core_range - the file that memory at an address was of
 *
 * Return:  NULL: none.
 * Owns:    the core.
 * Context: main thread.
 */
const struct core_range *core_range(const struct core *core, uint64_t address);

#endif

/*
 * symbolize.h - (process, address, time) to named frames
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H

#include "base/err.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer;
struct module; /* a file of code */

/* Where a module's names came from, worst first. */
enum symbol_quality {
	SYMBOLS_NONE,      /* no file, or nothing in it: module+offset */
	SYMBOLS_DYNSYM,    /* exported names only */
	SYMBOLS_JIT,       /* /tmp/perf-PID.map */
	SYMBOLS_MINIDEBUG, /* .gnu_debugdata: all names, no lines */
	SYMBOLS_SYMTAB,    /* .symtab of the file */
	SYMBOLS_DEBUG,     /* a debug file's, or DWARF */
};

struct symbolize_options {
	const char *debug_root; /* NULL: /usr/lib/debug */
	bool wait;              /* load names at once, in the calling thread: for tests */
	bool no_inline;         /* functions only, without the calls that were inlined into them */
	bool full_names;        /* with parameters */
	bool no_symbols;        /* load nothing: frames stay module+offset */
	bool no_cache;          /* neither read nor write the cache on disk */
	uint64_t mem_limit;     /* bytes that names may take; 0: MEMORY_DEFAULT_BYTES */
	uint64_t lag_ns;        /* new code of a module waits no longer for its turn, where lookups
				   are quick; 0: half a second */
	bool debuginfod;        /* ask the servers of $DEBUGINFOD_URLS */
	const char *cache_folder; /* NULL: the user's */
	/* Called about once a second during a download, in a thread of the loader; NULL: no calls.
	 */
	void (*progress)(const char *module, uint64_t bytes, uint64_t left_ns);
	const char *const *symbol_dirs; /* to search for debug files; outlive the symbolizer */
	size_t n_symbol_dirs;
};

/* One module, for summaries. */
struct symbolize_module {
	const char *path;
	const char *build_id; /* hexadecimal; "" when it has none */
	enum symbol_quality quality;
	const char *source;  /* the same as a word: "debug" */
	const char *why;     /* when quality is NONE: what went wrong; else "" */
	bool partial;        /* some of its names were not read: time or memory ran out */
	const char *missing; /* what a better file would add; "" nothing */
	const char *try;     /* how to get that file: a package, an option, a flag */
	uint64_t lookups;    /* frames in its code */
	uint64_t unnamed;    /* frames of these without a name */
};

/**
 * symbolizer_new - an empty symbolizer, and its loader threads unless options->wait
 *
 * Return:  0; -errno.
 * Owns:    the caller, to symbolizer_free().
 */
int symbolizer_new(const struct symbolize_options *options, struct symbolizer **ret_symbolizer,
		   struct err *err);

/**
 * symbolizer_cache_why - why the cache on disk is not used
 *
 * Return:  the reason; NULL: it is used, or no_cache is set.
 * Owns:    the symbolizer.
 */
const char *symbolizer_cache_why(const struct symbolizer *symbolizer);

/**
 * symbolizer_free - free everything, also the names and paths of frames
 *
 * Context: main thread.  NULL is fine.
 */
void symbolizer_free(struct symbolizer *symbolizer);

/**
 * symbolizer_add - add a mapping of a process
 *
 * Opens the file at once, because it may be gone later; the loader reads it.  Never fails: frames
 * in a file that cannot be opened stay module+offset, and symbolizer_modules() has the reason.
 */
void symbolizer_add(struct symbolizer *symbolizer, const struct mapping *mapping);

/**
 * symbolizer_exit - remove the mappings of a process image that has ended
 *
 * Names of frames stay valid.
 */
void symbolizer_exit(struct symbolizer *symbolizer, uint32_t process);

/**
 * symbolizer_resolve - name the frames of a sample
 * @force: do not wait for lookups: frames with pending lookups get the names of symbol tables, or
 *         none
 *
 * On success sample->frames is an array of the symbolizer: for each frame the inlined calls,
 * innermost first, then the function itself; the waker's frames follow in the same way.  n_frames
 * and n_waker grow, together at most to SAMPLE_MAX_NAMED.  The address that is looked up is
 * frame.addr where frame.exact is set, otherwise frame.addr - 1.
 *
 * Return:  0; -EAGAIN when a lookup is pending and FORCE is false (the sample is unchanged; call
 *          again); with FORCE the number of frames that have no name because it is pending.
 * Owns:    the symbolizer: frames until the next call, names until symbolizer_free().
 */
int symbolizer_resolve(struct symbolizer *symbolizer, struct sample *sample, bool force);

/** symbolizer_request - start to look up the frames of a sample, to resolve it later */
void symbolizer_request(struct symbolizer *symbolizer, const struct sample *sample);

/**
 * symbolizer_open - open a module without a process
 * @path: of its file, which may be missing here; the file that its .gnu_debuglink names is beside
 * it
 * @fd: a descriptor of the file, which stays the caller's: PATH is not opened; -1: it is
 * @build_id: hexadecimal; "" not known.  A file with another build-id is not opened; the debug file
 *            of BUILD_ID is searched instead
 *
 * Return:  NULL and the reason when there is neither.
 * Owns:    the symbolizer.
 */
struct module *symbolizer_open(struct symbolizer *symbolizer, const char *path, int fd,
			       const char *build_id, struct err *err);

/**
 * symbolize_check_file - whether a file is one that symbolizer_open() would take
 * @build_id: hexadecimal; "": any
 *
 * Return:  0; -ESTALE: another build; else it is no ELF that can be read.
 * Context: any thread.
 */
int symbolize_check_file(int fd, const char *build_id);

/**
 * symbolizer_resolve_in - symbolizer_resolve() for frames of one module
 * @sample: its frames have module_offset and exact
 */
int symbolizer_resolve_in(struct symbolizer *symbolizer, struct module *module,
			  struct sample *sample, bool force);

/**
 * symbolizer_request_in - look up an address of a module with the next batch
 * @vaddr: as it is looked up: before the return address
 */
void symbolizer_request_in(struct symbolizer *symbolizer, struct module *module, uint64_t vaddr);

/**
 * symbolizer_store - read all functions of a file into the cache
 * @path: of the module, or of its debug file; outlives the symbolizer
 * @progress: called after each batch; NULL is fine
 *
 * .eh_frame and symbols tell where functions begin.
 *
 * Return:  0; -ENODATA: there is no debugging information; -ENOTSUP: the symbolizer has no cache;
 *          -errno and the reason.
 */
int symbolizer_store(struct symbolizer *symbolizer, const char *path,
		     void (*progress)(size_t n_done, size_t n_all), struct err *err);

/* The code of a function: [start, end) of a module's own addresses. */
struct symbol_range {
	uint64_t start;
	uint64_t end;
};

enum { SYMBOL_PAGE_MASK = 0xfff };

/**
 * symbolizer_ranges - the functions that begin at a place of a page, by the symbol tables
 * @module: of a symbolizer that has options->wait
 * @page_offset: of an address in a process too: modules are mapped by pages
 *
 * Return:  how many there are, at most MAX.
 */
size_t symbolizer_ranges(struct module *module, unsigned page_offset,
			 struct symbol_range *ret_ranges, size_t max);

/** symbolizer_is_busy - is a module being loaded, or an address being looked up? */
bool symbolizer_is_busy(const struct symbolizer *symbolizer);

/** symbolizer_stop_reading - read no further files for names; modules keep what was read */
void symbolizer_stop_reading(struct symbolizer *symbolizer);

/**
 * symbolizer_stop - the recording has ended: read nothing more, and stop reads under way
 *
 * What was found still names frames.  Modules that were not read are marked partial.
 */
void symbolizer_stop(struct symbolizer *symbolizer);

/**
 * symbolizer_due_ns - when symbolizer_tick() next has something to do
 *
 * Return:  ns; 0: as soon as a job of the loader ends; UINT64_MAX: nothing is planned.
 */
uint64_t symbolizer_due_ns(const struct symbolizer *symbolizer);

/** symbolizer_tick - store what was looked up, close unused files; call it ten times a second */
void symbolizer_tick(struct symbolizer *symbolizer);

/** symbolizer_wait - wait until a job of the loader ends, or for TIMEOUT_NS */
void symbolizer_wait(struct symbolizer *symbolizer, uint64_t timeout_ns);

/**
 * symbolizer_modules - every module with looked up frames, and maps that were not read to the end
 *
 * Return:  how many; *RET_MODULES is an array of them.
 * Owns:    the symbolizer; valid until the next call on it.
 */
size_t symbolizer_modules(struct symbolizer *symbolizer,
			  const struct symbolize_module **ret_modules);

/* Results of queries to debuginfod servers. */
struct symbolize_servers {
	uint64_t n_asked;
	uint64_t n_found;
	uint64_t n_late; /* not queried, or stopped, at the deadline */
	uint64_t spent_ns;
	const char *why; /* the first failure, or why no server is queried; "" none */
};

/**
 * symbolizer_servers - results of the queries so far
 *
 * Owns:    the symbolizer; valid until the next call.
 */
void symbolizer_servers(struct symbolizer *symbolizer, struct symbolize_servers *ret_servers);

/**
 * symbolize_mangled_names - how many names stay mangled because demangling took too long
 *
 * Return:  their number; a name counts once for each thread that reads it.
 * Context: any thread.
 */
uint64_t symbolize_mangled_names(void);

#endif

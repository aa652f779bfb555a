/* symbolize.h - (process, address, time) to named frames */
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
	bool wait;              /* load names at once, in the caller: for tests */
	bool no_inline;         /* functions only, without the calls that were inlined into them */
	bool full_names;        /* with parameters */
	bool no_symbols;        /* load nothing: frames stay module+offset */
	bool no_cache;          /* neither read nor write what is kept on disk */
	uint64_t mem_limit;     /* bytes that names may take; 0: MEMORY_DEFAULT_BYTES */
	bool debuginfod;        /* ask the servers of $DEBUGINFOD_URLS */
	const char *cache_folder; /* NULL: the user's */
	/* Told about once a second while servers are asked, in a loader's thread; NULL: nobody. */
	void (*progress)(const char *module, uint64_t bytes, uint64_t left_ns);
	const char *const *symbol_dirs; /* to look for debug files in; outlive the symbolizer */
	size_t n_symbol_dirs;
};

/* One module, for summaries. */
struct symbolize_module {
	const char *path;
	const char *build_id; /* hexadecimal; "" when it has none */
	enum symbol_quality quality;
	const char *source;  /* the same as a word: "debug" */
	const char *why;     /* when quality is NONE: what went wrong; else "" */
	bool cut;            /* some of its names were not read, for want of time or memory */
	const char *missing; /* what a better file would bring; "" nothing */
	const char *try;     /* where that file would come from: a package, an option, a flag */
	uint64_t lookups;    /* frames that asked it */
	uint64_t unnamed;    /* of those, how many it had no name for */
};

/**
 * symbolizer_new - an empty symbolizer, and its loader threads unless options->wait
 *
 * Return:  0; -errno.
 * Owns:    the caller, to symbolizer_free().
 * Context: main thread.
 */
int symbolizer_new(const struct symbolize_options *options, struct symbolizer **ret_symbolizer,
		   struct err *err);

/**
 * symbolizer_cache_why - why no names are kept on disk, though they were to be
 *
 * Return:  the reason; NULL: they are kept, or were not to be.
 * Owns:    the symbolizer.
 * Context: main thread.
 */
const char *symbolizer_cache_why(const struct symbolizer *symbolizer);

/**
 * symbolizer_free - forget everything; every name and path handed out is gone
 *
 * Context: main thread.  NULL is fine.
 */
void symbolizer_free(struct symbolizer *symbolizer);

/**
 * symbolizer_add - take in a mapping
 *
 * Opens the file at once (it may be gone later) and leaves reading it to the loader.  Never
 * fails: what cannot be opened resolves to module+offset, with the reason in its module.
 *
 * Context: main thread.
 */
void symbolizer_add(struct symbolizer *symbolizer, const struct mapping *mapping);

/**
 * symbolizer_exit - a process image has ended: its mappings are needed no more
 *
 * Names already handed out stay.
 *
 * Context: main thread.
 */
void symbolizer_exit(struct symbolizer *symbolizer, uint32_t process);

/**
 * symbolizer_resolve - name the frames of a sample
 * @force: do not wait for what is still being loaded or looked up: such frames have the names of
 *         symbol tables, or none
 *
 * On success sample->frames is an array of the symbolizer's: for each frame the calls that were
 * inlined there, innermost first, then the function itself; the waker's behind them.  n_frames
 * and n_waker grow with it, at most to SAMPLE_MAX_NAMED together.  Looks up frame.addr where
 * frame.exact, frame.addr - 1 otherwise.
 *
 * Return:  0; -EAGAIN when something is still being looked up and FORCE is false (call again;
 *          the sample is as it was); with FORCE the number of frames that went without a name for
 *          that reason.
 * Owns:    the symbolizer; frames hold until the next call, names until symbolizer_free().
 * Context: main thread.
 */
int symbolizer_resolve(struct symbolizer *symbolizer, struct sample *sample, bool force);

/**
 * symbolizer_ask - have the frames of a sample looked up that will be resolved later
 *
 * Context: main thread.
 */
void symbolizer_ask(struct symbolizer *symbolizer, const struct sample *sample);

/**
 * symbolizer_open - a module that no process has mapped here
 * @path: of its file, if it is here
 * @build_id: hexadecimal; "" not known.  A file with another one is not opened; its debug file is
 *            looked for instead
 *
 * Return:  NULL and the reason when there is no such file.
 * Owns:    the symbolizer.
 * Context: main thread.
 */
struct module *symbolizer_open(struct symbolizer *symbolizer, const char *path,
			       const char *build_id, struct err *err);

/**
 * symbolizer_resolve_in - symbolizer_resolve() for frames of one module
 * @sample: its frames have module_offset and exact
 *
 * Context: main thread.
 */
int symbolizer_resolve_in(struct symbolizer *symbolizer, struct module *module,
			  struct sample *sample, bool force);

/**
 * symbolizer_ask_in - have an address of a module looked up with the next batch
 * @vaddr: where to look: an address before a return address
 *
 * Context: main thread.
 */
void symbolizer_ask_in(struct symbolizer *symbolizer, struct module *module, uint64_t vaddr);

/**
 * symbolizer_keep - read a whole file's functions into the cache
 * @path: of the module, or of its debug file; outlives the symbolizer
 * @progress: called now and then; NULL is fine
 *
 * Functions are looked up where .eh_frame and symbols say that code begins.
 *
 * Return:  0; -ENODATA: there is no debugging information; -ENOTSUP: the symbolizer keeps no
 *          cache; -errno and the reason.
 * Context: main thread.
 */
int symbolizer_keep(struct symbolizer *symbolizer, const char *path,
		    void (*progress)(size_t n_done, size_t n_all), struct err *err);

/**
 * symbolizer_is_busy - is anything being looked up that was asked for?
 *
 * Context: main thread.
 */
bool symbolizer_is_busy(const struct symbolizer *symbolizer);

/**
 * symbolizer_forgo - from now on no file is read for names; those that were read keep theirs
 *
 * Context: main thread.
 */
void symbolizer_forgo(struct symbolizer *symbolizer);

/**
 * symbolizer_stop - the recording has ended: nothing more is read, and what is being read is given
 * up
 *
 * What was found until then still names frames; the modules that were not read say so.
 *
 * Context: main thread.
 */
void symbolizer_stop(struct symbolizer *symbolizer);

/**
 * symbolizer_due_ns - when symbolizer_tick() next has something to do
 *
 * Return:  ns; 0: as soon as the loader is done with what it does; UINT64_MAX: never, as it looks.
 * Context: main thread.
 */
uint64_t symbolizer_due_ns(const struct symbolizer *symbolizer);

/**
 * symbolizer_tick - take in what was looked up, close what is not needed: ten times a second
 *
 * Context: main thread.
 */
void symbolizer_tick(struct symbolizer *symbolizer);

/**
 * symbolizer_wait - until something has been loaded or looked up, or TIMEOUT_NS
 *
 * Context: main thread.
 */
void symbolizer_wait(struct symbolizer *symbolizer, uint64_t timeout_ns);

/**
 * symbolizer_modules - every module that was asked for a name, and maps that were not read
 *
 * Return:  how many; *RET_MODULES is an array of them.
 * Owns:    the symbolizer; good until the next call on it.
 * Context: main thread.
 */
size_t symbolizer_modules(struct symbolizer *symbolizer,
			  const struct symbolize_module **ret_modules);

/* What came of asking servers (--debuginfod). */
struct symbolize_servers {
	uint64_t n_asked;
	uint64_t n_found;
	uint64_t n_late; /* not asked, or given up, when their time was over */
	uint64_t spent_ns;
	const char *why; /* what failed first, or why none is asked; "" nothing */
};

/**
 * symbolizer_servers - what came of asking servers until now
 *
 * Owns:    the symbolizer; good until the next call.
 * Context: main thread.
 */
void symbolizer_servers(struct symbolizer *symbolizer, struct symbolize_servers *ret_servers);

/**
 * symbolize_mangled_names - names that this process shows mangled: they took too long
 *
 * Return:  how many different ones, for each reader of them.
 * Context: any thread.
 */
uint64_t symbolize_mangled_names(void);

#endif

/*
 * code.h - the code of a function, with what its lines and instructions cost in a recording
 *
 * A recording names modules, and the debugging information of a module names source files.  Both
 * may be forged: nothing else than a program is read as a module, nothing outside the folders of
 * the user's choice as a source.
 *
 * Context: any thread, unless a function says another.
 */
#ifndef SERVE_CODE_H
#define SERVE_CODE_H

#include "base/buf.h"
#include "base/err.h"
#include "flamescope/query/query.h"
#include "flamescope/serve/catalog.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CODE_MAX_QUEUE = 8,
	CODE_MAX_FOLDERS = 16,
	CODE_MAX_PLACES = 4096,        /* addresses of a function that have samples */
	CODE_MAX_LINES = 100000,       /* from the first that costs something to the last */
	CODE_MAX_INSTRUCTIONS = 32768, /* of a function */
	CODE_SOURCE_BYTES = 4 * 1024 * 1024,
	CODE_DISASSEMBLY_BYTES = 4 * 1024 * 1024,
	CODE_DISASSEMBLY_MS = 10000, /* that objdump may take */
	CODE_S = 30,                 /* that a recording may take to load, and names to be found */
};

struct code_options {
	const char *const *folders; /* whose files may be shown as source; may be none */
	size_t n_folders;
	const char *objdump;     /* a path, or a name to be found by $PATH; NULL: "objdump" */
	unsigned disassembly_ms; /* 0: CODE_DISASSEMBLY_MS */
};

/* code_files: which files may be read */

/**
 * code_open_module - open the file of a module that a recording names
 * @build_id: hexadecimal; "": not known
 * @until_ns: since 1970: without a build-id a file that was changed later is another one
 *
 * It has to be a regular file, an ELF, and belong to root or to the user of this process: libraries
 * and objdump read it, which a stranger's file may hurt.
 *
 * Return:  a descriptor; -errno and what to say of it.
 * Owns:    the caller.
 */
int code_open_module(const char *path, const char *build_id, int64_t until_ns, struct err *err);

/**
 * code_read_source - read a source file that debugging information names
 *
 * It has to have the name of a source file and lie below one of the folders; where the program was
 * built in another folder, the end of its path counts.  Hidden files, and what links lead to, are
 * never read.
 *
 * Return:  0; -ENOENT: no such file; -EACCES: it is none that may be read; -EFBIG; -EINVAL: no
 *          text; -errno.
 */
int code_read_source(const struct code_options *options, const char *path, struct buf *text,
		     int64_t *ret_mtime_ns);

/* disassemble: objdump */

struct instruction {
	uint64_t addr;
	const char *text; /* a view */
};

/* What is disassembled: [FROM, TO) of an ELF file, by its own addresses. */
struct disassembly {
	int module; /* a descriptor of the file */
	uint64_t from;
	uint64_t to;
	struct buf text;                  /* what objdump wrote; the caller's */
	struct instruction *instructions; /* views of it, room for MAX */
	size_t max;
};

/**
 * disassemble - have objdump write instructions
 * @stop: once it is true, give up
 *
 * It runs without a shell, with its own limits of time, memory and output.
 *
 * Return:  how many there are; -ENOENT: there is no objdump; -ETIMEDOUT; -EFBIG; -errno.
 */
int disassemble(const struct code_options *options, const _Atomic bool *stop,
		struct disassembly *disassembly);

/* code_answer: what is said of a function */

/* What an address, a line or an instruction costs. */
struct code_cost {
	uint64_t self;  /* of samples that were taken there */
	uint64_t total; /* and of those that were in what is called there */
};

/* An address in the function that samples have. */
struct code_place {
	uint32_t frame; /* of the profile: the function that the machine runs */
	uint32_t depth; /* calls that were inlined into that one, down to the function */
	bool exact;     /* a sample was taken there; else it is the return address of a call */
	struct code_cost cost;
};

/* What the places of a function come to. */
struct code_places {
	const struct profile *profile;
	const char *function; /* its name */
	const char *unit;
	uint32_t module; /* a string of the profile */
	struct code_cost cost;
	struct code_place *places; /* in the module, dearest first */
	size_t n;
};

/* The file of a module that a recording names. */
struct code_module {
	int fd; /* from code_open_module() */
	const char *path;
	const char *build_id; /* hexadecimal; "": not known */
};

/**
 * code_answer - add {"lines":[...],"instructions":[...]} of a function
 *
 * Context: any thread; it may take seconds.
 */
void code_answer(const struct code_options *options, const struct code_places *places,
		 const struct code_module *module, const _Atomic bool *stop, struct buf *json);

/* code: a queue of requests, and the thread that answers them */

/* Zero what is not said to be set. */
struct code_request {
	char *file;     /* set: a recording of the catalog */
	char *function; /* set */
	struct query_words words;
	void (*done)(void *context); /* set: called when there is an answer, by another thread */
	void *context;

	int error; /* 0; -ENOENT: no such recording; -EBUSY; -errno, with the reason */
	struct err err;
	struct buf json; /* the answer */
	struct code_request *next;
};

struct code;

/**
 * code_new - begin, with a thread
 *
 * Return:  0; -errno.
 * Owns:    the caller, to code_stop() and code_free(); the catalog and options have to outlive it.
 */
int code_new(struct catalog *catalog, const struct code_options *options, struct code **ret_code,
	     struct err *err);

/**
 * code_queue - wait in line
 *
 * Return:  0: request->done() will be called, once; -EBUSY: too many wait.
 * Owns:    the caller keeps REQUEST until then.
 */
int code_queue(struct code *code, struct code_request *request);

/** code_release - forget what a request holds; it is done, or was never queued */
void code_release(struct code_request *request);

/**
 * code_stop - end the thread: waiting requests get -ECANCELED, later ones -EBUSY
 *
 * Context: any thread, once.  NULL is fine.
 */
void code_stop(struct code *code);

/**
 * code_free - free it; it has been stopped
 *
 * Context: any thread.  NULL is fine.
 */
void code_free(struct code *code);

#endif

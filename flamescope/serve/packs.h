/*
 * packs.h - recordings made into packs by a few threads; the newest are kept
 *
 * Context: any thread, unless a function says another.
 */
#ifndef SERVE_PACKS_H
#define SERVE_PACKS_H

#include "base/err.h"
#include "flamescope/profile.h"
#include "flamescope/serve/catalog.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* packed: a profile as a page takes it: its pack, compressed, in memory that has no name */

/**
 * packed_make - gzip a profile's pack
 * @stop: once it is true, -ECANCELED soon
 *
 * Return:  0, a descriptor that is read with pread and how many bytes it holds; -errno.
 * Owns:    the caller: close(*ret_fd).
 */
int packed_make(const struct profile *profile, const _Atomic bool *stop, int *ret_fd,
		uint64_t *ret_bytes, struct err *err);

/* trim: the end of a profile, without its beginning */

/**
 * trim_before - leave out what was before a time since 1970
 * @ret_times: what ret_view->times_ns points to
 *
 * A profile that does not say when it was is left whole, and so is one that has no sample then.
 *
 * Return:  0, and a profile whose columns point into PROFILE's; -ENOMEM.
 * Owns:    the caller: free(*ret_times), and nothing else of it; PROFILE has to outlive it.
 */
int trim_before(const struct profile *profile, int64_t from_ns, struct profile *ret_view,
		uint64_t **ret_times);

enum {
	PACKS_MAX_FILES = 2000,               /* of one pack */
	PACKS_MAX_QUEUE = 32,                 /* that wait for theirs */
	PACKS_LOADERS = 3,                    /* threads: that many are loaded at a time */
	PACKS_FILE_S = 30,                    /* a file is read no longer, and said so */
	PACKS_LOAD_S = 120,                   /* nor are the files of one pack */
	PACKS_KEPT = 16,                      /* in memory, */
	PACKS_KEPT_BYTES = 256 * 1024 * 1024, /* and in all no more than this */
};

/* Of all packs that are kept or being sent: with as many bytes in use, further requests wait. */
#define PACKS_HELD_BYTES (UINT64_C(1) << 30)

struct packs_bytes;

/* A request for a pack.  Zero what is not said to be set. */
struct packs_request {
	char **names; /* set: of recordings in the catalog, and how many */
	size_t n_names;
	int64_t from_ns; /* leave out what was before this time since 1970; 0: nothing */
	void (*done)(void *context); /* set: called when there is an answer, by another thread */
	void *context;

	/* the answer */
	int error; /* 0; -ENOENT: none of them is there; -EBUSY: too much is being sent;
		      -ETIMEDOUT: it takes longer than PACKS_LOAD_S; -errno, with the reason */
	struct err err;
	int fd; /* whose bytes are the gzip'd pack; read it with pread */
	uint64_t bytes;
	size_t n_files; /* that it holds: others had gone */

	struct packs_bytes *pack; /* counts among what is held, to packs_release() */
	struct packs_request *next;
};

struct packs;

/**
 * packs_new - begin, with threads that load
 * @max_bytes: no other pack is made while so much is held
 *
 * Return:  0; -ENOMEM, -EAGAIN.
 * Owns:    the caller, to packs_stop() and packs_free(); the catalog has to outlive it.
 */
int packs_new(struct catalog *catalog, uint64_t max_bytes, struct packs **ret_packs,
	      struct err *err);

/**
 * packs_queue - wait in line
 *
 * Return:  0: request->done() will be called, once; -EBUSY: too many wait.
 * Owns:    the caller keeps REQUEST until then; an answer goes to packs_release().
 */
int packs_queue(struct packs *packs, struct packs_request *request);

/**
 * packs_release - an answer has been sent, or is not wanted
 *
 * The descriptor is closed, unless request->fd has been set to -1 because other code closes it.
 *
 * Context: any thread, once the request is done.
 */
void packs_release(struct packs *packs, struct packs_request *request);

/**
 * packs_stop - end the threads: waiting requests get -ECANCELED, later ones -EBUSY
 *
 * What is being read or compressed is given up.
 *
 * Context: any thread, once.
 */
void packs_stop(struct packs *packs);

/**
 * packs_free - free it; it has been stopped
 *
 * Context: any thread.  NULL is fine.
 */
void packs_free(struct packs *packs);

#endif

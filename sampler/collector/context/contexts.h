/*
 * contexts.h - what the handlers of one process read of each thread's context, and the labels that
 * samples get of it
 *
 * Context: collector thread.
 */
#ifndef CONTEXT_CONTEXTS_H
#define CONTEXT_CONTEXTS_H

#include "sampler/wire/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct contexts;
struct labels;

/**
 * contexts_new - find the variables of a process, for its handlers
 * @gauges: names of the recording's gauges; kept by the caller
 *
 * Some microseconds a module.
 *
 * Return:  0; -errno (-ENOENT: its modules are not known, so there will be no labels).
 * Owns:    the caller, to contexts_free().
 */
int contexts_new(struct contexts **ret_contexts, pid_t pid, const char *const *gauges,
		 size_t n_gauges);

/** contexts_free - forget them; NULL is fine */
void contexts_free(struct contexts *contexts);

/**
 * contexts_keep_modules - note that the modules of now are never unloaded: the program has not
 * begun
 *
 * A new thread then gets the context of its creator, also if wick.h's variable is in a library.
 */
void contexts_keep_modules(struct contexts *contexts);

/**
 * contexts_post - tell the handlers the variables, if they are others than before
 *
 * Variables of modules that are gone are taken back.
 */
void contexts_post(struct contexts *contexts, struct ring_header *header);

/**
 * contexts_follow - find and post variables again if modules have come or gone
 * @changed: something was mapped or unmapped; false: the loader's list is read now and then
 *
 * Return:  whether variables were found that were not there before, or are gone.
 */
bool contexts_follow(struct contexts *contexts, struct ring_header *header, uint64_t now_ns,
		     bool changed);

/** contexts_any - whether the process has a variable that tells whose work a thread does */
bool contexts_any(const struct contexts *contexts);

/**
 * contexts_thread_pointer - find the thread pointer of a blocked thread
 *
 * Return:  the thread pointer; 0: it is not above SP.
 */
uint64_t contexts_thread_pointer(const struct contexts *contexts, uint64_t sp);

/** contexts_blocked - the labels of a thread that does not run, read from outside */
void contexts_blocked(struct contexts *contexts, uint64_t thread_pointer,
		      struct labels *ret_labels);

/**
 * contexts_labels - the labels of a sample
 * @context: of its record, checked; NULL: none
 */
void contexts_labels(struct contexts *contexts, const struct record_context *context,
		     struct labels *ret_labels);

#endif

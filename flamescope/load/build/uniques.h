/* uniques.h - one number for each string, function, stack and thread */
#ifndef BUILD_UNIQUES_H
#define BUILD_UNIQUES_H

#include "flamescope/load/budget.h"
#include "flamescope/load/build/number_table.h"
#include "flamescope/profile.h"

#include <stddef.h>
#include <stdint.h>

struct unique_frame {
	struct profile_frame frame;
	uint64_t at; /* where in the text it was first seen: whose address it has */
};

struct unique_thread {
	uint32_t comm;
	uint32_t file; /* whose host is the thread's */
	int32_t pid;
	int32_t tid;
};

/*
 * What is refused (see budget_failed()) has number 0, so that nobody needs to ask each time: a
 * load that failed makes no profile.
 */
struct uniques {
	struct budget *budget;
	char *bytes; /* strings with their NULs */
	size_t n_bytes, max_bytes;
	size_t *starts; /* of the strings in BYTES; 0 is "" */
	size_t n_strings, max_strings;
	struct unique_frame *frames;
	size_t n_frames, max_frames;
	struct profile_node *nodes; /* 0 is the root */
	size_t n_nodes, max_nodes;
	struct unique_thread *threads;
	size_t n_threads, max_threads;
	struct number_table string_table, frame_table, node_table, thread_table;
};

/**
 * uniques_init - with "" and the root in it
 *
 * Context: any thread; one user at a time, as for all of these.
 */
void uniques_init(struct uniques *uniques, struct budget *budget);

/**
 * uniques_release - forget all
 *
 * Context: any thread.
 */
void uniques_release(struct uniques *uniques);

/**
 * uniques_string - the number of LEN bytes, which hold no NUL
 *
 * Context: any thread.
 */
uint32_t uniques_string(struct uniques *uniques, const char *text, size_t len);

/**
 * uniques_text - a string by its number
 *
 * Owns:    the table; good until the next string comes.
 * Context: any thread.
 */
const char *uniques_text(const struct uniques *uniques, uint32_t string);

/**
 * uniques_frame - the number of a function
 * @at: where in the text it stands; the address that was seen first stays
 *
 * Context: any thread.
 */
uint32_t uniques_frame(struct uniques *uniques, const struct profile_frame *frame, uint64_t at);

/**
 * uniques_node - the number of a stack: FRAME, called from PARENT
 *
 * Context: any thread.
 */
uint32_t uniques_node(struct uniques *uniques, uint32_t parent, uint32_t frame);

/**
 * uniques_thread - the number of a thread
 *
 * Context: any thread.
 */
uint32_t uniques_thread(struct uniques *uniques, const struct unique_thread *thread);

#endif

/*
 * preload.h - the value of LD_PRELOAD with the agent in it, and the user's value back from it
 *
 * Context: agent; also between vfork and exec. Any thread, unless a function says otherwise.
 */
#ifndef PROGRAM_PRELOAD_H
#define PROGRAM_PRELOAD_H

#include <stddef.h>

/*
 * The starter of a program builds this value; the agent splits it again when it starts, so that the
 * program sees the value its user set, or none. These forms occur:
 *
 *   AGENT              the user had none
 *   AGENT:user         the user's (it may be empty)
 *   asan:AGENT:        ASan's runtime has to be first; the user had none
 *   asan:AGENT::user   the same over the user's
 *   user:AGENT         the user's names ASan's runtime already, so it keeps its place
 *
 * The part before AGENT is the user's only if nothing follows AGENT.
 */
struct preload {
	const char *agent; /* absolute path of the agent, without blanks and colons */
	const char *user;  /* the user's value, NULL: not set */
	const char *asan;  /* soname that has to come first; NULL or "": none */
};

/** preload_length - bytes that preload_build() writes, with the NUL */
size_t preload_length(const struct preload *preload);

/**
 * preload_build - write the value of LD_PRELOAD that loads the agent
 * @to: a buffer of preload_length() bytes
 */
void preload_build(const struct preload *preload, char *to);

/**
 * preload_split - find the user's value in a value that preload_build() wrote
 * @ret_start: the first byte of the user's value in VALUE
 * @ret_len:   and its length
 *
 * Return:  1: the user had a value; 0: the user had none; -1: AGENT is not in VALUE.
 * Owns:    RET_START points into VALUE.
 * Context: agent; any thread.
 */
int preload_split(const char *value, const char *agent, const char **ret_start, size_t *ret_len);

#endif

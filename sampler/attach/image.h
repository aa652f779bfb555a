/* image.h - copies the agent into a sealed memfd, for processes that cannot open its path */
#ifndef ATTACH_IMAGE_H
#define ATTACH_IMAGE_H

#include "base/err.h"

#include <stdint.h>

/* The name of such a mapping in a maps file: "/memfd:" and this. */
#define IMAGE_NAME "libwick-agent.so"

/**
 * image_open - make a sealed copy of the agent's file
 * @ret_attach_offset: offset of its attach function from its load address
 *
 * Return:  a descriptor (close-on-exec) of the read-only copy; -errno.
 * Owns:    the caller.
 * Context: any thread.
 */
int image_open(const char *agent_path, uint64_t *ret_attach_offset, struct err *err);

#endif

/* image.h - the agent as a file without a name, for processes that cannot see ours */
#ifndef ATTACH_IMAGE_H
#define ATTACH_IMAGE_H

#include "base/err.h"

#include <stdint.h>

/* What such a mapping is called in a maps file: "/memfd:" and this. */
#define IMAGE_NAME "libwick-agent.so"

/**
 * image_open - a sealed copy of the agent's file
 * @ret_attach_offset: where it is attached, from where it is loaded
 *
 * Return:  a descriptor (close-on-exec) that nobody can write to; -errno.
 * Owns:    the caller.
 * Context: any thread.
 */
int image_open(const char *agent_path, uint64_t *ret_attach_offset, struct err *err);

#endif

/* record_attach.h - `wick record -p`: running processes instead of a command */
#ifndef TOOLS_RECORD_ATTACH_H
#define TOOLS_RECORD_ATTACH_H

#include "base/err.h"

struct recorder;

/**
 * record_attach_start - begin to record, and have the processes join that are meant
 *
 * With -a that is nobody yet.  Those that cannot are told of, one line each; the recording goes on
 * with the others.
 *
 * Return:  0: at least one has joined; -errno: none, and the reason.
 * Context: main thread.
 */
int record_attach_start(struct recorder *recorder, struct err *err);

#endif

/* control_client.h - finds the recording of a process and asks it for something */
#ifndef TOOLS_CONTROL_CLIENT_H
#define TOOLS_CONTROL_CLIENT_H

#include "base/err.h"
#include "tools/control_wire.h"

/**
 * control_ask - have the recording of a process do something
 *
 * Return:  0 and its reply, whose strings end; -ESRCH: nobody records it; -ENOTUNIQ: several do;
 *          -EPROTO, -ETIMEDOUT and others, and the reason.
 * Context: main thread.
 */
int control_ask(const struct control_request *request, struct control_reply *ret_reply,
		struct err *err);

#endif

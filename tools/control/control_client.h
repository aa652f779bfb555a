/* control_client.h - finds the recording of a process and asks it for something */
#ifndef CONTROL_CONTROL_CLIENT_H
#define CONTROL_CONTROL_CLIENT_H

#include "base/err.h"
#include "tools/control/control_wire.h"

#include <sys/types.h>

/**
 * control_ask - have the recording of a process do something
 *
 * Return:  0 and its reply, whose strings end; -ESRCH: nobody records it; -ENOTUNIQ: several do;
 *          -EPROTO, -ETIMEDOUT and others, and the reason.
 * Context: main thread.
 */
int control_ask(const struct control_request *request, struct control_reply *ret_reply,
		struct err *err);

/**
 * control_ask_all - how each recording of the caller's is going
 * @tell_one: gets each one's reply, whose strings end
 *
 * Return:  how many there are; -errno when none answered, and the reason.
 * Context: main thread.
 */
int control_ask_all(void (*tell_one)(void *context, struct control_reply *reply), void *context,
		    struct err *err);

/**
 * control_recorder - who records a process
 *
 * Return:  the pid of its wick record; 0: nobody that can be asked.
 * Context: main thread.
 */
pid_t control_recorder(pid_t pid);

#endif

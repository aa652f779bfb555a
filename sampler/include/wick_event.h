/*
 * wick_event.h - callbacks of libevent 2.1 as tasks
 *
 *	#include <event2/event.h>
 *	#include <wick_event.h>
 *
 *	event = wick_event_new(base, fd, EV_READ | EV_PERSIST, on_read, arg);	instead of
 *event_new(...)
 *	wick_event_free(event);							instead of
 *event_free(...)
 *
 * The callback of an event is a task, named after it and placed where the event was made: it exists
 * from then until the event is freed, or was called for the only time (event_base_once()), and runs
 * while it is called, in the context that there was when it was made.  Those of a bufferevent are
 * one task, named after the first of them.
 *
 * event_get_callback(), event_get_callback_arg() and bufferevent_getcb() tell what is wick's.
 *
 * Context: any thread.
 */
#ifndef WICK_EVENT_H
#define WICK_EVENT_H

#include "wick.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>

#ifdef WICK_TABLES_NOTE

#ifdef __cplusplus
extern "C" {
#endif

/* Private, as all that ends in _at. */
struct wick_event {
	struct wick_task task;
	struct wick_context context;
	event_callback_fn callback;
	bufferevent_data_cb on_read;
	bufferevent_data_cb on_write;
	bufferevent_event_cb on_event;
	void *arg;
	int calls; /* that are going on */
	int gone;
	int once;
};

/**
 * wick_event_made - what a callback is called with instead of ARG
 *
 * Return:  that; 0 when there is no memory.
 */
static inline struct wick_event *wick_event_made(void *arg, struct wick_site *site)
{
	struct wick_event *made = (struct wick_event *)calloc(1, sizeof(*made));

	if (!made)
		return 0;
	made->arg = arg;
	made->context = wick_context_get();
	wick_task_create_at(&made->task, site, site->name);
	return made;
}

/** wick_event_gone - a callback is not called any more */
static inline void wick_event_gone(struct wick_event *made, enum wick_end how)
{
	if (!made)
		return;
	made->gone = 1;
	if (made->calls)
		return; /* what calls it frees it */
	wick_task_finish(&made->task, how);
	free(made);
}

/** wick_event_enter - a callback is called */
static inline void wick_event_enter(struct wick_event *made)
{
	if (made->calls++ == 0)
		wick_task_run(&made->task);
}

/** wick_event_leave - a callback returns */
static inline void wick_event_leave(struct wick_event *made)
{
	if (--made->calls != 0)
		return;
	if (made->gone || made->once) {
		wick_event_gone(made, WICK_COMPLETED);
		return;
	}
	wick_task_suspend(&made->task);
	made->task.value = made->context;
}

/** wick_event_call - what libevent calls instead of an event's callback */
static inline void wick_event_call(evutil_socket_t fd, short what, void *arg)
{
	struct wick_event *made = (struct wick_event *)arg;

	wick_event_enter(made);
	made->callback(fd, what, made->arg);
	wick_event_leave(made);
}

/** wick_event_call_read - the same of a bufferevent's */
static inline void wick_event_call_read(struct bufferevent *buffer, void *arg)
{
	struct wick_event *made = (struct wick_event *)arg;

	wick_event_enter(made);
	made->on_read(buffer, made->arg);
	wick_event_leave(made);
}

/** wick_event_call_write - the same of a bufferevent's */
static inline void wick_event_call_write(struct bufferevent *buffer, void *arg)
{
	struct wick_event *made = (struct wick_event *)arg;

	wick_event_enter(made);
	made->on_write(buffer, made->arg);
	wick_event_leave(made);
}

/** wick_event_call_event - the same of a bufferevent's */
static inline void wick_event_call_event(struct bufferevent *buffer, short what, void *arg)
{
	struct wick_event *made = (struct wick_event *)arg;

	wick_event_enter(made);
	made->on_event(buffer, what, made->arg);
	wick_event_leave(made);
}

/**
 * wick_event_new_at - wick_event_new() at a site
 *
 * Return:  that of event_new().
 */
static inline struct event *wick_event_new_at(struct event_base *base, evutil_socket_t fd,
					      short what, event_callback_fn callback,
					      struct wick_event *made)
{
	struct event *event;

	if (!made)
		return 0;
	made->callback = callback;
	event = event_new(base, fd, what, wick_event_call, made);
	if (!event)
		wick_event_gone(made, WICK_FAILED);
	return event;
}

/** wick_event_free - event_free() of what wick_event_new() made */
static inline void wick_event_free(struct event *event)
{
	struct wick_event *made = (struct wick_event *)event_get_callback_arg(event);

	event_free(event);
	wick_event_gone(made, WICK_COMPLETED);
}

/**
 * wick_event_once_at - wick_event_base_once() at a site
 *
 * Return:  that of event_base_once().
 */
static inline int wick_event_once_at(struct event_base *base, evutil_socket_t fd, short what,
				     event_callback_fn callback, struct wick_event *made,
				     const struct timeval *timeout)
{
	int result;

	if (!made)
		return -1;
	made->callback = callback;
	made->once = 1;
	result = event_base_once(base, fd, what, wick_event_call, made, timeout);
	if (result != 0)
		wick_event_gone(made, WICK_FAILED);
	return result;
}

/**
 * wick_event_of - what a bufferevent's callbacks are called with, if that is wick's
 *
 * Return:  that; 0.
 */
static inline struct wick_event *wick_event_of(struct bufferevent *buffer)
{
	bufferevent_data_cb on_read = 0;
	bufferevent_data_cb on_write = 0;
	bufferevent_event_cb on_event = 0;
	void *arg = 0;

	bufferevent_getcb(buffer, &on_read, &on_write, &on_event, &arg);
	return on_read == wick_event_call_read || on_write == wick_event_call_write ||
			       on_event == wick_event_call_event
		       ? (struct wick_event *)arg
		       : 0;
}

/** wick_bufferevent_setcb_at - wick_bufferevent_setcb() at a site */
static inline void wick_bufferevent_setcb_at(struct bufferevent *buffer,
					     bufferevent_data_cb on_read,
					     bufferevent_data_cb on_write,
					     bufferevent_event_cb on_event, struct wick_event *made)
{
	struct wick_event *before = wick_event_of(buffer);

	if (!made) /* no memory: those of before stay */
		return;
	if (!on_read && !on_write && !on_event) {
		bufferevent_setcb(buffer, 0, 0, 0, made->arg);
		wick_event_gone(made, WICK_COMPLETED);
		wick_event_gone(before, WICK_COMPLETED);
		return;
	}
	made->on_read = on_read;
	made->on_write = on_write;
	made->on_event = on_event;
	bufferevent_setcb(buffer, on_read ? wick_event_call_read : 0,
			  on_write ? wick_event_call_write : 0,
			  on_event ? wick_event_call_event : 0, made);
	wick_event_gone(before, WICK_COMPLETED);
}

/**
 * wick_bufferevent_free - bufferevent_free() of one that wick_bufferevent_setcb() was called for
 */
static inline void wick_bufferevent_free(struct bufferevent *buffer)
{
	struct wick_event *made = wick_event_of(buffer);

	bufferevent_setcb(buffer, 0, 0, 0, 0);
	bufferevent_free(buffer);
	wick_event_gone(made, WICK_COMPLETED);
}

#define WICK_EVENT_MADE(callback, arg)                                                             \
	__extension__({                                                                            \
		static struct wick_site wick_site = {                                              \
			0, 0, __LINE__, #callback, __func__, __FILE__};                            \
		wick_event_made(arg, &wick_site);                                                  \
	})

/* As the functions of libevent without wick_. */
#define wick_event_new(base, fd, what, callback, arg)                                              \
	wick_event_new_at(base, fd, what, callback, WICK_EVENT_MADE(callback, arg))
#define wick_evtimer_new(base, callback, arg) wick_event_new(base, -1, 0, callback, arg)
#define wick_evsignal_new(base, number, callback, arg)                                             \
	wick_event_new(base, number, EV_SIGNAL | EV_PERSIST, callback, arg)
#define wick_event_base_once(base, fd, what, callback, arg, timeout)                               \
	wick_event_once_at(base, fd, what, callback, WICK_EVENT_MADE(callback, arg), timeout)
#define wick_bufferevent_setcb(buffer, on_read, on_write, on_event, arg)                           \
	wick_bufferevent_setcb_at(buffer, on_read, on_write, on_event,                             \
				  WICK_EVENT_MADE(on_read, arg))

#ifdef __cplusplus
}
#endif

#else

#define wick_event_new         event_new
#define wick_event_free        event_free
#define wick_evtimer_new       evtimer_new
#define wick_evsignal_new      evsignal_new
#define wick_event_base_once   event_base_once
#define wick_bufferevent_setcb bufferevent_setcb
#define wick_bufferevent_free  bufferevent_free

#endif

#endif

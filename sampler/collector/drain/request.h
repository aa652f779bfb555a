/*
 * request.h - what the main thread has the drain thread do, and waits for
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef DRAIN_REQUEST_H
#define DRAIN_REQUEST_H

#include <pthread.h>
#include <stdbool.h>

struct collector;

/* One at a time. */
struct request {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int (*run)(struct collector *collector, void *argument); /* NULL: none waits */
	void *argument;
	int result;
	bool closed;
};

/** request_init - no request */
void request_init(struct request *request);

/** request_release - what request_init() made */
void request_release(struct request *request);

/**
 * drain_wake - wake the drain thread up for a request
 *
 * Context: any thread; async-signal-safe.
 */
void drain_wake(struct collector *collector);

/**
 * request_make - have RUN called where the drain thread's things may be touched
 *
 * Before that thread runs, that is here.
 *
 * Return:  what RUN returned; -ESHUTDOWN: the recording is over.
 */
int request_make(struct collector *collector,
		 int (*run)(struct collector *collector, void *argument), void *argument);

/**
 * request_serve - serve the request, if there is one
 *
 * Context: collector thread.
 */
void request_serve(struct collector *collector);

/**
 * request_close - from now on nothing is done
 *
 * Context: collector thread.
 */
void request_close(struct collector *collector);

#endif

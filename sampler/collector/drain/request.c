/* request.c - what the main thread has the drain thread do, and waits for */
#include "sampler/collector/drain/request.h"

#include "sampler/collector/drain/state.h"

#include <errno.h>
#include <unistd.h>

void request_init(struct request *request)
{
	(void)pthread_mutex_init(&request->lock, NULL);
	(void)pthread_cond_init(&request->changed, NULL);
}

void request_release(struct request *request)
{
	(void)pthread_mutex_destroy(&request->lock);
	(void)pthread_cond_destroy(&request->changed);
}

void drain_wake(struct collector *collector)
{
	const uint64_t one = 1;

	(void)!write(collector->wake_fd, &one, sizeof(one));
}

int request_make(struct collector *collector,
		 int (*run)(struct collector *collector, void *argument), void *argument)
{
	struct request *request = &collector->request;
	int r;

	if (!collector->running)
		return run(collector, argument);
	(void)pthread_mutex_lock(&request->lock);
	request->run = run;
	request->argument = argument;
	request->result = -ESHUTDOWN;
	drain_wake(collector);
	while (request->run && !request->closed)
		(void)pthread_cond_wait(&request->changed, &request->lock);
	request->run = NULL;
	r = request->result;
	(void)pthread_mutex_unlock(&request->lock);
	return r;
}

void request_serve(struct collector *collector)
{
	struct request *request = &collector->request;

	(void)pthread_mutex_lock(&request->lock);
	if (request->run) {
		request->result = request->run(collector, request->argument);
		request->run = NULL;
		(void)pthread_cond_signal(&request->changed);
	}
	(void)pthread_mutex_unlock(&request->lock);
}

void request_close(struct collector *collector)
{
	struct request *request = &collector->request;

	(void)pthread_mutex_lock(&request->lock);
	request->closed = true;
	(void)pthread_cond_signal(&request->changed);
	(void)pthread_mutex_unlock(&request->lock);
}

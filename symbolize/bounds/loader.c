/* loader.c - a queue of jobs, a mutex, and two threads */
#include "symbolize/bounds/loader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { NICER = 5 };

#define DETACH_NS UINT64_C(500000000) /* a thread that does not end */

struct job {
	void (*run)(void *context);
	void (*drop)(void *context); /* NULL: nothing is to be done */
	void *context;
	struct job *next;
};

struct loader {
	bool wait;
	_Atomic bool stopping;
	pthread_t threads[LOADER_THREADS];
	size_t n_threads;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t pushed;
	pthread_cond_t ended;
	struct job *first;
	struct job **last;
	size_t n_busy;
	size_t n_ending; /* threads that have run their last job */
	uint64_t n_ended;
	uint64_t n_seen; /* ended at the last loader_wait() */
};

static _Thread_local struct loader *here;

struct loader *loader_current(void)
{
	return here;
}

void loader_set_current(struct loader *loader)
{
	here = loader;
}

/* Relaxed: a thread that sees it late only works a little longer. */
static bool is_stopping(const struct loader *loader)
{
	return atomic_load_explicit(&loader->stopping, memory_order_relaxed);
}

bool loader_is_stopping(void)
{
	return here && is_stopping(here);
}

/* The next job, or NULL to end. */
static struct job *take(struct loader *loader)
{
	struct job *job = NULL;

	pthread_mutex_lock(&loader->lock);
	while (!loader->first && !is_stopping(loader))
		pthread_cond_wait(&loader->pushed, &loader->lock);
	if (!is_stopping(loader)) {
		job = loader->first;
		loader->first = job->next;
		if (!loader->first)
			loader->last = &loader->first;
		loader->n_busy++;
	}
	pthread_mutex_unlock(&loader->lock);
	return job;
}

static void *run_jobs(void *context)
{
	struct loader *loader = (struct loader *)context;
	struct job *job;

	loader_set_current(loader);
	/* Of this thread only, as Linux has it; without it names come a little sooner. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + NICER);
	while ((job = take(loader))) {
		job->run(job->context);
		free(job);
		pthread_mutex_lock(&loader->lock);
		loader->n_busy--;
		loader->n_ended++;
		pthread_cond_signal(&loader->ended);
		pthread_mutex_unlock(&loader->lock);
	}
	pthread_mutex_lock(&loader->lock);
	loader->n_ending++;
	pthread_cond_signal(&loader->ended);
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

/*
 * Signals are for the main thread: new ones start with all of them blocked, but for those that
 * tell that a mapped file has shrunk (file_guard.h) and, later, that a name takes too long
 * (demangle.h).
 */
static int start_threads(struct loader *loader)
{
	sigset_t all;
	sigset_t old;
	int r = 0;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (r == 0 && loader->n_threads < LOADER_THREADS) {
		r = pthread_create(&loader->threads[loader->n_threads], NULL, run_jobs, loader);
		loader->n_threads += r == 0;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return loader->n_threads ? 0 : -r; /* one does, if need be */
}

int loader_new(bool wait, struct loader **ret_loader)
{
	struct loader *loader = calloc(1, sizeof(*loader));
	pthread_condattr_t attr;
	int r = 0;

	if (!loader)
		return -ENOMEM;
	loader->wait = wait;
	loader->last = &loader->first;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->pushed, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&loader->ended, &attr);
	pthread_condattr_destroy(&attr);
	if (!wait)
		r = start_threads(loader);
	if (r < 0) {
		free(loader);
		return r;
	}
	*ret_loader = loader;
	return 0;
}

void loader_stop(struct loader *loader)
{
	if (!loader)
		return;
	pthread_mutex_lock(&loader->lock);
	atomic_store_explicit(&loader->stopping, true, memory_order_relaxed);
	pthread_cond_broadcast(&loader->pushed);
	pthread_mutex_unlock(&loader->lock);
}

static struct timespec in_ns(uint64_t ns)
{
	struct timespec now;
	uint64_t then_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	then_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	then_ns = then_ns + ns < then_ns ? INT64_MAX : then_ns + ns;
	return (struct timespec){.tv_sec = (time_t)(then_ns / 1000000000),
				 .tv_nsec = (long)(then_ns % 1000000000)};
}

/* Return: false when a thread is in a call that does not return: it is detached. */
static bool join_threads(struct loader *loader)
{
	struct timespec until = in_ns(DETACH_NS);
	bool left;

	pthread_mutex_lock(&loader->lock);
	while (loader->n_ending < loader->n_threads &&
	       pthread_cond_timedwait(&loader->ended, &loader->lock, &until) == 0)
		;
	left = loader->n_ending == loader->n_threads;
	pthread_mutex_unlock(&loader->lock);
	for (size_t i = 0; i < loader->n_threads; i++)
		(void)(left ? pthread_join(loader->threads[i], NULL)
			    : pthread_detach(loader->threads[i]));
	return left;
}

bool loader_free(struct loader *loader)
{
	if (!loader)
		return true;
	loader_stop(loader);
	if (!join_threads(loader))
		return false;
	while (loader->first) {
		struct job *job = loader->first;

		loader->first = job->next;
		if (job->drop)
			job->drop(job->context);
		free(job);
	}
	pthread_cond_destroy(&loader->pushed);
	pthread_cond_destroy(&loader->ended);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
	return true;
}

int loader_push(struct loader *loader, void (*run)(void *context), void *context)
{
	return loader_push_owned(loader, run, NULL, context);
}

int loader_push_owned(struct loader *loader, void (*run)(void *context),
		      void (*drop)(void *context), void *context)
{
	struct job *job;

	if (loader->wait) {
		run(context);
		return 0;
	}
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->run = run;
	job->drop = drop;
	job->context = context;
	pthread_mutex_lock(&loader->lock);
	*loader->last = job;
	loader->last = &job->next;
	pthread_cond_signal(&loader->pushed);
	pthread_mutex_unlock(&loader->lock);
	return 0;
}

void loader_wait(struct loader *loader, uint64_t timeout_ns, bool idle)
{
	struct timespec until = in_ns(timeout_ns);
	int r = 0;

	pthread_mutex_lock(&loader->lock);
	while (r == 0 && loader->n_ended == loader->n_seen &&
	       (idle || (loader->first && !is_stopping(loader)) || loader->n_busy))
		r = pthread_cond_timedwait(&loader->ended, &loader->lock, &until);
	loader->n_seen = loader->n_ended;
	pthread_mutex_unlock(&loader->lock);
}

/* visits.c - a list in the order in which they began to wait, oldest first */
#include "flamescope/serve/visits.h"

#include "base/io.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#define NS_PER_S UINT64_C(1000000000)

struct visit {
	int fd;
	bool is_answered; /* now */
	bool is_ended;    /* has been shut down: the library closes it */
	uint64_t since_ns;
	struct visit *before;
	struct visit *behind;
};

struct list {
	struct visit *first;
	struct visit *last;
};

struct visits {
	pthread_mutex_t mutex;
	size_t n_places;
	size_t n;
	struct list silent; /* have not asked */
	struct list asking;
};

struct visits *visits_new(size_t n_places)
{
	struct visits *visits = calloc(1, sizeof(*visits));

	if (!visits)
		return NULL;
	visits->n_places = n_places;
	(void)pthread_mutex_init(&visits->mutex, NULL);
	return visits;
}

static struct list *list_of(struct visits *visits, const struct visit *visit)
{
	return visit->is_answered ? &visits->asking : &visits->silent;
}

static void take_out(struct visits *visits, struct visit *visit)
{
	struct list *list = list_of(visits, visit);

	*(visit->before ? &visit->before->behind : &list->first) = visit->behind;
	*(visit->behind ? &visit->behind->before : &list->last) = visit->before;
}

static void put_last(struct visits *visits, struct visit *visit, bool is_answered)
{
	struct list *list;

	visit->is_answered = is_answered;
	visit->since_ns = io_now_ns();
	list = list_of(visits, visit);
	visit->before = list->last;
	visit->behind = NULL;
	*(list->last ? &list->last->behind : &list->first) = visit;
	list->last = visit;
}

/* The library notices, and closes it; until then the descriptor is ours. */
static void end(struct visit *visit)
{
	if (!visit->is_ended)
		(void)shutdown(visit->fd, SHUT_RDWR);
	visit->is_ended = true;
}

/* Of the silent ones, the oldest that has not been ended yet. */
static void end_oldest(struct visits *visits)
{
	for (struct visit *visit = visits->silent.first; visit; visit = visit->behind) {
		if (visit->is_ended)
			continue;
		end(visit);
		return;
	}
}

struct visit *visits_come(struct visits *visits, int fd)
{
	struct visit *visit = calloc(1, sizeof(*visit));

	if (!visit)
		return NULL;
	visit->fd = fd;
	(void)pthread_mutex_lock(&visits->mutex);
	/* A quarter of the places is left for those who are being closed. */
	if (++visits->n > visits->n_places / 4 * 3)
		end_oldest(visits);
	put_last(visits, visit, false);
	(void)pthread_mutex_unlock(&visits->mutex);
	return visit;
}

void visits_go(struct visits *visits, struct visit *visit)
{
	if (!visit)
		return;
	(void)pthread_mutex_lock(&visits->mutex);
	take_out(visits, visit);
	visits->n--;
	(void)pthread_mutex_unlock(&visits->mutex);
	free(visit);
}

static void move(struct visits *visits, struct visit *visit, bool is_answered)
{
	if (!visit)
		return;
	(void)pthread_mutex_lock(&visits->mutex);
	take_out(visits, visit);
	put_last(visits, visit, is_answered);
	(void)pthread_mutex_unlock(&visits->mutex);
}

void visits_asked(struct visits *visits, struct visit *visit)
{
	move(visits, visit, true);
}

void visits_answered(struct visits *visits, struct visit *visit)
{
	move(visits, visit, false);
}

static void end_before(const struct list *list, uint64_t now_ns, uint64_t limit_ns)
{
	for (struct visit *visit = list->first; visit && now_ns - visit->since_ns > limit_ns;
	     visit = visit->behind)
		end(visit);
}

void visits_hurry(struct visits *visits)
{
	uint64_t now_ns;

	(void)pthread_mutex_lock(&visits->mutex);
	now_ns = io_now_ns();
	end_before(&visits->silent, now_ns, VISITS_HEAD_S * NS_PER_S);
	end_before(&visits->asking, now_ns, VISITS_ANSWER_S * NS_PER_S);
	(void)pthread_mutex_unlock(&visits->mutex);
}

void visits_free(struct visits *visits)
{
	if (!visits)
		return;
	(void)pthread_mutex_destroy(&visits->mutex);
	free(visits);
}

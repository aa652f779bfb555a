/* epoll_server.c - two threads wake each other 10,000 times through epoll and work in between;
 * prints how many calls ended in EINTR
 * usage: epoll_server [ROUNDS] [MICROSECONDS of work a wake-up] */
#include "burn.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

BURN_FUNCTION(burn_request)

static atomic_ulong n_eintr;
static long rounds = 10000;
static double work = 300e-6;

struct side {
	int epoll;
	int mine;
	int other;
};

static void serve(const struct side *side)
{
	struct epoll_event event;
	uint64_t value;
	double stop;

	while (epoll_wait(side->epoll, &event, 1, 60000) != 1) {
		if (errno == EINTR)
			n_eintr++;
	}
	if (read(side->mine, &value, sizeof(value)) != sizeof(value))
		n_eintr += errno == EINTR;
	stop = thread_seconds() + work;
	while (thread_seconds() < stop)
		burn_request(3000);
	value = 1;
	if (write(side->other, &value, sizeof(value)) != sizeof(value))
		n_eintr += errno == EINTR;
}

static void *run(void *argument)
{
	for (long i = 0; i < rounds; i++)
		serve(argument);
	return NULL;
}

int main(int argc, char **argv)
{
	struct epoll_event event = {.events = EPOLLIN};
	int a = eventfd(0, EFD_CLOEXEC);
	int b = eventfd(1, EFD_CLOEXEC);
	struct side sides[2] = {{epoll_create1(EPOLL_CLOEXEC), a, b},
				{epoll_create1(EPOLL_CLOEXEC), b, a}};
	pthread_t thread;

	if (argc > 1)
		rounds = strtol(argv[1], NULL, 10);
	if (argc > 2)
		work = strtod(argv[2], NULL) * 1e-6;
	for (int i = 0; i < 2; i++) {
		if (epoll_ctl(sides[i].epoll, EPOLL_CTL_ADD, sides[i].mine, &event))
			return 1;
	}
	if (pthread_create(&thread, NULL, run, &sides[0]))
		return 1;
	(void)run(&sides[1]);
	(void)pthread_join(thread, NULL);
	printf("%lu\n", atomic_load(&n_eintr));
	return 0;
}

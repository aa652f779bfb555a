/* attach_waits.c - waits in a call of one kind, again and again, and says what it saw: how often
 * the call failed, and how far from what it asked for the worst was, in milliseconds usage:
 * attach_waits sleep|poll|epoll|epoll_ever|read N MILLISECONDS */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int pipe_fds[2];

/* For calls without a time-out. */
static void *write_later(void *ms)
{
	const struct timespec rest = {.tv_sec = *(int *)ms / 1000,
				      .tv_nsec = *(int *)ms % 1000 * 1000000L};
	struct timespec left = rest;

	while (nanosleep(&left, &left) < 0)
		;
	(void)!write(pipe_fds[1], "x", 1);
	return NULL;
}

static int wait_once(const char *kind, int ms, int epoll)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct pollfd nothing = {.fd = pipe_fds[0], .events = POLLIN};
	struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
	pthread_t writer;
	char byte;
	int r;

	if (strcmp(kind, "sleep") == 0)
		return nanosleep(&rest, NULL);
	if (strcmp(kind, "poll") == 0)
		return poll(&nothing, 1, ms);
	if (strcmp(kind, "epoll") == 0)
		return epoll_wait(epoll, &event, 1, ms);
	if (pthread_create(&writer, NULL, write_later, &ms) != 0)
		return -1;
	if (strcmp(kind, "epoll_ever") == 0)
		r = epoll_wait(epoll, &event, 1, -1);
	else
		r = 1;
	if (r == 1)
		r = (int)read(pipe_fds[0], &byte, 1);
	(void)pthread_join(writer, NULL);
	return r;
}

int main(int argc, char **argv)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	double worst = 0;
	int failed = 0;

	if (argc != 4 || epoll < 0 || pipe(pipe_fds) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_fds[0], &event) < 0)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		double start = now();
		double off;

		failed += wait_once(argv[1], atoi(argv[3]), epoll) < 0;
		off = now() - start - atoi(argv[3]);
		off = off < 0 ? -off : off;
		worst = off > worst ? off : worst;
	}
	printf("failed %d worst %.1f\n", failed, worst);
	return 0;
}

/* counted_target.c - counts what it is told to by wick.h, and ends in one way or another */
#include "sampler/include/wick.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 8,
	REQUESTS = 1000,
	CHILDREN = 3,
	CHILD_REQUESTS = 200,
	IDENTITIES = 10000,
	LIBRARY_REQUESTS = 300
};

static void one_task(void)
{
	struct wick_task task;

	wick_task_create(&task, "job");
	wick_task_run(&task);
	wick_task_suspend(&task);
	wick_task_run(&task);
	wick_task_finish(&task, WICK_COMPLETED);
}

static void one_request(const char *identity)
{
	struct wick_request request;

	wick_request_begin(&request, identity);
	WICK_TIER("db")
	{
		one_task();
	}
	wick_request_end(&request);
}

static void *requests(void *argument)
{
	const unsigned *n = argument;

	for (unsigned i = 0; i < *n; i++)
		one_request(i % 4 ? "GET /often" : "GET /seldom");
	return NULL;
}

static void in_threads(unsigned n_threads, unsigned n)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, requests, &n) != 0)
			abort();
	for (unsigned i = 0; i < n_threads; i++)
		(void)pthread_join(threads[i], NULL);
}

static void in_children(void)
{
	unsigned n = CHILD_REQUESTS;

	for (unsigned i = 0; i < CHILDREN; i++) {
		if (fork() != 0)
			continue;
		(void)requests(&n);
		exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static void many_identities(void)
{
	char name[32];

	for (unsigned i = 0; i < IDENTITIES; i++) {
		(void)snprintf(name, sizeof(name), "GET /%u", i);
		one_request(name);
	}
}

static void sleep_ms(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	(void)nanosleep(&time, NULL);
}

/* Until its input ends.  It says when it is ready, and when it has done what a line asks for. */
static void serve(void)
{
	unsigned n = 100;
	char line[16];

	(void)puts("ready");
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		(void)requests(&n);
		(void)puts("done");
		(void)fflush(stdout);
	}
}

/* Wick has some time to see that it is there. */
static int count_in_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*count)(unsigned n) =
		library ? (void (*)(unsigned n))dlsym(library, "plugin_count") : NULL;

	if (!count)
		return 1;
	sleep_ms(1000);
	count(LIBRARY_REQUESTS);
	one_request("GET /often");
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";

	if (argc > 2)
		return count_in_library(argv[2]);
	if (strcmp(how, "many") == 0)
		many_identities();
	else if (strcmp(how, "serve") == 0)
		serve();
	else
		in_threads(THREADS, REQUESTS);
	if (strcmp(how, "fork") == 0)
		in_children();
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "exec") == 0)
		(void)execl(argv[0], argv[0], "exit", (char *)NULL);
	if (strcmp(how, "failed exec") == 0) {
		(void)execl("/nonexistent", "nothing", (char *)NULL);
		one_request("GET /often");
	}
	if (strcmp(how, "kill") == 0) {
		sleep_ms(2000);
		(void)raise(SIGKILL);
	}
	return 0;
}

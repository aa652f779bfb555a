/* requests.c - programs whose requests, tiers and clocks are known
 * usage: requests interleaved|recursion|handed|inherited|fork|client|server ROUNDS
 * Each writes its own counts and times, "TIER IDENTITY COUNT SUM_NS" a line, to stderr.  The client
 * writes traceparents to its output, a request each, which the server reads from its input. */
#include "burn.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wick.h>

BURN_FUNCTION(burn_first)
BURN_FUNCTION(burn_second)
BURN_FUNCTION(burn_nobody)

enum { STEPS = 100000, MOST_ROWS = 16 };

struct row {
	const char *tier;
	const char *identity;
	uint64_t count;
	uint64_t sum_ns;
};

static struct row rows[MOST_ROWS];

static void add(const char *tier, const char *identity, uint64_t since_ns)
{
	uint64_t took_ns = now_ns() - since_ns;
	struct row *row = rows;

	while (row->tier && (strcmp(row->tier, tier) != 0 || strcmp(row->identity, identity) != 0))
		row++;
	row->tier = tier;
	row->identity = identity;
	row->count++;
	row->sum_ns += took_ns;
}

static void print_rows(void)
{
	for (const struct row *row = rows; row->tier; row++)
		(void)fprintf(stderr, "%s %s %lu %lu\n", row->tier, row->identity,
			      (unsigned long)row->count, (unsigned long)row->sum_ns);
}

/* Two requests take turns in one thread; the second begins later and ends earlier. */
static void interleaved(void)
{
	const struct wick_context none = wick_context_get();
	struct wick_request first, second;
	struct wick_context of_first, of_second;
	uint64_t first_ns = now_ns(), second_ns, tier_ns;

	wick_request_begin(&first, "first");
	of_first = wick_context_get();
	tier_ns = now_ns();
	WICK_TIER("db")
	{
		burn_first(STEPS);
	}
	add("db", "first", tier_ns);
	(void)wick_context_set(none);
	second_ns = now_ns();
	wick_request_begin(&second, "second");
	of_second = wick_context_get();
	for (int i = 0; i < 3; i++) {
		(void)wick_context_set(of_second);
		tier_ns = now_ns();
		WICK_TIER("db")
		{
			burn_second(STEPS);
		}
		add("db", "second", tier_ns);
		(void)wick_context_set(of_first);
		tier_ns = now_ns();
		WICK_TIER("cache")
		{
			burn_first(STEPS);
		}
		add("cache", "first", tier_ns);
	}
	(void)wick_context_set(of_second);
	wick_request_end(&second);
	add("request", "second", second_ns);
	(void)wick_context_set(of_first);
	wick_request_end(&first);
	add("request", "first", first_ns);
	(void)wick_context_set(none);
	burn_nobody(STEPS);
}

/* NOLINTNEXTLINE(misc-no-recursion): that is the case */
static void recurse(int depth)
{
	WICK_TIER("db")
	{
		burn_first(STEPS / 4);
		if (depth > 0)
			recurse(depth - 1);
	}
}

/* A tier inside itself counts once, and one after the other each time. */
static void recursion(void)
{
	struct wick_request request;
	uint64_t begun_ns = now_ns();

	wick_request_begin(&request, "first");
	for (int i = 0; i < 3; i++) {
		uint64_t tier_ns = now_ns();

		recurse(i);
		add("db", "first", tier_ns);
	}
	wick_request_end(&request);
	add("request", "first", begun_ns);
}

/* A thread that has been there before any request, and does one job after the other. */
struct job {
	struct wick_context context;
	int is_handed;
};

static struct job next_job;
static int has_job; /* 2: end */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void hand_over(int new_state, const struct job *job)
{
	(void)pthread_mutex_lock(&lock);
	while (has_job)
		(void)pthread_cond_wait(&changed, &lock);
	if (job)
		next_job = *job;
	has_job = new_state;
	(void)pthread_cond_broadcast(&changed);
	(void)pthread_mutex_unlock(&lock);
}

static void mail(const char *identity, int is_of_request)
{
	uint64_t tier_ns = now_ns();

	WICK_TIER("mail")
	{
		if (is_of_request)
			burn_first(STEPS);
		else
			burn_nobody(STEPS);
	}
	add("mail", identity, tier_ns);
}

static void *do_jobs(void *argument)
{
	(void)pthread_mutex_lock(&lock);
	while (has_job != 2) {
		if (has_job == 1 && next_job.is_handed) {
			struct wick_context old = wick_context_set(next_job.context);

			mail("first", 1);
			(void)wick_context_set(old);
		} else if (has_job == 1) {
			mail("-", 0);
		}
		has_job = 0;
		(void)pthread_cond_broadcast(&changed);
		while (!has_job)
			(void)pthread_cond_wait(&changed, &lock);
	}
	(void)pthread_mutex_unlock(&lock);
	return argument;
}

/* Work that goes on when the request has ended: handed the context, and not. */
static void fire_and_forget(int n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, do_jobs, NULL) != 0)
		exit(1);
	for (int i = 0; i < n; i++) {
		struct wick_request request;
		struct job job = {.is_handed = i % 3 != 0};
		uint64_t begun_ns = now_ns();

		wick_request_begin(&request, "first");
		job.context = wick_context_get();
		hand_over(1, &job);
		wick_request_end(&request);
		(void)pthread_mutex_lock(&lock);
		add("request", "first", begun_ns);
		(void)pthread_mutex_unlock(&lock);
	}
	hand_over(2, NULL);
	(void)pthread_join(thread, NULL);
}

static void *send_mail(void *argument)
{
	mail("first", 1);
	return argument;
}

/* A thread that is created inside a request belongs to it: by the hook of the agent. */
static void inherited(void)
{
	struct wick_request request;
	pthread_t thread;
	uint64_t begun_ns = now_ns();

	wick_request_begin(&request, "first");
	if (pthread_create(&thread, NULL, send_mail, NULL) != 0)
		exit(1);
	(void)pthread_join(thread, NULL);
	wick_request_end(&request);
	add("request", "first", begun_ns);
}

/* A child process works for the request of its parent. */
static void forked(int i)
{
	struct wick_request request;
	uint64_t begun_ns = now_ns();
	pid_t child;

	wick_request_begin(&request, "first");
	child = fork();
	if (child == 0) {
		memset(rows, 0, sizeof(rows));
		for (int part = 0; part < 40; part++)
			mail("first", 1);
		print_rows();
		if (i % 2 == 0)
			_exit(0); /* no handler of exit() runs */
		exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		exit(1);
	wick_request_end(&request);
	add("request", "first", begun_ns);
}

static void client(void)
{
	struct wick_request request;
	struct wick_context context;
	char traceparent[56];
	uint64_t begun_ns = now_ns();

	wick_request_begin(&request, "first");
	context = wick_context_get();
	wick_traceparent_write(&context, traceparent);
	(void)puts(traceparent);
	burn_first(STEPS * 200UL);
	wick_request_end(&request);
	add("request", "first", begun_ns);
}

static int serve(void)
{
	char line[128];

	while (fgets(line, sizeof(line), stdin)) {
		struct wick_request request;
		struct wick_context context, old;
		uint64_t begun_ns = now_ns();

		if (wick_traceparent_parse(&context, line) != 0)
			return 1;
		old = wick_context_set(context);
		wick_request_begin(&request, "second");
		burn_second(STEPS * 200UL);
		wick_request_end(&request);
		(void)wick_context_set(old);
		add("request", "second", begun_ns);
		burn_nobody(STEPS);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	const int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	int status = 0;

	if (strcmp(what, "handed") == 0)
		fire_and_forget(n);
	if (strcmp(what, "server") == 0)
		status = serve();
	for (int i = 0; i < n; i++) {
		if (strcmp(what, "interleaved") == 0)
			interleaved();
		else if (strcmp(what, "recursion") == 0)
			recursion();
		else if (strcmp(what, "inherited") == 0)
			inherited();
		else if (strcmp(what, "fork") == 0)
			forked(i);
		else if (strcmp(what, "client") == 0)
			client();
	}
	print_rows();
	return status;
}

/* request_load.c - serves made-up requests for SECONDS in two threads, counted by wick.h: two
 * tiers, three identities (one of odd bytes), tasks of 14 places, a profiled function, a stall */
#include "burn.h"
#include "sampler/include/wick.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 2, NS_PER_MS = 1000000, STALL_MS = 150 };

BURN_FUNCTION(serve)

static uint64_t until_ns;

static void rest(unsigned us)
{
	const struct timespec time = {.tv_nsec = 1000L * us};

	(void)nanosleep(&time, NULL);
}

/* Each on a line of its own, so that each is a place of its own. */
#define PLACE(name)                                                                                \
	static void run_##name(uint64_t work)                                                      \
	{                                                                                          \
		struct wick_task task;                                                             \
                                                                                                   \
		wick_task_create(&task, #name);                                                    \
		wick_task_run(&task);                                                              \
		serve(work);                                                                       \
		wick_task_finish(&task, WICK_COMPLETED);                                           \
	}

PLACE(a)
PLACE(b)
PLACE(c)
PLACE(d)
PLACE(e)
PLACE(f)
PLACE(g)
PLACE(h)
PLACE(i)
PLACE(j)
PLACE(k)
PLACE(l)
PLACE(m)

static void profiled(void)
{
	WICK_PROFILE_FN;
	serve(1000);
}

static void one(const char *identity, unsigned us)
{
	static void (*const places[])(uint64_t work) = {run_a, run_b, run_c, run_d, run_e,
							run_f, run_g, run_h, run_i, run_j,
							run_k, run_l, run_m};
	struct wick_request request;

	wick_request_begin(&request, identity);
	WICK_TIER("db")
	{
		rest(us);
	}
	WICK_TIER("render")
	{
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
			places[i](20000 - 1000 * i);
	}
	profiled();
	wick_request_end(&request);
}

static void stall(void)
{
	struct wick_task task;
	uint64_t end_ns = now_ns() + (uint64_t)STALL_MS * NS_PER_MS;

	wick_task_create(&task, "stalls");
	wick_task_run(&task);
	while (now_ns() < end_ns)
		serve(10000);
	wick_task_finish(&task, WICK_COMPLETED);
}

static void *serve_all(void *argument)
{
	unsigned n = 0;

	(void)argument;
	for (; now_ns() < until_ns; n++) {
		one(n % 4 ? "GET /users" : "POST /orders", n % 4 ? 1000 : 3000);
		if (n % 50 == 0)
			one("odd \xff \"x\" \\ \n y", 100);
		if (n == 20)
			stall();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	until_ns = now_ns() + (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 1000 * NS_PER_MS;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, serve_all, NULL) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}

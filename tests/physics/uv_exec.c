/*
 * uv_exec.c - the time that wick_uv.h says callbacks ran is the CPU time that they took
 *
 * 8 threads have a loop of libuv each, with timers, a task queue and an idle callback.  Each
 * callback reads the CPU time of its thread and how long the thread waited for a processor
 * (schedstat) when it begins and ends.  What the tables say of each kind of callback must be the
 * sum of both within 1 %. A run in which the threads waited for longer than they ran is
 * inconclusive: it is repeated at most 3 times, and then skipped with the reading.
 */
#include "base/units.h"
#include "sampler/include/wick_uv.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOPS = 8, TURNS = 100, REPEATS = 3, INCONCLUSIVE = 77, KINDS = 4 };

static const char *const names[KINDS] = {"on_timer", "on_idle", "work", "on_async"};

/* What this program itself read, of each kind. */
struct truth {
	uint64_t cpu_ns[KINDS];
	uint64_t delay_ns[KINDS];
	uint64_t calls[KINDS];
};

struct looper {
	uv_loop_t loop;
	uv_timer_t timer;
	uv_idle_t idle;
	uv_async_t async;
	uv_work_t work;
	pthread_t thread;
	struct truth truth;
	struct truth of_pool; /* written by one thread of the pool at a time */
	int turns;
	int working;
};

static __thread int schedstat = -1;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t delay_ns(void)
{
	unsigned long long ran = 0;
	unsigned long long delay = 0;
	char text[128] = "";

	if (schedstat < 0)
		schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (schedstat < 0 || pread(schedstat, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%llu %llu", &ran, &delay) != 2)
		return 0;
	return delay;
}

/* What is read when a callback begins. */
struct reading {
	uint64_t delay_ns;
	uint64_t cpu_ns;
};

static struct reading read_begin(void)
{
	struct reading reading = {.delay_ns = delay_ns()};

	reading.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return reading;
}

static void read_end(struct truth *truth, int kind, struct reading begun)
{
	truth->cpu_ns[kind] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun.cpu_ns;
	truth->delay_ns[kind] += delay_ns() - begun.delay_ns;
	truth->calls[kind]++;
}

static void burn(uint64_t ns)
{
	uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun < ns)
		;
}

static void work(uv_work_t *request)
{
	struct looper *looper = request->data;
	struct reading begun = read_begin();

	burn(3 * NS_PER_MS);
	read_end(&looper->of_pool, 2, begun);
}

static void after(uv_work_t *request, int status)
{
	struct looper *looper = request->data;

	(void)status;
	looper->working = 0;
}

static void on_async(uv_async_t *async)
{
	struct looper *looper = async->data;
	struct reading begun = read_begin();

	burn(2 * NS_PER_MS);
	read_end(&looper->truth, 3, begun);
}

static void on_idle(uv_idle_t *idle)
{
	struct looper *looper = idle->data;
	struct reading begun = read_begin();

	burn(2 * NS_PER_MS);
	(void)wick_uv_idle_stop(idle);
	read_end(&looper->truth, 1, begun);
}

static void start_others(struct looper *looper)
{
	if (looper->turns % 3 == 0)
		(void)wick_uv_idle_start(&looper->idle, on_idle);
	if (looper->turns % 4 == 0)
		(void)uv_async_send(&looper->async);
	if (looper->turns % 5 == 0 && !looper->working++)
		(void)wick_uv_queue_work(&looper->loop, &looper->work, work, after);
}

static void on_timer(uv_timer_t *timer)
{
	struct looper *looper = timer->data;
	struct reading begun = read_begin();

	burn(NS_PER_MS + (uint64_t)(looper->turns % 5) * NS_PER_MS / 2);
	if (++looper->turns < TURNS) {
		start_others(looper);
	} else {
		wick_uv_close((uv_handle_t *)timer, NULL);
		wick_uv_close((uv_handle_t *)&looper->idle, NULL);
		wick_uv_close((uv_handle_t *)&looper->async, NULL);
	}
	read_end(&looper->truth, 0, begun);
}

static void *run_loop(void *argument)
{
	struct looper *looper = argument;

	(void)uv_loop_init(&looper->loop);
	(void)uv_timer_init(&looper->loop, &looper->timer);
	(void)uv_idle_init(&looper->loop, &looper->idle);
	looper->timer.data = looper->idle.data = looper->async.data = looper->work.data = looper;
	(void)wick_uv_async_init(&looper->loop, &looper->async, on_async);
	(void)wick_uv_timer_start(&looper->timer, on_timer, 20, 20);
	(void)uv_run(&looper->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&looper->loop);
	return NULL;
}

/* Ticks that the tables have of a task, with what it entered. */
static uint64_t exec_ticks(const char *name)
{
	const struct wick_tables *tables = (const struct wick_tables *)wick_state_1.tables;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tables->n_threads; i++)
		for (uint32_t n = 1; n < tables->n_nodes; n++)
			if (strcmp(tables->names[(uint32_t)tables->nodes[n]].text, name) == 0)
				sum += ((const struct wick_block *)tables->threads[i])
					       ->nodes[n]
					       .self;
	return sum;
}

/* 0, 1 or INCONCLUSIVE. */
static int judge(const struct truth *truth, const uint64_t *exec_ns)
{
	int bad = 0;
	int inconclusive = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		double cpu = (double)truth->cpu_ns[kind];
		double wanted = cpu + (double)truth->delay_ns[kind];
		double off = (double)exec_ns[kind] / wanted - 1;

		printf("  %-9s %5llu calls, CPU %7.1f ms, waited %7.1f ms, exec %7.1f ms: %+.3f "
		       "%%\n",
		       names[kind], (unsigned long long)truth->calls[kind], cpu / 1e6,
		       (double)truth->delay_ns[kind] / 1e6, (double)exec_ns[kind] / 1e6, 100 * off);
		if (off < -0.01 || off > 0.01)
			bad = 1;
		if (truth->delay_ns[kind] > truth->cpu_ns[kind])
			inconclusive = 1;
	}
	return bad && inconclusive ? INCONCLUSIVE : bad;
}

static int one_run(void)
{
	static struct looper loopers[LOOPS];
	struct truth truth = {{0}, {0}, {0}};
	uint64_t exec_ns[KINDS];
	uint64_t before[KINDS] = {0};
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t begun = wick_ticks();
	double ns_a_tick;

	memset(loopers, 0, sizeof(loopers));
	for (int kind = 0; wick_state_1.tables && kind < KINDS; kind++)
		before[kind] = exec_ticks(names[kind]);
	for (int i = 0; i < LOOPS; i++)
		if (pthread_create(&loopers[i].thread, NULL, run_loop, &loopers[i]) != 0)
			return 1;
	for (int i = 0; i < LOOPS; i++)
		(void)pthread_join(loopers[i].thread, NULL);
	ns_a_tick = (double)(clock_ns(CLOCK_MONOTONIC) - begun_ns) / (double)(wick_ticks() - begun);
	for (int kind = 0; kind < KINDS; kind++) {
		for (int i = 0; i < LOOPS; i++) {
			const struct truth *of =
				kind == 2 ? &loopers[i].of_pool : &loopers[i].truth;

			truth.cpu_ns[kind] += of->cpu_ns[kind];
			truth.delay_ns[kind] += of->delay_ns[kind];
			truth.calls[kind] += of->calls[kind];
		}
		exec_ns[kind] =
			(uint64_t)((double)(exec_ticks(names[kind]) - before[kind]) * ns_a_tick);
	}
	return judge(&truth, exec_ns);
}

int main(void)
{
	int result = INCONCLUSIVE;

	wick_state_1.clock = 1;
	wick_state_1.session = 1;
	wick_state_1.mult = UINT64_C(1) << 31;
	wick_state_1.until = UINT64_MAX;
	for (int i = 0; i < REPEATS && result == INCONCLUSIVE; i++)
		result = one_run();
	for (int i = 0; i < WICK_MISUSES; i++)
		if (wick_state_1.misuse[i])
			result = 1;
	return result;
}

/* periodic_stall.c - a server that is quick on average: something to look for
 *
 *	cc -O2 -g periodic_stall.c -o periodic_stall
 *	wick record -F 250 -o stall.perf -- ./periodic_stall
 *
 * Answers requests, 200 a second and at no even distances, for SECONDS (20), and says how long they
 * took.  Nearly all take 1 ms.  Once a second one finds that a second's log is to be flushed, and
 * those behind it wait.  docs/tutorial.md finds it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EVERY_NS          (5 * 1000 * 1000L)
#define JITTER_NS         (4 * 1000 * 1000L) /* else a tick would always hit the same step */
#define REQUESTS_A_SECOND 200
#define MAX_SECONDS       600
#define ENTRIES           4096
#define RUNS              100 /* of the log, which take some 100 ms to merge */
#define SECOND_NS         1000000000L
#define FIRST_LOGGED      72 /* so that it stalls from 640 ms of each second on */

#define OUT_OF_LINE __attribute__((noinline))

struct entry {
	uint32_t key;
	uint32_t value;
};

static struct entry store[ENTRIES];
static struct entry log_entries[ENTRIES];
static unsigned n_logged;
static volatile unsigned n_served;
static uint32_t seed = 1;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

static void wait_until(int64_t at)
{
	const struct timespec t = {.tv_sec = at / SECOND_NS, .tv_nsec = at % SECOND_NS};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		continue;
}

static OUT_OF_LINE uint32_t parse_request(void)
{
	int i;

	for (i = 0; i < 250000; i++)
		seed = seed * 1664525 + 1013904223;
	return seed >> 20;
}

static OUT_OF_LINE uint32_t find_entry(uint32_t key)
{
	uint32_t found = 0;
	unsigned i;

	for (i = 0; i < 100 * ENTRIES; i++)
		found = store[i % ENTRIES].key == key ? store[i % ENTRIES].value + found / 2
						      : found;
	return found;
}

static OUT_OF_LINE void write_reply(uint32_t key, uint32_t value)
{
	char reply[64];
	int i;

	for (i = 0; i < 1500; i++)
		seed += (uint32_t)snprintf(reply, sizeof(reply), "%u=%u\n", key, value);
}

/* Shell's sort: no recursion, so that the picture stays flat. */
static OUT_OF_LINE void merge_runs(void)
{
	struct entry entry;
	unsigned gap, i, at;

	for (i = 0; i < ENTRIES; i++)
		log_entries[i].key = seed = seed * 1664525 + 1013904223;
	for (gap = ENTRIES / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (i = gap; i < ENTRIES; i++) {
			entry = log_entries[i];
			for (at = i; at >= gap && log_entries[at - gap].key > entry.key; at -= gap)
				log_entries[at] = log_entries[at - gap];
			log_entries[at] = entry;
		}
}

static OUT_OF_LINE void checksum(void)
{
	uint32_t sum = 0;
	unsigned round, i;

	for (round = 0; round < 100; round++)
		for (i = 0; i < ENTRIES; i++)
			sum = (sum << 5) ^ (sum >> 27) ^ log_entries[i].key;
	seed += sum;
}

static OUT_OF_LINE void compact(void)
{
	int run;

	for (run = 0; run < RUNS; run++) {
		merge_runs();
		checksum();
	}
}

static OUT_OF_LINE void flush_log(void)
{
	compact();
	n_logged = 0;
}

static OUT_OF_LINE void serve_request(void)
{
	const uint32_t key = parse_request();

	write_reply(key, find_entry(key));
	if (++n_logged == REQUESTS_A_SECOND)
		flush_log();
	n_served++;
}

static OUT_OF_LINE void fill_store(void)
{
	uint32_t i;

	for (i = 0; i < ENTRIES; i++)
		store[i] = (struct entry){.key = i, .value = i * i};
}

static int by_size(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a;
	const int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void say_times(int64_t *took, long n)
{
	const long half = n / 2;
	const long most = n - 1 - n / 100;

	qsort(took, (size_t)n, sizeof(took[0]), by_size);
	printf("%ld requests; half took at most %.1f ms, 99 of 100 at most %.1f ms, the slowest "
	       "%.1f ms\n",
	       n, (double)took[half] / 1e6, (double)took[most] / 1e6, (double)took[n - 1] / 1e6);
}

int main(int argc, char **argv)
{
	static int64_t took[MAX_SECONDS * REQUESTS_A_SECOND];
	const long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
	const int64_t begin = (now() / SECOND_NS + 1) * SECOND_NS; /* a whole second of the clock */
	int64_t asked;
	long n, i;

	if (seconds < 1 || seconds > MAX_SECONDS) {
		(void)fprintf(stderr, "usage: periodic_stall [SECONDS], 1 to %d\n", MAX_SECONDS);
		return 2;
	}
	fill_store();
	n = seconds * REQUESTS_A_SECOND;
	n_logged = FIRST_LOGGED;
	for (i = 0; i < n; i++) {
		asked = begin + i * EVERY_NS + (int64_t)(seed >> 8) % JITTER_NS;
		wait_until(asked);
		serve_request();
		took[i] = now() - asked;
	}
	say_times(took, n);
	return 0;
}

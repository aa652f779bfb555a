/* ticks.c - the clock by which programs count, and its ticks in ns */
#include "sampler/collector/tables/ticks.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum {
	LEAST_MS = 10, /* between the two readings */
	READINGS = 16, /* of which the one is taken that was the least interrupted */
	ONE_BITS = 32,
};

#if defined(__x86_64__)
static uint64_t read_counter(void)
{
	return __rdtsc();
}

/* The kernel does not use a counter that stops or runs apart on other processors. */
static bool counter_is_good(void)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/"
				   "current_clocksource";
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char name[8] = {0};

	return fd >= 0 && read(fd, name, sizeof(name) - 1) > 0 && strcmp(name, "tsc\n") == 0;
}
#else
static uint64_t read_counter(void)
{
	return 0;
}

static bool counter_is_good(void)
{
	return false;
}
#endif

static struct ticks_pair read_both(void)
{
	struct ticks_pair best = {0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = read_counter();
		uint64_t ns = io_now_ns();
		uint64_t width = read_counter() - before;

		if (width < best_width) {
			best_width = width;
			best = (struct ticks_pair){.ticks = before + width / 2, .ns = ns};
		}
	}
	return best;
}

void ticks_begin(struct ticks *ret_ticks)
{
	if (counter_is_good())
		*ret_ticks = (struct ticks){.clock = TABLES_TSC, .base = read_both()};
	else
		*ret_ticks =
			(struct ticks){.clock = TABLES_MONOTONIC, .mult = UINT64_C(1) << ONE_BITS};
}

void ticks_measure(struct ticks *ticks)
{
	struct ticks_pair now;
	uint64_t ns;

	if (ticks->mult)
		return;
	ns = io_now_ns() - ticks->base.ns;
	if (ns < LEAST_MS * NS_PER_MS) {
		const struct timespec rest = {.tv_nsec = (long)(LEAST_MS * NS_PER_MS - ns)};

		(void)nanosleep(&rest, NULL);
	}
	now = read_both();
	ticks_set(ticks, &ticks->base, &now);
}

void ticks_set(struct ticks *ticks, const struct ticks_pair *first, const struct ticks_pair *second)
{
	unsigned __int128 ns = second->ns - first->ns;
	uint64_t n = second->ticks - first->ticks;

	ticks->base = *second;
	ticks->mult = n ? (uint64_t)((ns << ONE_BITS) / n) : 0;
	/* A counter that stands still counts nothing. */
	if (!ticks->mult)
		*ticks = (struct ticks){.clock = TABLES_MONOTONIC, .mult = UINT64_C(1) << ONE_BITS};
}

uint64_t ticks_now(const struct ticks *ticks)
{
	return ticks->clock == TABLES_TSC ? read_counter() : io_now_ns();
}

uint64_t ticks_of_ns(const struct ticks *ticks, uint64_t ns)
{
	return ticks->mult ? (uint64_t)(((unsigned __int128)ns << ONE_BITS) / ticks->mult) : 0;
}

uint64_t ticks_to_ns(const struct ticks *ticks, uint64_t n)
{
	unsigned __int128 ns = ((unsigned __int128)n * ticks->mult) >> ONE_BITS;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t ticks_time_ns(const struct ticks *ticks, uint64_t at)
{
	uint64_t before;

	if (at >= ticks->base.ticks)
		return ticks->base.ns + ticks_to_ns(ticks, at - ticks->base.ticks);
	before = ticks_to_ns(ticks, ticks->base.ticks - at);
	return before < ticks->base.ns ? ticks->base.ns - before : 0;
}

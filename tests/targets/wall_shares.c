/*
 * wall_shares.c - one thread whose wall time is shared out in a known way
 *
 * wall_shares SECONDS FILE.  Every tenth of a second or so it waits for a futex, sleeps, waits in
 * epoll, reads FILE from the disk and burns CPU, in any order.  Says what share of its time each of
 * that was, by its own clocks: "NAME PERCENT".  Where the file system reads without waiting for a
 * disk, "disk" is what it is.  These clocks stand still while a hypervisor has the processor, and
 * so tell that as waiting: "stolen" is how much of "disk" it can be.
 */
#include "burn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { N_PHASES = 5, FILE_BYTES = 32 << 20, READ_BYTES = 1 << 20 };

#define CYCLE_S 0.1

/* Wall time, and of it what was spent on a CPU or waiting for one. */
struct clocks {
	double wall;
	double cpu;
	double delay;
	double stolen; /* from all processors, proc_stat(5) */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int epoll_fd;
static int disk_fd = -1;
static void *buffer;
static uint32_t seed = 12345;

BURN_FUNCTION(burn_cpu)

static double random_part(void)
{
	return 0.5 + next_random(&seed) % 1001 / 1000.0;
}

static struct timespec to_timespec(double seconds)
{
	return (struct timespec){.tv_sec = (time_t)seconds,
				 .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
}

__attribute__((noinline, noclone)) static void wait_futex(double seconds)
{
	struct timespec until = to_timespec(clock_seconds(CLOCK_REALTIME) + seconds);

	(void)pthread_mutex_lock(&mutex);
	while (pthread_cond_timedwait(&cond, &mutex, &until) != ETIMEDOUT) {
	}
	(void)pthread_mutex_unlock(&mutex);
}

__attribute__((noinline, noclone)) static void wait_nanosleep(double seconds)
{
	struct timespec time = to_timespec(seconds);

	(void)nanosleep(&time, NULL);
	__asm__ volatile("");
}

__attribute__((noinline, noclone)) static void wait_epoll(double seconds)
{
	struct epoll_event event;

	(void)epoll_wait(epoll_fd, &event, 1, (int)(seconds * 1000 + 0.5));
	__asm__ volatile("");
}

__attribute__((noinline, noclone)) static void read_disk(double seconds)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;

	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		off_t at = (off_t)(next_random(&seed) % (FILE_BYTES / READ_BYTES)) * READ_BYTES;

		if (disk_fd < 0 || pread(disk_fd, buffer, READ_BYTES, at) <= 0)
			return;
	}
}

__attribute__((noinline, noclone)) static void burn(double seconds)
{
	double end = thread_seconds() + seconds;

	while (thread_seconds() < end)
		burn_cpu(20000);
}

static const struct {
	const char *name;
	double share;
	void (*run)(double seconds);
} phases[N_PHASES] = {
	{"futex", 0.30, wait_futex}, {"sleep", 0.20, wait_nanosleep},
	{"epoll", 0.15, wait_epoll}, {"disk", 0.10, read_disk},
	{"cpu", 0.25, burn},
};

static struct clocks now(void)
{
	struct clocks clocks = {.wall = clock_seconds(CLOCK_MONOTONIC), .cpu = thread_seconds()};
	unsigned long long run;
	unsigned long long delay;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");

	if (file && fscanf(file, "%llu %llu", &run, &delay) == 2)
		clocks.delay = (double)delay * 1e-9;
	if (file)
		(void)fclose(file);
	file = fopen("/proc/stat", "re");
	if (file && fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &run) == 1)
		clocks.stolen = (double)run / (double)sysconf(_SC_CLK_TCK);
	if (file)
		(void)fclose(file);
	return clocks;
}

/* A file that is on the disk and not in memory. */
static void make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (posix_memalign(&buffer, 4096, READ_BYTES) != 0 || fd < 0)
		return;
	for (int i = 0; i < FILE_BYTES / READ_BYTES; i++) {
		__builtin_memset(buffer, i + 1, READ_BYTES);
		if (write(fd, buffer, READ_BYTES) != READ_BYTES)
			return;
	}
	(void)fsync(fd);
	(void)close(fd);
	disk_fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
}

int main(int argc, char **argv)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 1);
	double blocked[N_PHASES] = {0};
	double stolen = 0;
	double burnt = 0;
	struct clocks start;
	struct clocks last;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (argc > 2)
		make_file(argv[2]);
	start = now();
	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		unsigned first = next_random(&seed) % N_PHASES;

		for (unsigned i = 0; i < N_PHASES; i++) {
			unsigned phase = (first + i * 2) % N_PHASES;
			struct clocks before = now();
			struct clocks after;

			phases[phase].run(phases[phase].share * CYCLE_S * random_part());
			after = now();
			blocked[phase] += after.wall - before.wall - (after.cpu - before.cpu) -
					  (after.delay - before.delay);
			if (phases[phase].run == read_disk)
				stolen += after.stolen - before.stolen;
			if (phases[phase].run == burn)
				burnt += after.cpu - before.cpu;
		}
	}
	last = now();
	for (int i = 0; i < N_PHASES - 1; i++)
		printf("%s %.3f\n", phases[i].name, 100 * blocked[i] / (last.wall - start.wall));
	printf("cpu %.3f\n", 100 * (last.cpu - start.cpu) / (last.wall - start.wall));
	printf("burnt %.3f\n", 100 * burnt / (last.wall - start.wall));
	printf("runnable %.3f\n", 100 * (last.delay - start.delay) / (last.wall - start.wall));
	printf("stolen %.3f\n", 100 * stolen / (last.wall - start.wall));
	return 0;
}

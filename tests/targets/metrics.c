/* metrics.c - uses up what the metrics count, and writes what the kernel and libc say of it
 * usage: metrics LOG DIRECTORY SECONDS
 * A line of LOG is "TIME_NS NAME=VALUE ..."; the file written and read is in DIRECTORY. */
#include "sampler/include/wick.h"

#include "burn.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STEPS = 8, /* up, then down again */
	STEP_BYTES = 4 << 20,
	STEP_FDS = 20,
	BLOCK = 256 << 10,
	DEEP_BYTES = 100000,
	SWAP_BYTES = 8 << 20,
};

BURN_FUNCTION(work)

static FILE *log_file;
static char data_path[4096];
static volatile int64_t queue_len;
static volatile int64_t hits;
static int64_t batch;
static size_t mapped_bytes; /* beside the allocator's */
static atomic_bool done;

static void *hog(void *argument)
{
	(void)argument;
	while (!atomic_load(&done))
		work(10000);
	return NULL;
}

static void *sleeper(void *argument)
{
	while (!atomic_load((atomic_bool *)argument))
		(void)usleep(2000);
	return NULL;
}

static long long number_in(const char *path, const char *before)
{
	char text[4096];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	const char *at;

	if (file)
		(void)fclose(file);
	text[n] = '\0';
	at = strstr(text, before);
	return at ? atoll(at + strlen(before)) : -1;
}

static void write_run_delay(void)
{
	unsigned long long delay = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	if (!file || fscanf(file, "%*u %llu", &delay) != 1)
		delay = 0;
	if (file)
		(void)fclose(file);
	(void)fprintf(log_file, " run_delay_ns=%llu", delay);
}

/* Without the one that lists them. */
static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -1;

	while (dir && readdir(dir))
		n++;
	if (dir)
		(void)closedir(dir);
	return n - 2;
}

static void write_rusage(void)
{
	struct rusage used;

	(void)getrusage(RUSAGE_THREAD, &used);
	(void)fprintf(log_file, " cpu_ns=%lld minflt=%ld majflt=%ld vcsw=%ld ivcsw=%ld",
		      (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000LL +
			      (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL,
		      used.ru_minflt, used.ru_majflt, used.ru_nvcsw, used.ru_nivcsw);
}

static void write_memory(void)
{
	const char *status = "/proc/self/status";
	struct mallinfo2 heap = mallinfo2();

	(void)fprintf(
		log_file,
		" rss_kib=%lld rss_anon_kib=%lld rss_file_kib=%lld swap_kib=%lld heap_kib=%zu",
		number_in(status, "VmRSS:"), number_in(status, "RssAnon:"),
		number_in(status, "RssFile:") + number_in(status, "RssShmem:"),
		number_in(status, "VmSwap:"), (heap.hblkhd + heap.uordblks + mapped_bytes) >> 10);
	(void)fprintf(log_file, " threads=%lld arena_bytes=%zu arena_free_bytes=%zu",
		      number_in(status, "Threads:"), heap.arena, heap.fordblks);
}

static void write_reading(void)
{
	const char *io = "/proc/thread-self/io";
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)fprintf(log_file, "%lld", now.tv_sec * 1000000000LL + now.tv_nsec);
	write_rusage();
	write_run_delay();
	write_memory();
	(void)fprintf(log_file, " io_read_bytes=%lld io_write_bytes=%lld fd_count=%d",
		      number_in(io, "\nread_bytes: "), number_in(io, "\nwrite_bytes: "),
		      count_fds());
	(void)fprintf(log_file, " queue_len=%lld hits=%lld batch=%lld\n", (long long)queue_len,
		      (long long)hits, (long long)batch);
	(void)fflush(log_file);
}

static __attribute__((noinline)) void burn_for(double seconds)
{
	double end = thread_seconds() + seconds;

	while (thread_seconds() < end)
		work(20000);
}

static __attribute__((noinline)) void nap(double seconds)
{
	(void)usleep((useconds_t)(seconds * 1e6));
	__asm__ volatile("" : : : "memory"); /* no tail call: it is to be on the stack */
}

/* So far below main's frame: what the samples say differs by as much. */
static __attribute__((noinline)) void go_deep(void (*live)(double), double seconds)
{
	char room[DEEP_BYTES];

	memset(room, 1, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	write_reading();
	live(seconds);
	write_reading();
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* Written through to the disk and read back from it: one half by read, one page by a fault. */
static void use_disk(void)
{
	static char block[BLOCK];
	int fd = open(data_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	volatile char *page;

	memset(block, 7, sizeof(block));
	if (fd < 0 || write(fd, block, sizeof(block)) < 0)
		return;
	(void)fsync(fd);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	(void)lseek(fd, 0, SEEK_SET);
	(void)!read(fd, block, sizeof(block));
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	page = mmap(NULL, sizeof(block), PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		(void)page[BLOCK / 2];
		(void)munmap((void *)(uintptr_t)page, sizeof(block));
	}
	(void)close(fd);
}

static void change_gauges(int i)
{
	queue_len = i % 2 ? 5 * i : -i;
	hits += 3;
	batch = 1000 + i;
	wick_gauge_set("batch", batch);
}

/* More of everything, and then less. */
static void climb(double seconds)
{
	static char *blocks[STEPS];
	static pthread_t threads[STEPS];
	static atomic_bool ended[STEPS];
	static int fds[STEPS * STEP_FDS];

	for (int i = 0; i < STEPS; i++) {
		blocks[i] = malloc(STEP_BYTES);
		if (blocks[i])
			memset(blocks[i], i, STEP_BYTES);
		for (int f = 0; f < STEP_FDS; f++)
			fds[i * STEP_FDS + f] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		atomic_store(&ended[i], false);
		(void)pthread_create(&threads[i], NULL, sleeper, &ended[i]);
		change_gauges(i);
		use_disk();
		write_reading();
		burn_for(seconds / (2 * STEPS));
		write_reading();
	}
	for (int i = STEPS; i-- > 0;) {
		free(blocks[i]);
		for (int f = 0; f < STEP_FDS; f++)
			(void)close(fds[i * STEP_FDS + f]);
		atomic_store(&ended[i], true);
		(void)pthread_join(threads[i], NULL);
		change_gauges(i);
		(void)usleep(1000);
		write_reading();
		burn_for(seconds / (2 * STEPS));
		write_reading();
	}
}

/* Where there is swap; without it the kernel leaves the memory where it is. */
static void live_swapped(double seconds)
{
	char *block =
		mmap(NULL, SWAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		return;
	mapped_bytes += SWAP_BYTES;
	for (size_t i = 0; i < SWAP_BYTES; i++)
		block[i] = (char)(i * i >> 7);
	write_reading();
	(void)madvise(block, SWAP_BYTES, MADV_PAGEOUT);
	write_reading();
	burn_for(seconds);
	write_reading();
	(void)munmap(block, SWAP_BYTES);
	mapped_bytes -= SWAP_BYTES;
	write_reading();
}

int main(int argc, char **argv)
{
	cpu_set_t cpu;
	pthread_t thread;
	double seconds;

	if (argc != 4)
		return 2;
	log_file = fopen(argv[1], "we");
	(void)snprintf(data_path, sizeof(data_path), "%s/data", argv[2]);
	seconds = atof(argv[3]);
	if (!log_file)
		return 1;
	wick_gauge("queue_len", &queue_len);
	wick_counter("hits", &hits);
	change_gauges(0);
	/* Both on one processor: each waits for it half of the time. */
	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	(void)sched_setaffinity(0, sizeof(cpu), &cpu);
	(void)pthread_create(&thread, NULL, hog, NULL);
	write_reading();
	for (int i = 0; i < 2; i++)
		climb(seconds / 2);
	atomic_store(&done, true);
	(void)pthread_join(thread, NULL);
	live_swapped(seconds / 10);
	go_deep(burn_for, seconds / 4);
	go_deep(nap, seconds / 5);
	nap(seconds / 5);
	write_reading();
	return 0;
}

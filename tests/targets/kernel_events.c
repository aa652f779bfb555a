/* kernel_events.c - does what the kernel counts, so often, and prints the kernel's count
 * usage: kernel_events faults PAGES | switches N | execs N CPU_US */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROUNDS = 10, PAGE = 4096 };

BURN_FUNCTION(burn_before_exec)

/* Not the same code, or the compiler makes one of both. */
#define TOUCH_FUNCTION(name, byte)                                                                 \
	__attribute__((noinline, noclone)) static void name(volatile char *at, long pages)         \
	{                                                                                          \
		for (long i = 0; i < pages; i++)                                                   \
			at[i * PAGE] = byte;                                                       \
	}

TOUCH_FUNCTION(touch_seventy, 7)
TOUCH_FUNCTION(touch_thirty, 3)

static void faults(long pages)
{
	for (int round = 0; round < ROUNDS; round++) {
		char *at = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			return;
		(void)madvise(at, (size_t)pages * PAGE, MADV_NOHUGEPAGE);
		touch_seventy(at, pages * 7 / 10);
		touch_thirty(at + pages * 7 / 10 * PAGE, pages * 3 / 10);
		(void)munmap(at, (size_t)pages * PAGE);
	}
}

static long switched(const struct rusage *used)
{
	return used->ru_nvcsw + used->ru_nivcsw;
}

/* A moment that is over before the thread is asleep is none. */
static void switches(long n)
{
	const struct timespec moment = {.tv_nsec = 20000};
	struct rusage used = {0};

	while (switched(&used) < n) {
		(void)nanosleep(&moment, NULL);
		(void)getrusage(RUSAGE_SELF, &used);
	}
}

/* Each image works for a while and becomes the next one. */
static int execs(char **argv, long n, long cpu_us)
{
	double end = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + (double)cpu_us * 1e-6;
	char left[32];

	while (clock_seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
		burn_before_exec(1000);
	if (n == 0)
		return puts("all execs done") < 0;
	(void)snprintf(left, sizeof(left), "%ld", n - 1);
	(void)execl(argv[0], argv[0], argv[1], left, argv[3], (char *)NULL);
	return 1;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	struct rusage used;

	if (argc > 3 && strcmp(argv[1], "execs") == 0)
		return execs(argv, n, strtol(argv[3], NULL, 10));
	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "faults") == 0)
		faults(n);
	else
		switches(n);
	(void)getrusage(RUSAGE_SELF, &used);
	printf("%ld %ld\n", used.ru_minflt + used.ru_majflt, switched(&used));
	return 0;
}

/* user_kernel.c - turns of user code, a system call and page faults, and what CPU each has used
 * usage: user_kernel SECONDS [USER_US CALL_US FAULT_US]; prints user, call and fault seconds */
#include "burn.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 4096, PAGES = 64 };

static char piece[PIECE];
static int random_fd;

/* What a turn takes is random by a half either way: nothing is in step with anything. */
static double random_us(double us)
{
	static uint32_t state = 1;

	state = state * 1664525U + 1013904223U;
	return us * (0.5 + (double)(state >> 8) / (double)(1U << 24));
}

BURN_FUNCTION(burn_in_user)

static __attribute__((noinline)) void in_user(double end)
{
	while (thread_seconds() < end)
		burn_in_user(2000);
}

static __attribute__((noinline)) void in_call(double end)
{
	while (thread_seconds() < end)
		if (read(random_fd, piece, sizeof(piece)) != (ssize_t)sizeof(piece))
			abort();
}

static __attribute__((noinline)) void in_faults(double end)
{
	while (thread_seconds() < end) {
		char *pages = mmap(NULL, (size_t)PAGES * PIECE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			abort();
		(void)madvise(pages, (size_t)PAGES * PIECE, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < PAGES; i++)
			pages[i * PIECE] = 1;
		(void)munmap(pages, (size_t)PAGES * PIECE);
	}
}

int main(int argc, char **argv)
{
	static void (*const turns[])(double end) = {in_user, in_call, in_faults};
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
	double us[3] = {700, 700, 700};
	double used[3] = {0};

	random_fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (random_fd < 0)
		return 1;
	for (int i = 0; i < 3 && argc > 2 + i; i++)
		us[i] = strtod(argv[2 + i], NULL);
	while (thread_seconds() < seconds)
		for (int i = 0; i < 3; i++) {
			double start = thread_seconds();

			if (us[i] > 0)
				turns[i](start + random_us(us[i]) * 1e-6);
			used[i] += thread_seconds() - start;
		}
	printf("%.6f %.6f %.6f\n", used[0], used[1], used[2]);
	return 0;
}

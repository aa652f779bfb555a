/*
 * odd_states.c - threads in states that few programs show
 *
 * odd_states SECONDS HOW:
 *   fault    the main thread waits for a page, again and again, that another one puts there
 *   leader   the main thread ends, and another one sleeps on
 *   private  it forbids others to read it, and sleeps
 * Ends with 77 where the kernel forbids userfaultfd.
 */
#include "burn.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, FAULT_MS = 50 };

static double seconds;
static int fault_fd;

static void sleep_for(double time)
{
	struct timespec left = {(time_t)time, (long)((time - (double)(time_t)time) * 1e9)};

	(void)nanosleep(&left, NULL);
}

static void *sleep_on(void *context)
{
	sleep_for(seconds);
	return context;
}

static void *serve_faults(void *context)
{
	static char page[PAGE_BYTES];
	struct uffd_msg message;

	while (read(fault_fd, &message, sizeof(message)) == (ssize_t)sizeof(message)) {
		struct uffdio_copy copy = {
			.dst = message.arg.pagefault.address & ~(uint64_t)(PAGE_BYTES - 1),
			.src = (uint64_t)(uintptr_t)page,
			.len = PAGE_BYTES,
		};

		sleep_for(FAULT_MS / 1e3);
		(void)ioctl(fault_fd, UFFDIO_COPY, &copy);
	}
	return context;
}

__attribute__((noinline, noclone)) static void touch(volatile char *page)
{
	*page = 1;
	__asm__ volatile("");
}

static int wait_for_pages(void)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_t server;
	char *page =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	range.range.start = (uint64_t)(uintptr_t)page;
	range.range.len = PAGE_BYTES;
	if (page == MAP_FAILED || fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api) < 0 ||
	    ioctl(fault_fd, UFFDIO_REGISTER, &range) < 0 ||
	    pthread_create(&server, NULL, serve_faults, NULL) != 0)
		return 77;
	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		touch(page);
		(void)madvise(page, PAGE_BYTES, MADV_DONTNEED);
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3)
		return 2;
	seconds = atof(argv[1]);
	if (strcmp(argv[2], "fault") == 0)
		return wait_for_pages();
	if (strcmp(argv[2], "private") == 0)
		(void)prctl(PR_SET_DUMPABLE, 0);
	if (strcmp(argv[2], "leader") == 0) {
		if (pthread_create(&thread, NULL, sleep_on, NULL) != 0)
			return 1;
		pthread_exit(NULL);
	}
	sleep_for(seconds);
	return 0;
}

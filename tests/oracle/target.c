/* target.c - start, stop and read a program by ptrace and process_vm_readv */
#include "tests/oracle/target.h"

#include "base/cleanup.h"
#include "tests/oracle/target_maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum {
	MAX_THREADS = 256,
	RED_ZONE = 128,
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct moment moment_now(void)
{
	return (struct moment){.wall_ns = clock_ns(CLOCK_MONOTONIC),
			       .cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

uint64_t moment_lost_ns(const struct moment *from, const struct moment *to)
{
	uint64_t wall_ns = to->wall_ns - from->wall_ns;
	uint64_t cpu_ns = to->cpu_ns - from->cpu_ns;

	return wall_ns > cpu_ns ? wall_ns - cpu_ns : 0;
}

void target_init(struct target *target)
{
	*target = (struct target){0};
	target->stack = malloc(TARGET_STACK);
	target->pages = calloc(TARGET_PAGES, sizeof(*target->pages));
	if (!target->stack || !target->pages) {
		perror("oracle");
		exit(2);
	}
}

static void end_program(struct target *target)
{
	if (target->pid <= 0)
		return;
	(void)kill(target->pid, SIGKILL);
	(void)waitpid(target->pid, NULL, 0);
	target->pid = 0;
}

void target_release(struct target *target)
{
	end_program(target);
	free(target->stack);
	free(target->pages);
}

static void become(char *const argv[], int tell)
{
	int null = open("/dev/null", O_RDWR);

	(void)dup2(null, 0);
	(void)dup2(null, 1);
	if (!getenv("ORACLE_STDERR"))
		(void)dup2(null, 2);
	(void)execvp(argv[0], argv);
	(void)!write(tell, &errno, sizeof(errno));
	_exit(127);
}

int target_start(struct target *target, char *const argv[])
{
	_cleanup_fd_ int hear = -1;
	int ends[2];
	int code;

	end_program(target);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	hear = ends[0];
	target->pid = fork();
	if (target->pid < 0) {
		(void)close(ends[1]);
		return -errno;
	}
	if (target->pid == 0)
		become(argv, ends[1]);
	(void)close(ends[1]);
	/* The other end closes by itself when exec succeeds. */
	if (read(hear, &code, sizeof(code)) == (ssize_t)sizeof(code)) {
		(void)waitpid(target->pid, NULL, 0);
		target->pid = 0;
		return -code;
	}
	return 0;
}

static pid_t choose_thread(pid_t pid)
{
	pid_t threads[MAX_THREADS];
	struct dirent *entry;
	size_t n = 0;
	char path[32];
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (n < MAX_THREADS && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			threads[n++] = (pid_t)strtol(entry->d_name, NULL, 10);
	(void)closedir(dir);
	return n ? threads[(size_t)random() % n] : 0;
}

static void copy_stack(struct target *target)
{
	uint64_t lo = target->regs.rsp - RED_ZONE;
	uint64_t hi = target_maps_end(target, target->regs.rsp);
	struct iovec local = {.iov_base = target->stack};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)lo};
	ssize_t n;

	target->stack_lo = lo;
	target->stack_hi = lo;
	if (hi <= lo)
		return;
	local.iov_len = hi - lo < TARGET_STACK ? hi - lo : TARGET_STACK;
	remote.iov_len = local.iov_len;
	n = process_vm_readv(target->pid, &local, 1, &remote, 1, 0);
	if (n > 0)
		target->stack_hi = lo + (uint64_t)n;
}

bool target_stop_thread(struct target *target, pid_t tid)
{
	int status;

	if (!tid || ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return false;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		return false;
	target->asked = moment_now();
	if (waitpid(tid, &status, __WALL) != tid)
		return false;
	if (!WIFSTOPPED(status)) {
		if (tid == target->pid)
			target->pid = 0;
		return false;
	}
	target->stopped = tid;
	target->signal = status >> 16 ? 0 : WSTOPSIG(status);
	for (size_t i = 0; i < TARGET_PAGES; i++)
		target->pages[i].address = 0;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &target->regs) < 0 || !target_maps_read(target)) {
		target_resume(target);
		return false;
	}
	copy_stack(target);
	return true;
}

bool target_stop(struct target *target)
{
	return target_stop_thread(target, choose_thread(target->pid));
}

void target_resume(struct target *target)
{
	(void)ptrace(PTRACE_DETACH, target->stopped, NULL, (void *)(intptr_t)target->signal);
	target->stopped = 0;
}

bool target_ended(struct target *target)
{
	if (target->pid > 0 && waitpid(target->pid, NULL, WNOHANG) == target->pid)
		target->pid = 0;
	return target->pid <= 0;
}

static const struct target_page *page_at(struct target *target, uint64_t address)
{
	struct target_page *page = &target->pages[(address / TARGET_PAGE) % TARGET_PAGES];
	struct iovec local = {page->bytes, TARGET_PAGE};
	struct iovec remote = {(void *)(uintptr_t)address, TARGET_PAGE};

	if (page->address == address)
		return page;
	page->address = address;
	page->readable =
		process_vm_readv(target->pid, &local, 1, &remote, 1, 0) == (ssize_t)TARGET_PAGE;
	return page;
}

bool target_read(struct target *target, uint64_t address, void *to, size_t len)
{
	unsigned char *bytes = to;

	if (address >= target->stack_lo && address < target->stack_hi &&
	    target->stack_hi - address >= len) {
		memcpy(to, target->stack + (address - target->stack_lo), len);
		return true;
	}
	while (len) {
		uint64_t in_page = address % TARGET_PAGE;
		size_t part = TARGET_PAGE - in_page < len ? TARGET_PAGE - in_page : len;
		const struct target_page *page = page_at(target, address - in_page);

		if (!page->readable)
			return false;
		memcpy(bytes, page->bytes + in_page, part);
		bytes += part;
		address += part;
		len -= part;
	}
	return true;
}

/* waits_children.c - children that block: in time, futexes, other processes, signals, System V */
#include "waits_children.h"
#include "child_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void waits_ready(struct waits_place *place)
{
	atomic_store(&place->shared->ready, 1);
}

void waits_expect(struct waits_place *place, const char *object)
{
	(void)snprintf(place->shared->object, sizeof(place->shared->object), "%s", object);
}

/* ---- time */

static void block_poll_of_none(struct waits_place *place)
{
	waits_ready(place);
	(void)poll(NULL, 0, 60500);
}

static void block_ppoll(struct waits_place *place)
{
	struct timespec time = {60, 500000000};

	waits_ready(place);
	(void)ppoll(NULL, 0, &time, NULL);
}

static void block_select(struct waits_place *place)
{
	struct timeval time = {60, 500000};

	waits_ready(place);
	(void)syscall(SYS_select, 0, NULL, NULL, NULL, &time);
}

static void block_pselect(struct waits_place *place)
{
	struct timespec time = {60, 500000000};

	waits_ready(place);
	(void)pselect(0, NULL, NULL, NULL, &time, NULL);
}

static void block_aio(struct waits_place *place)
{
	struct timespec time = {8, 0};
	struct io_event event;
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 1, &context) < 0)
		return;
	waits_ready(place);
	(void)syscall(SYS_io_getevents, context, 1, 1, &event, &time);
}

static void block_nanosleep(struct waits_place *place)
{
	struct timespec time = {60, 500000000};

	waits_ready(place);
	(void)syscall(SYS_nanosleep, &time, NULL);
}

static void block_clock_nanosleep(struct waits_place *place)
{
	struct timespec time = {5, 0};

	waits_ready(place);
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void block_until(struct waits_place *place)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += 60;
	waits_ready(place);
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* ---- futexes */

static int prepare_futex(struct waits_place *place)
{
	(void)snprintf(place->shared->object, sizeof(place->shared->object), "futex:0x%lx",
		       (unsigned long)(uintptr_t)&place->shared->futex);
	return 0;
}

static void block_futex(struct waits_place *place)
{
	waits_ready(place);
	(void)syscall(SYS_futex, &place->shared->futex, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* As a program does it that has its own calls: the number is put where restarts can find it. */
static void block_timed_futex(struct waits_place *place)
{
	struct timespec time = {60, 0};
	const void *futex = &place->shared->futex;
	long r;

	waits_ready(place);
	/* Last: nothing else may want the register before the call. */
	register void *timeout __asm__("r10") = &time;

	__asm__ volatile("movl $202, %%eax\n\tsyscall"
			 : "=&a"(r)
			 : "D"(futex), "S"(FUTEX_WAIT), "d"(0), "r"(timeout)
			 : "rcx", "r11", "memory");
	(void)r;
}

/* Nothing to wait for, but not nothing to call. */
static int prepare_futex_list(struct waits_place *place)
{
	if (syscall(SYS_futex_waitv, NULL, 0, 0, NULL, CLOCK_MONOTONIC) < 0 && errno == ENOSYS)
		return -1;
	return prepare_futex(place);
}

static void block_futex_list(struct waits_place *place)
{
	struct futex_waitv one = {.uaddr = (uintptr_t)&place->shared->futex, .flags = FUTEX_32};

	waits_ready(place);
	(void)syscall(SYS_futex_waitv, &one, 1, 0, NULL, CLOCK_MONOTONIC);
}

/* ---- other processes */

static pid_t fork_grandchild(struct waits_place *place)
{
	pid_t pid = fork();
	char text[SAMPLE_OBJECT_SIZE];

	if (pid == 0) {
		(void)pause();
		_exit(1);
	}
	(void)snprintf(text, sizeof(text), "pid:%d", (int)pid);
	waits_expect(place, text);
	return pid;
}

static void block_wait4(struct waits_place *place)
{
	pid_t pid = fork_grandchild(place);

	waits_ready(place);
	(void)waitpid(pid, NULL, 0);
}

static void block_wait(struct waits_place *place)
{
	(void)fork_grandchild(place);
	waits_expect(place, "pid:any");
	waits_ready(place);
	(void)wait(NULL);
}

static void block_waitid(struct waits_place *place)
{
	pid_t pid = fork_grandchild(place);
	siginfo_t info;

	waits_ready(place);
	(void)waitid(P_PID, (id_t)pid, &info, WEXITED);
}

/* The parent of a vfork shows as 'D', and no disk is there.  The child sees its memory. */
static void block_vfork(struct waits_place *place)
{
	pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): the test */

	if (pid == 0) {
		atomic_store(&place->shared->ready, 1);
		for (;;)
			(void)syscall(SYS_pause);
	}
}

/* ---- signals */

static void block_pause(struct waits_place *place)
{
	waits_ready(place);
	(void)pause();
}

static void block_sigsuspend(struct waits_place *place)
{
	sigset_t none;

	(void)sigemptyset(&none);
	waits_ready(place);
	(void)sigsuspend(&none);
}

static void block_sigtimedwait(struct waits_place *place)
{
	struct timespec time = {60, 500000000};
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	waits_ready(place);
	(void)sigtimedwait(&set, NULL, &time);
}

/* ---- System V */

static int prepare_msg(struct waits_place *place)
{
	place->msg = msgget(IPC_PRIVATE, 0600);
	(void)snprintf(place->shared->object, sizeof(place->shared->object), "msg:%d", place->msg);
	return place->msg < 0 ? -1 : 0;
}

static void block_msgrcv(struct waits_place *place)
{
	struct {
		long type;
		char text[8];
	} message;

	waits_ready(place);
	(void)msgrcv(place->msg, &message, sizeof(message.text), 0, 0);
}

static int prepare_sem(struct waits_place *place)
{
	place->sem = semget(IPC_PRIVATE, 1, 0600);
	(void)snprintf(place->shared->object, sizeof(place->shared->object), "sem:%d", place->sem);
	return place->sem < 0 ? -1 : 0;
}

static void block_semop(struct waits_place *place)
{
	struct sembuf take = {0, -1, 0};

	waits_ready(place);
	(void)semop(place->sem, &take, 1);
}

static int prepare_timed_sem(struct waits_place *place)
{
	int r = prepare_sem(place);

	(void)strcat(place->shared->object, ",9s");
	return r;
}

static void block_semtimedop(struct waits_place *place)
{
	struct sembuf take = {0, -1, 0};
	struct timespec time = {9, 0};

	waits_ready(place);
	(void)semtimedop(place->sem, &take, 1, &time);
}

/* ---- memory */

/* A page that comes when the holder of the descriptor says so: never. */
static int prepare_page(struct waits_place *place)
{
	struct uffdio_api api = {.api = UFFD_API};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return -1;
	place->fds[0] = fd;
	return ioctl(fd, UFFDIO_API, &api);
}

/* The descriptor is that of the memory's owner: the child makes its own. */
static void block_page_fault(struct waits_place *place)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *page =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	if (page == MAP_FAILED || prepare_page(place) < 0)
		return;
	range.range.start = (uintptr_t)page;
	range.range.len = bytes;
	if (ioctl(place->fds[0], UFFDIO_REGISTER, &range) < 0)
		return;
	waits_ready(place);
	page[0] = 1;
}

static const struct waits_child children[] = {
	{"poll of none", "poll", "60500ms", NULL, block_poll_of_none},
	{"ppoll", "poll", "60500ms", NULL, block_ppoll},
	{"select", "select", "60500ms", NULL, block_select},
	{"pselect", "select", "60500ms", NULL, block_pselect},
	{"io_getevents", "aio", "8s", NULL, block_aio},
	{"nanosleep", "sleep", "60500ms", NULL, block_nanosleep},
	{"clock_nanosleep", "sleep", "5s", NULL, block_clock_nanosleep},
	{"clock_nanosleep to a moment", "sleep", "deadline", NULL, block_until},
	{"futex", "futex", "", prepare_futex, block_futex},
	{"futex with a time-out", "futex", "", prepare_futex, block_timed_futex},
	{"futex_waitv", "futex", "", prepare_futex_list, block_futex_list},
	{"wait4", "wait", "", NULL, block_wait4},
	{"wait", "wait", "", NULL, block_wait},
	{"waitid", "wait", "", NULL, block_waitid},
	{"vfork", "clone", "", NULL, block_vfork},
	{"pause", "signal", "", NULL, block_pause},
	{"sigsuspend", "signal", "", NULL, block_sigsuspend},
	{"sigtimedwait", "signal", "60500ms", NULL, block_sigtimedwait},
	{"msgrcv", "msg", "", prepare_msg, block_msgrcv},
	{"semop", "sem", "", prepare_sem, block_semop},
	{"semtimedop", "sem", "", prepare_timed_sem, block_semtimedop},
	{"page fault", "page-fault", "", prepare_page, block_page_fault},
};

const struct waits_child *waits_child(size_t i)
{
	const size_t n = sizeof(children) / sizeof(children[0]);

	return i < n ? &children[i] : waits_fd_child(i - n);
}

/* ---- starting and ending */

int waits_child_start(const struct waits_child *child, struct waits_place *place)
{
	*place = (struct waits_place){
		.fds = {-1, -1, -1, -1}, .msg = -1, .sem = -1, .parent = getpid()};
	place->shared = child_shared(sizeof(*place->shared));
	if (child->prepare && child->prepare(place) < 0) {
		int saved = errno;

		waits_child_end(place);
		errno = saved;
		return -1;
	}
	if (child->object[0])
		waits_expect(place, child->object);
	place->pid = fork();
	if (place->pid == 0) {
		(void)setpgid(0, 0);
		child->block(place);
		_exit(1);
	}
	(void)setpgid(place->pid, place->pid);
	return 0;
}

void waits_child_end(struct waits_place *place)
{
	if (place->pid > 0) {
		(void)kill(-place->pid, SIGKILL);
		(void)waitpid(place->pid, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(place->fds) / sizeof(place->fds[0]); i++)
		if (place->fds[i] >= 0)
			(void)close(place->fds[i]);
	if (place->msg >= 0)
		(void)msgctl(place->msg, IPC_RMID, NULL);
	if (place->sem >= 0)
		(void)semctl(place->sem, 0, IPC_RMID);
	if (place->path[0])
		(void)unlink(place->path);
	(void)munmap(place->shared, sizeof(*place->shared));
}

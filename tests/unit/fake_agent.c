/* fake_agent.c - a program that sends a handshake and writes records as its arguments tell it */
#include "sampler/wire/ring.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned char *ring;

static struct ring_header *header(void)
{
	return (void *)ring;
}

static struct ring_slot *slot(uint32_t index)
{
	return (void *)(ring + ring_chunk_offset(index / RING_CHUNK_SLOTS) +
			index % RING_CHUNK_SLOTS * ring_slot_bytes(index / RING_CHUNK_SLOTS));
}

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int connect_to_wick(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv(WIRE_ENV_SOCKET);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (!path)
		return -1;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -1 : fd;
}

/* Return: the descriptor of the rings; -1 when refused. */
static int receive_ring(int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct handshake_reply welcome;
	struct iovec part = {&welcome, sizeof(welcome)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int ring_fd = -1;

	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(welcome) ||
	    welcome.status != HANDSHAKE_ACCEPTED || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&ring_fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(ring_fd));
	return ring_fd;
}

static int say_of(pid_t pid, uint16_t version, uint16_t kind, int why, const char *path)
{
	struct handshake_request request = {
		.magic = WIRE_MAGIC, .version = version, .kind = kind, .pid = pid, .why = why};
	int fd = connect_to_wick();

	if (fd < 0)
		return -1;
	(void)snprintf(request.path, sizeof(request.path), "%s", path);
	return send(fd, &request, sizeof(request), 0) < 0 ? -1 : fd;
}

static int say(uint16_t version, uint16_t kind, int why, const char *path)
{
	return say_of(getpid(), version, kind, why, path);
}

/* Return: 0: the rings are mapped. */
static int start(uint16_t kind)
{
	int fd = say(WIRE_VERSION, kind, 0, "");
	int ring_fd = fd < 0 ? -1 : receive_ring(fd);

	(void)close(fd);
	if (ring_fd < 0)
		return -1;
	ring = mmap(NULL, ring_chunk_offset(2), PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
	(void)close(ring_fd);
	atomic_store(&header()->n_chunks, 1);
	atomic_store(&header()->state, AGENT_SAMPLING);
	return 0;
}

static void commit(uint32_t index, const void *record, size_t bytes)
{
	struct ring_slot *to = slot(index);
	uint64_t data_bytes = ring_data_bytes(index / RING_CHUNK_SLOTS);
	uint64_t head = atomic_load(&to->head);
	uint64_t left = data_bytes - head % data_bytes;

	size_t need = left < bytes ? left + bytes : bytes;

	while (data_bytes - (head - atomic_load(&to->tail)) < need)
		(void)usleep(1000);
	if (left < bytes) {
		struct record pad = {.bytes = (uint32_t)left, .type = RECORD_PAD};

		memcpy(to->data + head % data_bytes, &pad, sizeof(pad));
		head += left;
	}
	memcpy(to->data + head % data_bytes, record, bytes);
	atomic_store_explicit(&to->head, head + bytes, memory_order_release);
	atomic_fetch_or(&header()->changed[index / 64], UINT64_C(1) << index % 64);
}

static void claim(uint32_t index, uint32_t tid, const char *comm)
{
	struct record_thread thread = {
		.head = {sizeof(thread), RECORD_THREAD, 0}, .time_ns = now_ns(), .tid = tid};

	(void)snprintf(thread.comm, sizeof(thread.comm), "%s", comm);
	atomic_store(&header()->tids[index], tid);
	if (atomic_load(&header()->n_slots) <= index)
		atomic_store(&header()->n_slots, index + 1);
	commit(index, &thread, sizeof(thread));
}

/* No more is believed than was used. */
static void use(uint64_t ns)
{
	const clock_t until = clock() + (clock_t)(ns / 1000);

	while (clock() < until)
		;
}

static void give(uint32_t index, uint64_t cpu_ns, uint16_t flags)
{
	enum { BYTES = sizeof(struct record_sample) + 2 * 8, PERIOD_NS = 100000 };
	union {
		struct record_sample sample;
		unsigned char bytes[BYTES];
	} record = {0};
	const uint64_t pcs[2] = {(uint64_t)(uintptr_t)give | PC_EXACT,
				 (uint64_t)(uintptr_t)commit + 1};

	use(2 * PERIOD_NS);
	record.sample = (struct record_sample){.head = {BYTES, RECORD_SAMPLE, flags},
					       .time_ns = now_ns(),
					       .tid = atomic_load(&header()->tids[index]),
					       .weight = 2,
					       .period_ns = PERIOD_NS,
					       .n_pcs = 2,
					       .cpu_ns = cpu_ns,
					       .minflt = 7,
					       .stack_bytes = 4096};
	memcpy(record.bytes + sizeof(record.sample), pcs, sizeof(pcs));
	commit(index, record.bytes, BYTES);
	atomic_fetch_add(&slot(index)->n_samples, 1);
}

static void *run_worker(void *tid)
{
	atomic_store((_Atomic uint32_t *)tid, (uint32_t)syscall(SYS_gettid));
	for (;;)
		(void)pause();
	return NULL;
}

/* The tid of a thread that lives as long as we do. */
static uint32_t start_worker(void)
{
	static _Atomic uint32_t tid;
	pthread_t thread;

	atomic_store(&tid, 0);
	if (pthread_create(&thread, NULL, run_worker, (void *)&tid) != 0)
		return 0;
	while (atomic_load(&tid) == 0)
		(void)usleep(100);
	return atomic_load(&tid);
}

/* Two threads in turn: samples come out sorted over both. */
static int run_samples(int n)
{
	if (start(HANDSHAKE_START) < 0)
		return 3;
	claim(0, (uint32_t)getpid(), "fake-main");
	claim(1, start_worker(), "fake-worker");
	for (int i = 0; i < n; i++) {
		give((uint32_t)i % 2, (uint64_t)i * 1000, i == 3 ? SAMPLE_NO_METRICS : 0);
		if (i % 50 == 0)
			(void)usleep(2000);
	}
	return 0;
}

/* Says N when N samples have been committed, then waits to be killed. */
static int run_until_killed(int n)
{
	int r = run_samples(n);

	if (r)
		return r;
	(void)printf("%d\n", n);
	(void)fflush(stdout);
	(void)kill(getpid(), SIGKILL);
	return 4;
}

static int run_fork(int n)
{
	int status;
	pid_t pid;

	if (start(HANDSHAKE_START) < 0)
		return 3;
	claim(0, (uint32_t)getpid(), "parent");
	give(0, 1, 0);
	pid = fork();
	if (pid == 0) {
		if (start(HANDSHAKE_FORK) < 0)
			_exit(3);
		claim(0, (uint32_t)getpid(), "child");
		for (int i = 0; i < n; i++)
			give(0, (uint64_t)i, 0);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/* Everything that is not a handshake, then one. */
static int run_rubbish(int n)
{
	char bytes[1024];
	int fd;

	memset(bytes, 0x5a, sizeof(bytes));
	for (int i = 0; i < n; i++) {
		fd = connect_to_wick();
		if (fd < 0 || send(fd, bytes, (size_t)i * 7 % sizeof(bytes), MSG_NOSIGNAL) < 0)
			return 5;
		(void)close(fd);
	}
	fd = connect_to_wick(); /* says nothing, and stays */
	if (fd < 0 || receive_ring(say(WIRE_VERSION + 1, HANDSHAKE_START, 0, "")) >= 0)
		return 6;
	(void)close(say(WIRE_VERSION, HANDSHAKE_UNSUPPORTED, 1, "/bin/static-thing"));
	(void)close(say(WIRE_VERSION, HANDSHAKE_UNSUPPORTED, 1, "/bin/static-thing"));
	return run_samples(2);
}

/* Says of PID, or of a child of its own, that it cannot load the agent: it runs what it is said to.
 */
static int run_accuse(pid_t pid)
{
	char path[WIRE_PATH_BYTES] = "";
	char link[64];
	pid_t child = 0;

	if (!pid && (child = fork()) == 0) {
		(void)pause();
		_exit(0);
	}
	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)(pid ? pid : child));
	if (readlink(link, path, sizeof(path) - 1) < 0 || start(HANDSHAKE_START) < 0)
		return 12;
	(void)close(say_of(pid ? pid : child, WIRE_VERSION, HANDSHAKE_UNSUPPORTED, 1, path));
	(void)usleep(300000);
	if (child) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	return 0;
}

/* The same pid twice: an exec. */
static int run_exec(int n, char **argv)
{
	char left[16];
	int r = run_samples(4);

	if (r || n == 0)
		return r;
	(void)snprintf(left, sizeof(left), "%d", n - 1);
	(void)execv("/proc/self/exe", (char *[]){argv[0], argv[1], left, NULL});
	return 7;
}

/* A child that outlives CMD. */
static int run_daemon(int n)
{
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return 3;
	if (fork() == 0) {
		if (start(HANDSHAKE_START) < 0)
			_exit(3);
		claim(0, (uint32_t)getpid(), "daemon");
		give(0, 1, 0);
		(void)close(ready[0]);
		(void)close(ready[1]);
		for (int i = 0; i < n && !atomic_load(&header()->stop); i++)
			(void)usleep(10000);
		_exit(0);
	}
	(void)close(ready[1]);
	return read(ready[0], &byte, 1) == 0 ? 0 : 3; /* closed: the daemon is sampled */
}

/* Burn with all signals blocked and no slot, until we are posted and SIGPROF is open again. */
static int run_masked(int n)
{
	const uint64_t profile = UINT64_C(1) << (SIGPROF - 1);
	const uint64_t all = UINT64_MAX;
	uint64_t deadline = now_ns() + (uint64_t)n * 1000000000U;
	uint64_t blocked = all;

	if (start(HANDSHAKE_START) < 0)
		return 3;
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	while ((atomic_load(&header()->n_posted) == 0 || (blocked & profile)) &&
	       now_ns() < deadline)
		(void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof(blocked));
	if (atomic_load(&header()->n_posted) == 0)
		return 8;
	if (atomic_load(&header()->posted[0]) != (uint32_t)getpid())
		return 9;
	if ((blocked | profile) !=
	    (all & ~(UINT64_C(1) << (SIGKILL - 1)) & ~(UINT64_C(1) << (SIGSTOP - 1))))
		return 10;
	claim(0, (uint32_t)getpid(), "masked");
	give(0, 1, 0);
	return blocked & profile ? 11 : 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "samples") == 0)
		return run_samples(n);
	if (strcmp(argv[1], "killed") == 0)
		return run_until_killed(n);
	if (strcmp(argv[1], "fork") == 0)
		return run_fork(n);
	if (strcmp(argv[1], "rubbish") == 0)
		return run_rubbish(n);
	if (strcmp(argv[1], "exec") == 0)
		return run_exec(n, argv);
	if (strcmp(argv[1], "accuse") == 0)
		return run_accuse(n);
	if (strcmp(argv[1], "masked") == 0)
		return run_masked(n);
	if (strcmp(argv[1], "daemon") == 0)
		return run_daemon(n);
	return 2;
}

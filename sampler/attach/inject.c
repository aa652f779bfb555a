/*
 * inject.c - loads the agent into a running process, or restarts the one that is already loaded
 *
 * The process may be in namespaces of its own, in which wick's paths do not exist. So it gets
 * everything by descriptor: wick makes a pair of sockets in it, duplicates one end, and passes the
 * agent and its rings through it.
 *
 * Each stop of the thread costs it tens of microseconds, because two processors have to be woken.
 * So there are four: the thread is stopped, maps memory, and runs a stub (stub_x86_64.S) that stops
 * once in the middle.
 */
#include "sampler/attach/inject.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/attach/image.h"
#include "sampler/attach/stub_x86_64.h"
#include "sampler/wire/attach.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STUB_FDS = 2 /* the rings, and the agent */ };

struct stub {
	uint64_t errno_location; /* addresses of functions in its libc; 0: it has none */
	uint64_t dlopen;
	uint64_t dlerror;
	uint64_t attach; /* attach function of the loaded agent; 0: the stub loads the agent, */
	uint64_t attach_offset; /* whose attach function is at this offset from its load address */
	uint64_t passed_bytes; /* expected size of the control message, if all descriptors arrive */
	struct {
		int32_t fds[2];
		uint32_t made; /* 1: the sockets exist */
		uint32_t pad;
	} pair;                /* a pair of sockets */
	struct msghdr message; /* uses the following */
	struct {
		uint64_t bytes; /* a struct cmsghdr, followed by the descriptors */
		int32_t level;
		int32_t type;
		int32_t fds[STUB_FDS];
	} passed;
	char path[32]; /* path of the agent's descriptor, whose number the stub adds */
	char name[24]; /* name of the agent after loading */
	uint64_t ignores_trap;
	uint64_t trap_action[4]; /* as rt_sigaction(2) takes it; the handler comes first */
	struct attach_request request;
	struct iovec part;
	char byte[8];
};

_Static_assert(offsetof(struct stub, errno_location) == STUB_ERRNO_LOCATION &&
		       offsetof(struct stub, dlopen) == STUB_DLOPEN &&
		       offsetof(struct stub, dlerror) == STUB_DLERROR &&
		       offsetof(struct stub, attach) == STUB_ATTACH &&
		       offsetof(struct stub, attach_offset) == STUB_ATTACH_OFFSET &&
		       offsetof(struct stub, passed_bytes) == STUB_PASSED_BYTES &&
		       offsetof(struct stub, pair.fds) == STUB_PAIR &&
		       offsetof(struct stub, pair.made) == STUB_PAIR_MADE &&
		       offsetof(struct stub, message) == STUB_MESSAGE &&
		       offsetof(struct stub, passed) == STUB_PASSED &&
		       offsetof(struct stub, path) == STUB_PATH &&
		       offsetof(struct stub, name) == STUB_NAME &&
		       offsetof(struct stub, ignores_trap) == STUB_IGNORES_TRAP &&
		       offsetof(struct stub, trap_action) == STUB_TRAP_ACTION &&
		       offsetof(struct stub, request.ring_fd) == STUB_RING_FD &&
		       offsetof(struct stub, request.other_fds) == STUB_OTHER_FDS,
	       "stub_x86_64.S uses these offsets");
_Static_assert(CMSG_LEN(0) == 16 && CMSG_SPACE(STUB_FDS * sizeof(int32_t)) == 24,
	       "how descriptors come");

/* The position-independent code, its size, and the offset at which it has finished. */
extern const unsigned char stub_code[];
extern const uint64_t stub_bytes;
extern const uint64_t stub_done;

enum {
	CODE_BYTES = 4096,
	STACK_BYTES = 128 * 1024, /* with struct stub above it */
	MEMORY_BYTES = CODE_BYTES + STACK_BYTES,
	STUB_AREA_BYTES = 1024,
	RECEIVE_TRIES = 100, /* half a microsecond each: as long as sending takes */
	ERROR_BYTES = 200,
	PAIR_POLL_NS = 8000,
};

/* One injection under way. */
struct injection {
	const struct inject *inject;
	struct tracee tracee;
	uint64_t memory; /* memory mapped in the process; 0: none */
	uint64_t loader_says;
	struct stub stub;
};

_Static_assert(sizeof(struct stub) <= STUB_AREA_BYTES && STUB_AREA_BYTES % 16 == 0,
	       "above an aligned stack");

/* Its address in the process: at the end of the memory, above the stack. */
static uint64_t stub_at(const struct injection *in, size_t offset)
{
	return in->memory + MEMORY_BYTES - STUB_AREA_BYTES + offset;
}

static bool read_at(const struct injection *in, uint64_t address, void *to, size_t len)
{
	return io_pread(in->inject->mem_fd, to, len, address) == (ssize_t)len;
}

static bool write_at(const struct injection *in, uint64_t address, const void *from, size_t len)
{
	return pwrite(in->inject->mem_fd, from, len, (off_t)address) == (ssize_t)len;
}

static long remote(struct injection *in, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t args[6] = {a, b, c, d, UINT64_MAX, 0};
	long result = 0;
	int r = tracee_syscall(&in->tracee, nr, args, &result);

	return r < 0 ? r : result;
}

/* Code that is never writable: a program may forbid writable code for itself. */
static int map_memory(struct injection *in)
{
	long at = remote(in, SYS_mmap, 0, MEMORY_BYTES, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);

	if (at < 0 && at > -4096)
		return (int)at;
	in->memory = (uint64_t)at;
	return 0;
}

/* Sets the pointers in it. */
static void link_stub(struct injection *in)
{
	struct stub *stub = &in->stub;
	size_t n_fds = in->inject->place.attach ? 1 : STUB_FDS;

	stub->part.iov_base = (void *)stub_at(in, offsetof(struct stub, byte));
	stub->part.iov_len = 1;
	stub->message.msg_iov = (void *)stub_at(in, offsetof(struct stub, part));
	stub->message.msg_iovlen = 1;
	stub->message.msg_control = (void *)stub_at(in, offsetof(struct stub, passed));
	stub->message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	stub->passed_bytes = CMSG_LEN(n_fds * sizeof(int));
}

/* The process itself could not: the memory is not writable yet. */
static int write_memory(struct injection *in)
{
	const struct stub stub = in->stub;

	if (!write_at(in, in->memory, stub_code, stub_bytes) ||
	    !write_at(in, stub_at(in, 0), &stub, sizeof(stub)))
		return -EFAULT;
	return 0;
}

/* The stub's error code, and its reason. */
static int take_failure(struct injection *in, const struct user_regs_struct *regs)
{
	int r = (int)regs->rax;

	if (r == -ELIBACC)
		in->loader_says = regs->rdx;
	return r < 0 && r > -4096 ? r : -EFAULT;
}

/* Duplicates one end of the pair, and sends the descriptors through it. */
static int send_fds(struct injection *in)
{
	const int fds[STUB_FDS] = {in->inject->ring_fd, in->inject->image_fd};
	size_t bytes = in->inject->place.attach ? sizeof(fds[0]) : sizeof(fds);
	_cleanup_fd_ int end =
		(int)syscall(SYS_pidfd_getfd, in->inject->pidfd, in->stub.pair.fds[1], 0);
	struct iovec part = {.iov_base = in->stub.byte, .iov_len = 1};
	_Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(sizeof(fds))] = {0};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = CMSG_SPACE(bytes)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	if (end < 0)
		return -errno;
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(rights), fds, bytes);
	return sendmsg(end, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int start_stub(struct injection *in)
{
	struct user_regs_struct regs = in->tracee.regs;

	regs.rip = in->memory;
	regs.rbx = stub_at(in, 0);
	regs.rsp = regs.rbx;
	regs.rbp = in->memory;
	regs.r12 = in->memory + CODE_BYTES;
	regs.r13 = MEMORY_BYTES - CODE_BYTES;
	regs.r14 = MEMORY_BYTES;
	regs.r15 = in->tracee.stop_wait.stat_fd < 0 ? 1 : RECEIVE_TRIES;
	return tracee_continue(&in->tracee, &regs);
}

/* Waits, without a stop, until the pair exists. A read waits for changes of the mappings, so it is
 * not repeated too often. */
static bool wait_paired(struct injection *in)
{
	struct stop_wait *wait = &in->tracee.stop_wait;
	uint64_t polled_ns;

	stop_wait_begin(wait);
	polled_ns = wait->begun_ns;
	while (stop_wait_continues(wait)) {
		if (io_now_ns() - polled_ns < PAIR_POLL_NS)
			continue;
		polled_ns = io_now_ns();
		if (read_at(in, stub_at(in, offsetof(struct stub, pair)), &in->stub.pair,
			    sizeof(in->stub.pair)) &&
		    in->stub.pair.made)
			return true;
	}
	return false;
}

/* Whether it has stopped because the descriptors had not come yet. */
static bool waits(const struct user_regs_struct *regs, int signal)
{
	return signal == SIGTRAP && regs->rax == 0;
}

/* Runs it to its end, and sends the descriptors in between. */
static int run_stub(struct injection *in, struct user_regs_struct *ret_regs, int *ret_signal)
{
	int r = start_stub(in);
	bool sent = false;

	if (r == 0 && wait_paired(in)) {
		sent = true;
		r = send_fds(in);
	}
	for (int i = 0; r == 0 && i < 2; i++) {
		r = tracee_wait_fault(&in->tracee, ret_regs, ret_signal);
		if (r < 0 || !waits(ret_regs, *ret_signal) || i)
			return r;
		memcpy(in->stub.pair.fds, &ret_regs->rdx, sizeof(in->stub.pair.fds));
		if (!sent)
			r = send_fds(in);
		if (r == 0)
			r = tracee_continue(&in->tracee, NULL);
	}
	return r;
}

static int take_answer(struct injection *in, const struct user_regs_struct *regs, int signal,
		       int *ret_attached)
{
	const uint64_t end = in->memory + stub_done;

	if (signal == SIGSEGV && regs->rip == end)
		in->memory = 0;
	else if (signal != SIGTRAP)
		return -EFAULT;
	else if (regs->rip != end + 1)
		return take_failure(in, regs);
	*ret_attached = (int)regs->r15;
	return 0;
}

/* Closes descriptors that it could not pass to the agent, which closes its own. */
static void close_fds(struct injection *in)
{
	struct stub stub;
	size_t n = 0;

	if (!read_at(in, stub_at(in, 0), &stub, sizeof(stub)))
		return;
	for (size_t i = 0; i < 2 && stub.pair.made; i++)
		(void)remote(in, SYS_close, (uint64_t)stub.pair.fds[i], 0, 0, 0);
	if (stub.passed.bytes >= CMSG_LEN(0))
		n = (stub.passed.bytes - CMSG_LEN(0)) / sizeof(stub.passed.fds[0]);
	for (size_t i = 0; i < n && i < STUB_FDS; i++)
		(void)remote(in, SYS_close, (uint64_t)stub.passed.fds[i], 0, 0, 0);
}

static int explain_stub(struct injection *in, int r, struct err *err)
{
	const int pid = (int)in->inject->pid;
	char text[ERROR_BYTES] = "";

	if (r != -ELIBACC)
		return err_set(err, -r, "load the agent into process %d", pid);
	for (size_t i = 0; in->loader_says && i + 1 < sizeof(text); i++)
		if (!read_at(in, in->loader_says + i, &text[i], 1) || !text[i])
			break;
	text[sizeof(text) - 1] = '\0';
	return err_set(err, text[0] ? 0 : ELIBACC, "load the agent into process %d%s%s", pid,
		       text[0] ? ": " : "", text);
}

static int explain_attach(const struct inject *inject, int r, struct err *err)
{
	if (r != -EBUSY)
		return err_set(err, -r, "start sampling in process %d", (int)inject->pid);
	(void)err_set(err, 0, "process %d is being recorded by another wick", (int)inject->pid);
	return -EBUSY;
}

/* It may have executed another program since libc's functions were looked up. */
static bool is_same_program(const struct injection *in)
{
	static const unsigned char enter[] = {0x0f, 0x05};
	unsigned char code[sizeof(enter)];

	return read_at(in, in->inject->place.enter, code, sizeof(code)) &&
	       memcmp(code, enter, sizeof(code)) == 0;
}

static int bring_agent(struct injection *in, struct err *err)
{
	struct user_regs_struct regs;
	int signal = 0;
	int attached = 0;
	int r = tracee_block_signals(&in->tracee);

	if (r == 0)
		r = map_memory(in);
	if (r < 0)
		return err_set(err, -r, "run code on a thread of process %d", (int)in->inject->pid);
	link_stub(in);
	r = write_memory(in);
	if (r == 0)
		r = run_stub(in, &regs, &signal);
	if (r == 0)
		r = take_answer(in, &regs, signal, &attached);
	if (r < 0)
		(void)explain_stub(in, r, err);
	if (r < 0 && !in->tracee.gone)
		close_fds(in);
	if (in->memory && !in->tracee.gone)
		(void)remote(in, SYS_munmap, in->memory, MEMORY_BYTES, 0, 0);
	if (r == 0 && attached < 0)
		r = explain_attach(in->inject, attached, err);
	return r;
}

static void fill_stub(struct injection *in)
{
	const struct inject_place *place = &in->inject->place;
	struct stub *stub = &in->stub;
	struct attach_request *request = &stub->request;

	stub->errno_location = place->errno_location;
	stub->dlopen = place->dlopen;
	stub->dlerror = place->dlerror;
	stub->attach = place->attach;
	stub->attach_offset = in->inject->image_attach_offset;
	stub->ignores_trap = in->inject->ignores_trap;
	memset(stub->pair.fds, -1, sizeof(stub->pair.fds));
	/* A path that no program uses: otherwise a later dlopen() of the program could return the
	 * agent. */
	(void)snprintf(stub->path, sizeof(stub->path), "/proc/./self/fd/");
	(void)snprintf(stub->name, sizeof(stub->name), "%s", IMAGE_NAME);
	request->magic = WIRE_MAGIC;
	request->version = WIRE_VERSION;
	request->ring_fd = -1;
	memset(request->other_fds, -1, sizeof(request->other_fds));
	(void)snprintf(request->socket, sizeof(request->socket), "%s", in->inject->socket);
}

static int explain_stop(const struct inject *inject, int r, struct err *err)
{
	if (r == -ESRCH)
		return err_set(err, ESRCH, "process %d", (int)inject->pid);
	if (r == -EPERM)
		return err_set(err, EPERM, "trace process %d", (int)inject->pid);
	(void)err_set(err, -r, "stop a thread of process %d", (int)inject->pid);
	return -EAGAIN;
}

/*
 * While the thread is stopped, wick runs at real-time priority if that is allowed, and on another
 * processor than the thread if there is one.
 */
struct priority {
	int policy;
	struct sched_param param;
	bool first;
	cpu_set_t cpus;
	bool aside;
};

static bool step_aside(struct priority *saved, int its_cpu)
{
	cpu_set_t others;

	if (its_cpu < 0 || its_cpu >= CPU_SETSIZE ||
	    sched_getaffinity(0, sizeof(saved->cpus), &saved->cpus) < 0)
		return false;
	others = saved->cpus;
	CPU_CLR(its_cpu, &others);
	return CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0;
}

static void priority_raise(struct priority *ret_saved, int its_cpu)
{
	const struct sched_param first = {.sched_priority = 1};

	*ret_saved = (struct priority){.policy = sched_getscheduler(0)};
	ret_saved->aside = step_aside(ret_saved, its_cpu);
	ret_saved->first = ret_saved->policy >= 0 && sched_getparam(0, &ret_saved->param) == 0 &&
			   sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0;
}

static void priority_restore(const struct priority *saved)
{
	if (saved->first)
		(void)sched_setscheduler(0, saved->policy, &saved->param);
	if (saved->aside)
		(void)sched_setaffinity(0, sizeof(saved->cpus), &saved->cpus);
}

/*
 * Reading its stack and code for the first time takes longer than everything else that is done to a
 * thread. So a running thread is stopped twice: first only for its registers, then, after the walk
 * has filled caches, for the injection.
 */
static void rehearse(struct injection *in)
{
	bool stopped;

	if (tracee_seize(&in->tracee, in->inject->pid, in->inject->tid, in->inject->place.enter) <
	    0)
		return;
	stopped = tracee_stop(&in->tracee) == 0;
	tracee_detach(&in->tracee);
	if (stopped && !in->tracee.gone)
		(void)in->inject->fits(in->inject->context, &in->tracee, NULL);
}

static int run_as_tracer(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err)
{
	_cleanup_free_ struct injection *in = calloc(1, sizeof(*in));
	struct priority saved;
	int r;

	*ret_stopped_ns = 0;
	if (!in)
		return err_set(err, ENOMEM, "attach to process %d", (int)inject->pid);
	in->inject = inject;
	fill_stub(in);
	if (inject->runs)
		rehearse(in);
	r = tracee_seize(&in->tracee, inject->pid, inject->tid, inject->place.enter);
	if (r < 0)
		return explain_stop(inject, r, err);
	priority_raise(&saved, inject->cpu);
	if (saved.aside)
		stop_wait_open(&in->tracee.stop_wait, inject->pid, inject->tid);
	r = tracee_stop(&in->tracee);
	if (r < 0)
		r = explain_stop(inject, r, err);
	else if (!is_same_program(in))
		r = err_set(err, ESRCH, "process %d", (int)inject->pid);
	else
		r = inject->fits(inject->context, &in->tracee, err) ? bring_agent(in, err)
								    : -EAGAIN;
	tracee_detach(&in->tracee);
	*ret_stopped_ns = io_now_ns() - in->tracee.stopped_ns;
	priority_restore(&saved);
	stop_wait_close(&in->tracee.stop_wait);
	return r;
}

enum { TRACER_STACK_BYTES = 65536, PAGE_BYTES = 4096 };

/* The child's result, in shared memory. */
struct result {
	atomic_bool done;
	int r;
	uint64_t stopped_ns;
	struct err err;
};

/* fork copies pages at the first write: do it before a thread is stopped. */
static void touch_stack(void)
{
	volatile char bytes[TRACER_STACK_BYTES];

	for (size_t i = 0; i < sizeof(bytes); i += PAGE_BYTES)
		bytes[i] = 0;
}

/* Blocks all signals but faults and real-time signals, one of which is the watchdog's. */
static void block_signals(void)
{
	static const int open[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
	sigset_t set;

	(void)sigfillset(&set);
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		(void)sigdelset(&set, open[i]);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		(void)sigdelset(&set, sig);
	(void)pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static _Noreturn void run_child(const struct inject *inject, struct result *result)
{
	block_signals();
	(void)setsid();
	touch_stack();
	result->r = run_as_tracer(inject, &result->stopped_ns, &result->err);
	atomic_store(&result->done, true);
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static int take_result(const struct result *result, uint64_t *ret_stopped_ns, struct err *err)
{
	if (!atomic_load(&result->done))
		return err_set(err, ECHILD,
			       "attach: the process that traced the thread was killed");
	*ret_stopped_ns = result->stopped_ns;
	if (err)
		*err = result->err;
	return result->r;
}

int inject_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err)
{
	struct result *result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigset_t all;
	sigset_t mask;
	pid_t pid;
	int r;

	if (result == MAP_FAILED)
		return run_as_tracer(inject, ret_stopped_ns, err);
	*ret_stopped_ns = 0;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid = fork();
	if (pid == 0)
		run_child(inject, result);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0) {
		wait_for(pid);
		r = take_result(result, ret_stopped_ns, err);
	} else {
		r = run_as_tracer(inject, ret_stopped_ns, err);
	}
	(void)munmap(result, sizeof(*result));
	return r;
}

/*
 * inject.c - brings the agent into a running process, or wakes the one that is there
 *
 * The process may be in namespaces of its own, where no path of ours leads: what it needs comes by
 * descriptor.  A pair of sockets is made in it, one end is taken over here, and the agent and
 * its rings are passed through.
 *
 * Each stop of the borrowed thread costs it tens of microseconds, whatever is done in it: two
 * processors have to be woken.  So there are four: it is stopped, maps memory, and runs an errand
 * (errand.h) that stops once in the middle.
 */
#include "sampler/attach/inject.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/attach/image.h"
#include "sampler/attach/stub.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CODE_BYTES = 4096,
	STACK_BYTES = 128 * 1024, /* with the errand above it */
	MEMORY_BYTES = CODE_BYTES + STACK_BYTES,
	ERRAND_ROOM = 1024,
	RECEIVE_TRIES = 100, /* half a microsecond each: as long as we take to send */
	ERROR_BYTES = 200,
	PAIR_LOOK_NS = 8000,
};

/* One injection under way. */
struct injection {
	const struct inject *inject;
	struct tracee tracee;
	uint64_t memory; /* of ours in the process; 0: none */
	uint64_t loader_says;
	struct errand errand;
};

_Static_assert(sizeof(struct errand) <= ERRAND_ROOM && ERRAND_ROOM % 16 == 0,
	       "above an aligned stack");

/* At the end of it, above the stack. */
static uint64_t errand_at(const struct injection *in, size_t offset)
{
	return in->memory + MEMORY_BYTES - ERRAND_ROOM + offset;
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
	long answer = 0;
	int r = tracee_syscall(&in->tracee, nr, args, &answer);

	return r < 0 ? r : answer;
}

/* Code that is never writable: programs may forbid themselves to have any that is. */
static int map_memory(struct injection *in)
{
	long at = remote(in, SYS_mmap, 0, MEMORY_BYTES, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);

	if (at < 0 && at > -4096)
		return (int)at;
	in->memory = (uint64_t)at;
	return 0;
}

/* What leads from one part of it to another. */
static void place_errand(struct injection *in)
{
	struct errand *errand = &in->errand;
	size_t n_fds = in->inject->place.join ? 1 : ERRAND_FDS;

	errand->part.iov_base = (void *)errand_at(in, offsetof(struct errand, byte));
	errand->part.iov_len = 1;
	errand->message.msg_iov = (void *)errand_at(in, offsetof(struct errand, part));
	errand->message.msg_iovlen = 1;
	errand->message.msg_control = (void *)errand_at(in, offsetof(struct errand, passed));
	errand->message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	errand->passed_bytes = CMSG_LEN(n_fds * sizeof(int));
}

/* The process itself could not: nothing of it can be written to yet. */
static int write_memory(struct injection *in)
{
	const struct errand errand = in->errand;

	if (!write_at(in, in->memory, errand_code, errand_bytes) ||
	    !write_at(in, errand_at(in, 0), &errand, sizeof(errand)))
		return -EFAULT;
	return 0;
}

/* It failed, and says why. */
static int take_failure(struct injection *in, const struct user_regs_struct *regs)
{
	int r = (int)regs->rax;

	if (r == -ELIBACC)
		in->loader_says = regs->rdx;
	return r < 0 && r > -4096 ? r : -EFAULT;
}

/* Our end of the pair, with the descriptors in it. */
static int send_fds(struct injection *in)
{
	const int fds[ERRAND_FDS] = {in->inject->ring_fd, in->inject->image_fd};
	size_t bytes = in->inject->place.join ? sizeof(fds[0]) : sizeof(fds);
	_cleanup_fd_ int end =
		(int)syscall(SYS_pidfd_getfd, in->inject->pidfd, in->errand.pair.fds[1], 0);
	struct iovec part = {.iov_base = in->errand.byte, .iov_len = 1};
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

static int begin_errand(struct injection *in)
{
	struct user_regs_struct regs = in->tracee.regs;

	regs.rip = in->memory;
	regs.rbx = errand_at(in, 0);
	regs.rsp = regs.rbx;
	regs.rbp = in->memory;
	regs.r12 = in->memory + CODE_BYTES;
	regs.r13 = MEMORY_BYTES - CODE_BYTES;
	regs.r14 = MEMORY_BYTES;
	regs.r15 = in->tracee.look.stat_fd < 0 ? 1 : RECEIVE_TRIES;
	return tracee_go(&in->tracee, &regs);
}

/* Without a stop, if it is quick.  A look waits for a change of its mappings: not too often. */
static bool wait_paired(struct injection *in)
{
	struct look *look = &in->tracee.look;
	uint64_t looked_ns;

	look_begin(look);
	looked_ns = look->begun_ns;
	while (look_goes_on(look)) {
		if (io_now_ns() - looked_ns < PAIR_LOOK_NS)
			continue;
		looked_ns = io_now_ns();
		if (read_at(in, errand_at(in, offsetof(struct errand, pair)), &in->errand.pair,
			    sizeof(in->errand.pair)) &&
		    in->errand.pair.made)
			return true;
	}
	return false;
}

/* Where it has stopped without what it waits for. */
static bool waits(const struct user_regs_struct *regs, int signal)
{
	return signal == SIGTRAP && regs->rax == 0;
}

/* From its begin to its end, with the descriptors sent in between. */
static int run_errand(struct injection *in, struct user_regs_struct *ret_regs, int *ret_signal)
{
	int r = begin_errand(in);
	bool sent = false;

	if (r == 0 && wait_paired(in)) {
		sent = true;
		r = send_fds(in);
	}
	for (int i = 0; r == 0 && i < 2; i++) {
		r = tracee_await(&in->tracee, ret_regs, ret_signal);
		if (r < 0 || !waits(ret_regs, *ret_signal) || i)
			return r;
		memcpy(in->errand.pair.fds, &ret_regs->rdx, sizeof(in->errand.pair.fds));
		if (!sent)
			r = send_fds(in);
		if (r == 0)
			r = tracee_go(&in->tracee, NULL);
	}
	return r;
}

static int take_answer(struct injection *in, const struct user_regs_struct *regs, int signal,
		       int *ret_joined)
{
	const uint64_t end = in->memory + errand_done;

	if (signal == SIGSEGV && regs->rip == end)
		in->memory = 0;
	else if (signal != SIGTRAP)
		return -EFAULT;
	else if (regs->rip != end + 1)
		return take_failure(in, regs);
	*ret_joined = (int)regs->r15;
	return 0;
}

/* What it did not get to hand to the agent, which closes what it is handed. */
static void close_fds(struct injection *in)
{
	struct errand errand;
	size_t n = 0;

	if (!read_at(in, errand_at(in, 0), &errand, sizeof(errand)))
		return;
	for (size_t i = 0; i < 2 && errand.pair.made; i++)
		(void)remote(in, SYS_close, (uint64_t)errand.pair.fds[i], 0, 0, 0);
	if (errand.passed.bytes >= CMSG_LEN(0))
		n = (errand.passed.bytes - CMSG_LEN(0)) / sizeof(errand.passed.fds[0]);
	for (size_t i = 0; i < n && i < ERRAND_FDS; i++)
		(void)remote(in, SYS_close, (uint64_t)errand.passed.fds[i], 0, 0, 0);
}

static int explain_errand(struct injection *in, int r, struct err *err)
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

static int explain_join(const struct inject *inject, int r, struct err *err)
{
	if (r != -EBUSY)
		return err_set(err, -r, "start sampling in process %d", (int)inject->pid);
	(void)err_set(err, 0, "process %d is being recorded by another wick", (int)inject->pid);
	return -EBUSY;
}

/* Since its libc's functions were looked up it may have become another program. */
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
	int joined = 0;
	int r = tracee_hold(&in->tracee);

	if (r == 0)
		r = map_memory(in);
	if (r < 0)
		return err_set(err, -r, "borrow a thread of process %d", (int)in->inject->pid);
	place_errand(in);
	r = write_memory(in);
	if (r == 0)
		r = run_errand(in, &regs, &signal);
	if (r == 0)
		r = take_answer(in, &regs, signal, &joined);
	if (r < 0)
		(void)explain_errand(in, r, err);
	if (r < 0 && !in->tracee.gone)
		close_fds(in);
	if (in->memory && !in->tracee.gone)
		(void)remote(in, SYS_munmap, in->memory, MEMORY_BYTES, 0, 0);
	if (r == 0 && joined < 0)
		r = explain_join(in->inject, joined, err);
	return r;
}

static void describe_errand(struct injection *in)
{
	const struct inject_place *place = &in->inject->place;
	struct errand *errand = &in->errand;
	struct join *order = &errand->order;

	errand->errno_location = place->errno_location;
	errand->dlopen = place->dlopen;
	errand->dlerror = place->dlerror;
	errand->join = place->join;
	errand->join_offset = in->inject->image_join;
	errand->ignores_trap = in->inject->ignores_trap;
	memset(errand->pair.fds, -1, sizeof(errand->pair.fds));
	/* A path that no program would think of, or its dlopen() would be given ours. */
	(void)snprintf(errand->path, sizeof(errand->path), "/proc/./self/fd/");
	(void)snprintf(errand->name, sizeof(errand->name), "%s", IMAGE_NAME);
	order->magic = WIRE_MAGIC;
	order->version = WIRE_VERSION;
	order->ring_fd = -1;
	memset(order->other_fds, -1, sizeof(order->other_fds));
	(void)snprintf(order->socket, sizeof(order->socket), "%s", in->inject->socket);
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
 * While the thread stands nothing of ours waits for a processor, where that is allowed; and it
 * has its own for itself, where there is another for us.
 */
struct hurry {
	int policy;
	struct sched_param param;
	bool first;
	cpu_set_t cpus;
	bool aside;
};

static bool step_aside(struct hurry *hurry, int its_cpu)
{
	cpu_set_t others;

	if (its_cpu < 0 || its_cpu >= CPU_SETSIZE ||
	    sched_getaffinity(0, sizeof(hurry->cpus), &hurry->cpus) < 0)
		return false;
	others = hurry->cpus;
	CPU_CLR(its_cpu, &others);
	return CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0;
}

static void hurry_begin(struct hurry *ret_hurry, int its_cpu)
{
	const struct sched_param first = {.sched_priority = 1};

	*ret_hurry = (struct hurry){.policy = sched_getscheduler(0)};
	ret_hurry->aside = step_aside(ret_hurry, its_cpu);
	ret_hurry->first = ret_hurry->policy >= 0 && sched_getparam(0, &ret_hurry->param) == 0 &&
			   sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0;
}

static void hurry_end(const struct hurry *hurry)
{
	if (hurry->first)
		(void)sched_setscheduler(0, hurry->policy, &hurry->param);
	if (hurry->aside)
		(void)sched_setaffinity(0, sizeof(hurry->cpus), &hurry->cpus);
}

/*
 * What the walk of its stack reads for the first time takes longer than everything else that is
 * done to a thread.  So one that runs is stopped twice: only for its registers, and when the walk
 * has been made, for good.
 */
static void rehearse(struct injection *in)
{
	bool stopped;

	if (tracee_seize(&in->tracee, in->inject->pid, in->inject->tid, in->inject->place.enter) <
	    0)
		return;
	stopped = tracee_stop(&in->tracee) == 0;
	tracee_leave(&in->tracee);
	if (stopped && !in->tracee.gone)
		(void)in->inject->fits(in->inject->context, &in->tracee, NULL);
}

int inject_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err)
{
	_cleanup_free_ struct injection *in = calloc(1, sizeof(*in));
	struct hurry hurry;
	int r;

	*ret_stopped_ns = 0;
	if (!in)
		return err_set(err, ENOMEM, "join process %d", (int)inject->pid);
	in->inject = inject;
	describe_errand(in);
	if (inject->runs)
		rehearse(in);
	r = tracee_seize(&in->tracee, inject->pid, inject->tid, inject->place.enter);
	if (r < 0)
		return explain_stop(inject, r, err);
	hurry_begin(&hurry, inject->cpu);
	if (hurry.aside)
		look_open(&in->tracee.look, inject->pid, inject->tid);
	r = tracee_stop(&in->tracee);
	if (r < 0)
		r = explain_stop(inject, r, err);
	else if (!is_same_program(in))
		r = err_set(err, ESRCH, "process %d", (int)inject->pid);
	else
		r = inject->fits(inject->context, &in->tracee, err) ? bring_agent(in, err)
								    : -EAGAIN;
	tracee_leave(&in->tracee);
	*ret_stopped_ns = io_now_ns() - in->tracee.stopped_ns;
	hurry_end(&hurry);
	look_close(&in->tracee.look);
	return r;
}

/* attach.c - attach to running processes, and detach */
#include "sampler/collector/drain/attach.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/attach/attach_check.h"
#include "sampler/attach/image.h"
#include "sampler/attach/inject.h"
#include "sampler/attach/injection_thread.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/drain_external.h"
#include "sampler/collector/drain/request.h"
#include "sampler/procfs/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	TRIES = 100,
	HARD_AFTER = 50, /* tries after which a thread is taken that will notice a little */
	PAUSE_NS = 2000000,
};

/* One attach under way. */
struct attaching {
	struct attach_target target;
	struct attach_modules modules;
	struct inject inject;
	int signal;
	uint32_t number; /* of the process in the drain thread's lists */
	bool followed;   /* found as a child of an attached process */
};

/* Its own are closed as soon as it has ended. */
static int keep_descriptors(struct inject *inject, const struct process *process)
{
	if (process->pidfd < 0)
		return -ESRCH;
	inject->ring_fd = fcntl(process->ring.fd, F_DUPFD_CLOEXEC, 0);
	inject->pidfd = fcntl(process->pidfd, F_DUPFD_CLOEXEC, 0);
	return inject->ring_fd < 0 || inject->pidfd < 0 ? -errno : 0;
}

static int prepare(struct collector *collector, void *argument)
{
	struct attaching *attaching = argument;
	struct process *process;
	int r;

	if (map_get(&collector->drain.by_pid, (uint64_t)attaching->target.pid))
		return -EALREADY;
	r = drain_start(collector, attaching->target.pid, attaching->target.namespace_pid,
			&process);
	if (r < 0)
		return r;
	process->attached = true;
	process->unhooked = true;
	process->stack_start = proc_stack_start(process->pid);
	process->signal = attaching->signal;
	process->ring.header->signal = (uint32_t)attaching->signal;
	/* Its threads are not announced, because none of its calls is hooked. */
	process->ring.header->discovery = collector_auto_discovery();
	/* From here on another wick is told that this wick records it. */
	atomic_store_explicit(&process->ring.header->drained_ns,
			      io_now_ns() + (uint64_t)process->clock_offset_ns,
			      memory_order_relaxed);
	child_cpu_attached(&collector->drain, process, attaching->followed);
	attaching->number = process->number;
	r = keep_descriptors(&attaching->inject, process);
	if (r < 0)
		drain_forget(collector, process);
	return r;
}

static int take_back(struct collector *collector, void *argument)
{
	const struct attaching *attaching = argument;
	struct process *process = map_get(&collector->drain.by_number, (uint64_t)attaching->number);

	if (process)
		drain_forget(collector, process);
	return 0;
}

/* A pass at once: what its threads need from outside is not to wait for the next. */
static int take_in(struct collector *collector, void *argument)
{
	(void)argument;
	collector->drain.due.pass_ns = 0;
	return 0;
}

static int try_again_and_again(struct attaching *attaching, struct injection_thread *thread,
			       struct collector_attached *attached, struct err *err)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int r = -EAGAIN;

	for (unsigned i = 0; i < TRIES && r == -EAGAIN; i++) {
		if (i)
			(void)nanosleep(&pause, NULL);
		attached->tries = i + 1;
		*err = (struct err){0};
		r = injection_thread_choose(thread, i >= HARD_AFTER, err);
		if (r < 0)
			continue;
		attaching->inject.tid = thread->tid;
		attaching->inject.cpu = thread->cpu;
		attaching->inject.runs = !thread->blocked;
		r = inject_run(&attaching->inject, &attached->stopped_ns, err);
		if (attached->stopped_ns > attached->longest_ns)
			attached->longest_ns = attached->stopped_ns;
	}
	return r;
}

/* What has changed since the check: it ended, is traced by another, or is stopped. */
static int explain_failure(pid_t pid, int r, struct err *err)
{
	struct attach_target target;
	struct err now = {0};
	int seen = r == -EPERM || r == -EAGAIN ? attach_check(pid, &target, &now) : 0;

	if (seen < 0)
		*err = now;
	return seen < 0 ? seen : r;
}

static int inject(struct attaching *attaching, struct collector_attached *attached, struct err *err)
{
	struct injection_thread thread = {.pid = attaching->target.pid,
					  .modules = &attaching->modules};
	int r = remote_new(&thread.remote, thread.pid);

	if (r == 0) {
		attaching->inject.fits = injection_thread_fits;
		attaching->inject.context = &thread;
		r = explain_failure(thread.pid,
				    try_again_and_again(attaching, &thread, attached, err), err);
	}
	remote_free(thread.remote);
	attaching->inject.context = NULL;
	return r;
}

/* Its memory as it is now: after an exec none of what was found in it holds. */
static int open_memory(pid_t pid, int *ret_fd, struct err *err)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	*ret_fd = open(path, O_RDWR | O_CLOEXEC);
	return *ret_fd < 0 ? err_set(err, errno == ENOENT ? ESRCH : errno, "process %d", (int)pid)
			   : 0;
}

/* What is done to it before it knows: everything that can be. */
static int examine(int signal, struct attaching *attaching, struct collector_attached *attached,
		   struct err *err)
{
	pid_t pid = attaching->inject.pid;
	int r = attach_check(pid, &attaching->target, err);

	if (r == 0)
		r = open_memory(pid, &attaching->inject.mem_fd, err);
	if (r == 0)
		r = attach_place_find(pid, &attaching->inject.place, &attaching->modules, err);
	if (r == 0)
		r = attach_signal_choose(&attaching->target, signal, attaching->modules.signal,
					 &attaching->signal, &attached->why, err);
	attached->namespace_pid = attaching->target.namespace_pid;
	attaching->inject.ignores_trap = attaching->target.ignored >> (SIGTRAP - 1) & 1;
	attached->signal = attaching->signal;
	attached->again = attaching->inject.place.attach != 0;
	return r;
}

static int open_image(struct collector *collector, struct err *err)
{
	if (collector->image_fd >= 0)
		return 0;
	collector->image_fd =
		image_open(collector->options.agent_path, &collector->image_attach_offset, err);
	return collector->image_fd < 0 ? collector->image_fd : 0;
}

static int explain_prepare(pid_t pid, int r, struct err *err)
{
	if (r == -EALREADY)
		return err_set(err, EALREADY, "process %d is in this recording", (int)pid);
	if (r == -ESRCH)
		return err_set(err, ESRCH, "process %d", (int)pid);
	return err_set(err, -r, "make rings for process %d", (int)pid);
}

static int run(struct collector *collector, struct attaching *attaching,
	       struct collector_attached *attached, struct err *err)
{
	int r = examine(collector->options.signal, attaching, attached, err);

	if (r == 0)
		r = open_image(collector, err);
	if (r < 0)
		return r;
	attaching->inject.image_fd = collector->image_fd;
	attaching->inject.image_attach_offset = collector->image_attach_offset;
	r = request_make(collector, prepare, attaching);
	if (r < 0)
		return explain_prepare(attaching->inject.pid, r, err);
	r = inject(attaching, attached, err);
	(void)request_make(collector, r < 0 ? take_back : take_in, attaching);
	return r;
}

static void forget(struct attaching *attaching)
{
	attach_modules_release(&attaching->modules);
	cleanup_fd(&attaching->inject.mem_fd);
	cleanup_fd(&attaching->inject.ring_fd);
	cleanup_fd(&attaching->inject.pidfd);
}

int attach_probe(pid_t pid, struct collector_attached *ret_attached, struct err *err)
{
	struct attaching attaching = {
		.inject = {.pid = pid, .mem_fd = -1, .ring_fd = -1, .pidfd = -1}};
	struct collector_attached attached = {0};
	int r = examine(0, &attaching, &attached, err);

	forget(&attaching);
	if (r == 0)
		*ret_attached = attached;
	return r;
}

int attach_process(struct collector *collector, pid_t pid, bool followed,
		   struct collector_attached *ret_attached, struct err *err)
{
	struct attaching attaching = {.inject = {.pid = pid,
						 .mem_fd = -1,
						 .ring_fd = -1,
						 .pidfd = -1,
						 .socket = collector->directory.socket},
				      .followed = followed};
	struct collector_attached attached = {0};
	int r = run(collector, &attaching, &attached, err);

	forget(&attaching);
	if (r == 0)
		*ret_attached = attached;
	return r;
}

void attach_ended(struct collector *collector, const struct process *process)
{
	struct drain *drain = &collector->drain;

	if (!process->attached || process->child_cpu.followed)
		return;
	drain->n_attached--;
	if (drain->n_attached == 0 && !collector->child && !collector->options.stay)
		drain->ending = true;
}

/* drain_external.c - the processes that are sampled externally: which they are, and when */
#include "sampler/collector/drain/drain_external.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/control/rate.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/request.h"
#include "sampler/collector/process/external_sampler.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_status.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	EXTERNAL_AGAIN_MS = 2,      /* the longest delay before an uninformative stop is repeated */
	EXTERNAL_SLICE_US = 100,    /* of a processor, in one go */
	EXTERNAL_LEAST_MS = 10,     /* between two turns of external sampling */
	EXTERNAL_CHILDREN_MS = 100, /* between two searches for children of external processes */
	EXTERNAL_EXPECT_MS = 1000,  /* how long a process may take to become the program it named */
};

static bool stat_image(const char *path, struct external_image *ret_image)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	*ret_image = (struct external_image){.dev = st.st_dev, .inode = st.st_ino};
	return true;
}

/* The file that a process runs. */
static bool read_image(pid_t pid, struct external_image *ret_image)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat_image(path, ret_image);
}

/* The file that a path is to a process. */
static void read_its_file(pid_t pid, const char *its_path, struct external_image *ret_image)
{
	char path[WIRE_PATH_BYTES + 64];

	*ret_image = (struct external_image){0};
	(void)snprintf(path, sizeof(path), "/proc/%d/%s/%s", (int)pid,
		       its_path[0] == '/' ? "root" : "cwd", its_path);
	(void)stat_image(path, ret_image);
}

static bool same_image(const struct external_image *a, const struct external_image *b)
{
	return a->dev == b->dev && a->inode == b->inode;
}

/* Its CPU counts from the end of the previous image; for an attached process, from now on. */
static uint64_t first_ns(struct drain *drain, pid_t pid, bool attached)
{
	const struct process *old = map_get(&drain->by_pid, (uint64_t)pid);

	return old ? old->charged_ns : attached ? proc_cpu_ns(pid) : 0;
}

/*
 * Short slices (Linux 6.12): when we wake, a running thread is preempted at once, wherever it is,
 * and not when it has had its share.
 */
static void take_short_slices(void)
{
	struct {
		uint32_t size;
		uint32_t policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns;
		uint64_t deadline_ns;
		uint64_t period_ns;
	} how = {.size = sizeof(how)};

	if (syscall(SYS_sched_getattr, 0, &how, sizeof(how), 0) < 0 || how.policy != SCHED_OTHER)
		return;
	how.runtime_ns = EXTERNAL_SLICE_US * 1000;
	(void)syscall(SYS_sched_setattr, 0, &how, 0);
}

static int begin(struct collector *collector, pid_t pid, bool attached)
{
	const struct collector_external_sampler *how = collector->options.external_sampler;
	struct drain *drain = &collector->drain;
	const struct process *old = map_get(&drain->by_pid, (uint64_t)pid);
	uint64_t base_ns = old ? old->base_cpu_ns : 0;
	struct child_cpu child_cpu =
		old ? old->child_cpu : (struct child_cpu){.place = CHILD_CPU_CHILD};
	struct process *process;
	struct external_process *external;
	int r = how ? how->begin(pid, first_ns(drain, pid, attached), &external) : -ENOTSUP;

	if (r < 0)
		return r;
	if (drain->stats.external == 0)
		take_short_slices();
	r = drain_start(collector, pid, pid, &process);
	if (r < 0) {
		how->free(external);
		return r;
	}
	process->external = external;
	process->attached = attached;
	process_tables_search_on(process->tables);
	process->child_cpu = child_cpu;
	if (old && attached)
		process->base_cpu_ns = base_ns;
	(void)read_image(pid, &process->image);
	drain->external.n++;
	drain->stats.external++;
	return 0;
}

/* What the summary says of it. */
static int note(struct drain *drain, pid_t pid, const char *path, enum program_kind kind, int r)
{
	if (r < 0 && unsupported_why(kind))
		unsupported_add(&drain->unsupported, pid, path, kind);
	if (r == 0 && unsupported_why(kind)) {
		(void)snprintf(drain->stats.external_path, sizeof(drain->stats.external_path), "%s",
			       path);
		drain->stats.external_why = unsupported_why(kind);
	}
	return r;
}

int drain_external_start(struct collector *collector, pid_t pid, const char *path,
			 enum program_kind kind)
{
	int r = begin(collector, pid, false);

	return note(&collector->drain, pid, path, kind, r);
}

int drain_external_follow(struct collector *collector, const struct process *process,
			  const char *path)
{
	pid_t pid = process->pid;
	int r = begin(collector, pid, process->attached);

	return note(&collector->drain, pid, path, PROGRAM_ATTACHED, r);
}

void drain_external_expect(struct collector *collector, pid_t pid, const char *path,
			   enum program_kind kind)
{
	struct drain *drain = &collector->drain;
	struct external_expected *expected =
		&drain->external.expected[drain->external.n_expected % EXTERNAL_EXPECTED];

	if (!collector->options.external_sampler || !read_image(pid, &expected->before)) {
		unsupported_add(&drain->unsupported, pid, path, kind);
		return;
	}
	read_its_file(pid, path, &expected->after);
	expected->pid = pid;
	expected->kind = kind;
	expected->until_ns = io_now_ns() + EXTERNAL_EXPECT_MS * NS_PER_MS;
	(void)snprintf(expected->path, sizeof(expected->path), "%s", path);
	drain->external.n_expected++;
}

/*
 * Those whose exec has happened begin; one that does not come was a failed exec.
 * Return: whether there are more to come.
 */
static bool check_expected(struct collector *collector, uint64_t now_ns)
{
	struct drain *drain = &collector->drain;
	bool more = false;

	for (int i = 0; i < EXTERNAL_EXPECTED; i++) {
		struct external_expected *expected = &drain->external.expected[i];
		struct external_image now;

		if (!expected->pid)
			continue;
		if (read_image(expected->pid, &now) &&
		    (!same_image(&now, &expected->before) || same_image(&now, &expected->after))) {
			(void)drain_external_start(collector, expected->pid, expected->path,
						   expected->kind);
		} else if (now_ns < expected->until_ns) {
			more = true;
			continue;
		}
		expected->pid = 0;
	}
	return more;
}

/* A program without the agent does not announce its children. */
static void adopt_child(void *context, pid_t pid)
{
	struct collector *collector = context;

	if (!map_get(&collector->drain.by_pid, (uint64_t)pid))
		(void)begin(collector, pid, false);
}

/* Return: false when it has become another program, which begins anew. */
static bool is_the_same(struct collector *collector, struct process *process)
{
	struct external_image now;

	if (!read_image(process->pid, &now) || same_image(&now, &process->image))
		return true;
	(void)begin(collector, process->pid, process->attached);
	return false;
}

static uint64_t turn_ns(const struct drain *drain)
{
	uint64_t ns = drain->rate.period_ns;

	return ns < EXTERNAL_LEAST_MS * NS_PER_MS ? EXTERNAL_LEAST_MS * NS_PER_MS : ns;
}

/* Return: whether a stop was uninformative. */
static bool turn_all(struct collector *collector, uint64_t now_ns, bool again)
{
	struct drain *drain = &collector->drain;
	struct process *next;
	bool list = !again && now_ns >= drain->external.list_ns;
	bool unsure = false;
	uint32_t n = 0;

	for (struct process *process = drain->processes; process; process = next) {
		struct external_turn turn = {.process = process,
					     .sink = &drain->stream.order,
					     .now_ns = io_now_ns(),
					     .deadline_ns = now_ns + turn_ns(drain) / 2,
					     .every_ns = turn_ns(drain),
					     .paused = drain->rate.pauses != 0,
					     .again = again};

		next = process->next;
		if (!process->external)
			continue;
		n++;
		if (!is_the_same(collector, process))
			continue;
		process->external->how->turn(process->external, &turn);
		unsure = unsure || process->external->unsure;
		if (list && !collector->options.alone)
			children_each(process->pid, adopt_child, collector);
	}
	drain->external.n = n;
	if (list)
		drain->external.list_ns = now_ns + EXTERNAL_CHILDREN_MS * NS_PER_MS;
	return unsure;
}

/* A step of xorshift64 (Marsaglia: Xorshift RNGs). */
static uint64_t next_random(struct drain *drain)
{
	uint64_t x = drain->external.random ? drain->external.random : io_now_ns() | 1;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	drain->external.random = x;
	return x;
}

/*
 * A thread on our processor was preempted before we ran, and not at a random place.  After a while
 * that it does not know it probably runs, and is where it is because we interrupt it.
 */
static void turn(struct collector *collector, uint64_t now_ns)
{
	struct timespec rest;

	if (!turn_all(collector, now_ns, false))
		return;
	rest = (struct timespec){.tv_nsec = (long)(next_random(&collector->drain) %
						   (EXTERNAL_AGAIN_MS * NS_PER_MS))};
	(void)nanosleep(&rest, NULL);
	(void)turn_all(collector, io_now_ns(), true);
}

uint64_t drain_external_turns(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	uint64_t now_ns = io_now_ns();
	uint64_t ns = turn_ns(drain);
	uint64_t soon_ns = UINT64_MAX;

	if (!collector->options.external_sampler)
		return UINT64_MAX;
	if (check_expected(collector, now_ns))
		soon_ns = now_ns + EXTERNAL_LEAST_MS * NS_PER_MS;
	if (drain->external.n == 0)
		return soon_ns;
	if (now_ns >= drain->external.next_ns) {
		turn(collector, now_ns);
		/* Not in step with what the program does in turns of its own. */
		drain->external.next_ns = now_ns + ns - ns / 8 + next_random(drain) % (ns / 4);
	}
	return drain->external.next_ns < soon_ns ? drain->external.next_ns : soon_ns;
}

/* What a request of the main thread is about. */
struct asked {
	pid_t pid;
	bool followed;
};

static int begin_asked(struct collector *collector, void *argument)
{
	struct drain *drain = &collector->drain;
	const struct asked *asked = argument;
	uint64_t pid = (uint64_t)asked->pid;
	int r = map_get(&drain->by_pid, pid) ? -EALREADY : begin(collector, asked->pid, true);

	if (r == 0)
		child_cpu_attached(drain, map_get(&drain->by_pid, pid), asked->followed);
	return r;
}

int drain_external_attach(struct collector *collector, pid_t pid, bool followed, struct err *err)
{
	struct asked asked = {.pid = pid, .followed = followed};
	int r = request_make(collector, begin_asked, &asked);

	if (r == -EALREADY)
		return err_set(err, EALREADY, "process %d is in this recording", (int)pid);
	return r < 0 ? err_set(err, -r, "look at process %d", (int)pid) : 0;
}

enum {
	EXEC_WATCH_MS = 100, /* between two checks for another image of an attached process */
	LISTEN_MS = 200,     /* between two checks that it still takes the sampling signal */
	MUTE_MS = 500,       /* one signal arrives in this much CPU */
	MUTE_PERIODS = 20,   /* and this many periods besides */
};

/* Where the loader put an image's stack; 0: it is unknown. */
static bool is_replaced(const struct process *process)
{
	uint64_t now = proc_stack_start(process->pid);

	return now && process->stack_start && now != process->stack_start;
}

static void read_path(pid_t pid, char path[WIRE_PATH_BYTES])
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, WIRE_PATH_BYTES - 1);
	path[n > 0 ? n : 0] = '\0';
}

static void replace(struct collector *collector, struct process *process)
{
	pid_t pid = process->pid;
	char path[WIRE_PATH_BYTES];

	if (collector->options.follows && process->child_cpu.place == CHILD_CPU_CHILD) {
		drain_detach(collector, process);
		return;
	}
	read_path(pid, path);
	if (drain_external_follow(collector, process, path) < 0 &&
	    map_get(&collector->drain.by_pid, (uint64_t)pid) == process)
		drain_detach(collector, process);
}

static bool takes_signal(const struct process *process)
{
	struct proc_status status;
	bool takes = true;

	if (proc_status_read(&status, process->pid, 0) == 0 &&
	    !strchr("ZX", *proc_status_word(&status, "State")))
		takes = proc_status_number(&status, "SigCgt", 16) >> (process->signal - 1) & 1;
	proc_status_release(&status);
	return takes;
}

/* Signals that arrive nowhere have another handler, or every thread blocks them. */
static bool has_no_signals(struct process *process)
{
	uint64_t period_ns = process->live_ns ? process->live_ns : process->period_ns;

	if (process->paused || process->perf.counted ||
	    (process->ring.header->hooks & RING_NO_TIMERS))
		process->heard_ns = process->charged_ns;
	return process->charged_ns > process->heard_ns &&
	       process->charged_ns - process->heard_ns >
		       MUTE_MS * NS_PER_MS + MUTE_PERIODS * period_ns;
}

/* It may only have been in the kernel for long. */
static void set_no_signals(struct drain *drain, struct process *process, bool no_signals)
{
	if (no_signals == process->no_signals)
		return;
	process->no_signals = no_signals;
	drain->stats.no_signals += no_signals ? 1 : UINT64_MAX;
	drain->stats.failed_signal = process->signal;
}

/* Its timers go on, and what they send is ignored; events are ours to end. */
static void listen(struct drain *drain, struct process *process, uint64_t now_ns)
{
	uint32_t state = atomic_load_explicit(&process->ring.header->state, memory_order_acquire);

	if (process->handler_replaced || now_ns < process->listen_ns || state != AGENT_SAMPLING)
		return;
	process->listen_ns = now_ns + LISTEN_MS * NS_PER_MS;
	if (takes_signal(process)) {
		set_no_signals(drain, process, has_no_signals(process));
		return;
	}
	set_no_signals(drain, process, false);
	process->handler_replaced = true;
	perf_threads_off(process);
	drain->stats.handlers_replaced++;
	drain->stats.failed_signal = process->signal;
}

void exec_watch_check(struct collector *collector, uint64_t now_ns)
{
	struct drain *drain = &collector->drain;
	struct process *next;

	if (now_ns < drain->replaced_ns)
		return;
	drain->replaced_ns = now_ns + EXEC_WATCH_MS * NS_PER_MS;
	for (struct process *process = drain->processes; process; process = next) {
		next = process->next;
		if (!process->unhooked || !process->alive || process->external)
			continue;
		child_cpu_read(process);
		if (is_replaced(process))
			replace(collector, process);
		else
			listen(drain, process, now_ns);
	}
}

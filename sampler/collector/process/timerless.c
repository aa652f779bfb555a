/* timerless.c - threads that burn CPU and give no samples: posted, unmasked */
#include "sampler/collector/process/timerless.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/attach/seized.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_status.h"
#include "sampler/procfs/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <time.h>

enum {
	UNMASK_MS = 20, /* how long one thread may take to stop */
};

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Wait for the stop without ever waiting long. */
static int wait_stop(pid_t tid, int *ret_pending)
{
	const struct timespec step = {.tv_nsec = 50000};
	uint64_t deadline = io_now_ns() + UNMASK_MS * NS_PER_MS;
	int r;

	while ((r = seized_check(tid, ret_pending)) == 0 && io_now_ns() < deadline)
		(void)nanosleep(&step, NULL);
	if (r == 0)
		return -EINPROGRESS;
	return r < 0 ? -ESRCH : 0;
}

static int clear_bit(pid_t pid, pid_t tid, int signal)
{
	uint64_t mask = 0;
	int pending = 0;
	int r = seized_interrupt(pid, tid);

	if (r < 0)
		return r;
	r = wait_stop(tid, &pending);
	if (r < 0) {
		seized_detach_later(pid, tid);
		return r;
	}
	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0)
		r = -errno;
	/* The number cannot become another thread's any more, but may have before. */
	if (r == 0 && proc_thread_gone(pid, (uint32_t)tid))
		r = -ESRCH;
	mask &= ~BIT(signal);
	if (r == 0 && ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) < 0)
		r = -errno;
	seized_detach(pid, tid, pending);
	return r;
}

static int unmask_thread(pid_t pid, uint32_t tid, int signal)
{
	struct proc_status status;
	int r = proc_status_read(&status, pid, tid);
	uint64_t blocked = r < 0 ? 0 : proc_status_number(&status, "SigBlk", 16);
	bool runs = r == 0 && *proc_status_word(&status, "State") == 'R';

	proc_status_release(&status);
	if (r < 0)
		return r;
	if (!(blocked & BIT(signal)))
		return -EALREADY;
	if (!runs)
		return -EAGAIN;
	return clear_bit(pid, (pid_t)tid, signal);
}

enum {
	SCAN_PERIODS = 5, /* of unexplained CPU start a scan of the threads */
	SCAN_PCT = 5,
	SCAN_LEAST_MS = 100,
	SCAN_MOST_MS = 2000,
	SCAN_PART = 400,        /* the part of the CPU in question that a scan may take */
	SCAN_CHANCE = 4,        /* standard deviations that are no reason for one */
	SCAN_SILENCE = 2,       /* periods without a sample that make a thread suspect */
	SCAN_CROWD = 64,        /* with more threads than this, */
	SCAN_CROWD_SILENCE = 8, /* this many periods */
	SCAN_MAX_THREADS = 32768,
	REPOST_MS = 1000,
};

/* A thread as the last scan left it. */
struct timerless_thread {
	uint64_t scan; /* of the scan that saw it last */
	uint64_t cpu_ns;
	uint64_t weight;
	uint64_t posted_ns;
	bool unmasked; /* once is enough: what blocks it again means it */
};

/* One scan. */
struct scan {
	struct process *process;
	struct collector_stats *stats;
	struct map weights; /* tid -> its slot_view */
	uint64_t period_ns;
	uint64_t now_ns;
	bool found; /* anything that was worth the scan */
};

void timerless_init(struct timerless *watch, uint64_t cpu_ns)
{
	*watch = (struct timerless){.cpu_ns = cpu_ns, .wait_ms = SCAN_LEAST_MS};
}

void timerless_release(struct timerless *watch)
{
	map_free_values(&watch->threads);
}

void timerless_first_sample(const struct process *process, uint32_t tid,
			    struct collector_stats *stats)
{
	const struct timerless_thread *thread = map_get(&process->timerless.threads, tid);

	if (thread && thread->posted_ns)
		stats->late_threads++;
}

/* Time on a processor. */
static bool thread_cpu_ns(pid_t pid, uint32_t tid, uint64_t *ret_ns)
{
	struct schedstat schedstat;
	char path[64];
	_cleanup_fd_ int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%u/schedstat", (int)pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || task_read_schedstat(fd, &schedstat) < 0)
		return false;
	*ret_ns = schedstat.run_ns;
	return true;
}

/* What a thread calls itself; 0: it is gone. */
static uint32_t own_number(const struct process *process, uint32_t tid)
{
	struct proc_status status;
	pid_t own;

	if (process->namespace_pid == process->pid)
		return tid;
	own = proc_status_read(&status, process->pid, tid) < 0 ? 0 : proc_status_inner(&status);
	proc_status_release(&status);
	return (uint32_t)own;
}

/* The header keeps the newest RING_POSTED: the entry first, then the count (release). */
static void post(struct scan *scan, struct timerless_thread *thread, uint32_t tid)
{
	struct ring_header *header = scan->process->ring.header;
	uint32_t n = atomic_load_explicit(&header->n_posted, memory_order_relaxed);

	if (thread->posted_ns && scan->now_ns - thread->posted_ns < REPOST_MS * NS_PER_MS)
		return;
	atomic_store_explicit(&header->posted[n % RING_POSTED], own_number(scan->process, tid),
			      memory_order_relaxed);
	atomic_store_explicit(&header->n_posted, n + 1, memory_order_release);
	thread->posted_ns = scan->now_ns;
	scan->found = true;
}

static void unmask(struct scan *scan, struct timerless_thread *thread, uint32_t tid)
{
	/* A program that handles SIGPROF means its masks. */
	if (thread->unmasked || atomic_load_explicit(&scan->process->ring.header->handles_sigprof,
						     memory_order_relaxed))
		return;
	if (unmask_thread(scan->process->pid, tid, scan->process->signal) != 0)
		return;
	thread->unmasked = true;
	scan->stats->unmasked_threads++;
	scan->found = true;
}

static struct timerless_thread *watched_thread(struct timerless *watch, uint32_t tid)
{
	struct timerless_thread *thread = map_get(&watch->threads, tid);

	if (thread || map_count(&watch->threads) >= SCAN_MAX_THREADS)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (thread && map_put(&watch->threads, tid, thread) < 0) {
		free(thread);
		return NULL;
	}
	return thread;
}

/* Periods.  Of many threads that take turns, the process's timer passes some over for a while. */
static uint64_t silence(const struct scan *scan)
{
	return scan->process->n_slots > SCAN_CROWD ? SCAN_CROWD_SILENCE : SCAN_SILENCE;
}

/* The process timer may hit one thread once, and then others for long: decisions/0022. */
static bool is_armed(const struct scan *scan, const struct slot_view *slot)
{
	struct process *process = scan->process;
	const struct ring_slot *ring =
		slot ? ring_view_slot(&process->ring, (uint32_t)(slot - process->slots)) : NULL;

	return ring && atomic_load_explicit(&ring->armed, memory_order_relaxed);
}

/* CPU since the last scan against the weight since then, in periods. */
static void judge(struct scan *scan, uint32_t tid)
{
	struct timerless_thread *thread = watched_thread(&scan->process->timerless, tid);
	const struct slot_view *slot = map_get(&scan->weights, tid);
	uint64_t weight = slot ? slot->weight : 0;
	uint64_t cpu_ns;
	bool silent;

	if (!thread || !thread_cpu_ns(scan->process->pid, tid, &cpu_ns))
		return;
	thread->scan = scan->now_ns;
	silent = weight == thread->weight && cpu_ns > thread->cpu_ns &&
		 cpu_ns - thread->cpu_ns >= silence(scan) * scan->period_ns;
	if (silent && !is_armed(scan, slot))
		post(scan, thread, tid);
	if (silent)
		unmask(scan, thread, tid);
	/* A thread that has not used enough to be judged is judged over a longer time. */
	if (weight != thread->weight || silent) {
		thread->weight = weight;
		thread->cpu_ns = cpu_ns;
	}
}

static int map_weights(struct scan *scan)
{
	struct process *process = scan->process;

	for (uint32_t i = 0; i < process->n_slots; i++) {
		uint32_t tid = process->slots[i].ids.outer;

		if (tid == 0 || tid > INT32_MAX)
			continue;
		if (map_put(&scan->weights, tid, &process->slots[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void forget_gone(void *context, uint64_t tid, void *value)
{
	struct scan *scan = context;
	struct timerless_thread *thread = value;

	if (thread->scan == scan->now_ns)
		return;
	(void)map_remove(&scan->process->timerless.threads, tid);
	free(thread);
}

static void judge_all(struct scan *scan)
{
	_cleanup_dir_ DIR *tasks = tasks_open(scan->process->pid);
	uint32_t tid;

	if (!tasks)
		return;
	while ((tid = tasks_next(tasks)))
		judge(scan, tid);
	map_each(&scan->process->timerless.threads, forget_gone, scan);
}

/* Many threads that take turns are hit at random, so N periods have N samples, give or take. */
static bool is_chance(const struct process *process, double missing, double n)
{
	return missing * missing < SCAN_CHANCE * SCAN_CHANCE * n &&
	       readings_n_threads(&process->readings) > SCAN_CROWD;
}

/* More CPU than the samples explain, by more than what waits for the ends of periods. */
static bool unexplained(const struct process *process, uint64_t period_ns)
{
	const struct timerless *watch = &process->timerless;
	uint64_t cpu_ns = process->charged_ns - watch->cpu_ns;
	uint64_t explained_ns = process->given_ns - watch->given_ns;

	return cpu_ns > explained_ns + SCAN_PERIODS * period_ns &&
	       cpu_ns - explained_ns > cpu_ns / 100 * SCAN_PCT &&
	       !is_chance(process, (double)(cpu_ns - explained_ns) / (double)period_ns,
			  (double)cpu_ns / (double)period_ns);
}

void timerless_skip(struct process *process)
{
	process->timerless.cpu_ns = process->charged_ns;
	process->timerless.given_ns = process->given_ns;
}

void timerless_scan(struct process *process, uint64_t period_ns, struct collector_stats *stats)
{
	struct timerless *watch = &process->timerless;
	uint64_t before_ns;
	struct scan scan = {
		.process = process, .stats = stats, .period_ns = period_ns, .now_ns = io_now_ns()};

	if (!process->alive || process->unsupported_ns || scan.now_ns < watch->next_ns ||
	    process->charged_ns < watch->next_cpu_ns || !unexplained(process, period_ns))
		return;
	before_ns = io_thread_ns();
	if (map_weights(&scan) == 0)
		judge_all(&scan);
	map_release(&scan.weights);
	watch->cpu_ns = process->charged_ns;
	watch->given_ns = process->given_ns;
	watch->wait_ms = scan.found ? SCAN_LEAST_MS : watch->wait_ms * 2;
	if (watch->wait_ms > SCAN_MOST_MS)
		watch->wait_ms = SCAN_MOST_MS;
	watch->next_ns = scan.now_ns + watch->wait_ms * NS_PER_MS;
	/* Of thousands of threads a scan is not to be all that we do. */
	watch->next_cpu_ns = process->charged_ns + (io_thread_ns() - before_ns) * SCAN_PART;
}

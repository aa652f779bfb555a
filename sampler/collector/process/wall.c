/* wall.c - wall mode: what every thread of a process does with its time, running or blocked */
#include "sampler/collector/process/wall.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/map.h"
#include "base/units.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/collector/process/wall_thread.h"
#include "sampler/procfs/task.h"
#include "sampler/remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
	WALL_LEAST_READ = 4,  /* that a process gets in a turn, whatever others need */
	WALL_STRAYS = 1024,   /* samples that wait for their thread to be found */
	WALL_LIST_MS = 1000,  /* between two lists of the threads of a process */
	WALL_LIST_PART = 20,  /* the part of the time that a list may take */
	WALL_ENDED_MS = 1000, /* how long late samples of an ended thread are known as such */
	WALL_SPARE_FILES = 512,
};

enum {
	BUCKETS = 256, /* ticks that can be planned ahead: more than a thread may wait */
	CACHE_LINE = 64,
	TASK_LINKS = 2, /* the links of /proc/PID/task beyond one a thread */
};

struct wall {
	struct remote *remote;
	int tasks_fd;
	int most_fd;
	uint32_t n_kept_at;
	struct map threads; /* by tid; ended ones, too, until they are forgotten */
	uint64_t since_ns;  /* nothing before that is ours */
	uint32_t list;      /* the number of the last list, and how many were in it */
	uint32_t n_listed;
	uint64_t listed_ns;
	uint64_t next_list_ns;
	uint64_t counted_ns;  /* when there were last as many threads as in the list */
	struct event *strays; /* samples of threads that are in no list yet */
	uint32_t n_strays;
	int64_t residual_ns;
	uint64_t random;
	uint64_t tick; /* all threads that were due until then have been read */
	struct wall_thread *due[BUCKETS];
};

static void unplan(struct wall_thread *thread)
{
	if (!thread->link)
		return;
	*thread->link = thread->next;
	if (thread->next)
		thread->next->link = thread->link;
	thread->link = NULL;
	thread->next = NULL;
}

static void plan(struct wall *wall, struct wall_thread *thread, uint64_t tick)
{
	struct wall_thread **head = &wall->due[tick % BUCKETS];

	unplan(thread);
	thread->next = *head;
	thread->link = head;
	if (*head)
		(*head)->link = &thread->next;
	*head = thread;
}

/* A step of xorshift64 (Marsaglia: Xorshift RNGs). */
static uint64_t next_random(struct wall *wall)
{
	wall->random ^= wall->random << 13;
	wall->random ^= wall->random >> 7;
	wall->random ^= wall->random << 17;
	return wall->random;
}

static struct wall_scan make_scan(struct wall *wall, struct process *process,
				  struct event_order *sink, uint64_t tick)
{
	return (struct wall_scan){.process = process,
				  .sink = sink,
				  .remote = wall->remote,
				  .tasks_fd = wall->tasks_fd,
				  .most_fd = wall->most_fd,
				  .n_kept_at = &wall->n_kept_at,
				  .now_ns = io_now_ns(),
				  .tick = tick};
}

static void end_thread(struct wall *wall, struct wall_thread *thread, const struct wall_scan *scan)
{
	unplan(thread);
	wall_thread_end(thread, scan, &wall->residual_ns);
}

static void forget_thread(struct wall *wall, struct wall_thread *thread)
{
	unplan(thread);
	(void)map_remove(&wall->threads, thread->tid);
	wall_thread_free(thread);
}

/* When a thread that is new in the list began; 0: before we did. */
static uint64_t began_ns(const struct wall *wall, const struct wall_scan *scan, uint32_t tid)
{
	struct task_stat stat;
	uint64_t ns;

	if (wall->list == 1 || task_read_stat(scan->tasks_fd, tid, &stat) < 0)
		return 0;
	ns = task_started_ns(stat.started_ticks, scan->now_ns);
	if (ns <= wall->since_ns)
		return 0;
	/* It was not counted then; a tick is the most that NS can be wrong by. */
	if (wall->counted_ns > ns && wall->counted_ns - ns < WALL_CLOCK_MS * NS_PER_MS)
		return wall->counted_ns;
	return ns;
}

static void add_thread(struct wall *wall, const struct wall_scan *scan, uint32_t tid)
{
	struct wall_thread *thread;

	if (wall_thread_new(&thread, scan, tid, began_ns(wall, scan, tid)) < 0)
		return;
	if (map_put(&wall->threads, tid, thread) < 0) {
		wall_thread_free(thread);
		return;
	}
	thread->listed = wall->list;
	plan(wall, thread, wall->tick + 1);
}

/* An ended leader stays in the list for as long as there are others. */
static void list_thread(struct wall *wall, const struct wall_scan *scan, uint32_t tid)
{
	struct wall_thread *thread = map_get(&wall->threads, tid);

	wall->n_listed++;
	if (thread && thread->ended && tid != (uint32_t)scan->process->pid &&
	    scan->now_ns - thread->ended_ns > WALL_CLOCK_MS * NS_PER_MS) {
		forget_thread(wall, thread); /* the tid is another's now */
		thread = NULL;
	}
	if (thread)
		thread->listed = wall->list;
	else
		add_thread(wall, scan, tid);
}

/* One walk over all threads. */
struct sweep {
	struct wall *wall;
	const struct wall_scan *scan;
};

static void sweep_thread(void *context, uint64_t tid, void *value)
{
	const struct sweep *sweep = context;
	struct wall_thread *thread = value;

	(void)tid;
	if (!thread->ended && thread->listed != sweep->wall->list)
		end_thread(sweep->wall, thread, sweep->scan);
	else if (thread->ended && thread->listed != sweep->wall->list &&
		 sweep->scan->now_ns - thread->ended_ns > WALL_ENDED_MS * NS_PER_MS)
		forget_thread(sweep->wall, thread);
}

static int list_threads(struct wall *wall, struct wall_scan *scan)
{
	_cleanup_dir_ DIR *tasks = tasks_open(scan->process->pid);
	struct sweep sweep = {.wall = wall, .scan = scan};
	uint64_t end_ns;
	uint32_t tid;

	if (!tasks)
		return -errno;
	wall->list++;
	wall->n_listed = 0;
	while ((tid = tasks_next(tasks)))
		list_thread(wall, scan, tid);
	map_each(&wall->threads, sweep_thread, &sweep);
	end_ns = io_now_ns();
	wall->listed_ns = scan->now_ns;
	wall->counted_ns = scan->now_ns;
	wall->next_list_ns = end_ns + (end_ns - scan->now_ns) * WALL_LIST_PART;
	return 0;
}

/* The kernel counts a process's threads as links of their directory. */
static bool wants_list(struct wall *wall, uint64_t now_ns)
{
	struct stat stat;

	if (fstat(wall->tasks_fd, &stat) == 0 && stat.st_nlink == wall->n_listed + TASK_LINKS)
		wall->counted_ns = now_ns;
	if (now_ns < wall->next_list_ns)
		return false;
	return wall->counted_ns != now_ns || wall->strays ||
	       now_ns - wall->listed_ns >= WALL_LIST_MS * NS_PER_MS;
}

static void push_stray(struct process *process, struct event_order *sink, struct event *node)
{
	node->next = NULL;
	node->time_ns = io_now_ns();
	process_fill_metrics(process, &node->sample, node->time_ns);
	node->sample.event = EVENT_WALL;
	node->sample.state = STATE_RUNNING;
	if (node->time_ns > process->latest_ns)
		process->latest_ns = node->time_ns;
	event_order_push(sink, node);
}

/* A thread that has come and gone between two lists has nothing but its CPU samples. */
static void give_strays(struct wall *wall, struct process *process, struct event_order *sink)
{
	while (wall->strays) {
		struct event *node = wall->strays;
		struct wall_thread *thread = map_get(&wall->threads, node->sample.tid);

		wall->strays = node->next;
		if (thread)
			wall_thread_add_sample(thread, node);
		else
			push_stray(process, sink, node);
	}
	wall->n_strays = 0;
}

void wall_add_sample(struct wall *wall, struct event *node)
{
	struct wall_thread *thread = map_get(&wall->threads, node->sample.tid);

	if (thread) {
		wall_thread_add_sample(thread, node);
		if (!thread->ended)
			plan(wall, thread, wall->tick + 1);
		return;
	}
	if (wall->n_strays == WALL_STRAYS) {
		free(node);
		return;
	}
	node->next = wall->strays;
	wall->strays = node;
	wall->n_strays++;
}

void wall_changed(struct wall *wall)
{
	if (wall)
		remote_changed(wall->remote);
}

static int most_kept_fd(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > INT32_MAX)
		return INT32_MAX;
	return limit.rlim_cur > WALL_SPARE_FILES ? (int)limit.rlim_cur - WALL_SPARE_FILES : 0;
}

int wall_new(struct wall **ret_wall, struct process *process, const struct wall_turn *turn)
{
	struct wall *wall = calloc(1, sizeof(*wall));
	struct wall_scan scan;
	int r;

	if (!wall)
		return -ENOMEM;
	wall->tasks_fd = task_open_all(process->pid);
	wall->most_fd = most_kept_fd();
	wall->residual_ns = (int64_t)process->period_ns / 2;
	wall->tick = turn->tick;
	r = wall->tasks_fd < 0 ? wall->tasks_fd : remote_new(&wall->remote, process->pid);
	scan = make_scan(wall, process, turn->sink, turn->tick);
	wall->since_ns = scan.now_ns;
	wall->random = scan.now_ns | 1;
	if (r == 0)
		r = list_threads(wall, &scan);
	if (r < 0) {
		wall_free(wall);
		return r;
	}
	*ret_wall = wall;
	return 0;
}

static void free_thread(void *context, uint64_t tid, void *value)
{
	(void)context;
	(void)tid;
	wall_thread_free(value);
}

static void forget_all(struct wall *wall)
{
	map_each(&wall->threads, free_thread, NULL);
	map_release(&wall->threads);
	memset(wall->due, 0, sizeof(wall->due));
	wall->n_kept_at = 0;
}

void wall_free(struct wall *wall)
{
	if (!wall)
		return;
	while (wall->strays) {
		struct event *node = wall->strays;

		wall->strays = node->next;
		free(node);
	}
	forget_all(wall);
	remote_free(wall->remote);
	cleanup_fd(&wall->tasks_fd);
	free(wall);
}

static void read_thread(struct wall *wall, struct wall_thread *thread, struct wall_scan *scan,
			uint32_t most_ticks)
{
	uint64_t idle;

	scan->now_ns = io_now_ns();
	unplan(thread);
	if (wall_thread_update(thread, scan) < 0) {
		end_thread(wall, thread, scan);
		return;
	}
	idle = scan->tick - thread->changed_tick;
	plan(wall, thread, scan->tick + wall_account_wait(idle, most_ticks, next_random(wall)));
}

/*
 * Of 10,000 threads each is out of the cache when its turn comes: what a scan reads of the next
 * one is fetched meanwhile (decisions/0011).
 */
static void prefetch(const struct wall_thread *thread)
{
	const char *bytes = (const char *)thread;

	for (size_t i = 0; thread && i < offsetof(struct wall_thread, listed); i += CACHE_LINE)
		__builtin_prefetch(bytes + i);
}

/* Return: whether all threads of a tick were read in time. */
static bool read_due_threads(struct wall *wall, struct wall_scan *scan,
			     const struct wall_turn *turn, uint32_t *n_read)
{
	struct wall_thread *rest = wall->due[(wall->tick + 1) % BUCKETS];
	struct wall_thread *thread;

	/* A thread that is added to this bucket meanwhile is due a round later. */
	wall->due[(wall->tick + 1) % BUCKETS] = NULL;
	if (rest)
		rest->link = &rest;
	while ((thread = rest) && (*n_read < WALL_LEAST_READ || scan->now_ns < turn->deadline_ns)) {
		prefetch(thread->next);
		read_thread(wall, thread, scan, turn->most_ticks);
		++*n_read;
	}
	while ((thread = rest))
		plan(wall, thread, wall->tick + 1);
	return *n_read < WALL_LEAST_READ || scan->now_ns < turn->deadline_ns;
}

void wall_restart(struct wall *wall, struct process *process, struct event_order *sink)
{
	if (!wall)
		return;
	if (map_count(&wall->threads) > 0)
		wall_end(wall, process, sink);
	forget_all(wall);
	wall->since_ns = io_now_ns();
	wall->listed_ns = 0; /* they are to be found by the next turn */
	wall->next_list_ns = 0;
}

void wall_pass(struct wall *wall, struct process *process, const struct wall_turn *turn)
{
	struct wall_scan scan = make_scan(wall, process, turn->sink, turn->tick);
	uint32_t n_read = 0;

	if (process->unsupported_ns) {
		/* It became another program, or will again be this one. */
		wall_restart(wall, process, turn->sink);
		wall->tick = turn->tick;
		return;
	}
	if (wants_list(wall, scan.now_ns))
		(void)list_threads(wall, &scan);
	give_strays(wall, process, turn->sink);
	while (wall->tick < turn->tick && read_due_threads(wall, &scan, turn, &n_read))
		wall->tick++;
}

void wall_gone(struct wall *wall, struct process *process, struct event_order *sink, uint32_t tid)
{
	struct wall_thread *thread = wall ? map_get(&wall->threads, tid) : NULL;
	struct wall_scan scan;

	if (!thread || thread->ended)
		return;
	scan = make_scan(wall, process, sink, wall->tick);
	end_thread(wall, thread, &scan);
}

static void end_each(void *context, uint64_t tid, void *value)
{
	const struct sweep *sweep = context;
	struct wall_thread *thread = value;

	(void)tid;
	if (!thread->ended)
		end_thread(sweep->wall, thread, sweep->scan);
}

void wall_end(struct wall *wall, struct process *process, struct event_order *sink)
{
	struct wall_scan scan;
	struct sweep sweep = {.wall = wall, .scan = &scan};

	if (!wall)
		return;
	give_strays(wall, process, sink);
	scan = make_scan(wall, process, sink, wall->tick);
	map_each(&wall->threads, end_each, &sweep);
}

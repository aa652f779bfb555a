/*
 * blocked_oracle.c - stacks of blocked threads, walked without a signal, against libunwind's
 *
 * blocked_oracle [-n STACKS] [-s SEED] [-k PERCENT] [-m] [-b] [-v] NAME CMD [ARGS...]
 *
 * A thread of the program or of its children is chosen; where it is blocked it is walked from
 * outside.  Only then is it stopped by ptrace and walked by libunwind, with all its registers.
 * The pair is compared when the thread has not run between: schedstat is the same before and
 * after the walk, and the stop has woken it once.  A pair during which the oracle itself did not
 * run says nothing, whatever it would have said, and is done again.  One line of a table; exit
 * status 1 when a stack is wrong, or more than -k PERCENT (5) of them are skipped: they have
 * moved, or our walk gave up; or when MAX_LOOKS are not enough.  -m expects an unwinder with a
 * wrong rule: it has to be noticed.  -b is blind for threads that have run meanwhile: that has to
 * be noticed too.
 */
#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/remote/blocked.h"
#include "tests/oracle/walks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	DEFAULT_STACKS = 1000,
	MAX_PROCESSES = 256,
	MAX_TASKS = 1024,
	MAX_LOOKS = 400, /* for every stack that is wanted */
	SKIPPED_MOST_PCT = 5,
	SLEEP_LEAST_US = 300,
	SLEEP_MORE_US = 1500,
	TELL_AT_MOST = 10,
	WARM_UP_US = 300000,
	LOST_MOST_NS = 50000, /* of a pair, in which the oracle did not run */
};

struct options {
	size_t wanted;
	unsigned seed;
	double skipped_pct; /* at most */
	bool mutant;
	bool blind;
	bool verbose;
	const char *name;
	char **command;
};

struct tally {
	size_t looks;
	size_t running;
	size_t away; /* the oracle was, while it looked */
	size_t compared;
	size_t wrong;
	size_t moved; /* it has run while it was walked or before it was stopped */
	size_t gave_up;
	size_t failed; /* no walk at all */
	size_t no_fde; /* compared up to a frame that no FDE covers */
	size_t frames;
	size_t stops[UNWIND_N_STOPS];
	size_t told;
	uint64_t *walks_ns; /* what each took; room for all looks */
	size_t n_walks;
};

/* A thread, and a view of each process that has been looked at. */
struct task {
	pid_t pid;
	pid_t tid;
};

struct view {
	pid_t pid;
	struct remote *remote;
};

struct oracle {
	const struct options *options;
	struct tally tally;
	struct target target;
	struct theirs *theirs;
	struct moment began; /* the look */
	pid_t root;
	struct view views[MAX_PROCESSES];
	size_t n_views;
	struct task tasks[MAX_TASKS];
	size_t n_tasks;
};

/* run_ns, wait_ns, slices. */
struct schedstat {
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t slices;
};

static bool read_schedstat(int fd, struct schedstat *ret)
{
	char text[128];
	ssize_t n = io_pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret->run_ns, &ret->wait_ns,
		      &ret->slices) == 3;
}

static bool same(const struct schedstat *a, const struct schedstat *b)
{
	return a->run_ns == b->run_ns && a->wait_ns == b->wait_ns && a->slices == b->slices;
}

static int open_of(const struct task *task, const char *name)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)task->pid, (int)task->tid,
		       name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void list_tasks(struct oracle *oracle, pid_t pid);

static void list_children(struct oracle *oracle, const struct task *task)
{
	char text[4096];
	_cleanup_fd_ int fd = open_of(task, "children");
	ssize_t n = fd < 0 ? -1 : io_pread(fd, text, sizeof(text) - 1, 0);
	char *at = text;

	text[n > 0 ? n : 0] = '\0';
	for (;;) {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at)
			return;
		at = end;
		list_tasks(oracle, (pid_t)pid);
	}
}

static void list_tasks(struct oracle *oracle, pid_t pid)
{
	const struct dirent *entry;
	size_t first = oracle->n_tasks;
	char path[32];
	size_t last;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return;
	while (oracle->n_tasks < MAX_TASKS && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			oracle->tasks[oracle->n_tasks++] = (struct task){
				.pid = pid, .tid = (pid_t)strtol(entry->d_name, NULL, 10)};
	(void)closedir(dir);
	last = oracle->n_tasks;
	for (size_t i = first; i < last; i++)
		list_children(oracle, &oracle->tasks[i]);
}

static struct remote *view_of(struct oracle *oracle, pid_t pid)
{
	struct view *view;

	for (size_t i = 0; i < oracle->n_views; i++)
		if (oracle->views[i].pid == pid)
			return oracle->views[i].remote;
	if (oracle->n_views == MAX_PROCESSES) {
		for (size_t i = 0; i < oracle->n_views; i++)
			remote_free(oracle->views[i].remote);
		oracle->n_views = 0;
	}
	view = &oracle->views[oracle->n_views];
	if (remote_new(&view->remote, pid) < 0)
		return NULL;
	view->pid = pid;
	oracle->n_views++;
	return view->remote;
}

static void print_stack(const struct target *target, const char *whose, const uint64_t *pcs,
			size_t n)
{
	printf("    %s (%zu):", whose, n);
	for (size_t i = 0; i < n && i < 24; i++) {
		uint64_t pc = pcs[i] & ~UNWIND_EXACT;
		const struct target_module *module = target_module_at(target, pc);

		if (module)
			printf(" %s+%" PRIx64, module->name, pc - module->module.start);
		else
			printf(" %" PRIx64, pc);
	}
	printf("\n");
}

/* One stack, walked twice. */
struct pair {
	uint64_t ours[WALK_MAX];
	uint64_t theirs[WALK_MAX];
	struct unwind_result result;
	size_t n_theirs;
	size_t n_vouched; /* as walk_theirs() gives it */
};

static void tell(struct oracle *oracle, const char *what, const struct pair *pair)
{
	if (oracle->tally.told++ >= TELL_AT_MOST)
		return;
	printf("  %s, ours stopped by %d; sp %llx bp %llx\n", what, pair->result.stop,
	       oracle->target.regs.rsp, oracle->target.regs.rbp);
	print_stack(&oracle->target, "ours", pair->ours, pair->result.n_pcs);
	print_stack(&oracle->target, "theirs", pair->theirs, pair->n_theirs);
}

/* Address by address; where a frame on the way has no FDE, up to that frame. */
static void compare(struct oracle *oracle, const struct pair *pair)
{
	struct tally *tally = &oracle->tally;
	bool whole = pair->n_vouched == SIZE_MAX;
	size_t wanted = whole ? pair->n_theirs : pair->n_vouched;
	size_t n_ours = pair->result.n_pcs;
	size_t n = 0;

	while (n < n_ours && n < pair->n_theirs &&
	       (pair->ours[n] & ~UNWIND_EXACT) == pair->theirs[n])
		n++;
	tally->stops[pair->result.stop]++;
	if (n < wanted && n == n_ours) {
		tally->gave_up++;
		if (oracle->options->verbose)
			tell(oracle, "gives up", pair);
		return;
	}
	tally->compared++;
	tally->frames += n;
	tally->no_fde += !whole;
	if (n < wanted || (whole && n_ours > wanted)) {
		tally->wrong++;
		tell(oracle, "wrong", pair);
	}
}

/* Whether the stopped thread is still where it was walked: the stop alone has woken it. */
static bool has_stayed(const struct oracle *oracle, const struct blocked_at *at, int schedstat_fd,
		       const struct schedstat *before)
{
	struct schedstat stopped;

	return read_schedstat(schedstat_fd, &stopped) && stopped.slices == before->slices + 1 &&
	       oracle->target.regs.rip == at->pc && oracle->target.regs.rsp == at->sp;
}

/*
 * A thread that was woken by itself can have come to the same place by another way when the stop
 * reaches it: then its stack is another one.  What has not changed is walked as before.
 */
static bool walks_the_same(struct remote *remote, const struct blocked_at *at,
			   const struct pair *pair)
{
	static uint64_t again[WALK_MAX];
	struct unwind_result result;

	return blocked_walk(remote, at, again, WALK_MAX, &result) == 0 &&
	       result.n_pcs == pair->result.n_pcs &&
	       memcmp(again, pair->ours, result.n_pcs * sizeof(again[0])) == 0;
}

/* A processor that is taken from the oracle gives the thread all the time that it wants to move. */
static bool was_away(const struct oracle *oracle, const struct moment *now)
{
	return !oracle->options->blind && moment_lost_ns(&oracle->began, now) > LOST_MOST_NS;
}

/* Walked and not run meanwhile: stop it where it is, and have libunwind walk it. */
static void stop_and_compare(struct oracle *oracle, const struct task *task,
			     const struct blocked_at *at, int schedstat_fd,
			     const struct schedstat *before, struct pair *pair)
{
	bool blind = oracle->options->blind;
	struct remote *remote = view_of(oracle, task->pid);
	struct tally *tally = &oracle->tally;
	struct moment now;
	bool stopped;

	oracle->target.pid = task->pid;
	stopped = target_stop_thread(&oracle->target, task->tid);
	now = stopped ? oracle->target.asked : moment_now();
	if (was_away(oracle, &now)) {
		tally->away++;
	} else if (stopped && (blind || (has_stayed(oracle, at, schedstat_fd, before) &&
					 walks_the_same(remote, at, pair)))) {
		pair->n_theirs = walk_theirs(oracle->theirs, &oracle->target, pair->theirs,
					     &pair->n_vouched);
		compare(oracle, pair);
	} else {
		tally->moved++;
	}
	if (stopped)
		target_resume(&oracle->target);
}

static void check(struct oracle *oracle, const struct task *task, const struct blocked_at *at,
		  int schedstat_fd, const struct schedstat *before)
{
	static struct pair pair;
	struct remote *remote = view_of(oracle, task->pid);
	struct tally *tally = &oracle->tally;
	uint64_t start_ns = io_now_ns();
	struct schedstat after;
	struct moment now;
	int r;

	if (!remote)
		return;
	r = blocked_walk(remote, at, pair.ours, WALK_MAX, &pair.result);
	tally->walks_ns[tally->n_walks++] = io_now_ns() - start_ns;
	now = moment_now();
	if (was_away(oracle, &now))
		tally->away++;
	else if (!oracle->options->blind &&
		 (!read_schedstat(schedstat_fd, &after) || !same(before, &after)))
		tally->moved++;
	else if (r < 0)
		tally->failed++;
	else
		stop_and_compare(oracle, task, at, schedstat_fd, before, &pair);
}

static void look(struct oracle *oracle)
{
	const struct task *task;
	struct schedstat before;
	struct blocked_at at;
	int r;

	oracle->n_tasks = 0;
	list_tasks(oracle, oracle->root);
	oracle->tally.looks++;
	if (oracle->n_tasks == 0)
		return;
	task = &oracle->tasks[(size_t)random() % oracle->n_tasks];
	_cleanup_fd_ int schedstat_fd = open_of(task, "schedstat");
	_cleanup_fd_ int syscall_fd = open_of(task, "syscall");

	oracle->began = moment_now();
	if (schedstat_fd < 0 || syscall_fd < 0 || !read_schedstat(schedstat_fd, &before))
		return;
	r = blocked_read(syscall_fd, &at);
	if (r == -EBUSY)
		oracle->tally.running++;
	else if (r == 0)
		check(oracle, task, &at, schedstat_fd, &before);
}

/* One wrong stack is all that is to be shown of a mutant. */
static bool is_enough(const struct oracle *oracle)
{
	const struct options *options = oracle->options;
	const struct tally *tally = &oracle->tally;

	return tally->compared >= options->wanted || (options->mutant && tally->wrong > 0);
}

static int run(struct oracle *oracle)
{
	const struct options *options = oracle->options;
	int r = target_start(&oracle->target, options->command);

	if (r < 0)
		return r;
	oracle->root = oracle->target.pid;
	(void)usleep(WARM_UP_US);
	while (!is_enough(oracle) && oracle->tally.looks < options->wanted * MAX_LOOKS) {
		oracle->target.pid = oracle->root;
		if (target_ended(&oracle->target))
			return -ECANCELED;
		(void)usleep(SLEEP_LEAST_US + (unsigned)random() % SLEEP_MORE_US);
		look(oracle);
	}
	return is_enough(oracle) ? 0 : -ETIMEDOUT;
}

/* Children too: what a master started would outlive it. */
static void end_all(struct oracle *oracle)
{
	oracle->n_tasks = 0;
	list_tasks(oracle, oracle->root);
	for (size_t i = 0; i < oracle->n_tasks; i++)
		if (oracle->tasks[i].tid == oracle->tasks[i].pid)
			(void)kill(oracle->tasks[i].pid, SIGKILL);
}

static double percent(size_t part, size_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double skipped_pct(const struct tally *tally)
{
	size_t skipped = tally->moved + tally->gave_up + tally->failed;

	return percent(skipped, skipped + tally->compared);
}

static int by_size(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a;
	uint64_t other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static void report_speed(struct tally *tally)
{
	const uint64_t *ns = tally->walks_ns;
	size_t n = tally->n_walks;
	size_t half = n / 2;
	size_t most = n - n / 100;

	if (n < 100)
		return;
	qsort(tally->walks_ns, n, sizeof(*ns), by_size);
	printf("  walks: half under %.1f us, 99 of 100 under %.1f us", (double)ns[half] / 1000.0,
	       (double)ns[most - 1] / 1000.0);
}

static void report(const struct options *options, struct tally *tally)
{
	size_t skipped = tally->moved + tally->gave_up + tally->failed;

	printf("%-16s blocked: compared %6zu  wrong %zu  skipped %zu (%.2f %%: moved %zu, gave up "
	       "%zu, failed %zu)  frames %zu",
	       options->name, tally->compared, tally->wrong, skipped, skipped_pct(tally),
	       tally->moved, tally->gave_up, tally->failed, tally->frames);
	if (tally->away)
		printf("  done again: %zu", tally->away);
	if (tally->no_fde)
		printf("  no FDE: %zu, compared up to there", tally->no_fde);
	report_speed(tally);
	printf("\n");
}

static bool parse(int argc, char **argv, struct options *options)
{
	int option;

	*options = (struct options){
		.wanted = DEFAULT_STACKS, .seed = 1, .skipped_pct = SKIPPED_MOST_PCT};
	while ((option = getopt(argc, argv, "+n:s:k:mbv")) != -1) {
		if (option == 'n')
			options->wanted = strtoul(optarg, NULL, 10);
		else if (option == 's')
			options->seed = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'k')
			options->skipped_pct = strtod(optarg, NULL);
		else if (option == 'm')
			options->mutant = true;
		else if (option == 'b')
			options->blind = true;
		else if (option == 'v')
			options->verbose = true;
		else
			return false;
	}
	if (argc - optind < 2)
		return false;
	options->name = argv[optind];
	options->command = argv + optind + 1;
	return true;
}

int main(int argc, char **argv)
{
	static struct oracle oracle;
	struct options options;
	bool good;
	int r;

	if (!parse(argc, argv, &options)) {
		(void)fprintf(stderr, "usage: blocked_oracle [-n N] [-s SEED] [-k PERCENT] [-m] "
				      "[-b] [-v] NAME CMD...\n");
		return 2;
	}
	srandom(options.seed);
	oracle.options = &options;
	oracle.tally.told = options.mutant && !options.verbose ? TELL_AT_MOST : 0;
	target_init(&oracle.target);
	oracle.theirs = theirs_new();
	oracle.tally.walks_ns = calloc(options.wanted * MAX_LOOKS, sizeof(uint64_t));
	if (!oracle.theirs || !oracle.tally.walks_ns)
		return 2;
	r = run(&oracle);
	if (oracle.root > 0 && r != -ECANCELED)
		end_all(&oracle);
	oracle.target.pid = r == -ECANCELED ? 0 : oracle.root;
	target_release(&oracle.target);
	theirs_free(oracle.theirs);
	for (size_t i = 0; i < oracle.n_views; i++)
		remote_free(oracle.views[i].remote);
	report(&options, &oracle.tally);
	free(oracle.tally.walks_ns);
	if (r < 0) {
		(void)fprintf(stderr, "blocked_oracle: '%s': %s\n", options.command[0],
			      strerror(-r));
		return r == -ENOENT ? 77 : 1;
	}
	good = oracle.tally.wrong == 0 && skipped_pct(&oracle.tally) <= options.skipped_pct;
	return good != options.mutant ? 0 : 1;
}

/* collector_test.c - from launch to end, with a program that plays the agent */
#include "sampler/collector/collector.h"
#include "sampler/collector/metrics/metrics.h"
#include "sampler/collector/process/external_sampler.h"

#include "base/cleanup.h"
#include "child_fixture.h"
#include "folder_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

enum { MAX_SEEN = 4096 };

/* What a run gave. */
struct run {
	struct collector *collector;
	struct collector_stats stats;
	int status;
	bool ended;
	size_t n_samples;
	size_t n_mappings;
	size_t n_exits;
	uint32_t last_exit;
	struct sample samples[MAX_SEEN]; /* without their frames */
	uint64_t leaf[MAX_SEEN];
	bool exact[MAX_SEEN];
	bool mapped[MAX_SEEN]; /* a mapping of its process covered the leaf before it came */
	struct mapping mappings[MAX_SEEN];
};

static struct collector *new_collector(size_t queue_bytes)
{
	const struct collector_options options = {.agent_path = FAKE_LIBRARY,
						  .hz = 10000,
						  .discovery = DISCOVERY_TIMER,
						  .metrics = metrics_auto(),
						  .queue_bytes = queue_bytes};
	struct collector *collector = NULL;
	struct err err = {0};

	if (collector_new(&options, &collector, &err) < 0)
		fail_msg("%s", err.text);
	return collector;
}

static void launch(struct collector *collector, char *const *argv)
{
	struct err err = {0};
	struct collector_signals signals = {0};
	pid_t pid;

	(void)sigprocmask(SIG_SETMASK, NULL, &signals.mask);
	if (collector_launch(collector, argv, &signals, &pid, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(pid > 0);
}

static bool covered(const struct run *run, const struct sample *sample)
{
	for (size_t i = 0; i < run->n_mappings; i++)
		if (run->mappings[i].process == sample->process &&
		    run->mappings[i].start <= sample->frames[0].addr &&
		    sample->frames[0].addr < run->mappings[i].end)
			return true;
	return false;
}

static void see_sample(struct run *run, const struct sample *sample)
{
	size_t i = run->n_samples++;

	assert_true(i < MAX_SEEN);
	run->samples[i] = *sample;
	run->leaf[i] = sample->frames[0].addr;
	run->exact[i] = sample->frames[0].exact;
	run->mapped[i] = covered(run, sample);
	run->samples[i].frames = NULL;
}

static void see_all(struct run *run)
{
	struct collector_event event;

	for (;;) {
		collector_next(run->collector, 20 * SECOND, &event);
		switch (event.kind) {
		case COLLECTOR_SAMPLE:
			see_sample(run, &event.sample);
			break;
		case COLLECTOR_MAPPING:
			assert_true(run->n_mappings < MAX_SEEN);
			run->mappings[run->n_mappings] = event.mapping;
			run->mappings[run->n_mappings++].path = NULL;
			break;
		case COLLECTOR_EXIT:
			run->n_exits++;
			run->last_exit = event.process;
			break;
		case COLLECTOR_RATE:
			break;
		case COLLECTOR_END:
			run->ended = collector_status(run->collector, &run->status);
			collector_stats(run->collector, &run->stats);
			return;
		case COLLECTOR_IDLE:
			fail_msg("nothing came for 20 s");
		}
	}
}

static struct run *run_fake(const char *what, const char *n)
{
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->collector = new_collector(0);
	launch(run->collector, (char *[]){(char *)FAKE_AGENT, (char *)what, (char *)n, NULL});
	see_all(run);
	return run;
}

static void free_run(struct run *run)
{
	collector_free(run->collector);
	free(run);
}

static void gives_samples_sorted_with_names_and_mappings(void **state)
{
	struct run *run = run_fake("samples", "500");

	(void)state;
	assert_true(run->ended && WIFEXITED(run->status));
	assert_int_equal(WEXITSTATUS(run->status), 0);
	assert_int_equal(run->n_samples, 500);
	assert_int_equal(run->stats.samples, 500);
	assert_int_equal(run->stats.weight, 1000);
	assert_int_equal(run->stats.overruns, 500);
	assert_int_equal(run->stats.threads, 2);
	assert_int_equal(run->stats.processes, 1);
	assert_int_equal(run->stats.lost_corrupt, 0);
	assert_int_equal(run->n_exits, 1);
	assert_true(run->stats.charged_ns > 0);
	for (size_t i = 0; i < run->n_samples; i++) {
		if (i > 0)
			assert_true(run->samples[i].time_ns >= run->samples[i - 1].time_ns);
		assert_string_equal(run->samples[i].comm, i % 2 ? "fake-worker" : "fake-main");
		assert_true(run->exact[i] && run->mapped[i]);
		assert_int_equal(run->samples[i].weight, 2);
	}
	free_run(run);
}

static void gives_deltas_against_the_same_threads_last_sample(void **state)
{
	struct run *run = run_fake("samples", "8");

	(void)state;
	assert_int_equal(run->n_samples, 8);
	assert_int_equal(run->samples[0].metrics[0].delta, 0);
	assert_int_equal(run->samples[1].metrics[0].delta, 0);
	assert_int_equal(run->samples[2].metrics[0].value, 2000);
	assert_int_equal(run->samples[2].metrics[0].delta, 2000);
	/* The fourth could not read its metrics: the last ones stand. */
	assert_int_equal(run->samples[3].metrics[0].value, 1000);
	assert_int_equal(run->samples[3].metrics[0].delta, 0);
	assert_int_equal(run->samples[5].metrics[0].delta, 4000);
	assert_int_equal(run->samples[5].metrics[1].value, 7);
	assert_int_equal(run->samples[5].metrics[1].delta, 0);
	assert_true(run->samples[0].metrics[6].value > 0);
	free_run(run);
}

static void gives_everything_of_a_killed_process(void **state)
{
	struct run *run = run_fake("killed", "1500");

	(void)state;
	assert_true(run->ended && WIFSIGNALED(run->status));
	assert_int_equal(WTERMSIG(run->status), SIGKILL);
	assert_int_equal(run->n_samples, 1500);
	free_run(run);
}

static void follows_a_fork(void **state)
{
	struct run *run = run_fake("fork", "20");

	(void)state;
	assert_int_equal(WEXITSTATUS(run->status), 0);
	assert_int_equal(run->stats.processes, 2);
	assert_int_equal(run->n_exits, 2);
	assert_int_equal(run->n_samples, 21);
	assert_string_equal(run->samples[0].comm, "parent");
	assert_string_equal(run->samples[20].comm, "child");
	assert_true(run->samples[20].process != run->samples[0].process);
	assert_true(run->samples[20].pid != run->samples[0].pid);
	assert_true(run->mapped[20]);
	free_run(run);
}

static void takes_an_exec_for_a_new_process(void **state)
{
	struct run *run = run_fake("exec", "2");

	(void)state;
	assert_int_equal(WEXITSTATUS(run->status), 0);
	assert_int_equal(run->stats.processes, 3);
	assert_int_equal(run->n_exits, 3);
	assert_int_equal(run->n_samples, 12);
	assert_int_equal(run->samples[11].process, 3);
	assert_int_equal(run->samples[0].pid, run->samples[11].pid);
	assert_int_equal(run->samples[4].metrics[0].delta, 0);
	for (size_t i = 0; i < run->n_samples; i++)
		assert_true(run->mapped[i]);
	free_run(run);
}

static void drops_peers_that_send_rubbish(void **state)
{
	struct run *run = run_fake("rubbish", "300");

	(void)state;
	assert_int_equal(WEXITSTATUS(run->status), 0);
	assert_int_equal(run->stats.processes, 1);
	assert_int_equal(run->n_samples, 2);
	assert_int_equal(run->stats.unsupported_processes, 2);
	assert_int_equal(run->stats.n_unsupported, 1);
	assert_string_equal(run->stats.unsupported[0].path, "/bin/static-thing");
	assert_string_equal(run->stats.unsupported[0].why, "static");
	assert_int_equal(run->stats.unsupported[0].count, 2);
	free_run(run);
}

/* Whom the collector would have looked at from outside, and how often. */
static struct {
	pid_t pid;
	unsigned n;
} sampled;

static int begin_sampling(pid_t pid, uint64_t cpu_ns, struct external_process **ret_external)
{
	(void)cpu_ns;
	(void)ret_external;
	sampled.pid = pid;
	sampled.n++;
	return -EPERM;
}

/* Return: how often anybody was, once PID was accused. */
static unsigned accuse(pid_t pid)
{
	static const struct collector_external_sampler sampler = {.begin = begin_sampling};
	const struct collector_options options = {.agent_path = FAKE_LIBRARY,
						  .hz = 99,
						  .discovery = DISCOVERY_TIMER,
						  .external_sampler = &sampler};
	struct run *run = calloc(1, sizeof(*run));
	char number[16];

	assert_non_null(run);
	assert_int_equal(collector_new(&options, &run->collector, NULL), 0);
	memset(&sampled, 0, sizeof(sampled));
	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	launch(run->collector, (char *[]){(char *)FAKE_AGENT, (char *)"accuse", number, NULL});
	see_all(run);
	assert_int_equal(WEXITSTATUS(run->status), 0);
	assert_int_equal(run->stats.unsupported_processes, 1);
	free_run(run);
	return sampled.n;
}

/* As root we could read any process whose number a client sends. */
static void a_peer_speaks_for_itself_and_its_children_alone(void **state)
{
	pid_t other = child_start_paused();

	(void)state;
	assert_int_equal(accuse(other), 0);
	child_end(other);
	assert_true(accuse(0) > 0);
	assert_true(sampled.pid > 0);
}

static void ends_with_cmd_and_stops_what_lives_on(void **state)
{
	struct run *run = run_fake("daemon", "1000");

	(void)state;
	assert_int_equal(WEXITSTATUS(run->status), 0);
	assert_int_equal(run->n_samples, 1);
	assert_int_equal(run->stats.still_running, 1);
	free_run(run);
}

static void posts_and_unmasks_a_thread_that_burns_unseen(void **state)
{
	struct run *run = run_fake("masked", "10");

	(void)state;
	assert_int_equal(WEXITSTATUS(run->status), 0);
	assert_int_equal(run->stats.unmasked_threads, 1);
	assert_int_equal(run->stats.late_threads, 1);
	assert_int_equal(run->n_samples, 1);
	free_run(run);
}

static void detaches_and_lets_cmd_live(void **state)
{
	struct run *run = calloc(1, sizeof(*run));
	int status;

	(void)state;
	assert_non_null(run);
	run->collector = new_collector(0);
	launch(run->collector, (char *[]){(char *)"sleep", (char *)"0.5", NULL});
	(void)usleep(100000);
	collector_detach(run->collector);
	see_all(run);
	assert_false(run->ended);
	free_run(run);
	assert_true(wait(&status) > 0);
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void drops_samples_when_the_queue_is_full(void **state)
{
	struct run *run = calloc(1, sizeof(*run));
	int status;

	(void)state;
	assert_non_null(run);
	run->collector = new_collector(1);
	launch(run->collector,
	       (char *[]){(char *)FAKE_AGENT, (char *)"samples", (char *)"2000", NULL});
	while (!collector_status(run->collector, &status))
		(void)usleep(1000);
	see_all(run);
	assert_int_equal(run->stats.lost_corrupt, 0);
	assert_true(run->stats.lost_queue > 0);
	assert_true(run->n_samples > 0);
	assert_int_equal(run->n_samples * 2 + run->stats.lost_queue, 4000);
	assert_int_equal(run->n_exits, 1);
	free_run(run);
}

static void leaves_nothing_behind(void **state)
{
	char base[FOLDER_BYTES];
	struct collector *collector;

	(void)state;
	folder_make(base);
	assert_int_equal(chmod(base, 0755), 0);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", base, 1), 0);
	collector = new_collector(0);
	/* The directory is not empty now: it has ours in it. */
	assert_int_equal(rmdir(base), -1);
	collector_free(collector);
	assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
	assert_int_equal(rmdir(base), 0);
}

static void passes_over_a_directory_that_others_can_write(void **state)
{
	static const mode_t modes[] = {0777, 0775};
	char base[FOLDER_BYTES];

	(void)state;
	folder_make(base);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", base, 1), 0);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct collector *collector;

		assert_int_equal(chmod(base, modes[i]), 0);
		collector = new_collector(0);
		/* Nothing of ours is in it. */
		assert_int_equal(rmdir(base), 0);
		assert_int_equal(mkdir(base, 0755), 0);
		collector_free(collector);
	}
	assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
	assert_int_equal(rmdir(base), 0);
}

static void leave_a_collector(void)
{
	(void)new_collector(0);
}

static void sweeps_the_directory_of_a_killed_wick(void **state)
{
	char base[FOLDER_BYTES];

	(void)state;
	folder_make(base);
	assert_int_equal(chmod(base, 0755), 0);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", base, 1), 0);
	(void)child_status(child_start(leave_a_collector));
	assert_int_equal(rmdir(base), -1);
	collector_free(new_collector(0));
	assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
	assert_int_equal(rmdir(base), 0);
}

/* The reason why COMMAND does not start, in *RET_ERR. */
static int try_launch(const char *command, struct err *ret_err)
{
	struct collector *collector = new_collector(0);
	struct collector_signals signals = {0};
	pid_t pid;
	int r;

	*ret_err = (struct err){0};
	(void)sigprocmask(SIG_SETMASK, NULL, &signals.mask);
	r = collector_launch(collector, (char *[]){(char *)command, NULL}, &signals, &pid, ret_err);
	collector_free(collector);
	return r;
}

static void write_program(const char *path, const char *text, mode_t mode)
{
	file_write(path, text, strlen(text));
	assert_int_equal(chmod(path, mode), 0);
}

static void says_why_a_command_cannot_be_run(void **state)
{
	char *path = file_make("", 0);
	struct err err;

	(void)state;
	assert_int_equal(try_launch("wick-no-such-command", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no such command in PATH"));
	assert_int_equal(try_launch("/nowhere/x", &err), -ENOENT);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(try_launch("/tmp", &err), -EACCES);
	assert_non_null(strstr(err.text, "directory"));
	assert_int_equal(try_launch("", &err), -ENOENT);
	write_program(path, "echo hello\n", 0644);
	assert_int_equal(try_launch(path, &err), -EACCES);
	assert_non_null(strstr(err.text, "chmod +x"));
	write_program(path, "#!/no/such/interpreter -x\n", 0755);
	assert_int_equal(try_launch(path, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "'/no/such/interpreter'"));
	write_program(path, "\177ELF\1\1\1 broken", 0755);
	assert_int_equal(truncate(path, 400), 0);
	assert_int_equal(try_launch(path, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "no program for this machine"));
	file_remove(path);
}

static void gives_a_text_without_interpreter_to_the_shell(void **state)
{
	char *path = file_make("", 0);
	struct run *run = calloc(1, sizeof(*run));

	(void)state;
	assert_non_null(run);
	write_program(path, "exit $(($1 + $#))\n", 0755);
	run->collector = new_collector(0);
	launch(run->collector, (char *[]){path, (char *)"5", (char *)"6", NULL});
	see_all(run);
	assert_int_equal(WEXITSTATUS(run->status), 7);
	free_run(run);
	file_remove(path);
}

/* CMD's exit status when it starts with SIGTERM blocked and 64 files. */
static int status_of(char *const *argv)
{
	struct rlimit before;
	struct rlimit limit;
	struct run *run = calloc(1, sizeof(*run));
	struct err err = {0};
	struct collector_signals signals = {0};
	pid_t pid;
	int status;

	assert_non_null(run);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){64, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	run->collector = new_collector(0);
	(void)sigemptyset(&signals.mask);
	(void)sigaddset(&signals.mask, SIGTERM);
	assert_int_equal(collector_launch(run->collector, argv, &signals, &pid, &err), 0);
	see_all(run);
	status = run->status;
	free_run(run);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	return status;
}

static void gives_cmd_its_own_limits_mask_and_variables(void **state)
{
	static const char script[] = "test \"$(ulimit -n)\" = 64 && test -S \"$WICK_SOCKET\" && "
				     "case $LD_PRELOAD in */libwick-agent.so*) ;; *) exit 8;; esac";
	static const char count_fds[] = "set -- /proc/$$/fd/*; exit $#";

	(void)state;
	assert_int_equal(status_of((char *[]){(char *)"sh", (char *)"-c", (char *)script, NULL}),
			 0);
	/* Nothing of ours stays open: as many descriptors as without wick. */
	assert_int_equal(status_of((char *[]){(char *)"sh", (char *)"-c", (char *)count_fds, NULL}),
			 system(count_fds));
	/* A shell would open its mask. */
	assert_int_equal(
		status_of((char *[]){(char *)"grep", (char *)"-q", (char *)"^SigBlk:.*4000$",
				     (char *)"/proc/self/status", NULL}),
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_samples_sorted_with_names_and_mappings),
		cmocka_unit_test(gives_deltas_against_the_same_threads_last_sample),
		cmocka_unit_test(gives_everything_of_a_killed_process),
		cmocka_unit_test(follows_a_fork),
		cmocka_unit_test(takes_an_exec_for_a_new_process),
		cmocka_unit_test(drops_peers_that_send_rubbish),
		cmocka_unit_test(a_peer_speaks_for_itself_and_its_children_alone),
		cmocka_unit_test(ends_with_cmd_and_stops_what_lives_on),
		cmocka_unit_test(posts_and_unmasks_a_thread_that_burns_unseen),
		cmocka_unit_test(detaches_and_lets_cmd_live),
		cmocka_unit_test(drops_samples_when_the_queue_is_full),
		cmocka_unit_test(leaves_nothing_behind),
		cmocka_unit_test(passes_over_a_directory_that_others_can_write),
		cmocka_unit_test(sweeps_the_directory_of_a_killed_wick),
		cmocka_unit_test(says_why_a_command_cannot_be_run),
		cmocka_unit_test(gives_a_text_without_interpreter_to_the_shell),
		cmocka_unit_test(gives_cmd_its_own_limits_mask_and_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

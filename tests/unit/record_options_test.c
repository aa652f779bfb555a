/* record_options_test.c - the command line of `wick record` */
#include "tools/cli/cmd.h"
#include "tools/record/recorder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_WORDS = 32 };

/* Parse WORDS, blanks between them, as the arguments behind `record`. */
static int parse(char *words, struct record_options *options, struct err *err)
{
	static char *argv[MAX_WORDS + 2];
	char *save = NULL;
	int argc = 0;

	argv[argc++] = (char *)(uintptr_t) "record";
	for (char *word = strtok_r(words, " ", &save); word && argc <= MAX_WORDS;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	*err = (struct err){0};
	return record_options_parse(argc, argv, options, err);
}

static void assert_refused(const char *words, const char *because)
{
	struct record_options options = {0};
	struct err err;
	char copy[256];

	(void)strncpy(copy, words, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	assert_int_equal(parse(copy, &options, &err), -EINVAL);
	if (!strstr(err.text, because))
		fail_msg("'%s' says '%s', not '%s'", words, err.text, because);
}

static void has_defaults(void **state)
{
	char words[] = "./prog";
	struct record_options options;
	struct err err;

	(void)state;
	assert_int_equal(parse(words, &options, &err), 0);
	assert_int_equal(options.hz, 99);
	assert_int_equal(options.flush_ns, 1000000000);
	assert_int_equal(options.duration_ns, 0);
	assert_null(options.output);
	assert_int_equal(options.discovery, collector_auto_discovery());
	assert_int_equal(options.metrics.mask, metrics_auto());
	assert_int_equal(options.argc, 1);
	assert_string_equal(options.argv[0], "./prog");
}

static void leaves_the_options_of_the_command_alone(void **state)
{
	char words[] = "-F 249 prog -F 7 --bare -- x";
	char dashed[] = "-q -- -odd -F 3";
	struct record_options options;
	struct err err;

	(void)state;
	assert_int_equal(parse(words, &options, &err), 0);
	assert_int_equal(options.hz, 249);
	assert_false(options.bare);
	assert_int_equal(options.argc, 6);
	assert_string_equal(options.argv[1], "-F");
	assert_string_equal(options.argv[4], "--");
	assert_int_equal(parse(dashed, &options, &err), 0);
	assert_true(options.quiet);
	assert_int_equal(options.hz, 99);
	assert_int_equal(options.argc, 3);
	assert_string_equal(options.argv[0], "-odd");
}

static void takes_every_option(void **state)
{
	char words[] = "--freq=10 -d 2s -o x.%p.perf --flush 50ms --rotate 1M --keep 3 "
		       "--compress zst --on-rotate true --ns p";
	char more[] = "--metrics cpu_ns --metrics-as inline --no-cmdline --discovery hooks -v p";
	struct record_options options;
	struct err err;

	(void)state;
	assert_int_equal(parse(words, &options, &err), 0);
	assert_int_equal(options.hz, 10);
	assert_int_equal(options.duration_ns, 2000000000);
	assert_string_equal(options.output, "x.%p.perf");
	assert_int_equal(options.flush_ns, 50000000);
	assert_int_equal(options.rotate.bytes, 1 << 20);
	assert_int_equal(options.keep.samples, 3);
	assert_int_equal(options.compress, COMPRESS_ZST);
	assert_string_equal(options.on_rotate, "true");
	assert_true(options.ns);
	assert_int_equal(parse(more, &options, &err), 0);
	assert_int_equal(options.metrics.mask, 1);
	assert_int_equal(options.metrics_as, METRICS_AS_INLINE);
	assert_true(options.no_cmdline);
	assert_int_equal(options.discovery, DISCOVERY_HOOKS);
	assert_true(options.verbose);
}

static void takes_what_is_kept_and_how_it_is_grouped(void **state)
{
	char words[] = "--top 20:2s --by io --threads ^w --only-under f --state running,disk "
		       "--metrics none --group wait,rss --flatten-recursive p";
	char gauge[] = "--group queue_len,state --top 1 --by queue_len --metrics queue_len p";
	struct record_options options;
	struct err err;

	(void)state;
	assert_int_equal(parse(words, &options, &err), 0);
	assert_int_equal(options.filter.top.n, 20);
	assert_int_equal(options.filter.top.interval_ns, 2000000000);
	assert_int_equal(options.filter.top.by, BY_IO);
	assert_string_equal(options.filter.threads, "^w");
	assert_string_equal(options.filter.only_under, "f");
	assert_int_equal(options.filter.states, 1U << STATE_RUNNING | 1U << STATE_DISK);
	assert_int_equal(options.groups.n, 2);
	assert_int_equal(options.groups.at[0].kind, GROUP_WAIT);
	assert_int_equal(options.groups.at[1].metric, METRIC_RSS_KIB);
	assert_int_equal(options.metrics.mask, 1U << METRIC_RSS_KIB); /* grouped by, so recorded */
	assert_true(options.flatten);
	assert_int_equal(parse(gauge, &options, &err), 0);
	assert_int_equal(options.groups.at[0].kind, GROUP_METRIC);
	assert_int_equal(options.groups.at[0].metric, METRIC_BUILTIN);
	assert_int_equal(options.filter.top.by, BY_GAUGE);
	assert_int_equal(options.filter.top.gauge, METRIC_BUILTIN);
}

static void names_the_option_that_is_wrong(void **state)
{
	(void)state;
	assert_refused("-F x prog", "-F: 'x'");
	assert_refused("-F 0 prog", "-F: ");
	assert_refused("--freq 1e9 prog", "-F: ");
	assert_refused("-d soon prog", "-d: 'soon'");
	assert_refused("--flush 1parsec prog", "--flush: ");
	assert_refused("--compress rar prog", "gz, zst");
	assert_refused("--metrics-as poem prog", "comment, inline");
	assert_refused("--discovery magic prog", "auto, timer, hooks");
	assert_refused("--metrics no-such prog", "cpu_ns");
	assert_refused("-o a%z.perf prog", "%z");
	assert_refused("-o - prog", "standard output");
	assert_refused("-o a% prog", "-o: ");
	assert_refused("--top none prog", "--top: 'none'");
	assert_refused("--top 5:x prog", "--top: 'x'");
	assert_refused("--top 3 --by weight prog", "--by: 'weight'");
	assert_refused("--top 3 --by queue_len prog", "--metrics");
	assert_refused("--state asleep prog", "--state: 'asleep'");
	assert_refused("--threads ( prog", "--threads: '('");
	assert_refused("--group state,colour prog", "--group: 'colour'");
}

static void refuses_what_cannot_be(void **state)
{
	(void)state;
	assert_refused("", "wick record -- ./program");
	assert_refused("-q --", "no command");
	assert_refused("--keep 3 prog", "--rotate");
	assert_refused("--bare --metrics-as inline prog", "--bare");
	assert_refused("-Z prog", "'-Z'");
	assert_refused("-qZ prog", "'-Z'");
	assert_refused("--rotaet 5s prog", "--rotate");
	assert_refused("--utterly-wrong prog", "--help");
	assert_refused("--bare=3 prog", "--bare");
	assert_refused("-F", "needs a value");
	assert_refused("--state sleeping prog", "-e wall");
	assert_refused("--by io prog", "--top 20");
}

static void nearest_words_are_near(void **state)
{
	static const char *const words[] = {"record", "info", "doctor", NULL};

	(void)state;
	assert_string_equal(option_nearest("recrod", words), "record");
	assert_string_equal(option_nearest("rec", words), "record");
	assert_string_equal(option_nearest("doktor", words), "doctor");
	assert_null(option_nearest("zzz", words));
	assert_null(option_nearest("", words));
}

static void exit_statuses_are_those_of_shells(void **state)
{
	(void)state;
	assert_int_equal(cmd_exit_of_wait(7 << 8), 7);
	assert_int_equal(cmd_exit_of_wait(0), 0);
	assert_int_equal(cmd_exit_of_wait(9), 137);
	assert_int_equal(cmd_exit_of_wait(11 | 0x80), 139);
	assert_int_equal(cmd_exit_of(-EACCES), 4);
	assert_int_equal(cmd_exit_of(-EPERM), 4);
	assert_int_equal(cmd_exit_of(-ENOSPC), 8);
	assert_int_equal(cmd_exit_of(-EEXIST), 8);
	assert_int_equal(cmd_exit_of(-EINVAL), 2);
}

static void takes_places_for_counts(void **state)
{
	char all[] = "--stats-to=a --stats-to=- --stats-to=unix:b --listen :9464 --textfile w.prom "
		     "--top-tasks 3 ./prog";
	char every[] = "--stats-every 5s ./prog";
	struct record_options options;
	struct err err;

	(void)state;
	assert_int_equal(parse(all, &options, &err), 0);
	assert_int_equal(options.export.n_targets, 3);
	assert_string_equal(options.export.targets[1], "-");
	assert_true(options.export.every_ns == UINT64_C(60000000000));
	assert_string_equal(options.export.listen, ":9464");
	assert_int_equal(options.export.top_tasks, 3);
	assert_int_equal(parse(every, &options, &err), 0);
	assert_true(options.export.every_ns == UINT64_C(5000000000));
	assert_refused("--listen example.org:80 ./prog",
		       "--listen: 'example.org:80' is no address");
	assert_refused("--top-tasks 51 ./prog", "not a number of tasks from 1 to 50");
	assert_refused("--top-tasks 0 ./prog", "not a number of tasks");
	assert_refused("--stats-every 0 ./prog", "--stats-every");
	assert_refused("--stats-to a --stats-to a --stats-to a --stats-to a --stats-to a ./prog",
		       "more than 4 places");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_defaults),
		cmocka_unit_test(takes_places_for_counts),
		cmocka_unit_test(leaves_the_options_of_the_command_alone),
		cmocka_unit_test(takes_every_option),
		cmocka_unit_test(takes_what_is_kept_and_how_it_is_grouped),
		cmocka_unit_test(names_the_option_that_is_wrong),
		cmocka_unit_test(refuses_what_cannot_be),
		cmocka_unit_test(nearest_words_are_near),
		cmocka_unit_test(exit_statuses_are_those_of_shells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

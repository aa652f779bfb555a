/* summary_test.c - the end of a recording in words */
#include "base/words.h"
#include "tools/cli/terminal.h"
#include "tools/record/recorder.h"
#include "tools/summary/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const paths[] = {"a.0001.perf", "a.0002.perf"};

/* Ten seconds of a program that nothing is wrong with. */
static struct summary healthy(void)
{
	struct summary summary = {
		.command = "prog",
		.pid = 4000,
		.cmd_ended = true,
		.elapsed_ns = UINT64_C(10000000000),
		.hz = 100,
		.kernel_hz = 250,
		.discovery = DISCOVERY_TIMER,
		.engine = RING_ENGINE_CTIMER,
		.no_events = "",
		.signal_cost_ns = 1000,
		.collector_ns = 50000000,
	};

	summary.collected.samples = 1000;
	summary.collected.weight = 1000;
	summary.collected.squares = 1000;
	summary.collected.states[STATE_RUNNING] = 1000;
	summary.collected.stood_ns = UINT64_C(10000000000);
	summary.collected.running_ns = UINT64_C(10000000000);
	summary.collected.threads = 2;
	summary.collected.processes = 1;
	summary.collected.charged_ns = UINT64_C(10000000000);
	summary.collected.signals = 1000;
	summary.collected.program_ns = 2000000;
	summary.collected.handler_ns = 1000000;
	summary.collected.stops[0] = 1000;
	summary.written.paths = paths;
	summary.written.n_paths = 1;
	summary.written.segments = 1;
	summary.written.bytes = 2048;
	summary.written.samples = 1000;
	return summary;
}

static char *print(const struct summary *summary)
{
	struct buf buf;
	char *text;

	buf_init(&buf, 64 * 1024);
	summary_print(summary, &buf);
	text = strdup(buf_text(&buf));
	buf_release(&buf);
	assert_non_null(text);
	assert_null(strstr(text, "weight")); /* a word of the file's format */
	return text;
}

static void assert_says(const struct summary *summary, const char *what, int expected)
{
	char *text = print(summary);
	int says = strstr(text, what) != NULL;

	if (says != expected)
		fail_msg("'%s' is%s in:\n%s", what, says ? "" : " not", text);
	free(text);
}

static void says_what_was_recorded(void **state)
{
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary,
		    "samples     1,000, 10.0 s of CPU, 100.0 % of what the program used; at 100 "
		    "Hz, 2 threads, 1 process\n",
		    1);
	assert_says(&summary, "precision   shares are right within 3.1 points (95 %)\n", 1);
	assert_says(&summary, "coverage", 0);
	assert_says(&summary, "in the program 0.02 %, wick itself 0.50 %", 1);
	assert_says(&summary, "lost        nothing", 1);
	assert_says(&summary, "100.0 % complete", 1);
	assert_says(&summary, "a.0001.perf (2.0 KiB)", 1);
	assert_says(&summary, "next        wick view a.0001.perf\n", 1);
	assert_says(&summary, "wick info a.0001.perf", 1);
	assert_says(&summary, "still running", 0);
	assert_says(&summary, "tick aliasing", 0);
	assert_says(&summary, "effective", 0);
	assert_says(&summary, "wick symbolize", 0);
}

static void says_who_was_recorded(void **state)
{
	const struct collector_top choose = {.n = 5, .interval_ns = UINT64_C(2000000000)};
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary, "wick: recorded prog (pid 4000) for 10.0 s\n", 1);
	summary.n_attached = 3;
	summary.cmd_ended = false;
	summary.collected.still_running = 2;
	assert_says(&summary,
		    "recorded prog (pid 4000) and 2 others for 10.0 s; they are still running\n",
		    1);
	summary.n_attached = 0;
	summary.choose = &choose;
	assert_says(&summary, "recorded the heaviest 5 processes of every 2.00 s for 10.0 s\n", 1);
}

static void says_that_the_rate_was_changed(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.hz_most = 100;
	assert_says(&summary, "; at 100 Hz, ", 1);
	summary.hz_most = 997;
	assert_says(&summary, "; at 100 to 997 Hz, ", 1);
	assert_says(&summary, "samples come at most at the kernel's 250 Hz tick", 1);
}

static void says_where_all_the_time_went(void **state)
{
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary, "states", 0);
	summary.collected.weight = 4000;
	summary.collected.stood_ns = UINT64_C(40000000000);
	summary.collected.states[STATE_RUNNABLE] = 200;
	summary.collected.states[STATE_SLEEPING] = 2800;
	assert_says(&summary, "running 25.0 %, runnable 5.0 %, sleeping 70.0 %\n", 1);
	assert_says(&summary,
		    "1,000, 40.0 s of wall time, 10.0 s of it CPU, 100.0 % of what the program "
		    "used; at",
		    1);
	assert_says(&summary, "may not read", 0);
	summary.collected.unreadable = 7;
	assert_says(&summary, "7 samples without a stack: wick may not read", 1);
	assert_says(&summary, "try: wick as root", 1);
}

static void says_the_cost_of_an_idle_program_of_a_processor(void **state)
{
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary, "of a processor", 0);
	summary.elapsed_ns = 5 * summary.collected.charged_ns;
	assert_says(&summary,
		    "wick itself 0.50 % of the program's CPU, which is 0.10 % of a processor\n", 1);
}

static void names_losses_by_cause(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.collected.lost_full = 12;
	summary.collected.lost_noslot = 3;
	summary.written.dropped = 4;
	summary.written.dropped_lines = 5;
	assert_says(&summary, "12 ring full (lost_full)", 1);
	assert_says(&summary, "3 too many threads (lost_noslot)", 1);
	assert_says(&summary, "4 not written to disk (dropped)", 1);
	assert_says(&summary, "5 rows of counts or notes not in the file (dropped_lines)", 1);
	assert_says(&summary, "lost        nothing", 0);
}

static void names_incomplete_stacks_by_reason(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.collected.stops[0] = 980;
	summary.collected.stops[1] = 15;
	summary.collected.stops[3] = 5;
	assert_says(&summary, "98.0 % complete; incomplete: 15 no unwind table (no-cfi), 5 stack",
		    1);
}

static void names_programs_that_were_not_sampled(void **state)
{
	static const struct collector_unsupported programs[] = {
		{.pid = 5, .path = "/bin/busybox", .why = "static", .count = 3},
		{.pid = 6, .path = "/usr/bin/sudo", .why = "setuid", .count = 1},
	};
	struct summary summary = healthy();

	(void)state;
	summary.collected.unsupported = programs;
	summary.collected.n_unsupported = 2;
	assert_says(&summary, "not sampled 3 x /bin/busybox (static)\n", 1);
	assert_says(&summary, "1 x /usr/bin/sudo (setuid)", 1);
	assert_says(&summary, "(setuid), try: as root\n", geteuid() != 0);
	summary.collected.samples = 0;
	summary.collected.processes = 0;
	assert_says(&summary, "loaded the agent", 0);
	summary.collected.n_unsupported = 0;
	assert_says(&summary, "no program loaded the agent", 1);
}

static void names_the_three_worst_modules(void **state)
{
	static const struct symbolize_module modules[] = {
		{.path = "/fine", .why = "", .lookups = 900, .unnamed = 0},
		{.path = "/third", .why = "", .lookups = 50, .unnamed = 20},
		{.path = "/first", .why = "stripped", .lookups = 50, .unnamed = 50, .partial = 1},
		{.path = "/fourth", .why = "", .lookups = 50, .unnamed = 19, .partial = 1},
		{.path = "/second", .why = "", .lookups = 50, .unnamed = 30},
	};
	struct summary summary = healthy();
	char *text;

	(void)state;
	summary.modules = modules;
	summary.n_modules = 5;
	assert_says(&summary, "/first (stripped)", 1);
	assert_says(&summary, "/fourth", 0);
	assert_says(&summary, "/fine", 0);
	assert_says(&summary, "debug symbols", 0);
	text = print(&summary);
	assert_true(strstr(text, "/first") < strstr(text, "/second"));
	assert_true(strstr(text, "/second") < strstr(text, "/third"));
	free(text);
	assert_says(&summary, "names not read: some of /first and 1 other file, for lack of", 1);
	summary.n_modules = 2;
	assert_says(&summary, "names not read", 0);
}

static void says_what_would_name_the_frames(void **state)
{
	static const struct symbolize_module stripped[] = {
		{.path = "/usr/bin/git",
		 .quality = SYMBOLS_DYNSYM,
		 .missing = "names",
		 .try = "git-dbgsym",
		 .lookups = 10,
		 .unnamed = 9},
	};
	struct summary summary = healthy();

	(void)state;
	summary.modules = stripped;
	summary.n_modules = 1;
	assert_says(&summary, "in /usr/bin/git (stripped: exported names only)\n", 1);
	assert_says(&summary,
		    "100.0 % of the frames lack names, most of them in /usr/bin/git; try: "
		    "git-dbgsym, then wick symbolize FILE\n",
		    1);
	summary.no_symbols = true;
	assert_says(&summary, "stripped", 0);
	assert_says(&summary, "not looked up, because of --no-symbols, try: wick symbolize", 1);
}

static void says_what_came_of_asking_servers(void **state)
{
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary, "servers", 0);
	summary.servers = (struct symbolize_servers){
		.n_asked = 3, .n_found = 1, .n_late = 2, .spent_ns = 5000000000, .why = "slow"};
	assert_says(&summary,
		    "servers     3 modules asked for, 1 found in 5.00 s, 2 without an answer in "
		    "time; slow\n",
		    1);
	summary.servers = (struct symbolize_servers){.why = "DEBUGINFOD_URLS names no server"};
	assert_says(&summary, "0 modules asked for, 0 found in 0.00 s; DEBUGINFOD_URLS names", 1);
}

static void promises_only_what_loads_the_file(void **state)
{
	static const char *const zst[] = {"a.perf.zst"};
	static const char *const gz[] = {"a.perf.gz"};
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary, "FlameGraph load it as it is", 1);
	summary.written.paths = gz;
	assert_says(&summary, "FlameScope load it as it is", 1);
	assert_says(&summary, "FlameGraph", 0);
	summary.written.paths = zst;
	assert_says(&summary, "load it as it is", 0);
	assert_says(&summary, "zstd -d", 1);
}

static void names_all_files_by_a_pattern(void **state)
{
	static const char *const alike[] = {"a.p", "a.q", "a.p.a.p", "a.px"};
	static const char *const split[] = {"a.perf", "a.0001.perf", "a.0002.perf"};
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary, "wick view a.0001.perf\n", 1);
	summary.written.n_paths = 2;
	assert_says(&summary, "wick view a.000*.perf\n", 1);
	assert_says(&summary, "wick info a.000*.perf\n", 1);
	assert_says(&summary, "FlameGraph load each as it is", 1);
	summary.no_symbols = true;
	assert_says(&summary, "wick symbolize a.0002.perf, and so the others\n", 1);
	summary.written.paths = split;
	assert_says(&summary, "wick view a.perf a.0001.perf\n", 1);
	summary.written.n_paths = 3;
	assert_says(&summary, "wick view a.perf a.000*.perf\n", 1);
	summary.written.paths = alike;
	summary.written.n_paths = 4;
	assert_says(&summary, "wick view a.*\n", 1);
}

static void says_how_the_command_ended(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.wait_status = 9;
	assert_says(&summary, "ended by SIGKILL", 1);
	summary.wait_status = 3 << 8;
	assert_says(&summary, "status 3", 1);
	summary.cmd_ended = false;
	assert_says(&summary, "still running", 1);
}

static void says_what_programs_used_before_they_could_be_sampled(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.collected.starting_ns = UINT64_C(400000000);
	assert_says(&summary, "before they could be sampled", 0);
	summary.collected.starting_ns = UINT64_C(2500000000);
	summary.collected.running_ns = UINT64_C(7500000000);
	summary.collected.stood_ns = UINT64_C(7500000000);
	assert_says(&summary, "7.50 s of CPU, 75.0 % of what the program used;", 1);
	assert_says(&summary,
		    "starting    programs used 2.50 s of CPU while they started, before they could "
		    "be sampled\n",
		    1);
	assert_says(&summary, "coverage", 0);
	summary.collected.starting_ns = UINT64_C(1000000000);
	assert_says(&summary,
		    "coverage    75.0 % of 10.0 s of CPU; that should be near 100 %, see lost and "
		    "not sampled\n",
		    1);
}

static void explains_a_recording_of_nothing(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.collected.samples = summary.collected.weight = 0;
	summary.written.samples = 0;
	summary.collected.states[STATE_RUNNING] = 0;
	summary.collected.running_ns = summary.collected.stood_ns = 0;
	summary.collected.charged_ns = 3000000;
	assert_says(&summary, "samples     0; at 100 Hz, ", 1);
	assert_says(&summary, "less CPU than one period", 1);
	summary.collected.paused_ns = UINT64_C(370000000);
	assert_says(&summary, "less CPU than one period", 0);
	assert_says(&summary, "used 0.37 s of CPU while the recording was paused\n", 1);
	summary.collected.paused_ns = 0;
	assert_says(&summary, "cost", 0);
	assert_says(&summary, "coverage", 0);
	assert_says(&summary, "load it", 0);
	summary.collected.processes = 0;
	assert_says(&summary, "wick doctor -- CMD", 1);
	summary.written.single_segments = 2;
	assert_says(&summary, "2 files of one sample only", 1);
}

static void suggests_symbolize_when_names_came_too_late(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.unnamed_frames = 7;
	assert_says(&summary, "wick symbolize a.0001.perf", 1);
}

static void counts_names_that_took_too_long(void **state)
{
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary, "demangle", 0);
	summary.mangled_names = 1;
	assert_says(&summary,
		    "names       1 name took too much time or memory to demangle: shown mangled",
		    1);
}

static void says_that_the_tick_limits_the_rate(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.hz = 999;
	assert_says(&summary, "rate        samples come at most at the kernel's 250 Hz tick", 1);
	summary.engine = RING_ENGINE_PERF;
	assert_says(&summary, "at most at the kernel's 250 Hz tick", 0);
	summary.collected.timers_took_over = true;
	assert_says(&summary,
		    "rate        timers replaced perf events, to lower the overhead: samples come "
		    "at most at the kernel's 250 Hz tick",
		    1);
}

static void says_what_tick_aliasing_came_to(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.collected.aliased = 1;
	assert_says(&summary,
		    "1 process ran in step with the kernel's 250 Hz tick (tick aliasing), so "
		    "shares of functions may be wrong, try: --engine perf\n",
		    1);
	summary.no_events = "kernel.perf_event_paranoid is 3";
	assert_says(&summary, "perf events would avoid that: kernel.perf_event_paranoid is 3\n", 1);
	summary.collected.switched = 1;
	assert_says(&summary, "and got perf events when wick noticed it\n", 1);
}

static void says_how_far_the_rate_was_lowered(void **state)
{
	struct summary summary = healthy();

	(void)state;
	assert_says(&summary, "budget", 0);
	summary.collected.lowered_ns = UINT64_C(17000000000);
	summary.collected.lowest_hz = 31;
	assert_says(&summary,
		    "budget      31 Hz effective of 100 asked at the lowest; below the requested "
		    "rate for 17.0 s, to limit the overhead; totals stay right\n",
		    1);
}

static void progress_is_one_line(void **state)
{
	struct progress progress = {.elapsed_ns = 1500000000, .hz = 99, .effective_hz = 31};
	struct buf buf;

	(void)state;
	progress.collected.samples = 1234567;
	progress.collected.threads = 1;
	progress.collected.processes = 2;
	progress.collected.lost_full = 5;
	progress.written.bytes = 1536;
	buf_init(&buf, 1024);
	progress_print(&progress, &buf);
	assert_string_equal(buf_text(&buf), "wick: 1.50 s  31 Hz effective of 99 asked  1,234,567 "
					    "samples  1 thread  2 processes"
					    "  lost 5  1.5 KiB");
	progress.interrupted = true;
	progress_print(&progress, &buf);
	assert_non_null(strstr(buf_text(&buf), "Ctrl-C again: stop recording"));
	buf_release(&buf);
}

static void numbers_are_for_people(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 1024);
	words_count(&buf, 0);
	buf_add_char(&buf, ' ');
	words_count(&buf, 999);
	buf_add_char(&buf, ' ');
	words_count(&buf, UINT64_MAX);
	buf_add_char(&buf, ' ');
	words_bytes(&buf, 1023);
	buf_add_char(&buf, ' ');
	words_bytes(&buf, UINT64_C(5) << 30);
	buf_add_char(&buf, ' ');
	text_seconds(&buf, UINT64_C(200000000000));
	buf_add_char(&buf, ' ');
	text_share(&buf, 1, 0);
	assert_string_equal(buf_text(&buf), "0 999 18,446,744,073,709,551,615 1023 B 5.0 GiB "
					    "3 min 20 s 0.0 %");
	buf_release(&buf);
}

static void says_what_was_kept_of_what_was_taken(void **state)
{
	const struct sample_filter_options options = {
		.threads = "w", .only_under = "f", .top = {.n = 3}};
	struct sample_filter filter = {
		.options = &options, .a_stack_matched = true, .a_thread_matched = true};
	struct summary summary = healthy();

	(void)state;
	summary.collected.filtered[SERIES_CLOCK] = (struct filtered){500, 600};
	assert_says(&summary, "kept", 0);
	summary.filter = &filter;
	filter.filtered[SERIES_CLOCK] = (struct filtered){200, 100};
	assert_says(&summary,
		    "kept        300 of them, 30.0 % of their time, by --top, --threads, "
		    "--only-under\n",
		    1);
	assert_says(&summary, "100.0 % of what the program used", 1);
	assert_says(&summary, "lost        nothing", 1);
}

static void says_what_was_kept_of_memory_and_locks(void **state)
{
	const struct sample_filter_options options = {.threads = "w"};
	const struct sample_filter filter = {.options = &options, .a_thread_matched = true};
	struct summary summary = healthy();

	(void)state;
	summary.filter = &filter;
	summary.collected.hook_samples[HOOK_STATS_TAKEN] = 30;
	summary.collected.hook_weight[HOOK_STATS_TAKEN] = 1000;
	summary.collected.hook_samples[HOOK_STATS_FREED] = 10;
	summary.collected.hook_samples[HOOK_STATS_WAITED] = 4;
	summary.collected.hook_weight[HOOK_STATS_WAITED] = 400;
	summary.collected.filtered[SERIES_MEMORY] = (struct filtered){38, 900};
	summary.collected.filtered[SERIES_LOCKS] = (struct filtered){4, 400};
	assert_says(&summary, "kept        1,000 of them, 100.0 % of their time, by --threads\n",
		    1);
	assert_says(&summary, "kept        2 of them, 10.0 % of their bytes, by --threads\n", 1);
	assert_says(&summary, "kept        0 of them, 0.0 % of their time, by --threads\n", 1);
}

static void says_why_nothing_was_kept(void **state)
{
	struct sample_filter_options options = {.threads = "w"};
	struct sample_filter filter = {.options = &options, .others = {"main", "p\033[2Jol"}};
	struct summary summary = healthy();

	(void)state;
	summary.filter = &filter;
	filter.filtered[SERIES_CLOCK] = (struct filtered){1000, 1000};
	assert_says(&summary, "no thread has a name that matches; there were: main, p_[2Jol\n", 1);
	options = (struct sample_filter_options){.only_under = "f"};
	assert_says(&summary, "no stack had that function in it\n", 1);
	(void)strcpy(filter.near, "B::f");
	assert_says(&summary, "no stack had that function in it, try: --only-under 'B::f'\n", 1);
	filter.a_stack_matched = true;
	filter.filtered[SERIES_CLOCK].samples--;
	assert_says(&summary, "no stack had", 0);
}

static void says_a_name_without_what_moves_the_cursor(void **state)
{
	struct summary summary = healthy();

	(void)state;
	summary.command = "pro\033[31mg";
	assert_says(&summary, "\033", 0);
	assert_says(&summary, "[31mg (pid 4000)", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_a_name_without_what_moves_the_cursor),
		cmocka_unit_test(says_what_was_recorded),
		cmocka_unit_test(says_who_was_recorded),
		cmocka_unit_test(says_that_the_rate_was_changed),
		cmocka_unit_test(says_where_all_the_time_went),
		cmocka_unit_test(says_the_cost_of_an_idle_program_of_a_processor),
		cmocka_unit_test(names_losses_by_cause),
		cmocka_unit_test(names_incomplete_stacks_by_reason),
		cmocka_unit_test(names_programs_that_were_not_sampled),
		cmocka_unit_test(names_the_three_worst_modules),
		cmocka_unit_test(says_what_would_name_the_frames),
		cmocka_unit_test(says_what_came_of_asking_servers),
		cmocka_unit_test(promises_only_what_loads_the_file),
		cmocka_unit_test(names_all_files_by_a_pattern),
		cmocka_unit_test(says_how_the_command_ended),
		cmocka_unit_test(says_what_programs_used_before_they_could_be_sampled),
		cmocka_unit_test(explains_a_recording_of_nothing),
		cmocka_unit_test(suggests_symbolize_when_names_came_too_late),
		cmocka_unit_test(counts_names_that_took_too_long),
		cmocka_unit_test(says_that_the_tick_limits_the_rate),
		cmocka_unit_test(says_what_tick_aliasing_came_to),
		cmocka_unit_test(says_how_far_the_rate_was_lowered),
		cmocka_unit_test(progress_is_one_line),
		cmocka_unit_test(numbers_are_for_people),
		cmocka_unit_test(says_what_was_kept_of_what_was_taken),
		cmocka_unit_test(says_what_was_kept_of_memory_and_locks),
		cmocka_unit_test(says_why_nothing_was_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

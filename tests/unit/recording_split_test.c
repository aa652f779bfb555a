/* recording_split_test.c - files that end, and are brought to disk, on request */
#include "base/cleanup.h"
#include "output/files/recording.h"
#include "output_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct run {
	struct output_fixture fixture;
	struct recording *recording;
};

static void begin(struct run *run, uint64_t flush_ns)
{
	output_setup(&run->fixture, "x.perf");
	run->fixture.options.flush_ns = flush_ns;
	run->recording = output_open(&run->fixture);
}

static void end(struct run *run)
{
	output_teardown(&run->fixture);
}

static void begins_another_file_with_another_rate(void **state)
{
	struct run run;
	_cleanup_free_ char *first = NULL;
	_cleanup_free_ char *second = NULL;

	(void)state;
	begin(&run, 0);
	output_write(&run.fixture, run.recording, 3);
	assert_int_equal(recording_split(run.recording, 499), 0);
	output_write(&run.fixture, run.recording, 2);
	assert_int_equal(recording_finish(run.recording), 0);
	first = output_text(&run.fixture, "x.perf");
	second = output_text(&run.fixture, "x.0001.perf");
	assert_int_equal(output_count(first, "cpu-clock:"), 3);
	assert_int_equal(output_count(first, "\"hz\":99"), 1);
	assert_int_equal(output_count(first, "# wick-end"), 1);
	assert_int_equal(output_count(second, "cpu-clock:"), 2);
	assert_int_equal(output_count(second, "\"hz\":499"), 1);
	end(&run);
}

static void goes_on_in_a_file_without_samples(void **state)
{
	struct run run;
	_cleanup_free_ char *text = NULL;

	(void)state;
	begin(&run, 0);
	assert_int_equal(recording_split(run.recording, 0), 0);
	assert_int_equal(recording_split(run.recording, 10), 0); /* its head is not on disk */
	output_write(&run.fixture, run.recording, 1);
	assert_int_equal(recording_finish(run.recording), 0);
	assert_int_equal(folder_count(run.fixture.dir), 1);
	text = output_text(&run.fixture, "x.perf");
	assert_int_equal(output_count(text, "# wick :"), 1);
	assert_int_equal(output_count(text, "\"hz\":10,"), 1);
	end(&run);
}

static void brings_all_to_disk_when_it_is_asked_to(void **state)
{
	struct run run;
	_cleanup_free_ char *before = NULL;
	_cleanup_free_ char *after = NULL;

	(void)state;
	begin(&run, UINT64_C(60000000000));
	output_write(&run.fixture, run.recording, 100);
	before = output_text(&run.fixture, "x.perf");
	assert_true(output_count(before, "cpu-clock:") < 100);
	assert_int_equal(recording_write_out(run.recording), 0);
	after = output_text(&run.fixture, "x.perf");
	assert_int_equal(output_count(after, "cpu-clock:"), 100);
	end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_another_file_with_another_rate),
		cmocka_unit_test(goes_on_in_a_file_without_samples),
		cmocka_unit_test(brings_all_to_disk_when_it_is_asked_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

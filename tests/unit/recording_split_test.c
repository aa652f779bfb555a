/* recording_split_test.c - files that end, and are brought to disk, because somebody asks */
#include "base/cleanup.h"
#include "output/recording.h"
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
	struct err err = {0};

	output_setup(&run->fixture, "x.perf");
	run->fixture.options.flush_ns = flush_ns;
	if (recording_new(&run->fixture.options, &run->recording, &err) < 0)
		fail_msg("%s", err.text);
}

static void write_n(struct run *run, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sample sample = output_sample(&run->fixture);

		recording_write(run->recording, &sample);
	}
}

static void end(struct run *run)
{
	recording_free(run->recording);
	output_teardown(&run->fixture);
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

static void begins_another_file_with_another_rate(void **state)
{
	struct run run;
	_cleanup_free_ char *first = NULL;
	_cleanup_free_ char *second = NULL;

	(void)state;
	begin(&run, 0);
	write_n(&run, 3);
	assert_int_equal(recording_split(run.recording, 499), 0);
	write_n(&run, 2);
	assert_int_equal(recording_finish(run.recording), 0);
	first = output_text(&run.fixture, "x.perf");
	second = output_text(&run.fixture, "x.0001.perf");
	assert_int_equal(count(first, "cpu-clock:"), 3);
	assert_int_equal(count(first, "\"hz\":99"), 1);
	assert_int_equal(count(first, "# wick-end"), 1);
	assert_int_equal(count(second, "cpu-clock:"), 2);
	assert_int_equal(count(second, "\"hz\":499"), 1);
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
	write_n(&run, 1);
	assert_int_equal(recording_finish(run.recording), 0);
	assert_int_equal(output_files(&run.fixture), 1);
	text = output_text(&run.fixture, "x.perf");
	assert_int_equal(count(text, "# wick :"), 1);
	assert_int_equal(count(text, "\"hz\":10,"), 1);
	end(&run);
}

static void brings_all_to_disk_when_it_is_asked_to(void **state)
{
	struct run run;
	_cleanup_free_ char *before = NULL;
	_cleanup_free_ char *after = NULL;

	(void)state;
	begin(&run, UINT64_C(60000000000));
	write_n(&run, 100);
	before = output_text(&run.fixture, "x.perf");
	assert_true(count(before, "cpu-clock:") < 100);
	assert_int_equal(recording_write_out(run.recording), 0);
	after = output_text(&run.fixture, "x.perf");
	assert_int_equal(count(after, "cpu-clock:"), 100);
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

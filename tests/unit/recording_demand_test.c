/* recording_demand_test.c - files that are made when they are asked for, and notes between samples
 */
#include "base/cleanup.h"
#include "output/files/recording.h"
#include "output_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct run {
	struct output_fixture fixture;
	struct recording *recording;
	char *path; /* of the file that ended last */
};

static int set_up(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	output_setup(&run->fixture, "x.perf");
	run->fixture.options.on_demand = true;
	run->recording = output_open(&run->fixture);
	*state = run;
	return 0;
}

static int tear_down(void **state)
{
	struct run *run = *state;

	output_teardown(&run->fixture);
	free(run->path);
	free(run);
	return 0;
}

static void end(struct run *run)
{
	free(run->path);
	assert_int_equal(recording_end(run->recording, NULL, 0, &run->path), 0);
}

static void makes_no_file_before_one_is_asked_for(void **state)
{
	struct run *run = *state;

	recording_tick(run->recording);
	assert_int_equal(recording_finish(run->recording), 0);
	assert_int_equal(folder_count(run->fixture.dir), 0);
}

static void each_file_is_whole_and_counts_from_where_it_begins(void **state)
{
	const struct perf_script_count before = {"lost_full", 3};
	struct perf_script_count count = {"lost_full", 7};
	struct run *run = *state;

	for (int i = 0; i < 2; i++) {
		size_t n_before = i == 0; /* the second holds what the run began with */
		const char *name = i == 0 ? "/x.0001.perf" : "/x.0002.perf";

		assert_int_equal(recording_begin(run->recording, 0, NULL), i + 1);
		assert_int_equal(recording_begin(run->recording, 0, NULL), -EBUSY);
		output_write(&run->fixture, run->recording, 30);
		recording_counts(run->recording, &count, 1);
		free(run->path);
		assert_int_equal(recording_end(run->recording, &before, n_before, &run->path), 0);
		assert_non_null(strstr(run->path, name));
	}
	_cleanup_free_ char *first = output_text(&run->fixture, "x.0001.perf");
	_cleanup_free_ char *second = output_text(&run->fixture, "x.0002.perf");

	assert_int_equal(strncmp(second, "# ========\n", 11), 0);
	assert_int_equal(output_count(second, " cpu-clock:"), 30);
	assert_non_null(strstr(first, "\"samples\":30,\"weight\":30,\"late\":0,\"lost_full\":4,"));
	assert_non_null(strstr(second, "\"samples\":30,\"weight\":30,\"late\":0,\"lost_full\":7,"));
	assert_int_equal(folder_count(run->fixture.dir), 2);
}

static void a_name_that_is_taken_is_passed_over(void **state)
{
	struct run *run = *state;

	folder_put(run->fixture.dir, "x.0001.perf", "");
	folder_put(run->fixture.dir, "x.0002.perf", "");
	assert_int_equal(recording_begin(run->recording, 0, NULL), 3);
	end(run);
	assert_non_null(strstr(run->path, "/x.0003.perf"));
	assert_int_equal(recording_begin(run->recording, 9, NULL), 9);
}

static void a_compressed_file_is_told_by_the_name_that_stays(void **state)
{
	struct run *run = *state;

	run->fixture.options.compress = COMPRESS_ZST;
	run->recording = output_open(&run->fixture);
	assert_int_equal(recording_begin(run->recording, 0, NULL), 1);
	output_write(&run->fixture, run->recording, 3);
	end(run);
	assert_non_null(strstr(run->path, "/x.0001.perf.zst"));
	assert_int_equal(recording_finish(run->recording), 0);
	assert_true(recording_settled(run->recording));
	assert_int_equal(access(run->path, F_OK), 0);
	assert_int_equal(folder_count(run->fixture.dir), 1);
}

static void a_file_without_samples_has_its_head_and_its_end(void **state)
{
	struct run *run = *state;

	assert_int_equal(recording_begin(run->recording, 0, NULL), 1);
	end(run);
	_cleanup_free_ char *text = output_text(&run->fixture, "x.0001.perf");

	assert_int_equal(strncmp(text, "# ========\n", 11), 0);
	assert_non_null(strstr(text, "# wick-end : {\"samples\":0,"));
}

static void a_file_that_was_removed_is_told(void **state)
{
	struct run *run = *state;
	char name[PATH_MAX];

	assert_int_equal(recording_begin(run->recording, 0, NULL), 1);
	output_write(&run->fixture, run->recording, 1);
	(void)snprintf(name, sizeof(name), "%s/x.0001.perf", run->fixture.dir);
	assert_int_equal(unlink(name), 0);
	output_write(&run->fixture, run->recording, 3);
	(void)recording_end(run->recording, NULL, 0, &run->path);
	assert_int_equal(run->fixture.n_told, 1);
}

static void a_note_stands_between_two_samples_and_counts_for_none(void **state)
{
	struct run *run = *state;

	recording_note(run->recording, "trigger", "{\"lost\":1}"); /* there is no file */
	assert_int_equal(recording_begin(run->recording, 0, NULL), 1);
	output_write(&run->fixture, run->recording, 20);
	recording_note(run->recording, "trigger", "{\"a\":1}");
	output_write(&run->fixture, run->recording, 2);
	end(run);
	_cleanup_free_ char *text = output_text(&run->fixture, "x.0001.perf");
	const char *note = strstr(text, "\n\n# trigger : {\"a\":1}\n");

	assert_non_null(note);
	assert_null(strstr(text, "lost\":1}"));
	assert_int_equal(output_count(note, " cpu-clock:"), 2);
	assert_non_null(strstr(text, "\"samples\":22,"));
}

static void a_file_without_comments_has_no_notes(void **state)
{
	struct run *run = *state;

	run->fixture.options.text.bare = true;
	run->recording = output_open(&run->fixture);
	assert_int_equal(recording_begin(run->recording, 0, NULL), 1);
	output_write(&run->fixture, run->recording, 2);
	recording_note(run->recording, "trigger", "{\"a\":1}");
	end(run);
	_cleanup_free_ char *text = output_text(&run->fixture, "x.0001.perf");

	assert_null(strchr(text, '#'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(makes_no_file_before_one_is_asked_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(each_file_is_whole_and_counts_from_where_it_begins,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_name_that_is_taken_is_passed_over, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_compressed_file_is_told_by_the_name_that_stays,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_without_samples_has_its_head_and_its_end,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_was_removed_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_note_stands_between_two_samples_and_counts_for_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_without_comments_has_no_notes, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

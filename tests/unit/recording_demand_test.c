/* recording_demand_test.c - files that are made when they are asked for, and notes between samples
 */
#include "base/cleanup.h"
#include "output/recording.h"
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

static struct recording *open_with(struct output_fixture *fixture)
{
	struct recording *recording = NULL;
	struct err err = {0};

	fixture->options.on_demand = true;
	if (recording_new(&fixture->options, &recording, &err) < 0)
		fail_msg("%s", err.text);
	return recording;
}

static void write_n(struct output_fixture *fixture, struct recording *recording, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sample sample = output_sample(fixture);

		recording_write(recording, &sample);
	}
}

static void put(const struct output_fixture *fixture, const char *name)
{
	char path[PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
}

static void makes_no_file_before_one_is_asked_for(void **state)
{
	struct output_fixture fixture;
	struct recording *recording;

	(void)state;
	output_setup(&fixture, "x.perf");
	recording = open_with(&fixture);
	recording_tick(recording);
	assert_int_equal(recording_finish(recording), 0);
	assert_int_equal(output_files(&fixture), 0);
	recording_free(recording);
	output_teardown(&fixture);
}

static void each_file_is_whole_and_counts_from_where_it_begins(void **state)
{
	const struct perf_script_count before = {"lost_full", 3};
	struct perf_script_count count = {"lost_full", 7};
	_cleanup_free_ char *first_path = NULL;
	_cleanup_free_ char *second_path = NULL;
	struct output_fixture fixture;
	struct recording *recording;

	(void)state;
	output_setup(&fixture, "x.perf");
	recording = open_with(&fixture);
	for (int i = 0; i < 2; i++) {
		size_t n_before = i == 0; /* the second holds what the run began with */

		assert_int_equal(recording_begin(recording, 0, NULL), i + 1);
		assert_int_equal(recording_begin(recording, 0, NULL), -EBUSY);
		write_n(&fixture, recording, 30);
		recording_counts(recording, &count, 1);
		assert_int_equal(recording_end(recording, &before, n_before,
					       i == 0 ? &first_path : &second_path),
				 0);
	}
	_cleanup_free_ char *first = output_text(&fixture, "x.0001.perf");
	_cleanup_free_ char *second = output_text(&fixture, "x.0002.perf");

	assert_non_null(strstr(first_path, "/x.0001.perf"));
	assert_non_null(strstr(second_path, "/x.0002.perf"));
	assert_int_equal(strncmp(second, "# ========\n", 11), 0);
	assert_int_equal(output_count(second, " cpu-clock:"), 30);
	assert_non_null(strstr(first, "\"samples\":30,\"weight\":30,\"late\":0,\"lost_full\":4,"));
	assert_non_null(strstr(second, "\"samples\":30,\"weight\":30,\"late\":0,\"lost_full\":7,"));
	assert_int_equal(output_files(&fixture), 2);
	recording_free(recording);
	output_teardown(&fixture);
}

static void a_name_that_is_taken_is_passed_over(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct output_fixture fixture;
	struct recording *recording;

	(void)state;
	output_setup(&fixture, "x.perf");
	put(&fixture, "x.0001.perf");
	put(&fixture, "x.0002.perf");
	recording = open_with(&fixture);
	assert_int_equal(recording_begin(recording, 0, NULL), 3);
	assert_int_equal(recording_end(recording, NULL, 0, &path), 0);
	assert_non_null(strstr(path, "/x.0003.perf"));
	assert_int_equal(recording_begin(recording, 9, NULL), 9);
	recording_free(recording);
	output_teardown(&fixture);
}

static void a_file_without_samples_has_its_head_and_its_end(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct output_fixture fixture;
	struct recording *recording;

	(void)state;
	output_setup(&fixture, "x.perf");
	recording = open_with(&fixture);
	assert_int_equal(recording_begin(recording, 0, NULL), 1);
	assert_int_equal(recording_end(recording, NULL, 0, &path), 0);
	_cleanup_free_ char *text = output_text(&fixture, "x.0001.perf");

	assert_int_equal(strncmp(text, "# ========\n", 11), 0);
	assert_non_null(strstr(text, "# wick-end : {\"samples\":0,"));
	recording_free(recording);
	output_teardown(&fixture);
}

static void a_file_that_was_removed_is_told(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct output_fixture fixture;
	struct recording *recording;
	char name[PATH_MAX];

	(void)state;
	output_setup(&fixture, "x.perf");
	recording = open_with(&fixture);
	assert_int_equal(recording_begin(recording, 0, NULL), 1);
	write_n(&fixture, recording, 1);
	(void)snprintf(name, sizeof(name), "%s/x.0001.perf", fixture.dir);
	assert_int_equal(unlink(name), 0);
	write_n(&fixture, recording, 3);
	(void)recording_end(recording, NULL, 0, &path);
	assert_int_equal(fixture.n_told, 1);
	recording_free(recording);
	output_teardown(&fixture);
}

static void a_note_stands_between_two_samples_and_counts_for_none(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct output_fixture fixture;
	struct recording *recording;

	(void)state;
	output_setup(&fixture, "x.perf");
	recording = open_with(&fixture);
	recording_note(recording, "trigger", "{\"lost\":1}"); /* there is no file */
	assert_int_equal(recording_begin(recording, 0, NULL), 1);
	write_n(&fixture, recording, 20);
	recording_note(recording, "trigger", "{\"a\":1}");
	write_n(&fixture, recording, 2);
	assert_int_equal(recording_end(recording, NULL, 0, &path), 0);
	_cleanup_free_ char *text = output_text(&fixture, "x.0001.perf");
	const char *note = strstr(text, "\n\n# trigger : {\"a\":1}\n");

	assert_non_null(note);
	assert_null(strstr(text, "lost\":1}"));
	assert_int_equal(output_count(note, " cpu-clock:"), 2);
	assert_non_null(strstr(text, "\"samples\":22,"));
	recording_free(recording);
	output_teardown(&fixture);
}

static void a_file_without_comments_has_no_notes(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct output_fixture fixture;
	struct recording *recording;

	(void)state;
	output_setup(&fixture, "x.perf");
	fixture.options.text.bare = true;
	recording = open_with(&fixture);
	assert_int_equal(recording_begin(recording, 0, NULL), 1);
	write_n(&fixture, recording, 2);
	recording_note(recording, "trigger", "{\"a\":1}");
	assert_int_equal(recording_end(recording, NULL, 0, &path), 0);
	_cleanup_free_ char *text = output_text(&fixture, "x.0001.perf");

	assert_null(strchr(text, '#'));
	recording_free(recording);
	output_teardown(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_no_file_before_one_is_asked_for),
		cmocka_unit_test(each_file_is_whole_and_counts_from_where_it_begins),
		cmocka_unit_test(a_name_that_is_taken_is_passed_over),
		cmocka_unit_test(a_file_without_samples_has_its_head_and_its_end),
		cmocka_unit_test(a_file_that_was_removed_is_told),
		cmocka_unit_test(a_note_stands_between_two_samples_and_counts_for_none),
		cmocka_unit_test(a_file_without_comments_has_no_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

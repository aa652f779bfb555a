/* recording_test.c - flush, rotation, names that are taken, counts at the end of a file */
#include "base/cleanup.h"
#include "base/io.h"
#include "output/files/internal.h"
#include "output/files/recording.h"
#include "output_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static size_t samples_in(const struct output_fixture *fixture, const char *name)
{
	_cleanup_free_ char *text = output_text(fixture, name);

	assert_true(output_ends_whole(text));
	return output_count(text, " cpu-clock:");
}

static void writes_the_first_samples_at_once(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct stat st;

	recording = output_open(fixture);
	output_write(fixture, recording, 1);
	assert_int_equal(samples_in(fixture, "x.perf"), 1);
	assert_int_equal(lstat(fixture->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void keeps_later_ones_until_they_are_as_old_as_the_flush(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	fixture->now_ns -= 500000000U;
	recording = output_open(fixture);
	output_write(fixture, recording, RECORDING_FIRST_SAMPLES + 3);
	recording_tick(recording);
	assert_int_equal(samples_in(fixture, "x.perf"), RECORDING_FIRST_SAMPLES);
	recording->backlog.oldest_ns -= 450000000U;
	recording_tick(recording);
	assert_int_equal(samples_in(fixture, "x.perf"), RECORDING_FIRST_SAMPLES + 3);
}

static void ends_a_file_with_what_was_counted(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct perf_script_count count = {"lost_full", 7};
	struct recording_stats stats;

	recording = output_open(fixture);
	output_write(fixture, recording, 20);
	recording_counts(recording, &count, 1);
	assert_int_equal(recording_finish(recording), 0);
	recording_stats(recording, &stats);
	assert_int_equal(stats.samples, 20);
	assert_int_equal(stats.segments, 1);
	assert_int_equal(stats.n_paths, 1);
	assert_string_equal(stats.paths[0], fixture->path);
	_cleanup_free_ char *text = output_text(fixture, "x.perf");

	assert_non_null(strstr(text, "\n\n# wick-end : {\"samples\":20,\"weight\":20,\"late\":0,"
				     "\"lost_full\":7,\"dropped\":0}\n"));
	assert_int_equal(stats.bytes, strlen(text));
}

static void rotates_by_samples_and_counts_each_file_on_its_own(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct perf_script_count count = {"lost_full", 7};
	struct recording_stats stats;

	fixture->options.rotate.samples = 5;
	recording = output_open(fixture);
	output_write(fixture, recording, 5);
	recording_counts(recording, &count, 1);
	output_write(fixture, recording, 2);
	count.value = 9;
	recording_counts(recording, &count, 1);
	output_write(fixture, recording, 5);
	assert_int_equal(recording_finish(recording), 0);
	assert_int_equal(samples_in(fixture, "x.0001.perf"), 5);
	assert_int_equal(samples_in(fixture, "x.0002.perf"), 5);
	assert_int_equal(samples_in(fixture, "x.0003.perf"), 2);
	assert_false(output_exists(fixture, "x.perf"));
	_cleanup_free_ char *first = output_text(fixture, "x.0001.perf");
	_cleanup_free_ char *second = output_text(fixture, "x.0002.perf");

	assert_non_null(strstr(first, "\"lost_full\":7,"));
	assert_non_null(strstr(second, "\"lost_full\":2,"));
	assert_non_null(strstr(second, "\"epoch_offset_ns\":"));
	recording_stats(recording, &stats);
	assert_int_equal(stats.samples, 12);
	assert_int_equal(stats.n_paths, 3);
	assert_int_equal(stats.single_segments, 0);
}

/* A sample waits for a second one before there is a file for both; its labels were views. */
static void a_sample_that_waits_for_a_file_keeps_its_labels(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	fixture->options.rotate.samples = 2;
	recording = output_open(fixture);
	for (size_t i = 0; i < 6; i++) {
		char value[] = {'/', (char)('0' + i), '\0'};
		struct sample_label label = {.key = "identity", .value = value};
		struct sample sample = output_sample(fixture);

		sample.labels = &label;
		sample.n_labels = 1;
		recording_write(recording, &sample);
	}
	assert_int_equal(recording_finish(recording), 0);
	for (size_t i = 1; i <= 3; i++) {
		char name[16];
		char labels[2][16];

		(void)snprintf(name, sizeof(name), "x.%04zu.perf", i);
		(void)snprintf(labels[0], sizeof(labels[0]), "identity=/%zu", 2 * i - 2);
		(void)snprintf(labels[1], sizeof(labels[1]), "identity=/%zu", 2 * i - 1);
		_cleanup_free_ char *text = output_text(fixture, name);

		assert_int_equal(output_count(text, labels[0]), 1);
		assert_int_equal(output_count(text, labels[1]), 1);
	}
}

static void ended(void *context)
{
	struct output_fixture *fixture = context;

	recording_note(fixture->recording, "req", "{\"tier\":\"db\"}");
}

/* Also where a sample waits for the next file. */
static void each_file_gets_a_last_note_before_the_next(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	fixture->options.rotate.samples = 2;
	fixture->options.ending = ended;
	fixture->options.ending_context = fixture;
	recording = output_open(fixture);
	output_write(fixture, recording, 6);
	assert_int_equal(recording_finish(recording), 0);
	for (size_t i = 1; i <= 2; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "x.%04zu.perf", i);
		_cleanup_free_ char *text = output_text(fixture, name);

		assert_int_equal(output_count(text, " cpu-clock:"), 2);
		assert_non_null(strstr(text, "\n\n# req : {\"tier\":\"db\"}\n# wick-end : "));
	}
}

static void never_leaves_one_sample_alone_in_a_file(void **state)
{
	(void)state;
	for (size_t n = 2; n < 14; n++) {
		struct output_fixture fixture;
		struct recording *recording;
		struct recording_stats stats;

		output_setup(&fixture, "x.perf");
		fixture.options.rotate.samples = 3;
		recording = output_open(&fixture);
		output_write(&fixture, recording, n);
		assert_int_equal(recording_finish(recording), 0);
		recording_stats(recording, &stats);
		assert_int_equal(stats.samples, n);
		assert_int_equal(stats.single_segments, 0);
		output_teardown(&fixture);
	}
}

static void says_that_a_recording_has_one_sample(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct recording_stats stats;

	recording = output_open(fixture);
	output_write(fixture, recording, 1);
	assert_int_equal(recording_finish(recording), 0);
	recording_stats(recording, &stats);
	assert_int_equal(stats.single_segments, 1);
}

static void moves_a_sample_that_was_written_while_it_waited(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct recording_stats stats;

	fixture->options.rotate.samples = 3;
	recording = output_open(fixture);
	output_write(fixture, recording, 4);
	assert_int_equal(samples_in(fixture, "x.0001.perf"), 3);
	recording->held.time_ns -= 2000000000U; /* it has waited long enough */
	recording_tick(recording);
	assert_int_equal(samples_in(fixture, "x.0001.perf"), 4);
	output_write(fixture, recording, 1);
	assert_int_equal(recording_finish(recording), 0);
	assert_int_equal(samples_in(fixture, "x.0001.perf"), 3);
	assert_int_equal(samples_in(fixture, "x.0002.perf"), 2);
	recording_stats(recording, &stats);
	assert_int_equal(stats.samples, 5);
	assert_int_equal(stats.weight, 5);
}

static void put_memory(struct output_fixture *fixture, struct recording *recording, bool taken)
{
	struct sample sample = output_sample(fixture);

	sample.op = taken ? "alloc" : "free";
	sample.weight = taken ? 10 : 0;
	recording_write(recording, &sample);
}

/* Each file but the last ends when there are two that any program counts for the next. */
static void releases_stay_in_the_file_that_goes_on(void **state)
{
	static const char *const names[] = {"x.0001.perf", "x.0002.perf", "x.0003.perf"};
	static const size_t taken[] = {3, 4, 3};
	static const size_t given[] = {4, 4, 31}; /* the last 30 samples are releases */
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct recording_stats stats;

	fixture->options.rotate.samples = 6;
	recording = output_open(fixture);
	for (size_t i = 0; i < 49; i++)
		put_memory(fixture, recording, i < 19 && i % 2 == 0);
	assert_int_equal(recording_finish(recording), 0);
	recording_stats(recording, &stats);
	assert_int_equal(stats.samples, 49);
	assert_int_equal(stats.segments, 3);
	for (size_t i = 0; i < 3; i++) {
		_cleanup_free_ char *text = output_text(fixture, names[i]);

		assert_int_equal(output_count(text, "\napp "), taken[i]);
		assert_int_equal(output_count(text, "\n# f app "), given[i]);
		assert_int_equal(output_count(text, "\n# f\n"), given[i]);
		assert_int_equal(output_count(text, " op=free\n# f app "), given[i]);
		assert_int_equal(output_count(text, "\"late\":0,"), 1);
	}
}

/* A sample that waits is written meanwhile: what comes behind it stays when it moves on. */
static void nothing_is_cut_off_with_the_sample_that_moves(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	fixture->options.rotate.samples = 2;
	recording = output_open(fixture);
	for (size_t i = 0; i < 3; i++)
		put_memory(fixture, recording, true);
	for (size_t i = 0; i < 2; i++) {
		recording->held.time_ns -= 2000000000U;
		recording_tick(recording);
		assert_int_equal(recording->held_as, HELD_WRITTEN);
		if (i == 0)
			put_memory(fixture, recording, false);
		else
			recording_note(recording, "rate", "{\"hz\":7}");
		assert_int_equal(recording->held_as, HELD_IN_MEMORY);
	}
	put_memory(fixture, recording, true);
	assert_int_equal(recording_finish(recording), 0);
	_cleanup_free_ char *first = output_text(fixture, "x.0001.perf");
	_cleanup_free_ char *second = output_text(fixture, "x.0002.perf");

	assert_int_equal(output_count(first, "\napp "), 2);
	assert_int_equal(output_count(first, "\n# f app "), 1);
	assert_int_equal(output_count(first, "# rate : {\"hz\":7}\n"), 1);
	assert_non_null(strstr(first, "\"samples\":3,\"weight\":20,\"late\":0,\"releases\":1,"));
	assert_int_equal(output_count(second, "\napp "), 2);
	assert_non_null(strstr(second, "\"samples\":2,\"weight\":20,\"late\":0,"));
}

static void rotates_by_size_and_by_time(void **state)
{
	struct output_fixture fixture;
	struct recording *recording;
	struct stat st;

	(void)state;
	output_setup(&fixture, "size.perf");
	fixture.options.rotate.bytes = 8192;
	recording = output_open(&fixture);
	output_write(&fixture, recording, 200);
	assert_int_equal(recording_finish(recording), 0);
	assert_int_equal(lstat(recording->paths[0], &st), 0);
	assert_in_range(st.st_size, 8192 - 700, 8192);
	assert_in_range(recording->n_paths, 3, 10);
	output_teardown(&fixture);

	output_setup(&fixture, "time.perf");
	fixture.options.rotate.ns = 60000000000U;
	recording = output_open(&fixture);
	output_write(&fixture, recording, 20);
	assert_false(output_exists(&fixture, "time.0002.perf"));
	recording->segment.opened_ns -= 60000000000U;
	output_write(&fixture, recording, 2);
	assert_true(output_exists(&fixture, "time.0002.perf"));
	output_teardown(&fixture);
}

static void overwrites_nothing(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording = NULL;
	struct err err = {0};

	folder_put(fixture->dir, "x.perf", "mine");
	assert_int_equal(recording_new(&fixture->options, &recording, &err), -EEXIST);
	assert_null(recording);
	assert_non_null(strstr(err.text, "x.perf"));
	_cleanup_free_ char *text = output_text(fixture, "x.perf");

	assert_string_equal(text, "mine");
	folder_put(fixture->dir, "x.0002.perf", "mine too");
	fixture->options.rotate.samples = 3;
	recording = output_open(fixture);
	output_write(fixture, recording, 5);
	assert_int_equal(recording_finish(recording), 0);
	_cleanup_free_ char *other = output_text(fixture, "x.0002.perf");

	assert_string_equal(other, "mine too");
	assert_int_equal(samples_in(fixture, "x.0003.perf"), 2);
}

static void follows_no_link(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording = NULL;
	char target[PATH_MAX];

	(void)snprintf(target, sizeof(target), "%s/elsewhere", fixture->dir);
	assert_int_equal(symlink(target, fixture->path), 0);
	assert_int_equal(recording_new(&fixture->options, &recording, NULL), -EEXIST);
	assert_false(output_exists(fixture, "elsewhere"));
}

static void takes_another_default_name_when_one_is_taken(void **state)
{
	struct output_fixture fixture;
	struct recording *recording;
	struct recording_stats stats;
	char cwd[PATH_MAX];

	(void)state;
	output_setup(&fixture, "unused");
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(fixture.dir), 0);
	for (time_t at = time(NULL); at < time(NULL) + 5; at++) {
		struct file_name name = {.pattern = "wick.%c.%p.%t.perf",
					 .comm = "app",
					 .pid = 4000,
					 .time_ns = (uint64_t)at * 1000000000U};
		char path[PATH_MAX];

		assert_int_equal(file_name_make(&name, path, NULL), 0);
		folder_put(fixture.dir, path, "taken");
	}
	fixture.options.path = NULL;
	recording = output_open(&fixture);
	recording_stats(recording, &stats);
	assert_int_equal(strncmp(stats.paths[0], "wick.app.4000.2", 15), 0);
	assert_non_null(strstr(stats.paths[0], "Z-1.perf"));
	output_close(&fixture);
	assert_int_equal(chdir(cwd), 0);
	output_teardown(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		output_test(writes_the_first_samples_at_once),
		output_test(keeps_later_ones_until_they_are_as_old_as_the_flush),
		output_test(ends_a_file_with_what_was_counted),
		output_test(rotates_by_samples_and_counts_each_file_on_its_own),
		output_test(a_sample_that_waits_for_a_file_keeps_its_labels),
		output_test(each_file_gets_a_last_note_before_the_next),
		cmocka_unit_test(never_leaves_one_sample_alone_in_a_file),
		output_test(says_that_a_recording_has_one_sample),
		output_test(moves_a_sample_that_was_written_while_it_waited),
		output_test(releases_stay_in_the_file_that_goes_on),
		output_test(nothing_is_cut_off_with_the_sample_that_moves),
		cmocka_unit_test(rotates_by_size_and_by_time),
		output_test(overwrites_nothing),
		output_test(follows_no_link),
		cmocka_unit_test(takes_another_default_name_when_one_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* recording_disk_test.c - disks that fail: the Nth write, short writes, full, removed, read-only */
#include "base/cleanup.h"
#include "base/io.h"
#include "output/files/internal.h"
#include "output/files/recording.h"
#include "output_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* What the disk does wrong, and when. */
static struct {
	unsigned n_writes; /* so far */
	unsigned fail_at;  /* this write and the ones after it, N_FAIL of them */
	unsigned n_fail;
	size_t take; /* bytes that a failing write takes before; 0: it fails at once */
	bool cannot_cut;
} faults;

static ssize_t faulty_write(int fd, const void *bytes, size_t len, off_t offset)
{
	unsigned n = ++faults.n_writes;
	bool fails = n >= faults.fail_at && n < faults.fail_at + faults.n_fail;

	if (!fails)
		return pwrite(fd, bytes, len, offset);
	if (faults.take && faults.take < len) /* short; the rest of it fails */
		return pwrite(fd, bytes, faults.take, offset);
	errno = ENOSPC;
	return -1;
}

static int faulty_truncate(int fd, off_t len)
{
	if (faults.cannot_cut) {
		errno = EIO;
		return -1;
	}
	return ftruncate(fd, len);
}

static const struct segment_disk faulty_disk = {faulty_write, faulty_truncate};

static struct recording *open_faulty(struct output_fixture *fixture)
{
	struct recording *recording = output_open(fixture);

	recording->disk = &faulty_disk;
	recording->segment.disk = &faulty_disk;
	return recording;
}

static void tick(struct recording *recording)
{
	recording->retry_ns = 0;
	recording_tick(recording);
}

static size_t samples_in(const struct output_fixture *fixture, const char *name)
{
	_cleanup_free_ char *text = output_text(fixture, name);

	if (!output_ends_whole(text))
		fail_msg("write %u, take %zu: '%s' ends on: %s", faults.fail_at, faults.take, name,
			 strlen(text) > 60 ? text + strlen(text) - 60 : text);
	return output_count(text, " cpu-clock:");
}

static size_t samples_in_all(const struct output_fixture *fixture)
{
	static const char *const names[] = {"x.0001.perf", "x.0002.perf", "x.0003.perf",
					    "x.0004.perf", "x.0005.perf", "x.0006.perf"};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		n += samples_in(fixture, names[i]);
	return n;
}

/* One recording with fault N; returns how many writes it made. */
static unsigned record_with_faults(unsigned fail_at, unsigned n_fail, size_t take)
{
	struct output_fixture fixture;
	struct recording *recording;
	struct recording_stats stats;

	memset(&faults, 0, sizeof(faults));
	faults.fail_at = fail_at;
	faults.n_fail = n_fail;
	faults.take = take;
	output_setup(&fixture, "x.perf");
	fixture.options.rotate.samples = 8;
	recording = open_faulty(&fixture);
	for (int i = 0; i < 10; i++) {
		output_write(&fixture, recording, 4);
		(void)samples_in_all(&fixture);
		tick(recording);
		(void)samples_in_all(&fixture);
	}
	(void)recording_finish(recording);
	recording_stats(recording, &stats);
	assert_int_equal(stats.samples + stats.dropped, 40);
	assert_int_equal(samples_in_all(&fixture), stats.samples);
	if (n_fail && fail_at < faults.n_writes - 4)
		assert_in_range(fixture.n_told, 0, 1);
	output_teardown(&fixture);
	return faults.n_writes;
}

static void ends_on_a_whole_sample_whichever_write_fails(void **state)
{
	unsigned n = record_with_faults(0, 0, 0);

	(void)state;
	assert_in_range(n, 20, 200);
	for (unsigned i = 1; i <= n; i++) {
		(void)record_with_faults(i, 1, 0);
		(void)record_with_faults(i, 3, 0);
		(void)record_with_faults(i, 1000, 0);
	}
}

static void ends_on_a_whole_sample_whichever_write_is_short(void **state)
{
	unsigned n = record_with_faults(0, 0, 0);

	(void)state;
	for (unsigned i = 1; i <= n; i++) {
		(void)record_with_faults(i, 1, 1);
		(void)record_with_faults(i, 1, 150);
		(void)record_with_faults(i, 2, 97);
		(void)record_with_faults(i, 1000, 61);
	}
}

static void loses_nothing_to_a_short_trouble(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct recording_stats stats;

	recording = open_faulty(fixture);
	output_write(fixture, recording, 10);
	faults.fail_at = faults.n_writes + 1;
	faults.n_fail = 3;
	output_write(fixture, recording, 30);
	assert_int_equal(fixture->n_told, 1);
	assert_non_null(strstr(buf_text(&fixture->told), "No space left on device"));
	tick(recording);
	tick(recording);
	tick(recording);
	assert_int_equal(recording_finish(recording), 0);
	recording_stats(recording, &stats);
	assert_int_equal(stats.samples, 40);
	assert_int_equal(samples_in(fixture, "x.perf"), 40);
}

static void overwrites_what_it_could_not_cut(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	recording = open_faulty(fixture);
	output_write(fixture, recording, 10);
	faults.fail_at = faults.n_writes + 1;
	faults.n_fail = 2;
	faults.take = 50;
	faults.cannot_cut = true;
	output_write(fixture, recording, 3);
	faults.cannot_cut = false;
	faults.n_fail = 0;
	tick(recording);
	assert_int_equal(samples_in(fixture, "x.perf"), 13);
}

static void says_in_the_end_what_was_dropped(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct recording_stats stats;
	char dropped[64];

	recording = open_faulty(fixture);
	output_write(fixture, recording, 10);
	faults.fail_at = faults.n_writes + 1;
	faults.n_fail = 1000000;
	output_write(fixture, recording, 9000); /* more than waits for a disk */
	recording_stats(recording, &stats);
	assert_in_range(stats.dropped, 1, 8999);
	faults.n_fail = 0;
	tick(recording);
	assert_int_equal(recording_finish(recording), -EIO);
	assert_int_equal(samples_in(fixture, "x.perf") + stats.dropped, 9010);
	(void)snprintf(dropped, sizeof(dropped), "\"dropped\":%llu}\n",
		       (unsigned long long)stats.dropped);
	_cleanup_free_ char *text = output_text(fixture, "x.perf");

	assert_non_null(strstr(text, dropped));
	assert_int_equal(fixture->n_told, 1);
}

enum { NOTES = 3000, NOTE_BYTES = 1000 }; /* more than waits for a disk */

static void write_notes(struct recording *recording)
{
	char json[NOTE_BYTES];

	(void)snprintf(json, sizeof(json), "{\"a\":\"%0*d\"}", NOTE_BYTES - 10, 0);
	for (int i = 0; i < NOTES; i++)
		recording_note(recording, "req", json);
}

static void all_notes_are_in_the_file_however_many_come_at_once(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording = open_faulty(fixture);

	output_write(fixture, recording, 10);
	write_notes(recording);
	assert_int_equal(recording_finish(recording), 0);
	_cleanup_free_ char *text = output_text(fixture, "x.perf");

	assert_int_equal(output_count(text, "\n# req : {"), NOTES);
	assert_null(strstr(text, "dropped_lines"));
	assert_int_equal(recording->stats.dropped_lines, 0);
}

/* Those that a full disk did not take, those that were refused, and those that were never made. */
static void says_in_the_end_how_many_notes_are_missing(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording = open_faulty(fixture);
	char dropped[64];
	size_t n;

	output_write(fixture, recording, 10);
	faults.fail_at = faults.n_writes + 1;
	faults.n_fail = 1;
	write_notes(recording);
	assert_in_range(recording->stats.dropped_lines, 1, NOTES - 1);
	recording_left_out(recording, 7);
	tick(recording);
	recording_note(recording, "req", "{}");
	faults.fail_at = faults.n_writes + 1; /* the last flush; the end line is written */
	assert_int_equal(recording_finish(recording), 0);
	_cleanup_free_ char *text = output_text(fixture, "x.perf");

	n = output_count(text, "\n# req : {");
	assert_in_range(n, 1, NOTES - 1);
	assert_int_equal(n + recording->stats.dropped_lines, NOTES + 1 + 7);
	(void)snprintf(dropped, sizeof(dropped), "\"dropped\":0,\"dropped_lines\":%llu}\n",
		       (unsigned long long)recording->stats.dropped_lines);
	assert_non_null(strstr(text, dropped));
}

static void goes_on_in_a_new_file_when_one_is_removed(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	recording = open_faulty(fixture);
	output_write(fixture, recording, 20);
	assert_int_equal(unlink(fixture->path), 0);
	recording->backlog.oldest_ns = 1;
	tick(recording);
	output_write(fixture, recording, 5);
	assert_int_equal(recording_finish(recording), -EIO);
	assert_int_equal(samples_in(fixture, "x.perf"), 5);
	_cleanup_free_ char *text = output_text(fixture, "x.perf");

	assert_non_null(strstr(text, "\"dropped\":4}"));
	assert_int_equal(fixture->n_told, 1);
}

static void remove_and_write_notes(void *context)
{
	struct output_fixture *fixture = context;
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/x.0001.perf", fixture->dir);
	if (unlink(path) == 0)
		write_notes(fixture->recording);
}

/* What an end adds to a file may be what shows that the file can take nothing. */
static void begins_one_file_when_the_last_notes_fail(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	fixture->options.rotate.samples = 2;
	fixture->options.ending = remove_and_write_notes;
	fixture->options.ending_context = fixture;
	recording = open_faulty(fixture);
	output_write(fixture, recording, 4);
	assert_int_equal(recording_finish(recording), 0);
	assert_int_equal(samples_in(fixture, "x.0002.perf"), 2);
	assert_false(output_exists(fixture, "x.0003.perf"));
	_cleanup_free_ char *text = output_text(fixture, "x.0002.perf");

	assert_in_range(recording->stats.dropped_lines, 1, NOTES);
	assert_int_equal(output_count(text, "\n# req : {") + recording->stats.dropped_lines, NOTES);
}

static void waits_for_a_directory_that_was_removed(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct recording_stats stats;

	recording = open_faulty(fixture);
	output_write(fixture, recording, 20);
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(rmdir(fixture->dir), 0);
	recording->backlog.oldest_ns = 1;
	tick(recording);
	output_write(fixture, recording, 5);
	assert_int_equal(recording->stats.dropped, 9);
	assert_int_equal(mkdir(fixture->dir, 0700), 0);
	tick(recording);
	output_write(fixture, recording, 5);
	(void)recording_finish(recording);
	recording_stats(recording, &stats);
	assert_int_equal(samples_in(fixture, "x.perf"), 5);
	assert_int_equal(fixture->n_told, 2); /* removed; cannot be made again */
}

static void survives_a_limit_of_the_file_size(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct rlimit before;
	struct rlimit limit;
	struct recording_stats stats;

	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 6000;
	recording = open_faulty(fixture);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 60; i++) {
		output_write(fixture, recording, 1);
		recording->backlog.oldest_ns = 1;
		tick(recording);
	}
	(void)recording_finish(recording);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	recording_stats(recording, &stats);
	assert_int_equal(stats.samples + stats.dropped, 60);
	assert_in_range(stats.segments, 2, 5);
	assert_int_equal(samples_in(fixture, "x.perf") + samples_in_all(fixture), stats.samples);
	assert_int_equal(fixture->n_told, 1);
}

/* A real full disk: 64 KiB of tmpfs, filled by another process, then freed. */
static void resumes_when_a_full_disk_has_room(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct recording_stats stats;
	char ballast[PATH_MAX];
	FILE *file;

	if (mount("tmpfs", fixture->dir, "tmpfs", 0, "size=64k") < 0) {
		print_message("cannot mount a small disk here\n");
		skip();
	}
	(void)snprintf(ballast, sizeof(ballast), "%s/ballast", fixture->dir);
	recording = open_faulty(fixture);
	output_write(fixture, recording, 16);
	file = fopen(ballast, "w");
	for (int i = 0; i < 64 * 1024; i++)
		(void)fputc('x', file);
	(void)fclose(file);
	for (int i = 0; i < 40; i++) {
		output_write(fixture, recording, 5);
		recording->backlog.oldest_ns = 1;
		tick(recording);
		(void)samples_in(fixture, "x.perf");
	}
	recording_stats(recording, &stats);
	assert_int_equal(fixture->n_told, 1);
	assert_true(samples_in(fixture, "x.perf") < 216);
	(void)unlink(ballast);
	tick(recording);
	(void)recording_finish(recording);
	assert_int_equal(samples_in(fixture, "x.perf") + stats.dropped, 216);
	output_close(fixture);
	(void)unlink(fixture->path);
	assert_int_equal(umount(fixture->dir), 0);
}

static int begin(void **state)
{
	memset(&faults, 0, sizeof(faults));
	return output_begin(state);
}

#define disk_test(test) cmocka_unit_test_setup_teardown(test, begin, output_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_on_a_whole_sample_whichever_write_fails),
		cmocka_unit_test(ends_on_a_whole_sample_whichever_write_is_short),
		disk_test(loses_nothing_to_a_short_trouble),
		disk_test(overwrites_what_it_could_not_cut),
		disk_test(says_in_the_end_what_was_dropped),
		disk_test(all_notes_are_in_the_file_however_many_come_at_once),
		disk_test(says_in_the_end_how_many_notes_are_missing),
		disk_test(goes_on_in_a_new_file_when_one_is_removed),
		disk_test(begins_one_file_when_the_last_notes_fail),
		disk_test(waits_for_a_directory_that_was_removed),
		disk_test(survives_a_limit_of_the_file_size),
		disk_test(resumes_when_a_full_disk_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

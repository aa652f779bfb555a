/* archive_test.c - closed segments: compressed whole, hooked in order, kept as asked */
#include "output/files/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "output_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

enum { TEXT_SIZE = 1 << 20 };

static const uint64_t second_ns = 1000000000U;

/* N recorded segments of two samples each, through OPTIONS. */
static struct recording *record(struct output_fixture *fixture, size_t n)
{
	struct recording *recording;

	fixture->options.rotate.samples = 2;
	recording = output_open(fixture);
	output_write(fixture, recording, 2 * n);
	return recording;
}

static size_t unpack_gz(const char *path, char *to)
{
	gzFile file = gzopen(path, "rb");
	int n = gzread(file, to, TEXT_SIZE - 1);

	assert_true(n >= 0);
	(void)gzclose(file);
	to[n] = '\0';
	return (size_t)n;
}

static void compresses_each_closed_file_to_one_member(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	char path[PATH_MAX + 32];
	struct stat st;
	struct buf raw;

	fixture->options.compress = COMPRESS_GZ;
	recording = record(fixture, 3);
	assert_int_equal(recording_finish(recording), 0);
	assert_int_equal(folder_count(fixture->dir), 3);
	assert_int_equal(recording->n_paths, 3);
	_cleanup_free_ char *text = malloc(TEXT_SIZE);

	for (int i = 1; i <= 3; i++) {
		z_stream gz = {0};

		(void)snprintf(path, sizeof(path), "%s/x.%04d.perf.gz", fixture->dir, i);
		assert_true(unpack_gz(path, text) > 0);
		assert_true(output_ends_whole(text));
		assert_int_equal(output_count(text, " cpu-clock:"), 2);
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		/* the first member is all of the file */
		buf_init(&raw, TEXT_SIZE);
		assert_int_equal(io_read_file(path, &raw, NULL), 0);
		assert_int_equal(inflateInit2(&gz, 15 + 16), Z_OK);
		gz.next_in = (Bytef *)raw.data;
		gz.avail_in = (uInt)raw.len;
		gz.next_out = (Bytef *)text;
		gz.avail_out = TEXT_SIZE;
		assert_int_equal(inflate(&gz, Z_FINISH), Z_STREAM_END);
		assert_int_equal(gz.avail_in, 0);
		(void)inflateEnd(&gz);
		buf_release(&raw);
	}
}

static void compresses_to_zstd(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	char path[PATH_MAX + 32];
	struct buf raw;
	size_t n;

	fixture->options.compress = COMPRESS_ZST;
	recording = record(fixture, 1);
	assert_int_equal(recording_finish(recording), 0);
	(void)snprintf(path, sizeof(path), "%s/x.0001.perf.zst", fixture->dir);
	buf_init(&raw, TEXT_SIZE);
	assert_int_equal(io_read_file(path, &raw, NULL), 0);
	_cleanup_free_ char *text = malloc(TEXT_SIZE);

	n = ZSTD_decompress(text, TEXT_SIZE - 1, raw.data, raw.len);
	assert_false(ZSTD_isError(n));
	text[n] = '\0';
	assert_int_equal(output_count(text, " cpu-clock:"), 2);
	buf_release(&raw);
}

static void leaves_a_file_whose_compressed_name_is_taken(void **state)
{
	struct archive_options options = {.compress = COMPRESS_GZ, .backoff_ns = 1};
	struct output_fixture fixture;
	struct archive *archive = NULL;
	char path[PATH_MAX + 32];
	struct stat st;

	(void)state;
	output_setup(&fixture, "x");
	folder_put(fixture.dir, "x.gz", "mine");
	folder_put(fixture.dir, "x", "text");
	(void)snprintf(path, sizeof(path), "%s/x", fixture.dir);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(archive_new(&options, &archive, NULL), 0);
	assert_int_equal(archive_add(archive, path, st.st_dev, st.st_ino), 0);
	assert_int_equal(archive_drain(archive, 10 * second_ns), 0);
	_cleanup_free_ char *message = archive_message(archive);
	_cleanup_free_ char *mine = output_text(&fixture, "x.gz");
	_cleanup_free_ char *text = output_text(&fixture, "x");

	assert_non_null(strstr(message, "File exists"));
	assert_string_equal(mine, "mine");
	assert_string_equal(text, "text");
	assert_int_equal(folder_count(fixture.dir), 2);
	archive_free(archive);
	output_teardown(&fixture);
}

static void runs_the_hook_in_order_with_the_path_as_an_argument(void **state)
{
	struct output_fixture fixture;
	struct recording *recording;

	(void)state;
	output_setup(&fixture, "a $(touch pwned) 'b.perf");
	assert_int_equal(setenv("DIR", fixture.dir, 1), 0);
	static const char hook[] = "test \"$0\" = wick && cat >$DIR/in && "
				   "echo \"${1##*/}\" >>$DIR/order";

	fixture.options.on_rotate = hook;
	fixture.options.compress = COMPRESS_GZ;
	recording = record(&fixture, 3);
	assert_int_equal(recording_finish(recording), 0);
	_cleanup_free_ char *order = output_text(&fixture, "order");
	_cleanup_free_ char *in = output_text(&fixture, "in");

	assert_string_equal(order, "a $(touch pwned) 'b.0001.perf.gz\n"
				   "a $(touch pwned) 'b.0002.perf.gz\n"
				   "a $(touch pwned) 'b.0003.perf.gz\n");
	assert_string_equal(in, "");
	output_teardown(&fixture);
}

static void tries_a_failing_hook_five_times_and_tells_each_cause_once(void **state)
{
	struct archive_options options = {.backoff_ns = 1000000U};
	struct output_fixture fixture;
	struct archive *archive = NULL;
	struct archive_stats stats;
	char path[PATH_MAX + 32];
	size_t n_told = 0;
	char *message;

	(void)state;
	output_setup(&fixture, "x");
	assert_int_equal(setenv("DIR", fixture.dir, 1), 0);
	static const char hook[] = "echo x >>$DIR/tries; exit 7";

	options.on_rotate = hook;
	options.keep.samples = 1;
	assert_int_equal(archive_new(&options, &archive, NULL), 0);
	for (int i = 0; i < 3; i++) {
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/x%d", fixture.dir, i);
		file_write(path, "", 0);
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(archive_add(archive, path, st.st_dev, st.st_ino), 0);
	}
	assert_int_equal(archive_drain(archive, 20 * second_ns), 0);
	while ((message = archive_message(archive))) {
		assert_non_null(strstr(message, "exited with status 7"));
		free(message);
		n_told++;
	}
	archive_stats(archive, &stats);
	_cleanup_free_ char *tries = output_text(&fixture, "tries");

	assert_int_equal(n_told, 1);
	assert_int_equal(output_count(tries, "x"), 15);
	assert_int_equal(stats.hook_failures, 15);
	assert_int_equal(stats.n_given_up, 3);
	/* having failed five times, the older two may go */
	assert_false(output_exists(&fixture, "x0"));
	assert_false(output_exists(&fixture, "x1"));
	assert_true(output_exists(&fixture, "x2"));
	archive_free(archive);
	output_teardown(&fixture);
}

static void succeeds_after_failures(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	struct recording_stats stats;

	assert_int_equal(setenv("DIR", fixture->dir, 1), 0);
	static const char hook[] = "test -e $DIR/ready || { >$DIR/ready; kill -9 $$; }";

	fixture->options.on_rotate = hook;
	recording = record(fixture, 1);
	assert_int_equal(recording_finish(recording), 0);
	recording_stats(recording, &stats);
	assert_int_equal(stats.hook_failures, 1);
	assert_int_equal(stats.hook_given_up, 0);
	assert_non_null(strstr(buf_text(&fixture->told), "killed by signal 9"));
}

static void gives_the_hook_default_signals(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	(void)signal(SIGXFSZ, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(setenv("DIR", fixture->dir, 1), 0);
	static const char hook[] = "grep -E 'Sig(Blk|Ign)' /proc/self/status >$DIR/signals";

	fixture->options.on_rotate = hook;
	recording = record(fixture, 1);
	assert_int_equal(recording_finish(recording), 0);
	_cleanup_free_ char *signals = output_text(fixture, "signals");

	assert_non_null(strstr(signals, "SigBlk:\t0000000000000000"));
	/* all but 32 and 33, which the C library keeps for itself */
	assert_non_null(strstr(signals, "SigIgn:\t"));
	assert_int_equal(strtoull(strstr(signals, "SigIgn:\t") + 8, NULL, 16) & ~0x180000000U, 0);
}

static void waits_for_hooks_only_so_long(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;
	uint64_t before;

	fixture->options.on_rotate = "exec sleep 5";
	fixture->options.hook_wait_ns = second_ns / 5;
	fixture->options.keep.samples = 1;
	recording = record(fixture, 3);
	before = io_now_ns();
	assert_int_equal(recording_finish(recording), -EIO);
	assert_in_range(io_now_ns() - before, second_ns / 5, 2 * second_ns);
	assert_int_equal(folder_count(fixture->dir), 3); /* nothing goes that was not handed over */
}

static void keeps_as_many_files_as_asked(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	fixture->options.keep.samples = 2;
	recording = record(fixture, 5);
	assert_int_equal(recording_finish(recording), 0);
	assert_int_equal(folder_count(fixture->dir), 2);
	assert_true(output_exists(fixture, "x.0004.perf"));
	assert_true(output_exists(fixture, "x.0005.perf"));
	assert_int_equal(recording->n_paths, 2);
}

static void keeps_as_many_bytes_as_asked_and_the_last_file(void **state)
{
	struct output_fixture *fixture = *state;
	struct recording *recording;

	fixture->options.keep.bytes = 1;
	recording = record(fixture, 3);
	assert_int_equal(recording_finish(recording), 0);
	assert_int_equal(folder_count(fixture->dir), 1);
	assert_true(output_exists(fixture, "x.0003.perf"));
}

static void removes_no_file_of_another_process(void **state)
{
	struct archive_options options = {.keep.ns = 1, .backoff_ns = 1};
	struct output_fixture fixture;
	struct archive *archive = NULL;
	char path[PATH_MAX + 32];
	struct stat st;

	(void)state;
	output_setup(&fixture, "x");
	(void)snprintf(path, sizeof(path), "%s/x", fixture.dir);
	file_write(path, "", 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(archive_new(&options, &archive, NULL), 0);
	assert_int_equal(archive_add(archive, path, st.st_dev, st.st_ino + 1), 0);
	assert_int_equal(archive_drain(archive, second_ns), 0);
	archive_free(archive);
	assert_true(output_exists(&fixture, "x"));
	output_teardown(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		output_test(compresses_each_closed_file_to_one_member),
		output_test(compresses_to_zstd),
		cmocka_unit_test(leaves_a_file_whose_compressed_name_is_taken),
		cmocka_unit_test(runs_the_hook_in_order_with_the_path_as_an_argument),
		cmocka_unit_test(tries_a_failing_hook_five_times_and_tells_each_cause_once),
		output_test(succeeds_after_failures),
		output_test(gives_the_hook_default_signals),
		output_test(waits_for_hooks_only_so_long),
		output_test(keeps_as_many_files_as_asked),
		output_test(keeps_as_many_bytes_as_asked_and_the_last_file),
		cmocka_unit_test(removes_no_file_of_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

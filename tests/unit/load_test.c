/* load_test.c - what a load takes besides plain text, and what it says of what it cannot read */
#include "load_fixture.h"

#include "flamescope/load/load.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

static const char text[] = "# hostname : one\n"
			   "# wick : {\"hz\":99,\"epoch_offset_ns\":1000000000000}\n"
			   "a  1/1  [000] 10.5:  1 cpu-clock: \n"
			   "\t 1 f (m)\n"
			   "\n"
			   "a  1/1  [000] 11.5:  1 cpu-clock: \n"
			   "\t 2 g (m)\n"
			   "\t 1 f (m)\n"
			   "\n";

static struct profile *load(const char *const *paths, size_t n)
{
	struct load_options options = {.paths = paths, .n_paths = n, .no_index = true};
	struct profile *profile = NULL;
	struct err err = {0};

	if (load_profile(&options, &profile, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

static struct profile *load_bytes(const void *bytes, size_t len)
{
	char *path = file_make(bytes, len);
	const char *paths[] = {path};
	struct profile *profile = load(paths, 1);

	file_remove(path);
	return profile;
}

/* Both are the second of their line, and these are lines of one block. */
static void metrics_of_a_header_and_a_sample_are_told_apart(void **state)
{
	static const char bytes[] = "# s st=running cpu_ns=1,1 rss_kib=1000,2\n"
				    "a  1/1  [000] 10.5:  1 cpu-clock: \n"
				    "\t 1 f (m)\n"
				    "# wick : {\"metrics\":[{\"name\":\"minflt\"}]}\n"
				    "\n"
				    "# s st=running cpu_ns=2,1 minflt=5,1 rss_kib=1001,1\n"
				    "a  1/1  [000] 11.5:  1 cpu-clock: \n"
				    "\t 1 f (m)\n"
				    "\n";
	struct profile *profile = load_bytes(bytes, sizeof(bytes) - 1);

	(void)state;
	assert_int_equal(profile->n_metrics, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct profile_metric *metric = &profile->metrics[i];
		const char *name = profile->strings[metric->name];

		assert_int_equal(metric->values[1], strcmp(name, "cpu_ns") == 0   ? 2
						    : strcmp(name, "minflt") == 0 ? 5
										  : 1001);
	}
	profile_free(profile);
}

static size_t gzip(const char *from, size_t len, unsigned char *to, size_t size)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)from,
			   .avail_in = (unsigned)len,
			   .next_out = to,
			   .avail_out = (unsigned)size};

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	(void)deflateEnd(&stream);
	return size - stream.avail_out;
}

/* As a tape or a block device leaves it, and one more member behind. */
static size_t gzip_padding(unsigned char *to)
{
	memset(to, 0, 512);
	return 512 + gzip("\n", 1, to + 512, 512);
}

static void reads_gzip_of_several_members(void **state)
{
	unsigned char bytes[2048];
	size_t n = gzip(text, 100, bytes, sizeof(bytes));
	struct profile *p;

	(void)state;
	n += gzip(text + 100, strlen(text) - 100, bytes + n, sizeof(bytes) - n);
	p = load_bytes(bytes, n);
	assert_int_equal(p->n_samples, 2);
	assert_int_equal(p->files[0].bytes, strlen(text));
	assert_null(p->files[0].problem);
	profile_free(p);
	p = load_bytes(bytes, n - 20);
	assert_int_equal(p->n_samples, 1);
	assert_non_null(strstr(p->files[0].problem, "it ends in the middle"));
	profile_free(p);
	n += gzip_padding(bytes + n);
	p = load_bytes(bytes, n);
	assert_int_equal(p->n_samples, 2);
	assert_null(p->files[0].problem);
	profile_free(p);
	memset(bytes + 30, 0x55, 60);
	p = load_bytes(bytes, n);
	assert_non_null(p->files[0].problem);
	profile_free(p);
}

static void reads_zstd(void **state)
{
	char bytes[2048];
	size_t n = ZSTD_compress(bytes, sizeof(bytes), text, strlen(text), 3);
	struct profile *p = load_bytes(bytes, n);

	(void)state;
	assert_int_equal(p->n_samples, 2);
	profile_free(p);
	p = load_bytes(bytes, n - 5);
	assert_non_null(p->files[0].problem);
	profile_free(p);
}

static void reads_standard_input(void **state)
{
	static const char *const paths[] = {"-"};
	int saved = dup(STDIN_FILENO);
	struct profile *p;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	(void)close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	p = load(paths, 1);
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	(void)close(ends[0]);
	(void)close(saved);
	assert_int_equal(p->n_samples, 2);
	assert_string_equal(p->files[0].path, "-");
	profile_free(p);
}

static void reads_folded_stacks(void **state)
{
	static const char folded[] = "none\n# a comment\nmain;work;read 12\nmain;work\t3\n"
				     "main;a b;std::f<a, b> \t7.0\r\n"
				     "main;work -4\nmain;work 1e3\n; 5\n"
				     "main;work 99999999999999999999999\nadd 1";
	struct profile *p = load_bytes(folded, strlen(folded));

	(void)state;
	assert_false(p->has_times);
	assert_int_equal(p->n_samples, 6);
	assert_int_equal(p->files[0].bad_lines, 3);
	assert_int_equal(p->files[0].bad[0], 1);
	assert_int_equal(p->files[0].bad[1], 6);
	assert_int_equal(p->files[0].bad[2], 7);
	assert_int_equal(p->weights[0], 12);
	assert_int_equal(p->weights[1], 3);
	assert_int_equal(p->weights[2], 7);
	assert_true(p->weights[4] == UINT64_MAX);
	assert_string_equal(p->strings[p->event_names[0]], "samples");
	assert_int_equal(p->nodes[p->stacks[0]].parent, p->stacks[1]);
	assert_string_equal(p->strings[p->frames[p->nodes[p->stacks[0]].frame].name], "read");
	assert_string_equal(p->strings[p->frames[p->nodes[p->stacks[2]].frame].name],
			    "std::f<a, b>");
	assert_string_equal(p->strings[p->frames[p->nodes[p->stacks[5]].frame].name], "add");
	profile_free(p);
}

/* Of counts below one rounding would leave nothing: all are multiplied, and shares are right. */
static void folded_fractions_count_in_thousandths(void **state)
{
	static const char folded[] = "main;work 3\nmain;wait 0.25\nmain;io .5\nmain;io 0.0004\n"
				     "main;io 1.9996\nmain;io 1.2.3\n";
	struct profile *p = load_bytes(folded, strlen(folded));

	(void)state;
	assert_int_equal(p->n_samples, 4);
	assert_int_equal(p->files[0].bad_lines, 2);
	assert_int_equal(p->weights[0], 3000);
	assert_int_equal(p->weights[1], 250);
	assert_int_equal(p->weights[2], 0);
	assert_int_equal(p->weights[3], 2000);
	assert_string_equal(p->strings[p->event_names[0]], "thousandths");
	profile_free(p);
}

/* perf script -F ip,sym and the like: most of it is no stack with a count, and it is told */
static void says_what_a_text_without_times_lacks(void **state)
{
	static const char *const texts[] = {
		"\n\t         2d91337 ChromeMain\n\t           2724a main\n\n",
		"chromium 27142 \n\t         a3b6871\n\nchromium 27143 \n\t         a3b6872\n\n",
		"chromium 27/27 [000] cpu-clock: \n\t         a3b6871 [unknown] (/a b)\n\n",
		"        chromium      55b1b856d871 f (/usr/bin/chromium)\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct profile *p = load_bytes(texts[i], strlen(texts[i]));

		assert_int_equal(p->n_samples, 0);
		assert_non_null(p->files[0].problem);
		assert_non_null(
			strstr(p->files[0].problem, "perf script -F comm,pid,tid,cpu,time"));
		profile_free(p);
	}
}

static void lays_hosts_side_by_side(void **state)
{
	char other[sizeof(text) + 64];
	char *paths[2];
	struct profile *p;

	(void)state;
	(void)snprintf(other, sizeof(other), "%s", text);
	memcpy(strstr(other, "one"), "two", 3);
	/* 100 s later by its own clock since 1970, so between the first one's samples by neither */
	memcpy(strstr(other, "1000000000000"), "1100000000000", 13);
	paths[0] = file_make(text, strlen(text));
	paths[1] = file_make(other, strlen(other));
	p = load((const char *const *)paths, 2);
	assert_int_equal(p->n_samples, 4);
	assert_int_equal(p->n_threads, 2);
	assert_string_equal(p->strings[p->thread_list[1].host], "two");
	assert_int_equal(p->times_ns[2], UINT64_C(100000000000));
	assert_true(p->has_epoch && p->is_wick);
	assert_int_equal(p->n_nodes, 3); /* stacks are shared */
	profile_free(p);
	for (int i = 0; i < 2; i++) {
		(void)unlink(paths[i]);
		free(paths[i]);
	}
}

static void says_what_it_cannot_read_and_goes_on(void **state)
{
	char *path = file_make(text, strlen(text));
	const char *paths[] = {"/no/such/file", "/tmp", path};
	struct profile *p = load(paths, 3);

	(void)state;
	assert_int_equal(p->n_samples, 2);
	assert_int_equal(p->n_files, 3);
	assert_non_null(strstr(p->files[0].problem, "No such file"));
	assert_non_null(strstr(p->files[1].problem, "Is a directory"));
	assert_null(p->files[2].problem);
	profile_free(p);
	file_remove(path);
}

/* By the same name, by another one and by a link. */
static void counts_a_file_once(void **state)
{
	char *path = file_make(text, strlen(text));
	const char *paths[] = {"/no/such/file", path, path, NULL, NULL};
	char link_path[64], descriptor[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct profile *p;

	(void)state;
	(void)snprintf(link_path, sizeof(link_path), "%s.link", path);
	(void)snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", fd);
	assert_int_equal(link(path, link_path), 0);
	paths[3] = link_path;
	paths[4] = descriptor;
	p = load(paths, 5);
	assert_int_equal(p->n_samples, 2);
	assert_int_equal(p->files[1].samples, 2);
	assert_null(p->files[1].problem);
	for (size_t i = 2; i < 5; i++) {
		assert_int_equal(p->files[i].samples, 0);
		assert_non_null(strstr(p->files[i].problem, "given before: it is counted once"));
	}
	/* what gave nothing has no say in what the others are */
	assert_true(p->is_wick && p->has_epoch);
	assert_int_equal(p->hz, 99);
	assert_int_equal(p->epoch_offset_ns, UINT64_C(1000000000000));
	profile_free(p);
	(void)close(fd);
	(void)unlink(link_path);
	file_remove(path);
}

/* Every opening of a terminal or /dev/null may give something else: no word of "before". */
static void takes_a_device_twice(void **state)
{
	static const char *const paths[] = {"/dev/null", "/dev/null"};
	struct profile *p = load(paths, 2);

	(void)state;
	assert_null(p->files[0].problem);
	assert_null(p->files[1].problem);
	profile_free(p);
}

static void keeps_to_its_memory(void **state)
{
	struct load_options options = {.n_paths = 1, .no_index = true, .memory_bytes = 200000};
	struct profile *profile = NULL;
	struct err err = {0};
	struct buf buf;
	char *path;

	(void)state;
	buf_init(&buf, 1 << 20);
	for (int i = 0; i < 5000; i++)
		buf_printf(&buf, "a  1/1  [000] %d.5:  1 cpu-clock: \n\t 1 f%d (m)\n\n", i, i);
	path = file_make(buf.data, buf.len);
	options.paths = (const char *const *)&path;
	assert_int_equal(load_profile(&options, &profile, &err), -E2BIG);
	assert_non_null(strstr(err.text, "need more"));
	assert_non_null(strstr(err.text, "try: fewer files"));
	assert_null(strstr(err.text, strerror(E2BIG)));
	file_remove(path);
	buf_release(&buf);
}

/* A stack of 5,000 frames, a line of 3 MB and a block without an end. */
static void bounds_what_it_keeps(void **state)
{
	struct profile *p;
	struct buf buf;

	(void)state;
	buf_init(&buf, 32 << 20);
	buf_add(&buf, "a  1/1  [000] 1.5:  1 cpu-clock: \n");
	for (int i = 0; i < 5000; i++)
		buf_printf(&buf, "\t %x f%d (m)\n", i, i);
	buf_add(&buf, "\na  1/1  [000] 2.5:  1 cpu-clock: \n\t 1 ");
	for (int i = 0; i < 3000000; i++)
		buf_add_char(&buf, 'x');
	buf_add(&buf, " (m)\n\t 1 f (m)\n\n");
	p = fixture_load(buf.data, buf.len);
	assert_int_equal(p->n_samples, 2);
	assert_true(p->files[0].cut);
	assert_int_equal(p->files[0].bad_lines, 1);
	assert_int_equal(p->files[0].bad[0], 5004);
	profile_free(p);
	buf_clear(&buf);
	for (int i = 0; i < 300000; i++)
		buf_printf(&buf, "a  1/1  [000] %d.5:  1 cpu-clock: \n\t 1 f (m)\n", i);
	p = load_bytes(buf.data, buf.len);
	assert_int_equal(p->n_samples, 300000);
	assert_true(p->files[0].unended);
	profile_free(p);
	buf_release(&buf);
}

/* A request has a trace of its own: more than 16 bits count, by one reader and by several. */
static void keeps_a_value_for_each_of_100000_requests(void **state)
{
	enum { N = 100000 };
	struct profile *p;
	struct buf buf;

	(void)state;
	buf_init(&buf, 32 << 20);
	for (int i = 0; i < N; i++)
		buf_printf(&buf,
			   "# s trace=%032x tier=db\n"
			   "a  1/1  [000] %d.5:  1 cpu-clock: \n"
			   "\t 1 f (m)\n\n",
			   i, i + 1);
	p = fixture_load(buf.data, buf.len);
	buf_release(&buf);
	assert_int_equal(p->n_samples, N);
	assert_int_equal(p->n_tags, 2);
	assert_int_equal(p->tags[0].n_values, N + 1);
	for (uint32_t i = 0; i < N; i++) {
		char trace[33];

		(void)snprintf(trace, sizeof(trace), "%032x", i);
		assert_string_equal(p->strings[p->tags[0].values[p->tags[0].codes[i]]], trace);
	}
	assert_int_equal(p->tags[1].n_values, 2);
	profile_free(p);
}

/* As many as a program may give (SAMPLE_MAX_LABELS), and wick's own words. */
static void keeps_all_labels_of_a_sample(void **state)
{
	struct profile *p;
	struct buf buf;

	(void)state;
	buf_init(&buf, 1 << 20);
	buf_add(&buf, "# s st=sleeping wait=futex on=futex:0x1");
	for (int i = 0; i < SAMPLE_MAX_LABELS; i++)
		buf_printf(&buf, " label.%d=%d%%2C%d", i, i, i);
	buf_add(&buf, "\na  1/1  [000] 1.5:  1 wall-clock: \n\t 1 f (m)\n\n");
	p = fixture_load(buf.data, buf.len);
	buf_release(&buf);
	assert_int_equal(p->n_tags, 3 + SAMPLE_MAX_LABELS);
	assert_int_equal(p->n_metrics, 0);
	assert_string_equal(p->strings[p->tags[34].name], "label.31");
	assert_string_equal(p->strings[p->tags[34].values[p->tags[34].codes[0]]], "31,31");
	profile_free(p);
}

static void gives_an_empty_profile_for_no_samples(void **state)
{
	struct profile *p = fixture_load("", 0);

	(void)state;
	assert_int_equal(p->n_samples, 0);
	assert_int_equal(p->n_nodes, 1);
	assert_string_equal(p->strings[0], "");
	profile_free(p);
	p = fixture_load("# just a comment\n", 17);
	assert_int_equal(p->n_samples, 0);
	assert_int_equal(p->files[0].bad_lines, 0);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_of_a_header_and_a_sample_are_told_apart),
		cmocka_unit_test(reads_gzip_of_several_members),
		cmocka_unit_test(reads_zstd),
		cmocka_unit_test(reads_standard_input),
		cmocka_unit_test(reads_folded_stacks),
		cmocka_unit_test(folded_fractions_count_in_thousandths),
		cmocka_unit_test(says_what_a_text_without_times_lacks),
		cmocka_unit_test(lays_hosts_side_by_side),
		cmocka_unit_test(says_what_it_cannot_read_and_goes_on),
		cmocka_unit_test(counts_a_file_once),
		cmocka_unit_test(takes_a_device_twice),
		cmocka_unit_test(keeps_to_its_memory),
		cmocka_unit_test(bounds_what_it_keeps),
		cmocka_unit_test(keeps_a_value_for_each_of_100000_requests),
		cmocka_unit_test(keeps_all_labels_of_a_sample),
		cmocka_unit_test(gives_an_empty_profile_for_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

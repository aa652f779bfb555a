/* load_limits_test.c - what takes too long, or is more than a recording has, is read no further */
#include "load_fixture.h"

#include "base/buf.h"
#include "flamescope/load/load.h"
#include "flamescope/text/text.h"
#include "folder_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

static const char text[] = "a  1/1  [000] 10.5:  1 cpu-clock: \n\t 1 f (m)\n\n"
			   "a  1/1  [000] 11.5:  1 cpu-clock: \n\t 2 g (m)\n\t 1 f (m)\n\n";

static bool goes_on(void *context, uint64_t done_bytes, uint64_t of_bytes)
{
	unsigned *n_left = context;

	(void)done_bytes;
	(void)of_bytes;
	return (*n_left)-- > 0;
}

/* Whether a file is read no further, for its time. */
static bool is_late(const struct load_options *options, size_t n_samples)
{
	struct profile *profile = NULL;
	bool late;

	assert_int_equal(load_profile(options, &profile, NULL), 0);
	late = profile->files[0].problem &&
	       strstr(profile->files[0].problem, "takes longer than") != NULL;
	assert_in_range(profile->n_samples, 1, late ? 2 * n_samples - 1 : 2 * n_samples);
	profile_free(profile);
	return late;
}

/* 9 MB: with several threads they are read in chunks. */
static void a_file_that_takes_too_long_is_read_no_further(void **state)
{
	const size_t n_samples = (9 << 20) / (sizeof(text) - 1);
	char *bytes = malloc(n_samples * (sizeof(text) - 1));
	char *path;
	const char *paths[1];
	unsigned n_left = 2;
	unsigned turn = 0;
	struct load_options options = {.paths = paths,
				       .n_paths = 1,
				       .no_index = true,
				       .file_ns = 1,
				       .n_threads = 3,
				       .context = &n_left};
	struct profile *profile = NULL;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < n_samples; i++)
		memcpy(bytes + i * (sizeof(text) - 1), text, sizeof(text) - 1);
	path = file_make(bytes, n_samples * (sizeof(text) - 1));
	paths[0] = path;
	/* One of several threads looks at the time: the others may have read all by then. */
	while (!is_late(&options, n_samples))
		assert_in_range(++turn, 1, 99);
	options.n_threads = 1;
	assert_true(is_late(&options, n_samples));
	options.file_ns = 0;
	options.progress = goes_on;
	assert_int_equal(load_profile(&options, &profile, NULL), -ECANCELED);
	file_remove(path);
	free(bytes);
}

enum { N_IMPORTED = 100000 };

#define PART(text) text, sizeof(text) - 1

/* Of a file; there may be NULs in it. */
struct parts {
	const char *head;
	size_t n_head;
	const char *each;
	size_t n_each;
	const char *tail;
};

/* HEAD, N_IMPORTED times EACH, which is a sample, and TAIL. */
static char *make_import(const struct parts *parts)
{
	struct buf bytes;
	char *path;

	buf_init(&bytes, parts->n_head + N_IMPORTED * parts->n_each + strlen(parts->tail) + 1);
	(void)buf_append(&bytes, parts->head, parts->n_head);
	for (size_t i = 0; i < N_IMPORTED; i++)
		(void)buf_append(&bytes, parts->each, parts->n_each);
	buf_add(&bytes, parts->tail);
	assert_false(bytes.failed);
	path = file_make(bytes.data, bytes.len);
	buf_release(&bytes);
	return path;
}

/* Never gives up, and counts how often it could have. */
static bool counts(void *context, uint64_t done_bytes, uint64_t of_bytes)
{
	unsigned *n = context;

	(void)done_bytes;
	(void)of_bytes;
	(*n)++;
	return true;
}

static void imports_stop_when_they_are_told_to(void **state)
{
	static const struct parts files[] = {
		{PART("{\"meta\":{},\"threads\":[{\"samples\":{\"stack\":["), PART("0,"), "0]}}]}"},
		{PART("{\"shared\":{\"frames\":[]},\"profiles\":[{\"samples\":["), PART("[],"),
		 "[]]}]}"},
		{PART("\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x01n\x32\x01"
		      "c"),
		 PART("\x12\x00"), ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = make_import(&files[i]);
		const char *paths[] = {path};
		unsigned n_asked = 0, n_left;
		struct load_options options = {.paths = paths,
					       .n_paths = 1,
					       .no_index = true,
					       .progress = counts,
					       .context = &n_asked};
		struct profile *profile = NULL;

		assert_int_equal(load_profile(&options, &profile, NULL), 0);
		assert_in_range(profile->n_samples, N_IMPORTED, N_IMPORTED + 1);
		profile_free(profile);
		assert_true(n_asked > N_IMPORTED / 4096);
		options.progress = goes_on;
		options.context = &n_left;
		for (unsigned part = 1; part < 8; part++) {
			n_left = n_asked * part / 8;
			assert_int_equal(load_profile(&options, &profile, NULL), -ECANCELED);
		}
		file_remove(path);
	}
}

/* A sample, and comments up to MIB. */
static struct profile *load_uniform(size_t mib)
{
	enum { LINE_BYTES = 512 * 1024 };
	const size_t n = mib << 20, size = ZSTD_compressBound(n);
	char *bytes = malloc(n), *packed = malloc(size);
	struct profile *profile = NULL;
	char *path;

	assert_non_null(bytes);
	assert_non_null(packed);
	memset(bytes, '#', n);
	for (size_t i = LINE_BYTES; i < n; i += LINE_BYTES)
		bytes[i] = '\n';
	memcpy(bytes, text, strlen(text));
	path = file_make(packed, ZSTD_compress(packed, size, bytes, n, 1));
	assert_int_equal(load_profile(&(struct load_options){.paths = (const char *[]){path},
							     .n_paths = 1,
							     .no_index = true},
				      &profile, NULL),
			 0);
	file_remove(path);
	free(bytes);
	free(packed);
	return profile;
}

static void what_is_more_uniform_than_a_recording_is_refused(void **state)
{
	struct profile *p = load_uniform(SOURCE_FREE_MIB);

	(void)state;
	assert_null(p->files[0].problem);
	profile_free(p);
	p = load_uniform(SOURCE_FREE_MIB + 32);
	assert_non_null(strstr(p->files[0].problem, "as large as it is compressed"));
	assert_non_null(strstr(p->files[0].problem, "try: zstd -d FILE"));
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_takes_too_long_is_read_no_further),
		cmocka_unit_test(imports_stop_when_they_are_told_to),
		cmocka_unit_test(what_is_more_uniform_than_a_recording_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* dwarf_sections_test.c - sections as they are, compressed in every way, and bombs */
#include "folder_fixture.h"
#include "symbolize/sections/sections.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

static int open_built(const char *name)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", DWARF_FILES, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void compressed_sections_are_what_they_were(void **state)
{
	static const char *const names[] = {"gcc5_zlib", "gcc5_zlib-gnu", "gcc5_zstd"};
	struct dwarf_sections plain;
	size_t n_compared = 0;

	(void)state;
	assert_int_equal(dwarf_sections_open(open_built("gcc5"), false, &plain), 0);
	assert_true(plain.of[DWARF_INFO].len > 0 && plain.of[DWARF_RNGLISTS].len > 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct dwarf_sections other;
		int fd = open_built(names[i]);
		bool inflated = false;

		if (fd < 0) {
			print_message("%s: objcopy here cannot make it\n", names[i]);
			continue;
		}
		assert_int_equal(dwarf_sections_open(fd, false, &other), 0);
		for (int which = 0; which < N_DWARF_SECTIONS; which++) {
			assert_int_equal(other.of[which].len, plain.of[which].len);
			if (plain.of[which].len)
				assert_memory_equal(other.of[which].data, plain.of[which].data,
						    plain.of[which].len);
			inflated = inflated || other.inflated[which];
		}
		assert_true(inflated);
		n_compared++;
		dwarf_sections_close(&other);
	}
	assert_true(n_compared > 0);
	dwarf_sections_close(&plain);
}

static void what_is_no_elf_of_ours_is_refused(void **state)
{
	struct dwarf_sections sections;
	char bytes[256] = "\177ELF\1\1\1"; /* 32 bits */
	int fd = file_in_memory(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(dwarf_sections_open(fd, false, &sections), -ENOEXEC);
	assert_int_equal(dwarf_sections_memory(bytes, sizeof(bytes), &sections), -ENOEXEC);
	bytes[4] = 2;
	bytes[5] = 2; /* big-endian */
	assert_int_equal(dwarf_sections_memory(bytes, sizeof(bytes), &sections), -ENOEXEC);
	assert_int_equal(dwarf_sections_memory("no ELF at all, but long enough for a head of it",
					       48, &sections),
			 -ENOEXEC);
	assert_int_equal(dwarf_sections_open(open("/dev/null", O_RDONLY), false, &sections),
			 -ENOEXEC);
	assert_int_equal(dwarf_sections_open(-1, false, &sections), -EBADF);
}

static void a_file_without_such_sections_has_none(void **state)
{
	struct dwarf_sections sections;

	(void)state;
	assert_int_equal(dwarf_sections_open(open_built("gcc5"), true, &sections), -ENODATA);
}

static void sections_in_memory_are_those_of_the_file(void **state)
{
	struct dwarf_sections file;
	struct dwarf_sections memory;

	(void)state;
	assert_int_equal(dwarf_sections_open(open_built("gcc5"), false, &file), 0);
	assert_int_equal(dwarf_sections_memory(file.mapped, file.n_mapped, &memory), 0);
	for (int which = 0; which < N_DWARF_SECTIONS; which++)
		assert_ptr_equal(memory.of[which].data, file.of[which].data);
	dwarf_sections_close(&memory);
	dwarf_sections_close(&file);
}

static void every_cut_of_a_file_is_opened_or_refused(void **state)
{
	struct dwarf_sections file;

	(void)state;
	assert_int_equal(dwarf_sections_open(open_built("gcc5"), false, &file), 0);
	for (size_t n = 0; n < file.n_mapped; n += 97) {
		/* Just as long, so that a sanitizer sees a step too far. */
		uint8_t *cut = test_malloc(n + 1);
		struct dwarf_sections sections;

		memcpy(cut, file.mapped, n);
		if (dwarf_sections_memory(cut, n, &sections) == 0) {
			for (int which = 0; which < N_DWARF_SECTIONS; which++)
				assert_true(sections.of[which].len <= n);
			dwarf_sections_close(&sections);
		}
		test_free(cut);
	}
	dwarf_sections_close(&file);
}

enum { PLAIN = 1024 * 1024 };

/* Neither as good as random nor all the same. */
static void fill(uint8_t *bytes)
{
	uint32_t seed = 7;

	for (size_t i = 0; i < PLAIN; i++) {
		seed = seed * 1103515245 + 12345;
		bytes[i] = (seed >> 16) & 0x3f;
	}
}

static struct inflate_job deflated(const uint8_t *plain, uint8_t *to, uLongf room)
{
	assert_int_equal(compress(to, &room, plain, PLAIN), Z_OK);
	return (struct inflate_job){
		.bytes = to, .n_bytes = room, .way = INFLATE_ZLIB, .n_inflated = PLAIN};
}

static struct inflate_job zstandard(const uint8_t *plain, uint8_t *to, size_t room)
{
	size_t n = ZSTD_compress(to, room, plain, PLAIN, 1);

	assert_false(ZSTD_isError(n));
	return (struct inflate_job){
		.bytes = to, .n_bytes = n, .way = INFLATE_ZSTD, .n_inflated = PLAIN};
}

static void streams_that_lie_about_their_size_have_no_result(void **state)
{
	uint8_t *plain = test_malloc(PLAIN);
	uint8_t *bytes[2] = {test_malloc(2 * PLAIN), test_malloc(2 * PLAIN)};
	struct inflate_job right[2];

	(void)state;
	fill(plain);
	right[0] = deflated(plain, bytes[0], 2 * PLAIN);
	right[1] = zstandard(plain, bytes[1], 2 * PLAIN);
	for (int way = 0; way < 2; way++) {
		struct inflate_job jobs[5] = {right[way], right[way], right[way], right[way],
					      right[way]};

		jobs[1].n_inflated++;
		jobs[2].n_inflated--;
		jobs[3].n_bytes /= 2;
		jobs[4].way = way == 0 ? INFLATE_ZSTD : INFLATE_ZLIB;
		inflate_all(jobs, 5, 64 * PLAIN);
		assert_non_null(jobs[0].inflated);
		assert_memory_equal(jobs[0].inflated, plain, PLAIN);
		for (int i = 1; i < 5; i++)
			assert_null(jobs[i].inflated);
		free(jobs[0].inflated);
		test_free(bytes[way]);
	}
	test_free(plain);
}

static void more_than_a_hundred_times_its_bytes_is_refused(void **state)
{
	uint8_t *plain = test_calloc(1, PLAIN);
	uint8_t *bytes = test_malloc(2 * PLAIN);
	struct inflate_job bomb = deflated(plain, bytes, 2 * PLAIN);
	struct inflate_job jobs[4];

	(void)state;
	assert_true(bomb.n_bytes * INFLATE_MAX_RATIO < PLAIN);
	inflate_all(&bomb, 1, PLAIN);
	assert_null(bomb.inflated);
	/* Four sections of the same bytes: each is as allowed, all together are not. */
	fill(plain);
	jobs[0] = deflated(plain, bytes, 2 * PLAIN);
	for (int i = 1; i < 4; i++)
		jobs[i] = jobs[0];
	inflate_all(jobs, 4, 2 * PLAIN / INFLATE_MAX_RATIO + 1);
	assert_non_null(jobs[0].inflated);
	assert_non_null(jobs[1].inflated);
	assert_null(jobs[2].inflated);
	assert_null(jobs[3].inflated);
	free(jobs[0].inflated);
	free(jobs[1].inflated);
	test_free(plain);
	test_free(bytes);
}

static void large_sections_are_shared_between_threads(void **state)
{
	uint8_t *plain = test_malloc(PLAIN);
	uint8_t *bytes = test_malloc(2 * PLAIN);
	struct inflate_job jobs[12];

	(void)state;
	fill(plain);
	jobs[0] = deflated(plain, bytes, 2 * PLAIN);
	for (int i = 1; i < 12; i++)
		jobs[i] = jobs[0];
	inflate_all(jobs, 12, 64 * PLAIN);
	for (int i = 0; i < 12; i++) {
		assert_non_null(jobs[i].inflated);
		assert_memory_equal(jobs[i].inflated, plain, PLAIN);
		free(jobs[i].inflated);
	}
	test_free(plain);
	test_free(bytes);
}

static void a_gnu_head_tells_the_size(void **state)
{
	uint8_t bytes[32] = "ZLIB";
	uint64_t size = htobe64(1000);
	struct inflate_job job = {0};

	(void)state;
	memcpy(bytes + 4, &size, sizeof(size));
	inflate_job_gnu(&job, bytes, sizeof(bytes));
	assert_int_equal(job.n_inflated, 1000);
	assert_int_equal(job.n_bytes, 20);
	job = (struct inflate_job){0};
	inflate_job_gnu(&job, bytes, 12);
	assert_null(job.bytes);
	bytes[0] = 'z';
	inflate_job_gnu(&job, bytes, sizeof(bytes));
	assert_null(job.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressed_sections_are_what_they_were),
		cmocka_unit_test(what_is_no_elf_of_ours_is_refused),
		cmocka_unit_test(a_file_without_such_sections_has_none),
		cmocka_unit_test(sections_in_memory_are_those_of_the_file),
		cmocka_unit_test(every_cut_of_a_file_is_opened_or_refused),
		cmocka_unit_test(streams_that_lie_about_their_size_have_no_result),
		cmocka_unit_test(more_than_a_hundred_times_its_bytes_is_refused),
		cmocka_unit_test(large_sections_are_shared_between_threads),
		cmocka_unit_test(a_gnu_head_tells_the_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* gauges_test.c - wick.h on one side, the collector's reader on the other, and lies between */
#include "sampler/collector/metrics/gauges.h"
#include "sampler/include/wick.h"
#include "sampler/wire/gauges.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

_Static_assert(sizeof(struct wick_table) == sizeof(struct gauge_table), "one layout");
_Static_assert(offsetof(struct wick_slot, name) == offsetof(struct gauge_slot, name), "one");
_Static_assert(offsetof(struct wick_slot, address) == offsetof(struct gauge_slot, address), "one");
_Static_assert(offsetof(struct wick_slot, value) == offsetof(struct gauge_slot, value), "one");
_Static_assert((int)WICK_SLOTS == (int)GAUGES_SLOTS &&
		       (int)WICK_NAME_BYTES == (int)GAUGES_NAME_BYTES,
	       "one");

static int reset(void **state)
{
	(void)state;
	memset(&wick_table_1, 0, sizeof(wick_table_1));
	return 0;
}

static uint32_t read_own(const char *const *names, size_t n, int64_t *values)
{
	struct gauges *gauges;
	uint32_t found;

	assert_int_equal(gauges_new(&gauges, getpid(), names, n), 0);
	found = gauges_read(gauges, 1, values);
	gauges_free(gauges);
	return found;
}

static void a_variable_is_read_where_it_stands(void **state)
{
	static const char *const names[] = {"hits", "queue_len", "batch"};
	static volatile int64_t queue_len = -5;
	static volatile int64_t hits = 9;
	int64_t values[3] = {0};

	(void)state;
	wick_gauge("queue_len", &queue_len);
	wick_counter("hits", &hits);
	wick_gauge_set("batch", INT64_MIN);
	assert_int_equal(read_own(names, 3, values), 7);
	assert_int_equal(values[0], 9);
	assert_int_equal(values[1], -5);
	assert_true(values[2] == INT64_MIN);
}

static void a_name_can_be_registered_again(void **state)
{
	static const char *const names[] = {"depth"};
	static volatile int64_t first = 1;
	static volatile int64_t second = 2;
	int64_t value = 0;

	(void)state;
	wick_gauge("depth", &first);
	wick_gauge("depth", &second);
	assert_int_equal(read_own(names, 1, &value), 1);
	assert_int_equal(value, 2);
	wick_gauge_set("depth", 3);
	assert_int_equal(read_own(names, 1, &value), 1);
	assert_int_equal(value, 3);
	assert_int_equal(second, 2);
	assert_int_equal(wick_table_1.slots[1].state, GAUGE_FREE);
}

static void names_that_can_be_none_and_a_full_table_are_left_out(void **state)
{
	static const char *const names[] = {"gauge64"};
	static const char *const wrong[] = {
		"",     "Queue", "a b", "a-b",      "a,b",
		"a\"b", "a\nb",  "a=b", "\303\244", "abcdefghijklmnopqrstuvwx"};
	int64_t value = 77;
	char name[24];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		wick_gauge_set(wrong[i], 1);
	assert_int_equal(wick_table_1.slots[0].state, GAUGE_FREE);
	for (int i = 0; i <= WICK_SLOTS; i++) {
		(void)snprintf(name, sizeof(name), "gauge%d", i);
		wick_gauge_set(name, i);
	}
	assert_int_equal(read_own(names, 1, &value), 0);
	assert_int_equal(value, 77);
}

static void addresses_that_cannot_be_read_keep_no_other_from_being_read(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	int64_t values[6] = {-1, -1, -1, -1, -1, -1};
	int64_t *gone =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	for (int i = 0; i < 6; i++)
		wick_gauge_set(names[i], i);
	wick_gauge("a", gone);
	wick_gauge("c", gone + 1);
	wick_gauge("d", (const volatile int64_t *)((uintptr_t)gone - 4)); /* half of it is there */
	wick_gauge("f", (const volatile int64_t *)UINT64_MAX);
	assert_int_equal(munmap(gone, 8192), 0);
	assert_int_equal(read_own(names, 6, values), 0x3f);
	for (int i = 0; i < 6; i++)
		assert_int_equal(values[i], i == 1 || i == 4 ? i : -1);
}

/* Whoever waits for such a page waits for ever. */
static int64_t *page_that_nobody_serves(int *ret_fd)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING};
	int64_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*ret_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (*ret_fd < 0)
		*ret_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (uint64_t)(uintptr_t)page;
	if (*ret_fd < 0 || ioctl(*ret_fd, UFFDIO_API, &api) < 0 ||
	    ioctl(*ret_fd, UFFDIO_REGISTER, &range) < 0)
		return NULL;
	return page;
}

static void does_not_wait_for_a_page_that_is_not_served(void **state)
{
	static const char *const names[] = {"held", "free"};
	int64_t values[2] = {-1, -1};
	int fd;
	int64_t *page = page_that_nobody_serves(&fd);

	(void)state;
	if (!page)
		skip();
	wick_gauge("held", page);
	wick_gauge_set("free", 3);
	assert_int_equal(read_own(names, 2, values), 3);
	assert_int_equal(values[0], -1);
	assert_int_equal(values[1], 3);
	assert_int_equal(munmap(page, 4096), 0);
	(void)close(fd);
}

static void a_late_name_is_found_and_a_known_one_read_on(void **state)
{
	static const char *const names[] = {"late"};
	struct gauges *gauges;
	int64_t value = 0;

	(void)state;
	assert_int_equal(gauges_new(&gauges, getpid(), names, 1), 0);
	assert_int_equal(gauges_read(gauges, 1, &value), 0);
	wick_gauge_set("late", 4);
	assert_int_equal(gauges_read(gauges, 2, &value), 1);
	assert_int_equal(value, 4);
	wick_gauge_set("late", 5);
	assert_int_equal(gauges_read(gauges, 3, &value), 1);
	assert_int_equal(value, 5);
	gauges_free(gauges);
}

static void a_table_that_lies_gives_nothing(void **state)
{
	static const char *const names[] = {"bad", "good"};
	int64_t values[2] = {6, 7};
	void *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	wick_gauge("bad", gone);
	wick_gauge_set("good", 8);
	assert_int_equal(munmap(gone, 4096), 0);
	(void)read_own(names, 2, values);
	assert_int_equal(values[0], 6);
	assert_int_equal(values[1], 8);
	wick_table_1.slots[0].address = NULL;
	(void)read_own(names, 2, values);
	wick_table_1.slots[0].address = (const volatile int64_t *)(uintptr_t)UINT64_MAX;
	(void)read_own(names, 2, values);
	assert_int_equal(values[0], 6);
	/* A name without its end, and a state that is none. */
	memset(wick_table_1.slots[0].name, 'b', sizeof(wick_table_1.slots[0].name));
	(void)read_own(names, 2, values);
	wick_table_1.slots[1].state = 3;
	assert_int_equal(read_own(names, 2, values), 0);
	assert_int_equal(values[0], 6);
}

/* A note of ours at TO; returns its length. */
static size_t put_note(unsigned char *to, uint32_t type, const char name[8], int64_t distance)
{
	const Elf64_Nhdr head = {.n_namesz = 5, .n_descsz = 8, .n_type = type};

	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), name, 8);
	memcpy(to + sizeof(head) + 8, &distance, sizeof(distance));
	return sizeof(head) + 16;
}

static void notes_of_others_are_passed_by(void **state)
{
	unsigned char notes[256];
	uint64_t tables[GAUGE_TABLES];
	size_t len = put_note(notes, GAUGES_NOTE, "wack\0\0\0", 8);

	(void)state;
	len += put_note(notes + len, 1, "wick\0\0\0", 8);
	len += put_note(notes + len, GAUGES_NOTE, "wick\0\0\0", 0x1000);
	len += put_note(notes + len, GAUGES_NOTE, "wick\0\0\0", 0x1000 - 28);
	assert_int_equal(gauge_notes_in(notes, len, 0x400000, tables, 0), 1); /* the same twice */
	assert_int_equal(tables[0], 0x400000 + 2 * 28 + 20 + 0x1000);
	assert_int_equal(gauge_notes_in(notes, len - 1, 0x400000, tables, 1), 1);
}

static void notes_that_lie_end_the_search(void **state)
{
	static const uint32_t sizes[] = {0, 1, 5, 8, 0x7fffffff, 0xfffffffd, 0xffffffff};
	enum { N = sizeof(sizes) / sizeof(sizes[0]) };
	unsigned char notes[64];
	uint64_t tables[GAUGE_TABLES];

	(void)state;
	for (size_t a = 0; a < N; a++) {
		for (size_t b = 0; b < N; b++) {
			const Elf64_Nhdr head = {
				.n_namesz = sizes[a], .n_descsz = sizes[b], .n_type = GAUGES_NOTE};

			memset(notes, 0, sizeof(notes));
			memcpy(notes, &head, sizeof(head));
			for (size_t len = 0; len <= sizeof(notes); len++)
				assert_int_equal(gauge_notes_in(notes, len, 0x400000, tables, 0),
						 0);
		}
	}
	/* Outside of what a program can have. */
	(void)put_note(notes, GAUGES_NOTE, "wick\0\0\0", INT64_MIN);
	assert_int_equal(gauge_notes_in(notes, 28, 0x400000, tables, 0), 0);
}

static void there_are_no_more_tables_than_room(void **state)
{
	unsigned char note[32];
	uint64_t tables[GAUGE_TABLES];
	size_t n = 0;

	(void)state;
	for (int i = 0; i < GAUGE_TABLES + 3; i++)
		n = gauge_notes_in(note, put_note(note, GAUGES_NOTE, "wick\0\0\0", 0x1000 * i),
				   0x400000, tables, n);
	assert_int_equal(n, GAUGE_TABLES);
}

static void a_process_that_cannot_be_read_has_none(void **state)
{
	static const char *const names[] = {"hits"};
	struct gauges *gauges;
	int64_t value = 7;

	(void)state;
	assert_int_equal(gauges_new(&gauges, 4194304, names, 1), 0);
	assert_int_equal(gauges_read(gauges, 1, &value), 0);
	assert_int_equal(value, 7);
	gauges_free(gauges);
	gauges_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_variable_is_read_where_it_stands, reset),
		cmocka_unit_test_setup(a_name_can_be_registered_again, reset),
		cmocka_unit_test_setup(names_that_can_be_none_and_a_full_table_are_left_out, reset),
		cmocka_unit_test_setup(addresses_that_cannot_be_read_keep_no_other_from_being_read,
				       reset),
		cmocka_unit_test_setup(does_not_wait_for_a_page_that_is_not_served, reset),
		cmocka_unit_test_setup(a_late_name_is_found_and_a_known_one_read_on, reset),
		cmocka_unit_test_setup(a_table_that_lies_gives_nothing, reset),
		cmocka_unit_test(notes_of_others_are_passed_by),
		cmocka_unit_test(notes_that_lie_end_the_search),
		cmocka_unit_test(there_are_no_more_tables_than_room),
		cmocka_unit_test(a_process_that_cannot_be_read_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

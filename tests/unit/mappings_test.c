/* mappings_test.c - which mapping events the changes and the maps files of a process make */
#include "base/units.h"
#include "sampler/collector/process/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_SEEN = 64 };

static const char first_text[] = "1000-2000 r-xp 00000000 08:01 5 /app\n"
				 "8000-9000 r-xp 00001000 08:01 6 /lib/a.so\n";

static const char with_b_text[] = "1000-2000 r-xp 00000000 08:01 5 /app\n"
				  "8000-9000 r-xp 00001000 08:01 6 /lib/a.so\n"
				  "a000-b000 r-xp 00001000 08:01 7 /lib/b.so\n";

/* A process's mappings and the events of the last update. */
struct fixture {
	struct mappings mappings;
	struct mapping seen[MAX_SEEN];
	size_t n;
};

static void see(void *context, const struct mapping *mapping)
{
	struct fixture *fixture = context;

	assert_true(fixture->n < MAX_SEEN);
	fixture->seen[fixture->n++] = *mapping;
}

static void update(struct fixture *fixture, const char *text, uint64_t now_ns)
{
	const struct mapping_sink sink = {.emit = see, .context = fixture};
	struct buf buf;

	buf_init(&buf, 65536);
	if (text)
		buf_add(&buf, text);
	fixture->n = 0;
	assert_int_equal(mappings_update(&fixture->mappings, text ? &buf : NULL, now_ns, &sink), 0);
	buf_release(&buf);
}

static struct record_module module_at(uint64_t start, uint64_t end, const char *path)
{
	struct record_module record = {.start = start, .end = end, .bias = start};

	(void)snprintf(record.path, sizeof(record.path), "%s", path);
	return record;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	update(fixture, first_text, 100);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	mappings_release(&fixture->mappings);
	free(fixture);
	return 0;
}

static void gives_the_first_list_from_the_start(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(fixture->n, 2);
	assert_int_equal(fixture->seen[0].time_ns, 0);
	assert_string_equal(fixture->seen[1].path, "/lib/a.so");
	assert_int_equal(fixture->seen[1].pgoff, 0x1000);
	assert_int_equal(fixture->seen[1].inode, 6);
	assert_false(fixture->seen[1].gone);
}

static void gives_nothing_when_nothing_changed(void **state)
{
	struct fixture *fixture = *state;
	struct record_module app = module_at(0x1000, 0x2000, "");

	update(fixture, first_text, 200);
	assert_int_equal(fixture->n, 0);
	mappings_module(&fixture->mappings, &app, 250);
	assert_true(mappings_wants_read(&fixture->mappings, 250));
	update(fixture, first_text, 300);
	assert_int_equal(fixture->n, 0);
}

static void gives_a_module_from_its_announcement_on(void **state)
{
	struct fixture *fixture = *state;
	struct record_module b = module_at(0x9800, 0xb800, "/lib/b.so");

	mappings_module(&fixture->mappings, &b, 250);
	update(fixture, with_b_text, 300);
	assert_int_equal(fixture->n, 1);
	assert_int_equal(fixture->seen[0].time_ns, 250);
	assert_int_equal(fixture->seen[0].start, 0xa000);
	assert_int_equal(fixture->seen[0].inode, 7);
}

static void gives_an_unmapped_module_as_gone(void **state)
{
	struct fixture *fixture = *state;

	update(fixture, with_b_text, 200);
	mappings_unmap(&fixture->mappings, 250);
	update(fixture, first_text, 300);
	assert_int_equal(fixture->n, 1);
	assert_true(fixture->seen[0].gone);
	assert_int_equal(fixture->seen[0].time_ns, 250);
	assert_string_equal(fixture->seen[0].path, "/lib/b.so");
}

/* dlclose and dlopen between two reads, another library at the same place. */
static void gives_a_replaced_module_in_the_order_of_time(void **state)
{
	static const char text[] = "1000-2000 r-xp 00000000 08:01 5 /app\n"
				   "8000-9000 r-xp 00001000 08:01 9 /lib/c.so\n";
	struct fixture *fixture = *state;
	struct record_module c = module_at(0x8000, 0x9000, "/lib/c.so");

	/* The slots of two threads: the later changes is drained first. */
	mappings_module(&fixture->mappings, &c, 260);
	mappings_unmap(&fixture->mappings, 250);
	update(fixture, text, 300);
	assert_int_equal(fixture->n, 2);
	assert_true(fixture->seen[0].gone);
	assert_int_equal(fixture->seen[0].time_ns, 250);
	assert_string_equal(fixture->seen[0].path, "/lib/a.so");
	assert_false(fixture->seen[1].gone);
	assert_int_equal(fixture->seen[1].time_ns, 260);
	assert_string_equal(fixture->seen[1].path, "/lib/c.so");
}

/* Two libraries took turns at one place while the maps file was not read. */
static void gives_each_turn_of_libraries_at_one_place(void **state)
{
	static const char *const paths[] = {"/lib/c.so", "/lib/a.so", "/lib/c.so", "/lib/a.so"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 4; i++) {
		struct record_module module = module_at(0x8000, 0x9000, paths[i]);

		mappings_unmap(&fixture->mappings, 210 + 20 * i);
		mappings_module(&fixture->mappings, &module, 220 + 20 * i);
	}
	update(fixture, first_text, 300);
	for (size_t i = 0, turn = 0; i < fixture->n; i++) {
		if (fixture->seen[i].gone)
			continue;
		assert_int_equal(fixture->seen[i].time_ns, 220 + 20 * turn);
		assert_string_equal(fixture->seen[i].path, paths[turn]);
		assert_int_equal(fixture->seen[i].start, 0x8000);
		turn++;
		assert_true(turn <= 4);
	}
	assert_false(fixture->seen[fixture->n - 1].gone);
	assert_string_equal(fixture->seen[fixture->n - 1].path, "/lib/a.so");
}

static void takes_the_same_path_with_another_inode_for_another_file(void **state)
{
	static const char text[] = "1000-2000 r-xp 00000000 08:01 5 /app\n"
				   "8000-9000 r-xp 00001000 08:01 77 /lib/a.so\n";
	struct fixture *fixture = *state;

	mappings_unmap(&fixture->mappings, 250);
	update(fixture, text, 300);
	assert_int_equal(fixture->n, 2);
	assert_true(fixture->seen[0].gone);
	assert_int_equal(fixture->seen[1].inode, 77);
	assert_int_equal(fixture->seen[1].time_ns, 250);
}

static void finds_the_segments_of_a_module_that_has_gone_already(void **state)
{
	struct fixture *fixture = *state;
	struct record_module self = module_at(0x10000000, 0x18000000, "");
	ssize_t n = readlink("/proc/self/exe", self.path, sizeof(self.path) - 1);

	assert_true(n > 0);
	self.path[n] = '\0';
	mappings_module(&fixture->mappings, &self, 250);
	update(fixture, NULL, 300);
	assert_true(fixture->n >= 1);
	assert_int_equal(fixture->seen[0].time_ns, 250);
	assert_true(fixture->seen[0].start >= 0x10000000);
	assert_true(fixture->seen[0].inode != 0);
	assert_string_equal(fixture->seen[0].path, self.path);
}

static void gives_a_module_without_a_file_as_it_was_announced(void **state)
{
	struct fixture *fixture = *state;
	struct record_module ghost = module_at(0x10000000, 0x10002000, "/no/such/file.so");

	mappings_module(&fixture->mappings, &ghost, 250);
	update(fixture, NULL, 300);
	assert_int_equal(fixture->n, 1);
	assert_int_equal(fixture->seen[0].start, 0x10000000);
	assert_int_equal(fixture->seen[0].inode, 0);
}

static void asks_for_a_read_when_nothing_covers_a_pc(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t pcs[] = {0x1800 | PC_EXACT, 0x2000, 0xa800};
	const uint64_t later = 100 + MAPS_REREAD_MS * NS_PER_MS;

	/* A call can be the last instruction of a range: its return address is looked up before. */
	mappings_check(&fixture->mappings, pcs, 2, later);
	assert_false(mappings_wants_read(&fixture->mappings, later));
	mappings_check(&fixture->mappings, pcs, 3, 101);
	assert_true(mappings_wants_read(&fixture->mappings, 101));
	update(fixture, with_b_text, later);
	assert_int_equal(fixture->n, 1);
	/* It came after the read before. */
	assert_int_equal(fixture->seen[0].time_ns, 100);
	assert_false(mappings_wants_read(&fixture->mappings, later * 2));
}

/* New code every moment: what a program makes us read has a limit, and rest restores it. */
static void reads_for_new_code_seldom_in_the_long_run(void **state)
{
	const uint64_t step_ns = MAPS_REREAD_MS * NS_PER_MS / 5;
	struct fixture *fixture = *state;
	uint64_t now = NS_PER_S;
	size_t reads = 0;

	for (size_t i = 0; i < 500; i++, now += step_ns) {
		const uint64_t pc = (0x700000 + i * 0x1000) | PC_EXACT;

		mappings_check(&fixture->mappings, &pc, 1, now);
		if (!mappings_wants_read(&fixture->mappings, now))
			continue;
		update(fixture, first_text, now);
		reads++;
		assert_true(i >= MAPS_REREADS || reads == i + 1);
	}
	assert_in_range(reads, 500 / 5, 500 / 5 + MAPS_REREADS);
}

static void does_not_ask_again_for_what_no_read_explains(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t pc = 0x700000 | PC_EXACT;
	uint64_t now = NS_PER_S;

	mappings_check(&fixture->mappings, &pc, 1, now);
	assert_true(mappings_wants_read(&fixture->mappings, now));
	update(fixture, first_text, now);
	now += HOPELESS_MS * NS_PER_MS / 2;
	mappings_check(&fixture->mappings, &pc, 1, now);
	assert_false(mappings_wants_read(&fixture->mappings, now));
	now += HOPELESS_MS * NS_PER_MS;
	mappings_check(&fixture->mappings, &pc, 1, now);
	assert_true(mappings_wants_read(&fixture->mappings, now));
}

static void follows_anonymous_code_that_grows(void **state)
{
	static const char small[] = "1000-2000 rwxp 00000000 00:00 0 \n";
	static const char large[] = "1000-4000 rwxp 00000000 00:00 0 \n";
	struct fixture *fixture = *state;

	update(fixture, small, 200);
	assert_int_equal(fixture->n, 3);
	update(fixture, large, 300);
	assert_int_equal(fixture->n, 1);
	assert_int_equal(fixture->seen[0].end, 0x4000);
	assert_false(fixture->seen[0].gone);
	assert_string_equal(fixture->seen[0].path, "");
}

static void keeps_what_is_known_when_the_maps_file_is_empty(void **state)
{
	struct fixture *fixture = *state;

	mappings_unmap(&fixture->mappings, 250);
	update(fixture, "", 300);
	assert_int_equal(fixture->n, 0);
	update(fixture, NULL, 400);
	assert_int_equal(fixture->n, 0);
}

static void bounds_the_changes(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < MAX_CHANGES * 2; i++)
		mappings_unmap(&fixture->mappings, 250);
	assert_int_equal(fixture->mappings.n_changed, MAX_CHANGES);
	update(fixture, first_text, 300);
	assert_int_equal(fixture->n, 0);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Counts what the others look at. */
static void ignore(void *context, const struct mapping *mapping)
{
	(void)mapping;
	++*(size_t *)context;
}

static void a_target_that_makes_modules_up_is_not_believed_for_long(void **state)
{
	struct fixture *fixture = *state;
	size_t n_events = 0;
	const struct mapping_sink sink = {.emit = ignore, .context = &n_events};
	struct buf buf;

	buf_init(&buf, 65536);
	buf_add(&buf, first_text);
	for (uint64_t i = 0; i < 100 * MAX_CHANGES; i++) {
		char path[64];
		struct record_module record;

		(void)snprintf(path, sizeof(path), "/forged/%llu.so", (unsigned long long)i);
		record = module_at(0x1000000 + i * 0x2000, 0x1001000 + i * 0x2000, path);
		mappings_module(&fixture->mappings, &record, 1000 + i);
		if (i % MAX_CHANGES == MAX_CHANGES - 1)
			(void)mappings_update(&fixture->mappings, &buf,
					      (1 + i / MAX_CHANGES) * NS_PER_S, &sink);
	}
	buf_release(&buf);
	assert_int_equal(fixture->mappings.n_unproven_paths, UNPROVEN_PATHS);
	assert_true(fixture->mappings.paths.n < UNPROVEN_PATHS + 16);
	assert_int_equal(fixture->mappings.n_refused, 100 * MAX_CHANGES - UNPROVEN_PATHS);
	assert_int_equal(fixture->mappings.changed_paths.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(gives_the_first_list_from_the_start),
		with_fixture(gives_nothing_when_nothing_changed),
		with_fixture(gives_a_module_from_its_announcement_on),
		with_fixture(gives_an_unmapped_module_as_gone),
		with_fixture(gives_a_replaced_module_in_the_order_of_time),
		with_fixture(gives_each_turn_of_libraries_at_one_place),
		with_fixture(takes_the_same_path_with_another_inode_for_another_file),
		with_fixture(finds_the_segments_of_a_module_that_has_gone_already),
		with_fixture(gives_a_module_without_a_file_as_it_was_announced),
		with_fixture(asks_for_a_read_when_nothing_covers_a_pc),
		with_fixture(reads_for_new_code_seldom_in_the_long_run),
		with_fixture(does_not_ask_again_for_what_no_read_explains),
		with_fixture(follows_anonymous_code_that_grows),
		with_fixture(keeps_what_is_known_when_the_maps_file_is_empty),
		with_fixture(bounds_the_changes),
		with_fixture(a_target_that_makes_modules_up_is_not_believed_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

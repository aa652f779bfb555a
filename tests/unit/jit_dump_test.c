/* jit_dump_test.c - what code was at an address at a time, told by records of every kind */
#include "symbolize/jit/internal.h"

#include "state_fixture.h"
#include "tests/targets/jitdump.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PID = 7, PARENT = 5, NOW = 1000 * 1000 * 1000 };

static const uint8_t CODE[0x100];

static const struct jitdump_load FIRST = {
	.pid = PID, .time_ns = 100, .addr = 0x10000, .number = 1, .name = "first", CODE, 0x100};
static const struct jitdump_load SECOND = {.pid = PID,
					   .time_ns = 200,
					   .addr = 0x10080,
					   .number = 2,
					   .name = "second one",
					   CODE,
					   0x100};

static struct jitdump file;

static void begin(uint64_t flags)
{
	file.len = 0;
	jitdump_header(&file, PID, 50, flags);
}

/* Read what is written, as much at a time as STEP. */
static void read_all(struct jit_dump *dump, size_t step)
{
	size_t have = 0;

	*dump = (struct jit_dump){.pid = PID, .outer_pid = PID, .started_ns = 10};
	while (have < file.len) {
		int r = 0;

		have = have + step < file.len ? have + step : file.len;
		while (r == 0 && dump->at < have && !dump->ended) {
			/* Just as long: what is read beyond is found. */
			size_t len = have - (size_t)dump->at;
			uint8_t *bytes = malloc(len);

			assert_non_null(bytes);
			memcpy(bytes, file.bytes + dump->at, len);
			r = jit_dump_read(dump, bytes, len, NOW);
			free(bytes);
		}
		assert_true(r == 0 || r == -EAGAIN);
	}
}

static void check(const struct jit_dump *dump, uint64_t addr, uint64_t time_ns, const char *name)
{
	const struct jit_function *function;
	struct jit_code code;

	assert_int_equal(jit_code_copy(&dump->code, &code), 0);
	function = jit_code_find(&code, addr, time_ns);
	if (name) {
		assert_non_null(function);
		assert_string_equal(jit_code_name(&code, function), name);
	} else {
		assert_null(function);
	}
	jit_code_release(&code);
}

static void code_has_its_time(void **state)
{
	struct jit_dump dump;

	(void)state;
	begin(0);
	jitdump_load(&file, &FIRST);
	jitdump_load(&file, &SECOND);
	/* Byte by byte, and all at once. */
	for (size_t step = 1; step <= JITDUMP_ROOM; step *= JITDUMP_ROOM) {
		read_all(&dump, step);
		check(&dump, 0x10000, 99, NULL);
		check(&dump, 0x10000, 100, "first");
		check(&dump, 0x100ff, 199, "first");
		check(&dump, 0x100ff, 200, "second one");
		check(&dump, 0x1017f, 200, "second one");
		check(&dump, 0x10180, 200, NULL);
		/* What was written over in part is no function any more. */
		check(&dump, 0x10000, 200, NULL);
		jit_dump_release(&dump);
	}
}

static void code_moves(void **state)
{
	struct jitdump_load later = SECOND;
	struct jit_dump *dump = *state;

	later.time_ns = 400;
	begin(0);
	jitdump_load(&file, &FIRST);
	jitdump_move(&file, &FIRST, 0x20000, 300);
	jitdump_load(&file, &later);
	read_all(dump, 13);
	check(dump, 0x10010, 299, "first");
	check(dump, 0x20010, 299, NULL);
	check(dump, 0x20010, 300, "first");
	check(dump, 0x10010, 300, NULL);
	check(dump, 0x10090, 400, "second one");
	check(dump, 0x20010, 400, "first");
}

static void lines_come_before_their_code(void **state)
{
	static const struct jitdump_line LINES[] = {
		{0x10000, 10, "a.js"}, {0x10010, 11, "\xff"}, {0x10020, 3, "b.js"}};
	const struct jit_function *function;
	const char *source = NULL;
	struct jit_code code;
	struct jit_dump *dump = *state;

	begin(0);
	jitdump_lines(&file, 99, FIRST.addr, LINES, 3);
	jitdump_load(&file, &FIRST);
	read_all(dump, 100);
	assert_int_equal(jit_code_copy(&dump->code, &code), 0);
	function = jit_code_find(&code, 0x10018, 150);
	assert_non_null(function);
	assert_int_equal(jit_code_line(&code, function, 0x1000f, &source), 10);
	assert_string_equal(source, "a.js");
	assert_int_equal(jit_code_line(&code, function, 0x1001f, &source), 11);
	assert_string_equal(source, "a.js");
	assert_int_equal(jit_code_line(&code, function, 0x100ff, &source), 3);
	assert_string_equal(source, "b.js");
	jit_code_release(&code);
}

/* "The same file" is the last entry's, be that one of this function or not. */
static void a_line_has_the_file_of_the_entry_before(void **state)
{
	static const struct jitdump_line OTHERS[] = {{0x10020, 3, "b.js"}};
	static const struct jitdump_line LINES[] = {{1, 10, "a.js"}, {0x10000, 11, "\xff"}};
	const struct jit_function *function;
	const char *source = NULL;
	struct jit_code code;
	struct jit_dump *dump = *state;

	begin(0);
	jitdump_lines(&file, 99, FIRST.addr, OTHERS, 1);
	jitdump_load(&file, &FIRST);
	jitdump_lines(&file, 199, FIRST.addr, LINES, 2);
	jitdump_load(&file, &FIRST);
	read_all(dump, 100);
	assert_int_equal(jit_code_copy(&dump->code, &code), 0);
	function = jit_code_find(&code, 0x10018, 250);
	assert_non_null(function);
	assert_int_equal(jit_code_line(&code, function, 0x10018, &source), 11);
	assert_string_equal(source, "a.js");
	jit_code_release(&code);
}

static void nothing_counts_behind_close(void **state)
{
	struct jit_dump *dump = *state;

	begin(0);
	jitdump_load(&file, &FIRST);
	jitdump_close(&file, 150);
	jitdump_load(&file, &SECOND);
	read_all(dump, 64);
	assert_true(dump->ended);
	check(dump, 0x10000, 300, "first");
	check(dump, 0x10170, 300, NULL);
}

static void a_forked_child_has_what_its_parent_had(void **state)
{
	struct jitdump_load before = FIRST;
	struct jitdump_load after = SECOND;
	struct jit_dump *dump = *state;

	before.pid = after.pid = PARENT;
	before.time_ns = 5;
	begin(0);
	jitdump_load(&file, &before);
	jitdump_load(&file, &after);
	read_all(dump, 64);
	check(dump, 0x10000, 300, "first");
	check(dump, 0x10170, 300, NULL);
}

static void of_another_clock_the_order_counts(void **state)
{
	struct jitdump_load late = FIRST;
	struct jit_dump dump;

	(void)state;
	begin(1); /* times are of a counter of the machine */
	late.time_ns = UINT64_C(1) << 62;
	jitdump_load(&file, &late);
	jitdump_load(&file, &SECOND);
	read_all(&dump, 64);
	assert_true(dump.other_clock);
	check(&dump, 0x10100, JIT_FOREVER - 1, "second one");
	check(&dump, 0x10000, JIT_FOREVER - 1, NULL);
	jit_dump_release(&dump);
	/* Nothing says so, but it is not CLOCK_MONOTONIC. */
	file.len = 0;
	jitdump_header(&file, PID, UINT64_C(1700000000) * NOW, 0);
	jitdump_load(&file, &FIRST);
	read_all(&dump, 64);
	assert_true(dump.other_clock);
	jit_dump_release(&dump);
}

static void what_makes_no_sense_ends_it(void **state)
{
	struct jit_dump dump = {0};
	uint32_t none = 3;

	(void)state;
	begin(0);
	file.bytes[0] ^= 1;
	assert_int_equal(jit_dump_read(&dump, file.bytes, file.len, NOW), -EBADMSG);
	assert_true(dump.ended);
	jit_dump_release(&dump);
	dump = (struct jit_dump){0};
	begin(0);
	jitdump_load(&file, &FIRST);
	jitdump_load(&file, &SECOND);
	memcpy(file.bytes + file.record + 4, &none, sizeof(none)); /* a size of 3 */
	assert_int_equal(jit_dump_read(&dump, file.bytes, file.len, NOW), -EBADMSG);
	check(&dump, 0x10000, 300, "first");
	jit_dump_release(&dump);
}

/* Many functions, again and again in the same places: each call has to be cheap. */
static void a_hundred_thousand_functions_are_read_in_no_time(void **state)
{
	struct jit_code code = {0};
	struct jit_code copy;

	(void)state;
	for (uint64_t i = 0; i < 100 * 1000; i++) {
		struct jit_function function = {.start = 0x100000 + i % 5000 * 512, .from_ns = i};

		function.end = function.start + 600;
		assert_int_equal(jit_code_add(&code, &function, "name", 4), 0);
	}
	assert_int_equal(jit_code_copy(&code, &copy), 0);
	for (uint64_t i = 5001; i < 100 * 1000 - 5000; i += 7) {
		const struct jit_function *function =
			jit_code_find(&copy, 0x100000 + i % 5000 * 512 + 100, i);

		assert_non_null(function);
		assert_int_equal(function->from_ns, i);
	}
	jit_code_release(&copy);
	jit_code_release(&code);
}

/* Large functions one over another, backwards in time: the worst there is to sort out. */
static void hostile_records_cost_little(void **state)
{
	struct jit_code code = {0};
	int r = 0;

	(void)state;
	for (uint64_t i = 0; i < 17000 && r == 0; i++) {
		struct jit_function function = {.start = 0x100000 + i * 16,
						.end = 0x100000 + i * 16 + JIT_MAX_CODE_BYTES,
						.from_ns = 1000 * 1000 - i};

		r = jit_code_add(&code, &function, "name", 4);
	}
	assert_int_equal(r, 0);
	assert_true(code.n_nodes < 1000);
	jit_code_release(&code);
}

static void code_stands_in_its_record(void **state)
{
	struct jitdump_load load = FIRST;
	struct jit_dump *dump = *state;
	uint64_t claimed = 0x4000; /* of which the record has a part */

	begin(0);
	jitdump_load(&file, &load);
	memcpy(file.bytes + file.record + 16 + 24, &claimed, sizeof(claimed));
	load.addr = 0x20000;
	jitdump_load(&file, &load);
	read_all(dump, SIZE_MAX);
	check(dump, 0x10000, 1000, NULL);
	check(dump, 0x20000, 1000, "first");
}

/* A byte each: each one is looked at beside those that the page has already. */
static void a_page_has_only_so_many_functions(void **state)
{
	struct jit_code code = {0};
	size_t n_left = 0;

	(void)state;
	for (uint64_t i = 0; i < 4096; i++) {
		struct jit_function function = {
			.start = 0x100000 + i, .end = 0x100000 + i + 1, .from_ns = 1000 + i};

		assert_int_equal(jit_code_add(&code, &function, "name", 4), 0);
	}
	for (size_t i = 0; i < code.n_functions; i++)
		n_left += code.functions[i].until_ns == JIT_FOREVER;
	assert_int_equal(n_left, 513);
	jit_code_release(&code);
}

STATE_FIXTURE(jit_dump, dump, jit_dump_release(dump))

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_has_its_time),
		own_test(code_moves),
		own_test(lines_come_before_their_code),
		own_test(a_line_has_the_file_of_the_entry_before),
		own_test(nothing_counts_behind_close),
		own_test(a_forked_child_has_what_its_parent_had),
		cmocka_unit_test(of_another_clock_the_order_counts),
		cmocka_unit_test(what_makes_no_sense_ends_it),
		cmocka_unit_test(a_hundred_thousand_functions_are_read_in_no_time),
		cmocka_unit_test(hostile_records_cost_little),
		own_test(code_stands_in_its_record),
		cmocka_unit_test(a_page_has_only_so_many_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

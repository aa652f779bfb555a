/* buf_test.c - a growing run of bytes with a limit */
#include "base/buf.h"

#include "state_fixture.h"
#include "tests/unit/failing_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void an_empty_buffer_is_an_empty_string(void **state)
{
	struct buf *buf = *state;

	buf_init(buf, 16);
	assert_string_equal(buf_text(buf), "");
	assert_int_equal(buf_append(buf, "", 0), 0);
	assert_string_equal(buf_text(buf), "");
}

static void holds_what_was_added_in_order(void **state)
{
	struct buf *buf = *state;

	buf_init(buf, 1024);
	buf_add(buf, "one ");
	buf_add_char(buf, 't');
	assert_int_equal(buf_append(buf, "wo\0!", 4), 0);
	buf_printf(buf, " %d %s", -3, "four");
	assert_int_equal(buf->len, 4 + 1 + 4 + 8);
	assert_memory_equal(buf_text(buf), "one two\0! -3 four", 18);
}

static void grows_far_beyond_its_first_size(void **state)
{
	struct buf *buf = *state;

	buf_init(buf, 1 << 20);
	for (unsigned i = 0; i < 1 << 16; i++)
		buf_printf(buf, "%05u\n", i);
	assert_false(buf->failed);
	assert_int_equal(buf->len, 6 << 16);
	assert_memory_equal(buf->data + (size_t)6 * 54321, "54321\n", 6);
}

static void takes_exactly_its_limit_and_not_a_byte_more(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 8);
	assert_int_equal(buf_append(&buf, "12345678", 8), 0);
	assert_string_equal(buf_text(&buf), "12345678");
	assert_int_equal(buf_append(&buf, "9", 1), -EFBIG);
	assert_int_equal(buf.len, 8);
	buf_release(&buf);

	buf_init(&buf, 0);
	assert_int_equal(buf_append(&buf, "1", 1), -EFBIG);
	buf_release(&buf);
}

static void a_failure_stays_until_it_is_cleared(void **state)
{
	struct buf *buf = *state;

	buf_init(buf, 8);
	buf_add(buf, "too long for it");
	assert_true(buf->failed);
	buf_add(buf, "short");
	buf_add_dec(buf, 1, 0, ' ');
	buf_printf(buf, "x");
	assert_int_equal(buf->len, 0);
	assert_string_equal(buf_text(buf), "");
	buf_clear(buf);
	buf_add(buf, "short");
	assert_string_equal(buf_text(buf), "short");
}

static void a_length_near_the_largest_does_not_wrap(void **state)
{
	struct buf *buf = *state;

	buf_init(buf, 64);
	buf_add(buf, "four");
	assert_int_equal(buf_append(buf, "x", SIZE_MAX), -EFBIG);
	assert_int_equal(buf_append(buf, "x", SIZE_MAX - 3), -EFBIG);
	assert_int_equal(buf->len, 4);
}

static void formatted_text_over_the_limit_adds_nothing(void **state)
{
	struct buf *buf = *state;

	buf_init(buf, 4);
	buf_printf(buf, "%d", 12345);
	assert_true(buf->failed);
	assert_int_equal(buf->len, 0);
}

static void aligns_numbers_to_their_width(void **state)
{
	struct buf *buf = *state;

	buf_init(buf, 1024);
	buf_add_hex(buf, 0x7f01, 16);
	buf_add_char(buf, '|');
	buf_add_hex(buf, UINT64_MAX, 4);
	buf_add_char(buf, '|');
	buf_add_hex(buf, 0, 0);
	buf_add_char(buf, '|');
	buf_add_dec(buf, 7, 6, '0');
	buf_add_char(buf, '|');
	buf_add_dec(buf, UINT64_MAX, 5, ' ');
	assert_string_equal(buf_text(buf),
			    "            7f01|ffffffffffffffff|0|000007|18446744073709551615");
}

static void keeps_what_it_has_when_memory_runs_out(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 1 << 16);
	memory_fail_at(1);
	assert_int_equal(buf_append(&buf, "x", 1), -ENOMEM);
	assert_true(memory_has_failed());
	buf_release(&buf);

	buf_init(&buf, 1 << 16);
	buf_add(&buf, "kept");
	memory_fail_at(1);
	for (int i = 0; i < 1000; i++)
		buf_add_char(&buf, 'x');
	assert_true(memory_has_failed());
	assert_true(buf.failed);
	assert_memory_equal(buf.data, "keptx", 5);
	memory_fail_at(0);
	buf_release(&buf);
}

STATE_FIXTURE(buf, buf, buf_release(buf))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(an_empty_buffer_is_an_empty_string),
		own_test(holds_what_was_added_in_order),
		own_test(grows_far_beyond_its_first_size),
		cmocka_unit_test(takes_exactly_its_limit_and_not_a_byte_more),
		own_test(a_failure_stays_until_it_is_cleared),
		own_test(a_length_near_the_largest_does_not_wrap),
		own_test(formatted_text_over_the_limit_adds_nothing),
		own_test(aligns_numbers_to_their_width),
		cmocka_unit_test(keeps_what_it_has_when_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

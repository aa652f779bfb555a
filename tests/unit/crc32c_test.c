/* crc32c_test.c - the checksum, by instruction and by table */
#include "symbolize/cache/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void checks(const void *bytes, size_t len, uint32_t wanted)
{
	assert_int_equal(crc32c(bytes, len), wanted);
	assert_int_equal(crc32c_by_table(bytes, len), wanted);
}

/* RFC 3720, B.4, and the check value that every catalogue of CRCs gives. */
static void known_values_come_out(void **state)
{
	uint8_t bytes[32];

	(void)state;
	checks("123456789", 9, 0xe3069283);
	checks("", 0, 0);
	memset(bytes, 0, sizeof(bytes));
	checks(bytes, sizeof(bytes), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	checks(bytes, sizeof(bytes), 0x62a8ab43);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	checks(bytes, sizeof(bytes), 0x46dd794e);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(sizeof(bytes) - 1 - i);
	checks(bytes, sizeof(bytes), 0x113fdb5c);
}

static void both_ways_agree_at_every_length_and_place(void **state)
{
	uint8_t bytes[96];

	(void)state;
	srand(1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rand();
	for (size_t from = 0; from < 9; from++)
		for (size_t len = 0; from + len <= sizeof(bytes); len++)
			assert_int_equal(crc32c(bytes + from, len),
					 crc32c_by_table(bytes + from, len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values_come_out),
		cmocka_unit_test(both_ways_agree_at_every_length_and_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ring_quota_test.c - the rings of all processes share what there is, and none goes without */
#include "sampler/collector/ring/ring_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CHUNK = RING_CHUNK_SLOTS * RING_BIG_SLOT_BYTES };

/* Return: the slots that a new image may have beside one that uses N. */
static uint32_t slots_beside(uint32_t n, uint64_t bytes)
{
	return ring_quota_slots(bytes, ring_quota_bytes(n));
}

static void what_others_use_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(slots_beside(0, 0), RING_MAX_SLOTS);
	assert_int_equal(slots_beside(0, 10 * CHUNK), 10 * RING_CHUNK_SLOTS);
	assert_int_equal(slots_beside(32, 10 * CHUNK), 8 * RING_CHUNK_SLOTS);
}

static void one_chunk_is_never_refused(void **state)
{
	(void)state;
	assert_int_equal(slots_beside(0, 1), RING_CHUNK_SLOTS);
	assert_int_equal(slots_beside(5000, CHUNK), RING_CHUNK_SLOTS);
	assert_int_equal(slots_beside(UINT32_MAX, UINT64_MAX), RING_MAX_SLOTS);
}

static void later_slots_are_smaller(void **state)
{
	const uint32_t big = RING_BIG_CHUNKS * RING_CHUNK_SLOTS;

	(void)state;
	assert_int_equal(slots_beside(0, (uint64_t)RING_BIG_CHUNKS * CHUNK), big);
	assert_int_equal(slots_beside(0, (uint64_t)(RING_BIG_CHUNKS + 1) * CHUNK),
			 big + RING_BIG_SLOT_BYTES / RING_SMALL_SLOT_BYTES * RING_CHUNK_SLOTS);
	assert_int_equal(slots_beside(0, UINT64_MAX / 2), RING_MAX_SLOTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_use_is_not_there),
		cmocka_unit_test(one_chunk_is_never_refused),
		cmocka_unit_test(later_slots_are_smaller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

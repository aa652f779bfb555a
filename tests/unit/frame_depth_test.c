/* frame_depth_test.c - what functions do to sp, read from their code */
#include "sampler/remote/frame_depth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Where the code seems to be. */
#define CODE UINT64_C(0x400000)

static const unsigned char *bytes;
static size_t n_bytes;

static bool read_code(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	(void)reader;
	if (address < CODE || address - CODE > n_bytes || n_bytes - (address - CODE) < len)
		return false;
	memcpy(to, bytes + (address - CODE), len);
	return true;
}

/* The depth at PC bytes into the function. */
static bool depth_at(const unsigned char *code, size_t n, uint64_t pc, struct frame_depth *ret)
{
	struct unwind_reader reader = {.read = read_code};
	struct frame_code function = {
		.begin = CODE, .end = CODE + n, .pc = CODE + pc, .reg = ARCH_REG_BP};

	bytes = code;
	n_bytes = n;
	return frame_depth_read(&reader, &function, ret);
}

#define PROLOGUE 0x55, 0x48, 0x89, 0xe5                   /* push %rbp; mov %rsp,%rbp */
#define CALL     0xe8, 0, 0, 0, 0                         /* call */
#define EPILOGUE 0x48, 0x8d, 0x65, 0xf8, 0x5b, 0x5d, 0xc3 /* lea -8(%rbp),%rsp; pops; ret */

static void adds_up_the_prologue(void **state)
{
	static const unsigned char code[] = {
		0xf3, 0x0f,    0x1e, 0xfa, PROLOGUE, 0x41, 0x54,    /* push %r12 */
		0x49, 0x89,    0xfc,                                /* mov %rdi,%r12 */
		0x53, 0x48,    0x81, 0xec, 0,        1,    0,    0, /* push %rbx; sub $256,%rsp */
		CALL, EPILOGUE};
	struct frame_depth depth;

	(void)state;
	assert_true(depth_at(code, sizeof(code), 26, &depth));
	assert_true(depth.set_up && depth.fixed);
	assert_int_equal(depth.body, 16 + 256);
	assert_int_equal(depth.at_pc, 16 + 256);
	assert_int_equal(depth.slack, 0);
	/* In the middle of the prologue it is what has been pushed so far. */
	assert_true(depth_at(code, sizeof(code), 10, &depth));
	assert_int_equal(depth.at_pc, 8);
	assert_true(depth_at(code, sizeof(code), 5, &depth));
	assert_false(depth.set_up);
}

static void counts_pushed_arguments(void **state)
{
	static const unsigned char code[] = {
		PROLOGUE, 0x53,    0x48, 0x83, 0xec, 8, /* push %rbx; sub $8,%rsp */
		0x74,     0,       0x6a, 1,    0x6a, 2, /* je; push $1; push $2 */
		CALL,     0x48,    0x83, 0xc4, 16,      /* call; add $16,%rsp */
		CALL,     EPILOGUE};
	struct frame_depth depth;

	(void)state;
	assert_true(depth_at(code, sizeof(code), 20, &depth));
	assert_int_equal(depth.body, 16);
	assert_int_equal(depth.at_pc, 32);
	assert_true(depth_at(code, sizeof(code), 29, &depth));
	assert_int_equal(depth.at_pc, 16);
}

static void goes_back_to_the_body_behind_a_return(void **state)
{
	static const unsigned char code[] = {PROLOGUE, 0x53, 0x74, 9, /* push %rbx; je */
					     EPILOGUE, CALL, 0x0f, 0x0b};
	struct frame_depth depth;

	(void)state;
	assert_true(depth_at(code, sizeof(code), 19, &depth));
	assert_int_equal(depth.at_pc, 8);
	assert_true(depth.fixed);
}

static void knows_frames_of_variable_size(void **state)
{
	static const unsigned char alloca[] = {PROLOGUE, 0x48, 0x29, 0xc4, CALL, EPILOGUE};
	static const unsigned char later[] = {PROLOGUE, CALL, 0x48, 0x29, 0xc4, EPILOGUE};
	static const unsigned char loop[] = {PROLOGUE, 0x4c, 0x8d, 0x9c, 0x24, 0,    0,       0xff,
					     0xff,     0x48, 0x81, 0xec, 0,    0x10, 0,       0,
					     0x4c,     0x39, 0xdc, 0x75, 0xf0, CALL, EPILOGUE};
	struct frame_depth depth;

	(void)state;
	assert_true(depth_at(alloca, sizeof(alloca), 12, &depth));
	assert_true(depth.set_up);
	assert_false(depth.fixed);
	/* The call may have come round again. */
	assert_true(depth_at(later, sizeof(later), 9, &depth));
	assert_false(depth.fixed);
	assert_true(depth_at(loop, sizeof(loop), 29, &depth));
	assert_false(depth.fixed);
}

static void leaves_room_for_an_alignment(void **state)
{
	static const unsigned char code[] = {PROLOGUE, 0x48, 0x83, 0xe4, 0xc0, /* and $-64,%rsp */
					     0x48,     0x83, 0xec, 0x40, CALL, EPILOGUE};
	struct frame_depth depth;

	(void)state;
	assert_true(depth_at(code, sizeof(code), 17, &depth));
	assert_true(depth.fixed);
	assert_int_equal(depth.body, 64);
	assert_int_equal(depth.slack, 64);
}

static void reads_a_register_that_is_set_above_sp(void **state)
{
	static const unsigned char code[] = {0x55, 0x48, 0x81, 0xec, 0, 1, 0,    0,    0x48, 0x8d,
					     0xac, 0x24, 0x80, 0,    0, 0, CALL, 0xc9, 0xc3};
	struct frame_depth depth;

	(void)state;
	assert_true(depth_at(code, sizeof(code), 21, &depth));
	assert_true(depth.fixed);
	assert_int_equal(depth.at_pc, 128);
}

static void says_nothing_of_code_that_it_cannot_read(void **state)
{
	static const unsigned char bad[] = {PROLOGUE, 0x53, CALL, 0x06, EPILOGUE};
	static const unsigned char cut[] = {PROLOGUE, 0x53, CALL, 0xe8, 0, 0};
	struct frame_depth depth;

	(void)state;
	assert_true(depth_at(bad, sizeof(bad), 10, &depth));
	assert_false(depth.fixed);
	assert_false(depth_at(bad, sizeof(bad), 8, &depth));
	assert_true(depth_at(cut, sizeof(cut), 10, &depth));
	assert_false(depth.fixed);
	assert_false(depth_at(bad, (size_t)512 << 20, 10, &depth));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_up_the_prologue),
		cmocka_unit_test(counts_pushed_arguments),
		cmocka_unit_test(goes_back_to_the_body_behind_a_return),
		cmocka_unit_test(knows_frames_of_variable_size),
		cmocka_unit_test(leaves_room_for_an_alignment),
		cmocka_unit_test(reads_a_register_that_is_set_above_sp),
		cmocka_unit_test(says_nothing_of_code_that_it_cannot_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* waker_test.c - the thread that released a lock, in the text */
#include "output/text/perf_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char text[2 * SANITISE_MAX_NAME];

static const char *written(const struct sample *sample)
{
	struct buf buf;

	buf_init(&buf, sizeof(text));
	perf_script_waker(&buf, sample);
	assert_false(buf.failed);
	assert_true(buf.len < sizeof(text));
	if (buf.len)
		memcpy(text, buf.data, buf.len);
	text[buf.len] = '\0';
	buf_release(&buf);
	return text;
}

static void nothing_is_written_of_an_unknown_waker(void **state)
{
	struct frame frames[] = {{.symbol = "wait"}};
	const struct sample sample = {.n_frames = 1, .frames = frames};

	(void)state;
	assert_string_equal(written(&sample), "");
}

static void the_frames_behind_the_samples_own_are_the_wakers(void **state)
{
	struct frame frames[] = {
		{.symbol = "wait"}, {.symbol = "main"}, {.symbol = "let_go"}, {.symbol = "run"}};
	const struct sample sample = {
		.n_frames = 2, .frames = frames, .n_waker = 2, .waker_tid = 41};

	(void)state;
	assert_string_equal(written(&sample), " waker=41:let_go;run");
}

static void a_waker_without_a_stack_is_a_number(void **state)
{
	struct frame frames[] = {{.symbol = "wait"}};
	const struct sample sample = {.n_frames = 1, .frames = frames, .waker_tid = 41};

	(void)state;
	assert_string_equal(written(&sample), " waker=41");
}

static void names_cannot_break_the_word(void **state)
{
	struct frame frames[] = {{.symbol = "map<int, a>::at;b%"},
				 {.module = "/lib/a b.so"},
				 {.module = "[vdso]"},
				 {.symbol = NULL}};
	const struct sample sample = {.frames = frames, .n_waker = 4, .waker_tid = 1};

	(void)state;
	assert_string_equal(written(&sample),
			    " waker=1:map%3Cint%2C%20a%3E::at%3Bb%25;[a%20b.so];[vdso];[unknown]");
}

static void long_names_end_the_word(void **state)
{
	static char name[600];
	struct frame frames[20];
	const struct sample sample = {.frames = frames, .n_waker = 20, .waker_tid = 1};

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	for (int i = 0; i < 20; i++)
		frames[i] = (struct frame){.symbol = name};
	assert_in_range(strlen(written(&sample)), PERF_SCRIPT_WAKER_BYTES,
			PERF_SCRIPT_WAKER_BYTES + sizeof(name));
}

/* Names are the target's, and a line has to end somewhere. */
static void a_long_name_is_cut(void **state)
{
	static char name[2 * SANITISE_MAX_NAME];
	struct frame frames[] = {{.symbol = name}, {.symbol = "run"}};
	const struct sample sample = {
		.n_frames = 0, .frames = frames, .n_waker = 2, .waker_tid = 41};

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[SANITISE_MAX_NAME + 1] = ';';
	assert_int_equal(strlen(written(&sample)), SANITISE_MAX_NAME + strlen(" waker=41:"));
	name[9] = ';';
	assert_int_equal(strlen(written(&sample)), SANITISE_MAX_NAME + strlen(" waker=41:%3B") - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_written_of_an_unknown_waker),
		cmocka_unit_test(the_frames_behind_the_samples_own_are_the_wakers),
		cmocka_unit_test(a_waker_without_a_stack_is_a_number),
		cmocka_unit_test(names_cannot_break_the_word),
		cmocka_unit_test(long_names_end_the_word),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests_name("waker", tests, NULL, NULL);
}

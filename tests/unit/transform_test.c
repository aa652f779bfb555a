/* transform_test.c - what a reader does to the stacks of a selection */
#include "base/buf.h"
#include "tests/unit/flamescope/hand_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST_FRAMES = 16, TEXT_BYTES = 1024 };

static struct selection *stacks_of(struct hand_profile *hand)
{
	static const char *const stacks[] = {"main;f;f;g", "main;g;f", "start;g", NULL,
					     "main;f;f;f"};
	const struct query query = {.n_groups = 1, .groups = {"thread"}};

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		hand_profile_add(hand, &(struct hand_sample){.stack = stacks[i], .weight = i + 1});
	return hand_profile_select(hand, &query);
}

/* The stacks after KIND, "VALUE stack" a sample, each with a newline. */
static void assert_transformed(const struct selection *from, enum transform_kind kind,
			       const char *of, const char *expected)
{
	struct selection *selection = NULL;
	struct buf text;

	buf_init(&text, TEXT_BYTES);
	assert_int_equal(selection_transform(from, kind, of, &selection, NULL), 0);
	for (size_t i = 0; i < selection->n; i++) {
		const char *names[MOST_FRAMES];
		size_t n = 0;

		for (uint32_t node = selection->stacks[i]; node != 0 && n < MOST_FRAMES;
		     node = selection->nodes[node].parent)
			names[n++] = selection_frame_name(selection, selection->nodes[node].frame);
		buf_printf(&text, "%u ", selection->samples[i]);
		while (n > 0) {
			buf_add(&text, names[--n]);
			buf_add(&text, n > 0 ? ";" : "");
		}
		buf_add_char(&text, '\n');
	}
	selection_free(selection);
	assert_string_equal(buf_text(&text), expected);
	buf_release(&text);
}

static void focus_begins_at_the_outermost_place(void **state)
{
	assert_transformed(stacks_of(*state), TRANSFORM_FOCUS, "f", "0 f;f;g\n1 f\n4 f;f;f\n");
}

static void merge_hangs_callees_on_callers(void **state)
{
	assert_transformed(stacks_of(*state), TRANSFORM_MERGE, "f",
			   "0 app/1;main;g\n1 app/1;main;g\n2 app/1;start;g\n3 app/1\n"
			   "4 app/1;main\n");
}

static void collapse_shows_a_function_that_calls_itself_once(void **state)
{
	struct selection *selection = stacks_of(*state);

	assert_transformed(selection, TRANSFORM_COLLAPSE, "",
			   "0 app/1;main;f;g\n1 app/1;main;g;f\n2 app/1;start;g\n3 app/1\n"
			   "4 app/1;main;f\n");
	assert_transformed(selection, TRANSFORM_COLLAPSE, "g",
			   "0 app/1;main;f;f;g\n1 app/1;main;g;f\n2 app/1;start;g\n3 app/1\n"
			   "4 app/1;main;f;f;f\n");
}

static void drop_leaves_samples_out(void **state)
{
	assert_transformed(stacks_of(*state), TRANSFORM_DROP, "f", "2 app/1;start;g\n3 app/1\n");
}

static void hide_takes_a_module_away(void **state)
{
	struct hand_profile *hand = *state;
	struct selection *selection = stacks_of(hand);
	struct profile_frame *frames = hand->profile.frames;

	/* the module of f and main has the name of g */
	frames[hand_profile_frame(hand, "f")].module = frames[hand_profile_frame(hand, "g")].name;
	frames[hand_profile_frame(hand, "main")].module =
		frames[hand_profile_frame(hand, "g")].name;
	assert_transformed(selection, TRANSFORM_HIDE, "g",
			   "0 app/1;g\n1 app/1;g\n2 app/1;start;g\n3 app/1\n4 app/1\n");
	assert_transformed(selection, TRANSFORM_HIDE, "no such module",
			   "0 app/1;main;f;f;g\n1 app/1;main;g;f\n2 app/1;start;g\n3 app/1\n"
			   "4 app/1;main;f;f;f\n");
}

static void values_and_labels_stay(void **state)
{
	struct selection *from = stacks_of(*state);
	struct selection *to = NULL;
	struct selection *again = NULL;

	assert_int_equal(selection_transform(from, TRANSFORM_DROP, "start", &to, NULL), 0);
	assert_int_equal(selection_transform(to, TRANSFORM_FOCUS, "g", &again, NULL), 0);
	selection_free(to);
	assert_int_equal(again->n, 2);
	assert_int_equal(again->values[1], from->values[1]);
	assert_string_equal(again->labels[0], from->labels[0]);
	assert_string_equal(again->unit, from->unit);
	selection_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		hand_profile_test(focus_begins_at_the_outermost_place),
		hand_profile_test(merge_hangs_callees_on_callers),
		hand_profile_test(collapse_shows_a_function_that_calls_itself_once),
		hand_profile_test(drop_leaves_samples_out),
		hand_profile_test(hide_takes_a_module_away),
		hand_profile_test(values_and_labels_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* draw_test.c - pictures and tables of models made by hand */
#include "flamescope/draw/draw.h"
#include "flamescope/draw/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_TEXT = 16 * 1024 * 1024 };

/* main calls f, <script>, which give 70, 30; f gives 5 back. */
static const char *strings[6] = {"", "main", "f", "<script>alert(1)</script>", "/bin/app", ""};
static struct profile_frame frames[] = {
	{.name = 1, .module = 4}, {.name = 2, .module = 4}, {.name = 3, .module = 4}};
static const struct profile profile = {.n_frames = 3,
				       .frames = frames,
				       .n_strings = 6,
				       .strings = strings,
				       .start_ns = 5250000000,
				       .has_times = true};
static struct selection selection = {
	.profile = &profile, .n = 100, .measure = QUERY_VALUE, .unit = "B", .noun = ""};
static struct flame_node calls_nodes[] = {
	{.first_child = 1, .gain = 100, .samples = 100},
	{.frame = 0, .parent = 0, .first_child = 2, .depth = 1, .gain = 100, .samples = 100},
	{.frame = 1,
	 .parent = 1,
	 .next = 3,
	 .depth = 2,
	 .gain = 70,
	 .self_gain = 70,
	 .samples = 70,
	 .self_samples = 70},
	{.frame = 2,
	 .parent = 1,
	 .depth = 2,
	 .gain = 30,
	 .self_gain = 30,
	 .samples = 30,
	 .self_samples = 30},
};
static struct flame_node reverse_nodes[] = {
	{.first_child = 1, .gain = 100, .samples = 100},
	{.frame = 1, .next = 2, .depth = 1, .gain = 70, .self_gain = 70, .samples = 70},
	{.frame = 2, .depth = 1, .gain = 30, .self_gain = 30, .samples = 30},
};
static const struct flame calls = {
	.selection = &selection, .n_nodes = 4, .nodes = calls_nodes, .depth = 2};
static const struct flame reverse = {
	.selection = &selection, .n_nodes = 3, .nodes = reverse_nodes, .depth = 1};
static struct buf text;

/* The labels of groups stand above the profile's frames; there are none here. */
static int clean(void **state)
{
	(void)state;
	buf_release(&text);
	buf_init(&text, MAX_TEXT);
	selection.is_signed = false;
	calls_nodes[2].loss = 0;
	return 0;
}

static size_t count(const char *word)
{
	size_t n = 0;

	/* strstr() would look for the text's end each time under sanitizers. */
	for (const char *at = buf_text(&text); (at = strchr(at, word[0])); at++)
		n += strncmp(at, word, strlen(word)) == 0;
	return n;
}

static void draw_flame(const struct flame_svg_options *options)
{
	buf_clear(&text);
	assert_int_equal(flame_svg_write(&text, &calls, &reverse, options), 0);
}

static void a_flame_graph_holds_both_graphs(void **state)
{
	struct flame_svg_options options = {.title = "a & b"};

	(void)state;
	draw_flame(&options);
	assert_int_equal(count("<g id=\"calls\""), 1);
	assert_int_equal(count("<g id=\"reverse\""), 1);
	assert_int_equal(count("data-d=\"2\""), 2); /* f and <script> */
	assert_int_equal(count("data-d=\"1\""), 3); /* main; f and <script> reversed */
	assert_non_null(strstr(buf_text(&text), "<title id=\"title\">a &amp; b</title>"));
	assert_non_null(strstr(buf_text(&text), "<title>f\n(/bin/app) 70.00 %, 70 B, self 70 B"));
	/* 70 of 100 of 1180 pixels, behind the margin */
	assert_non_null(strstr(buf_text(&text), "<rect x=\"10\" width=\"826\""));
	assert_non_null(strstr(buf_text(&text), "<rect x=\"836\" width=\"354\""));
}

/* main is of a program, f of libc, and the third is inlined into main. */
static void colours_say_whose_code_it_is(void **state)
{
	struct flame_svg_options options = {.title = ""};
	struct colour_frame inlined = {
		.name = strings[3], .module = strings[4], .state = "", .inlined = true};
	struct buf class;

	(void)state;
	strings[5] = "/lib/libc.so.6";
	frames[1].module = 5;
	frames[2].module = 0;
	frames[2].inlined = true;
	draw_flame(&options);
	buf_init(&class, 64);
	buf_printf(&class, "<g class=\"c%u\" data-d=\"2\"",
		   colour_of_frame(&inlined, COLOUR_BY_FAMILY));
	assert_int_equal(count(buf_text(&class)), 1);
	buf_clear(&class);
	/* of the reverse graph, where main is not below it: nobody knows */
	inlined.module = "";
	buf_printf(&class, "<g class=\"c%u\" data-d=\"1\"",
		   colour_of_frame(&inlined, COLOUR_BY_FAMILY));
	assert_int_equal(count(buf_text(&class)), 1);
	buf_release(&class);
	assert_non_null(strstr(buf_text(&text), ">program</text>"));
	assert_non_null(strstr(buf_text(&text), ">libc</text>"));
	assert_null(strstr(buf_text(&text), ">kernel</text>"));
	options.by = COLOUR_BY_MODULE;
	draw_flame(&options);
	assert_non_null(strstr(buf_text(&text), ">libc.so.6</text>"));
	frames[1].module = frames[2].module = 4;
	frames[2].inlined = false;
}

static void boxes_say_as_many_numbers_as_fit(void **state)
{
	struct flame_svg_options options = {.title = "", .width = 250};

	(void)state;
	draw_flame(&options);
	assert_non_null(strstr(buf_text(&text), ">main  100.00 %  100 B</text>"));
	assert_non_null(strstr(buf_text(&text), ">f  70.00 %  70 B</text>"));
	assert_non_null(strstr(buf_text(&text), ">&lt;scrip..</text>"));
	assert_int_equal(count("data-p=\"30.00 %\" data-t=\"30 B\""), 2);
}

static void names_are_never_markup(void **state)
{
	struct flame_svg_options options = {.title = "<script>"};

	(void)state;
	draw_flame(&options);
	assert_int_equal(count("<script"), 1); /* our own */
	assert_int_equal(count("&lt;script&gt;alert(1)&lt;/script&gt;"), 5);
	assert_int_equal(count("]]>"), 1);
	assert_int_equal(count("http://www.w3.org/"), 3); /* name spaces, and nothing to load */
	assert_int_equal(count("href") + count("url(") + count("@import"), 0);
	selection.is_signed = true;
	draw_flame(&options);
	assert_int_equal(count("url("), 8);
	assert_int_equal(count("url(#less"), 8); /* hatching, of the picture's own */
}

static void a_threshold_leaves_out_what_is_narrow(void **state)
{
	struct flame_svg_options options = {.title = "", .threshold = 0.5};

	(void)state;
	draw_flame(&options);
	assert_int_equal(count("data-d=\"2\""), 1);
	assert_non_null(strstr(buf_text(&text), "frames under 50.00 % are left out"));
}

static void signs_have_a_mark_and_a_colour(void **state)
{
	struct flame_svg_options options = {.title = ""};

	(void)state;
	selection.is_signed = true;
	calls_nodes[2].loss = 5;
	draw_flame(&options);
	assert_int_equal(count("class=\"m7\" data-m=\"\xc2\xb1 \""), 1); /* 70 and -5 */
	assert_non_null(strstr(buf_text(&text), "+70 B -5 B"));
	assert_true(count("class=\"m8\"") >= 3);
}

static void what_changed_is_said_in_points(void **state)
{
	const double change[] = {0, 0, 0.0612, -0.02};
	struct flame_svg_options options = {
		.title = "", .change = change, .reverse_change = change};

	(void)state;
	draw_flame(&options);
	assert_non_null(strstr(buf_text(&text), "class=\"m8\" data-m=\"+ \""));
	assert_non_null(strstr(buf_text(&text), "+6.12 points"));
	assert_non_null(strstr(buf_text(&text), "class=\"l5\""));
	assert_non_null(strstr(buf_text(&text), "-2.00 points"));
}

static void an_icicle_has_its_root_at_the_top(void **state)
{
	struct flame_svg_options options = {.title = "", .icicle = true};

	(void)state;
	draw_flame(&options);
	assert_non_null(strstr(buf_text(&text), "data-d=\"0\" transform=\"translate(0,76)\""));
	options.icicle = false;
	draw_flame(&options);
	assert_non_null(strstr(buf_text(&text), "data-d=\"0\" transform=\"translate(0,112)\""));
}

static void an_empty_flame_graph_is_one_without_frames(void **state)
{
	struct flame_node root = {0};
	const struct flame none = {.selection = &selection, .n_nodes = 1, .nodes = &root};
	struct flame_svg_options options = {.title = ""};

	(void)state;
	assert_int_equal(flame_svg_write(&text, &none, &none, &options), 0);
	assert_int_equal(count("data-d="), 0);
	assert_int_equal(count("</svg>"), 1);
}

/* A stack of 5,000 frames, and 50,000 functions beside each other. */
static void what_is_huge_is_thinned(void **state)
{
	enum { DEEP = 5000, WIDE = 50000, N = 1 + DEEP + WIDE };
	struct flame_node *nodes = calloc(N, sizeof(*nodes));
	struct flame huge = {.selection = &selection, .n_nodes = N, .nodes = nodes, .depth = DEEP};
	struct flame_layout layout;

	(void)state;
	assert_non_null(nodes);
	nodes[0] = (struct flame_node){.first_child = 1, .gain = 2 * WIDE, .samples = 2 * WIDE};
	for (uint32_t i = 1; i <= DEEP; i++)
		nodes[i] = (struct flame_node){.parent = i - 1,
					       .first_child = i < DEEP ? i + 1 : FLAME_NONE,
					       .next = i == 1 ? DEEP + 1 : FLAME_NONE,
					       .depth = i,
					       .gain = WIDE};
	for (uint32_t i = DEEP + 1; i < N; i++)
		nodes[i] = (struct flame_node){
			.next = i + 1 < N ? i + 1 : FLAME_NONE, .depth = 1, .gain = 1};
	assert_int_equal(flame_layout_make(&layout, &huge, 0, true), 0);
	assert_true(layout.n_drawn <= FLAME_LAYOUT_MAX_FRAMES);
	assert_int_equal(layout.depth, FLAME_LAYOUT_MAX_DEPTH);
	assert_true(layout.least > 1);
	flame_layout_release(&layout);
	assert_int_equal(flame_layout_make(&layout, &huge, 0, false), 0);
	assert_int_equal(layout.n_drawn, N);
	assert_int_equal(layout.depth, DEEP);
	/* the siblings stand behind the deep stack */
	assert_int_equal(layout.left[DEEP + 2], WIDE + 1);
	flame_layout_release(&layout);
	assert_int_equal(flame_write_json(&text, &huge, 0), 0);
	assert_int_equal(count("{\"name\""), N);
	free(nodes);
}

static void a_tree_is_written_in_lines(void **state)
{
	(void)state;
	assert_int_equal(flame_write_tree(&text, &calls, 0), 0);
	assert_non_null(strstr(buf_text(&text), "  70.00 %          70 B      f (/bin/app)\n"));
	buf_clear(&text);
	assert_int_equal(flame_write_csv(&text, &calls, 0), 0);
	assert_non_null(strstr(buf_text(&text), "2,\"f\",\"/bin/app\",70,0,70,0,70,70\n"));
	buf_clear(&text);
	assert_int_equal(flame_write_json(&text, &calls, 0), 0);
	assert_int_equal(count("]}"), 4);
	assert_int_equal(count("<"), 0);
}

/* Two seconds of four rows: nothing, 0, 5, -5; and 10. */
static int64_t values[] = {0, 0, 5, -5, 10, 0, 0, 0};
static uint32_t samples[] = {0, 1, 2, 1, 3, 0, 0, 0};
static struct heat heat = {.n_columns = 2,
			   .n_rows = 4,
			   .column_ns = 1000000000,
			   .start_ns = 5000000000,
			   .values = values,
			   .samples = samples,
			   .min = -5,
			   .max = 10,
			   .scale_min = -5,
			   .scale_max = 10};

static void a_heatmap_tells_zero_from_nothing(void **state)
{
	struct heat_svg_options options = {.title = "t"};

	(void)state;
	assert_int_equal(heat_svg_write(&text, &heat, &selection, &options), 0);
	/* rows go up: row 0 of column 0 is the lowest of four */
	assert_non_null(
		strstr(buf_text(&text), "<path class=\"x0\" d=\"M0 3h1v1h-1zM1 0h1v3h-1z\"/>"));
	assert_non_null(strstr(buf_text(&text), "<path class=\"p0\" d=\"M0 2h1v1h-1z\"/>"));
	assert_non_null(strstr(buf_text(&text), "<path class=\"p12\" d=\"M1 3h1v1h-1z\"/>"));
	assert_non_null(strstr(buf_text(&text), "<path class=\"p6\" d=\"M0 1h1v1h-1z\"/>"));
	assert_non_null(strstr(buf_text(&text), "<path class=\"n6\" d=\"M0 0h1v1h-1z\"/>"));
	assert_non_null(strstr(buf_text(&text), "data-unit=\"B\" data-values=\" 0 5 -5 10   \""));
}

/* The picture's script adds the unit, and knows none. */
static void a_heatmap_of_time_has_one_unit(void **state)
{
	static int64_t times[] = {0, 0, 10101010, 101010101, 20202020, 0, 0, 0};
	struct heat_svg_options options = {.title = "t"};
	struct heat of_time = heat;
	struct selection cpu = selection;

	(void)state;
	of_time.values = times;
	of_time.min = of_time.scale_min = 0;
	of_time.max = of_time.scale_max = 101010101;
	cpu.measure = QUERY_WEIGHT;
	cpu.unit = "ns";
	assert_int_equal(heat_svg_write(&text, &of_time, &cpu, &options), 0);
	assert_non_null(
		strstr(buf_text(&text), "data-unit=\"ms\" data-values=\" 0 10.1 101 20.2   "));
	/* in a quarter of a second */
	assert_non_null(strstr(buf_text(&text), "most (101.0 ms, 404 ms/s) at"));
}

static void totals_are_told_as_people_know_them(void **state)
{
	struct selection counted = selection;
	struct profile folded = profile;

	(void)state;
	counted.measure = QUERY_WEIGHT;
	counted.unit = "ns";
	counted.noun = "of CPU";
	measure_taken(&text, &counted);
	buf_add(&text, ", ");
	measure_total(&text, &counted, 5660000000);
	assert_string_equal(buf_text(&text), "100 samples, 5.66 s of CPU");
	buf_clear(&text);
	folded.has_times = false;
	counted = (struct selection){.profile = &folded,
				     .n = 1,
				     .measure = QUERY_WEIGHT,
				     .unit = "samples",
				     .noun = "samples"};
	measure_taken(&text, &counted);
	buf_add(&text, ", ");
	measure_total(&text, &counted, 4711);
	assert_string_equal(buf_text(&text), "1 stack, 4,711 samples");
	assert_string_equal(measure_unit_word("KiB"), "bytes");
	assert_string_equal(measure_unit_word("us"), "time");
	assert_string_equal(measure_unit_word("page-faults"), "page-faults");
}

static void what_is_beyond_the_scale_has_the_fullest_colour(void **state)
{
	struct heat few = heat;

	(void)state;
	few.scale_min = 0;
	few.scale_max = 5;
	assert_int_equal(heat_level(&few, 0, 2, 12), 12);
	assert_int_equal(heat_level(&few, 1, 0, 12), 12);
	assert_int_equal(heat_level(&few, 0, 3, 12), -12);
	assert_int_equal(heat_level(&few, 0, 1, 12), 0);
}

static void a_heatmap_is_written_for_programs(void **state)
{
	(void)state;
	heat_write_csv(&text, &heat, &selection);
	assert_string_equal(buf_text(&text), "time (s),column,row,\"B\",samples\n"
					     "0.000000000,0,1,0,1\n"
					     "0.250000000,0,2,5,2\n"
					     "0.500000000,0,3,-5,1\n"
					     "0.750000000,1,0,10,3\n");
	buf_clear(&text);
	heat_write_json(&text, &heat, &selection);
	assert_non_null(
		strstr(buf_text(&text), "\"values\":[[null,0,5,-5],\n[10,null,null,null]]"));
	assert_non_null(strstr(buf_text(&text), "\"samples\":[[0,1,2,1],\n[3,0,0,0]]"));
}

static void a_terminal_without_colours_gets_characters(void **state)
{
	struct heat_terminal terminal = {.title = "t\033]0;x", .columns = 12};

	(void)state;
	heat_write_terminal(&text, &heat, &selection, &terminal);
	assert_null(strchr(buf_text(&text), '\033'));
	assert_non_null(strstr(buf_text(&text), "         d \n         = \n         0 \n"
						"    0 ms  @\n"));
	buf_clear(&text);
	terminal.colours = HEAT_256;
	heat_write_terminal(&text, &heat, &selection, &terminal);
	assert_non_null(strstr(buf_text(&text), "\033[38;5;"));
	assert_null(strstr(buf_text(&text), "\033[38;2;"));
	buf_clear(&text);
	terminal.colours = HEAT_TRUE;
	terminal.theme = COLOUR_DARK;
	heat_write_terminal(&text, &heat, &selection, &terminal);
	assert_non_null(strstr(buf_text(&text), "\033[48;2;255;237;195m")); /* the most */
	assert_null(strstr(buf_text(&text), "\033]"));
}

static void functions_stand_in_columns(void **state)
{
	const struct flame_function rows[] = {
		{.frame = 1, .self_gain = 2048, .gain = 4096, .samples = 3, .calls = 1234},
		{.frame = 2, .self_gain = 1, .gain = 1, .samples = 1}};
	struct function_table table = {
		.selection = &selection, .rows = rows, .n_rows = 2, .n_all = 3, .total = 8192};

	(void)state;
	function_table_text(&text, &table);
	assert_string_equal(
		buf_text(&text),
		"    self   self %     total  total %  calls  function\n"
		"2.00 KiB  25.00 %  4.00 KiB  50.00 %  1,234  f  (app)\n"
		"     1 B   0.01 %       1 B   0.01 %      0  <script>alert(1)</script>  (app)\n"
		"(1 more functions; --top shows more)\n");
	buf_clear(&text);
	table.has_bars = true;
	table.by_self = true;
	function_table_text(&text, &table);
	/* a quarter of ten characters: two, and four eighths */
	assert_non_null(strstr(buf_text(&text), "  1,234  \xe2\x96\x88\xe2\x96\x88\xe2\x96\x8c"
						"         f  (app)\n"));
	buf_clear(&text);
	function_table_markdown(&text, &table);
	assert_non_null(strstr(buf_text(&text), "| 2.00 KiB | 25.00 % | 4.00 KiB | 50.00 % | 1,234 "
						"| `f` |\n"));
	buf_clear(&text);
	function_table_csv(&text, &table);
	assert_non_null(strstr(buf_text(&text), "\"f\",\"/bin/app\",2048,0,4096,0,0,3,1234\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_flame_graph_holds_both_graphs, clean),
		cmocka_unit_test_setup(colours_say_whose_code_it_is, clean),
		cmocka_unit_test_setup(boxes_say_as_many_numbers_as_fit, clean),
		cmocka_unit_test_setup(names_are_never_markup, clean),
		cmocka_unit_test_setup(a_threshold_leaves_out_what_is_narrow, clean),
		cmocka_unit_test_setup(signs_have_a_mark_and_a_colour, clean),
		cmocka_unit_test_setup(what_changed_is_said_in_points, clean),
		cmocka_unit_test_setup(an_icicle_has_its_root_at_the_top, clean),
		cmocka_unit_test_setup(an_empty_flame_graph_is_one_without_frames, clean),
		cmocka_unit_test_setup(what_is_huge_is_thinned, clean),
		cmocka_unit_test_setup(a_tree_is_written_in_lines, clean),
		cmocka_unit_test_setup(a_heatmap_tells_zero_from_nothing, clean),
		cmocka_unit_test_setup(a_heatmap_of_time_has_one_unit, clean),
		cmocka_unit_test_setup(totals_are_told_as_people_know_them, clean),
		cmocka_unit_test_setup(a_heatmap_is_written_for_programs, clean),
		cmocka_unit_test(what_is_beyond_the_scale_has_the_fullest_colour),
		cmocka_unit_test_setup(a_terminal_without_colours_gets_characters, clean),
		cmocka_unit_test_setup(functions_stand_in_columns, clean),
	};

	return cmocka_run_group_tests(tests, NULL, clean);
}

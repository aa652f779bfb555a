/* colour_test.c - the palette: whose code, readable text, and colours apart for any eyes */
#include "flamescope/draw/colour.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* sRGB (IEC 61966-2-1) as linear light. */
struct light {
	double red, green, blue;
};

static double linear(uint32_t byte)
{
	double value = byte / 255.0;

	return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static struct light light_of(uint32_t rgb)
{
	return (struct light){linear(rgb >> 16 & 0xff), linear(rgb >> 8 & 0xff),
			      linear(rgb & 0xff)};
}

/* WCAG 2.1: relative luminance, and the contrast of two. */
static double contrast(uint32_t a, uint32_t b)
{
	double y[2];

	for (int i = 0; i < 2; i++) {
		struct light it = light_of(i ? b : a);

		y[i] = 0.2126 * it.red + 0.7152 * it.green + 0.0722 * it.blue + 0.05;
	}
	return fmax(y[0], y[1]) / fmin(y[0], y[1]);
}

enum eyes { NORMAL, DEUTERANOPE, PROTANOPE, TRITANOPE, N_EYES };

/* Machado, Oliveira, Fernandes, "A physiologically-based model for simulation of color vision
 * deficiency" (2009), severity 1. */
static struct light seen(struct light it, enum eyes eyes)
{
	static const double m[N_EYES][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
					       {{0.367322, 0.860646, -0.227968},
						{0.280085, 0.672501, 0.047413},
						{-0.011820, 0.042940, 0.968881}},
					       {{0.152286, 1.052583, -0.204868},
						{0.114503, 0.786281, 0.099216},
						{-0.003882, -0.048116, 1.051998}},
					       {{1.255528, -0.076749, -0.178779},
						{-0.078411, 0.930809, 0.147602},
						{0.004733, 0.691367, 0.303900}}};
	double out[3];

	for (int i = 0; i < 3; i++)
		out[i] = fmin(1, fmax(0, m[eyes][i][0] * it.red + m[eyes][i][1] * it.green +
						 m[eyes][i][2] * it.blue));
	return (struct light){out[0], out[1], out[2]};
}

/* Oklab (Ottosson, 2020). */
static void oklab(struct light it, double lab[static 3])
{
	double l = cbrt(0.4122214708 * it.red + 0.5363325363 * it.green + 0.0514459929 * it.blue);
	double m = cbrt(0.2119034982 * it.red + 0.6806995451 * it.green + 0.1073969566 * it.blue);
	double s = cbrt(0.0883024619 * it.red + 0.2817188376 * it.green + 0.6299787005 * it.blue);

	lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
	lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
	lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

static double distance(uint32_t a, uint32_t b, enum eyes eyes)
{
	double one[3], two[3];

	oklab(seen(light_of(a), eyes), one);
	oklab(seen(light_of(b), eyes), two);
	return sqrt(pow(one[0] - two[0], 2) + pow(one[1] - two[1], 2) + pow(one[2] - two[2], 2));
}

static double lightness(uint32_t rgb)
{
	double lab[3];

	oklab(light_of(rgb), lab);
	return lab[0];
}

static void text_is_readable_on_every_box(void **state)
{
	(void)state;
	for (int theme = 0; theme < COLOUR_THEMES; theme++) {
		uint32_t ink = colour_ink(theme);

		for (unsigned i = 0; i < COLOUR_N; i++)
			assert_true(contrast(ink, colour_rgb(i, theme)) >= 4.5);
		for (int i = -COLOUR_CHANGE_STEPS; i <= COLOUR_CHANGE_STEPS; i++)
			assert_true(contrast(ink, colour_of_change(i, theme)) >= 4.5);
	}
}

/* Colours of one family, whichever module and function, not inlined. */
static uint32_t of_family(int family, int i, int theme)
{
	unsigned hue = colour_of_family(family) / 2 / COLOUR_TONES;
	unsigned n_hues = family < COLOUR_UNKNOWN ? 4 : 1;

	return colour_rgb(
		(hue + i / COLOUR_TONES % n_hues) * COLOUR_TONES * 2 + i % COLOUR_TONES * 2, theme);
}

enum { OF_FAMILY = 4 * COLOUR_TONES };

/* The nearest two of any two families; FEW: of those of legends only. */
static double nearest(int theme, enum eyes eyes, bool few)
{
	double least = 1;

	for (int a = 0; a < COLOUR_GROUP; a++)
		for (int b = a + 1; b < COLOUR_GROUP; b++)
			for (int i = 0; i < (few ? 1 : OF_FAMILY); i++)
				for (int k = 0; k < (few ? 1 : OF_FAMILY); k++)
					least = fmin(least, distance(of_family(a, i, theme),
								     of_family(b, k, theme), eyes));
	return least;
}

/* 0.02 is what is just seen beside each other. */
static void families_are_apart_for_any_eyes(void **state)
{
	(void)state;
	for (int theme = 0; theme < COLOUR_THEMES; theme++) {
		assert_true(nearest(theme, NORMAL, false) >= 0.05);
		for (int eyes = 0; eyes < N_EYES; eyes++) {
			assert_true(nearest(theme, eyes, false) >= 0.02);
			assert_true(nearest(theme, eyes, true) >= 0.045);
		}
	}
}

static void states_are_apart_for_any_eyes(void **state)
{
	static const char *const words[] = {"running", "runnable", "sleeping",
					    "disk",    "stopped",  ""};

	(void)state;
	for (int theme = 0; theme < COLOUR_THEMES; theme++)
		for (int eyes = 0; eyes < N_EYES; eyes++)
			for (int a = 0; a < 6; a++)
				for (int b = 0; b < a; b++)
					assert_true(distance(colour_rgb(colour_of_state(words[a]),
									theme),
							     colour_rgb(colour_of_state(words[b]),
									theme),
							     eyes) >= 0.05);
}

/* Those that stand for names of any kind: all pairs of 24. */
static void names_have_colours_that_differ(void **state)
{
	enum { FIRST = 22, N = 24, A_HUE = COLOUR_TONES * 2 };

	(void)state;
	for (int theme = 0; theme < COLOUR_THEMES; theme++)
		for (unsigned a = FIRST; a < FIRST + N; a++)
			for (unsigned b = FIRST; b < a; b++)
				assert_true(distance(colour_rgb(a * A_HUE, theme),
						     colour_rgb(b * A_HUE, theme), NORMAL) >= 0.03);
}

static void more_and_less_are_apart_for_any_eyes(void **state)
{
	(void)state;
	for (int theme = 0; theme < COLOUR_THEMES; theme++) {
		for (int eyes = 0; eyes < N_EYES; eyes++) {
			for (int i = 3; i <= COLOUR_CHANGE_STEPS; i++)
				assert_true(distance(colour_of_change(i, theme),
						     colour_of_change(-i, theme), eyes) >= 0.05);
			for (unsigned step = 64; step < COLOUR_HEAT_STEPS; step++)
				assert_true(distance(colour_of_heat(step, false, theme),
						     colour_of_heat(step, true, theme),
						     eyes) >= 0.04);
		}
	}
}

static void inlined_frames_are_lighter(void **state)
{
	(void)state;
	for (int theme = 0; theme < COLOUR_THEMES; theme++)
		for (unsigned i = 0; i < COLOUR_N; i += 2)
			assert_true(lightness(colour_rgb(i + 1, theme)) >
				    lightness(colour_rgb(i, theme)) + 0.03);
}

/* In the light darker and darker, in the dark lighter and lighter. */
static void heat_is_even(void **state)
{
	enum { PARTS = 16 };

	(void)state;
	for (int theme = 0; theme < COLOUR_THEMES; theme++) {
		for (int below = 0; below < 2; below++) {
			double from = lightness(colour_of_heat(0, below, theme));
			double to = lightness(colour_of_heat(COLOUR_HEAT_STEPS, below, theme));
			double last = from;

			assert_true(fabs(to - from) >= 0.6);
			for (unsigned i = 1; i <= PARTS; i++) {
				unsigned step = i * COLOUR_HEAT_STEPS / PARTS;
				double now = lightness(colour_of_heat(step, below, theme));

				assert_true((now - last) * (to - from) > 0);
				assert_true(fabs(now - from - (to - from) * i / PARTS) < 0.025);
				last = now;
			}
		}
	}
}

/* --paper of flamescope/web/page.css */
static void no_sample_is_seen_least(void **state)
{
	static const uint32_t papers[COLOUR_THEMES] = {0xffffff, 0x14171c};

	(void)state;
	for (int theme = 0; theme < COLOUR_THEMES; theme++) {
		uint32_t none = colour_no_sample(theme);

		for (unsigned step = 0; step <= COLOUR_HEAT_STEPS; step++) {
			for (int below = 0; below < 2; below++) {
				uint32_t cell = colour_of_heat(step, below, theme);

				assert_true(distance(cell, none, NORMAL) >= 0.03);
				assert_true(contrast(none, papers[theme]) <
					    contrast(cell, papers[theme]));
			}
		}
	}
}

static enum colour_family family(const char *module)
{
	return colour_family_of(module);
}

static void a_module_tells_whose_code_it_is(void **state)
{
	(void)state;
	assert_int_equal(family("/usr/bin/python3.11"), COLOUR_PROGRAM);
	assert_int_equal(family("/opt/x.so.d/server"), COLOUR_PROGRAM);
	assert_int_equal(family("/usr/lib/libstdc++.so.6.0.30"), COLOUR_LIBRARY);
	assert_int_equal(family("/usr/lib/libmagic.so.1 (deleted)"), COLOUR_LIBRARY);
	assert_int_equal(family("/usr/lib/libc.so.6"), COLOUR_LIBC);
	assert_int_equal(family("/lib64/ld-linux-x86-64.so.2"), COLOUR_LIBC);
	assert_int_equal(family("/lib/ld-musl-x86_64.so.1"), COLOUR_LIBC);
	assert_int_equal(family("[vdso]"), COLOUR_LIBC);
	assert_int_equal(family("[kernel.kallsyms]"), COLOUR_KERNEL);
	assert_int_equal(family("[nf_conntrack]"), COLOUR_KERNEL);
	assert_int_equal(family("/lib/modules/6.1/x.ko.xz"), COLOUR_KERNEL);
	assert_int_equal(family("/tmp/perf-4711.map"), COLOUR_JIT);
	assert_int_equal(family("//anon"), COLOUR_JIT);
	assert_int_equal(family(""), COLOUR_UNKNOWN);
	assert_int_equal(family("[unknown]"), COLOUR_UNKNOWN);
}

static unsigned number(const char *name, const char *module, enum colour_by by)
{
	struct colour_frame frame = {.name = name, .module = module, .state = ""};

	return colour_of_frame(&frame, by);
}

static void a_colour_stays_the_same(void **state)
{
	(void)state;
	assert_int_equal(number("f", "/lib/libx.so.1", COLOUR_BY_FAMILY),
			 number("f", "/usr/lib/libx.so.2.0", COLOUR_BY_FAMILY));
	assert_int_equal(number("f", "/tmp/perf-1.map", COLOUR_BY_MODULE),
			 number("f", "/tmp/perf-2.map", COLOUR_BY_MODULE));
	assert_int_equal(number("std::f", "a", COLOUR_BY_PACKAGE) / 6,
			 number("std::g", "b", COLOUR_BY_PACKAGE) / 6);
	assert_int_equal(number("f", "/a/x", COLOUR_BY_NAME), number("f", "/b/y", COLOUR_BY_NAME));
}

static void groups_are_grey_unless_they_are_states(void **state)
{
	struct colour_frame frame = {
		.name = "sleeping", .module = "", .state = "", .is_group = true};

	(void)state;
	assert_int_equal(colour_of_frame(&frame, COLOUR_BY_FAMILY), colour_of_family(COLOUR_GROUP));
	assert_int_equal(colour_of_frame(&frame, COLOUR_BY_STATE), colour_of_state("sleeping"));
}

static void terminals_get_the_nearest_of_their_colours(void **state)
{
	(void)state;
	assert_int_equal(colour_256(0x000000), 16);
	assert_int_equal(colour_256(0xffffff), 231);
	assert_int_equal(colour_256(0xff0000), 196);
	assert_int_equal(colour_256(0x808080), 244);
	assert_int_equal(colour_256(0x5f87af), 67);
	assert_int_equal(colour_256(0x431c0f), 52); /* a grey is nearer, but says no sample */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_readable_on_every_box),
		cmocka_unit_test(families_are_apart_for_any_eyes),
		cmocka_unit_test(states_are_apart_for_any_eyes),
		cmocka_unit_test(names_have_colours_that_differ),
		cmocka_unit_test(more_and_less_are_apart_for_any_eyes),
		cmocka_unit_test(inlined_frames_are_lighter),
		cmocka_unit_test(heat_is_even),
		cmocka_unit_test(no_sample_is_seen_least),
		cmocka_unit_test(a_module_tells_whose_code_it_is),
		cmocka_unit_test(a_colour_stays_the_same),
		cmocka_unit_test(groups_are_grey_unless_they_are_states),
		cmocka_unit_test(terminals_get_the_nearest_of_their_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

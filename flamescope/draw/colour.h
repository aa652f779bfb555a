/*
 * colour.h - what colour frames, cells and changes have, in the light and in the dark
 *
 * The one palette of pictures, terminal and page: the page has it as WebAssembly.  Hues have even
 * steps of lightness in OKLCH (Ottosson, "A perceptual color space for image processing", 2020),
 * families stay apart for colour-blind eyes, and text in colour_ink() has a contrast of 4.5 : 1 at
 * least on each of them (WCAG 2.1, 1.4.3): tests/unit/colour_test.c.
 *
 * Context: any thread.
 */
#ifndef DRAW_COLOUR_H
#define DRAW_COLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum colour_theme { COLOUR_LIGHT, COLOUR_DARK, COLOUR_THEMES };

/* Whose code a function is. */
enum colour_family {
	COLOUR_PROGRAM,
	COLOUR_LIBRARY,
	COLOUR_LIBC, /* libc, its parts, the loader and the vdso */
	COLOUR_KERNEL,
	COLOUR_JIT,     /* code that was made at run time */
	COLOUR_UNKNOWN, /* the module is not known */
	COLOUR_GROUP,   /* no function: the label of a group, and the root */
	COLOUR_FAMILIES,
};

/* What the colour of a frame says. */
enum colour_by {
	COLOUR_BY_FAMILY,
	COLOUR_BY_MODULE,
	COLOUR_BY_PACKAGE, /* colour_package() */
	COLOUR_BY_NAME,
	COLOUR_BY_STATE,
	COLOUR_BY_NOTHING,
	COLOUR_BYS,
};

enum {
	COLOUR_HUES = 51, /* see colour.c */
	COLOUR_TONES = 3, /* by name, so that functions of a module stay apart */
	COLOUR_N = COLOUR_HUES * COLOUR_TONES * 2,
	COLOUR_CHANGE_STEPS = 8, /* colour_of_change() */
	COLOUR_HEAT_STEPS = 255, /* colour_of_heat() */
};

struct colour_frame {
	const char *name;
	const char *module; /* of an inlined frame that of its caller; "" */
	const char *state;  /* that most of it is in; "" unknown; only for COLOUR_BY_STATE */
	bool inlined;
	bool is_group;
};

/** colour_by_word - "family", "module", "package", "name", "state", "none"; NULL: there is no such
 * BY */
const char *colour_by_word(unsigned by);

/** colour_family_word - what legends call a family: "program", "libraries" */
const char *colour_family_word(enum colour_family family);

/** colour_family_of - whose code a module is, by its path */
enum colour_family colour_family_of(const char *module);

/**
 * colour_package - the C++ namespace, Rust crate, Go or Java package, or script of a function
 *
 * Return:  its length; 0: the name has none.
 * Owns:    *ret_start is in NAME.
 */
size_t colour_package(const char *name, const char **ret_start);

/**
 * colour_of_frame - a frame's number in the palette
 *
 * The hue is what BY says, and always the same for the same words; the tone goes by the name, and
 * inlined frames are lighter.
 *
 * Return:  below COLOUR_N.
 */
unsigned colour_of_frame(const struct colour_frame *frame, enum colour_by by);

/** colour_of_family - the number that stands for a family in a legend */
unsigned colour_of_family(enum colour_family family);

/** colour_of_state - the number of a state: "running"; others are grey */
unsigned colour_of_state(const char *state);

/** colour_state_word - the states with a colour of their own, one after the other; NULL: no more */
const char *colour_state_word(unsigned i);

/** colour_is_state - whether a word is a state with a colour of its own */
bool colour_is_state(const char *word);

/** colour_rgb - a number of the palette as 0xRRGGBB */
uint32_t colour_rgb(unsigned number, enum colour_theme theme);

/** colour_ink - of the text on frames */
uint32_t colour_ink(enum colour_theme theme);

/**
 * colour_change_step - how strong the colour of a change is
 * @part: -1 (all of it shrank, or is gone) to 1 (grew, or is new)
 *
 * Return:  -COLOUR_CHANGE_STEPS to COLOUR_CHANGE_STEPS.
 */
int colour_change_step(double part);

/** colour_of_change - grey at 0, orange above, blue below, as 0xRRGGBB; for boxes with text */
uint32_t colour_of_change(int step, enum colour_theme theme);

/**
 * colour_of_heat - a cell of a heatmap as 0xRRGGBB
 * @step: 0 to COLOUR_HEAT_STEPS: the most of the scale
 * @below: it is below zero
 */
uint32_t colour_of_heat(unsigned step, bool below, enum colour_theme theme);

/** colour_no_sample - of cells without a sample */
uint32_t colour_no_sample(enum colour_theme theme);

/** colour_256 - one of xterm's 256 colours: the nearest of its cube, or of its greys for a grey */
unsigned colour_256(uint32_t rgb);

#endif

/* colour.c - the palette: listed hues, mixed in whole numbers: the same in every program */
#include "flamescope/draw/colour.h"

enum { N_STOPS = 9, MIX = 256 };

/*
 * 0  four hues each of program, libraries, libc, kernel and JIT; 20 unknown; 21 groups;
 * 22 twenty-four hues, 15 degrees apart and light and dark in turn, for names of any kind;
 * 46 running, runnable, sleeping, disk, stopped.
 */
static const uint32_t hues[COLOUR_THEMES][COLOUR_HUES] = {
	{
		0xfbb867, 0xeac260, 0xf8aa66, 0xeab459, 0x65b0f0, 0x7da9f4, 0x4faae3, 0x69a3e9,
		0xa1f0b8, 0x90f2c8, 0xa0e5a7, 0x8fe8b7, 0xeb7d85, 0xeb806e, 0xdf7489, 0xe17571,
		0xf3c5f8, 0xfbc3ee, 0xe5bdf3, 0xeebbea, 0xb3b6bb, 0xdbdee3, 0xffbebd, 0xdc8b76,
		0xfec2a0, 0xd09559, 0xf5ca7f, 0xb8a251, 0xd5d785, 0x94af64, 0xace2a1, 0x6ab786,
		0x85e8c6, 0x44b8ac, 0x73e6ec, 0x44b3cc, 0x96dcfe, 0x68aae0, 0xb7d2ff, 0x909ee5,
		0xd0cafe, 0xb292d8, 0xf0bbfc, 0xcc8abd, 0xffb9d9, 0xda879a, 0x7cd591, 0xf07b51,
		0xb4d6f3, 0xa183d4, 0xeada78,
	},
	{
		0x7e4c22, 0x765215, 0x784222, 0x724711, 0x193e7c, 0x31387c, 0x00396f, 0x203374,
		0x266e52, 0x146f5d, 0x266645, 0x116650, 0x6f1d2a, 0x702015, 0x66142b, 0x671519,
		0x714982, 0x794679, 0x64437e, 0x6d4075, 0x424447, 0x323438, 0x814041, 0x5f2416,
		0x7e4624, 0x542f00, 0x71500a, 0x453800, 0x5a5b13, 0x2f4000, 0x3a6331, 0x004624,
		0x00664f, 0x02433d, 0x056367, 0x02414d, 0x025f7f, 0x003c63, 0x385688, 0x2c3367,
		0x564d85, 0x442b5e, 0x6d4576, 0x54244b, 0x7b405e, 0x5e2133, 0x246a43, 0x7a291c,
		0x223956, 0x663e8e, 0x6c5b12,
	},
};

/* How far a theme's tones and inlined frames are from the hue, of MIX. */
static const struct {
	unsigned light, dark, inlined;
} mixes[COLOUR_THEMES] = {{20, 12, 120}, {5, 14, 18}};

/*
 * From nothing to the most, in even steps of lightness.  What is nothing can be told from no
 * sample, which is the paper: the least that a heatmap shows.
 */
static const uint32_t heats[COLOUR_THEMES][2][N_STOPS] = {
	{{0xfcf1e5, 0xf7d3ac, 0xf3b374, 0xed9036, 0xde7002, 0xc45801, 0xaa4001, 0x8f2700, 0x750d00},
	 {0xe8f6fd, 0xb5e2fa, 0x82ccf8, 0x50b4f4, 0x2a9ae8, 0x1c80d0, 0x1266b9, 0x0b4ea2,
	  0x08348a}},
	{{0x3d1b10, 0x632805, 0x823c01, 0x9f5302, 0xbb6d03, 0xd78904, 0xf0a717, 0xfec962, 0xffedc3},
	 {0x162741, 0x153c69, 0x08548f, 0x0070b0, 0x018ccd, 0x0aa9e9, 0x30c6fe, 0x92dffe,
	  0xd7f4fe}},
};

/* Unchanged, all of it more, all of it less. */
static const uint32_t changes[COLOUR_THEMES][3] = {
	{0xdee0e3, 0xf18154, 0x6aaaea},
	{0x37393c, 0x8f331a, 0x215196},
};

/* N parts of WHOLE of the way from one colour to another. */
static uint32_t mix(uint32_t from, uint32_t to, unsigned n, unsigned whole)
{
	uint32_t rgb = 0;

	for (int shift = 16; shift >= 0; shift -= 8) {
		uint32_t a = from >> shift & 0xff;
		uint32_t b = to >> shift & 0xff;

		rgb |= (a * (whole - n) + b * n + whole / 2) / whole << shift;
	}
	return rgb;
}

uint32_t colour_rgb(unsigned number, enum colour_theme theme)
{
	uint32_t rgb = hues[theme][number / 2 / COLOUR_TONES % COLOUR_HUES];
	unsigned tone = number / 2 % COLOUR_TONES;

	if (tone == 1)
		rgb = mix(rgb, 0xffffff, mixes[theme].light, MIX);
	else if (tone == 2)
		rgb = mix(rgb, 0, mixes[theme].dark, MIX);
	return number % 2 ? mix(rgb, 0xffffff, mixes[theme].inlined, MIX) : rgb;
}

uint32_t colour_ink(enum colour_theme theme)
{
	return theme == COLOUR_DARK ? 0xf2f4f7 : 0x14171c;
}

int colour_change_step(double part)
{
	double size = (part < 0 ? -part : part) * COLOUR_CHANGE_STEPS + 0.5;
	int step = size < COLOUR_CHANGE_STEPS ? (int)size : COLOUR_CHANGE_STEPS;

	return part < 0 ? -step : step;
}

uint32_t colour_of_change(int step, enum colour_theme theme)
{
	const uint32_t *ends = changes[theme];
	unsigned size = (unsigned)(step < 0 ? -step : step);

	return mix(ends[0], ends[step < 0 ? 2 : 1], size, COLOUR_CHANGE_STEPS);
}

uint32_t colour_of_heat(unsigned step, bool below, enum colour_theme theme)
{
	const uint32_t *stops = heats[theme][below];
	unsigned at = step * (N_STOPS - 1);
	unsigned i = at / COLOUR_HEAT_STEPS;

	if (i >= N_STOPS - 1)
		return stops[N_STOPS - 1];
	return mix(stops[i], stops[i + 1], at % COLOUR_HEAT_STEPS, COLOUR_HEAT_STEPS);
}

uint32_t colour_no_sample(enum colour_theme theme)
{
	return theme == COLOUR_DARK ? 0x14171c : 0xffffff;
}

/* xterm's cube has 0, 95, 135, 175, 215 and 255; its 24 greys are 8, 18, 28... 238. */
enum { CUBE = 16, CUBE_SIDE = 6, GREYS = 232, N_GREYS = 24, GREY_SPREAD = 20 };

static unsigned nearest_in_cube(unsigned value)
{
	return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40;
}

/* The cube's dark colours are few: those that have a hue keep it, although a grey may be nearer. */
static bool is_grey(uint32_t rgb)
{
	unsigned least = 0xff, most = 0;

	for (int shift = 16; shift >= 0; shift -= 8) {
		unsigned value = rgb >> shift & 0xff;

		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	return most - least < GREY_SPREAD;
}

unsigned colour_256(uint32_t rgb)
{
	unsigned red = nearest_in_cube(rgb >> 16 & 0xff);
	unsigned green = nearest_in_cube(rgb >> 8 & 0xff);
	unsigned blue = nearest_in_cube(rgb & 0xff);
	unsigned mean = ((rgb >> 16 & 0xff) + (rgb >> 8 & 0xff) + (rgb & 0xff)) / 3;

	if (!is_grey(rgb) || mean < 4 || mean > 246)
		return CUBE + (red * CUBE_SIDE + green) * CUBE_SIDE + blue;
	return GREYS + (mean < 8 ? 0 : mean > 238 ? N_GREYS - 1 : (mean - 3) / 10);
}

/*
 * colour_table.c - what flamescope/draw/colour.h says, for colour.test.mjs to compare with the
 * page's
 *
 * Of each line BY\tGROUP\tINLINED\tSTATE\tMODULE\tNAME a line: number, light, dark, family,
 * package. Then the colours of heatmaps and of changes.
 */
#include "flamescope/draw/colour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 16384, FIELDS = 6 };

static void print_frame(char *line)
{
	char *fields[FIELDS];
	struct colour_frame frame;
	const char *package;
	unsigned number;
	size_t len;

	for (int i = 0; i < FIELDS; i++)
		fields[i] = strsep(&line, i + 1 < FIELDS ? "\t" : "\n");
	frame = (struct colour_frame){.name = fields[5],
				      .module = fields[4],
				      .state = fields[3],
				      .inlined = *fields[2] == '1',
				      .is_group = *fields[1] == '1'};
	number = colour_of_frame(&frame, (enum colour_by)atoi(fields[0]));
	len = colour_package(frame.name, &package);
	(void)printf("%u\t%06x\t%06x\t%s\t%.*s\n", number, colour_rgb(number, COLOUR_LIGHT),
		     colour_rgb(number, COLOUR_DARK),
		     colour_family_word(colour_family_of(frame.module)), (int)len, package);
}

int main(void)
{
	static char line[LINE_BYTES];

	while (fgets(line, sizeof(line), stdin))
		print_frame(line);
	for (int theme = 0; theme < COLOUR_THEMES; theme++) {
		(void)printf("%06x %06x\n", colour_ink(theme), colour_no_sample(theme));
		for (unsigned step = 0; step <= COLOUR_HEAT_STEPS; step++)
			(void)printf("%06x %06x\n", colour_of_heat(step, false, theme),
				     colour_of_heat(step, true, theme));
		for (int i = -100; i <= 100; i++)
			(void)printf("%06x\n",
				     colour_of_change(colour_change_step(i / 100.0), theme));
	}
	return 0;
}

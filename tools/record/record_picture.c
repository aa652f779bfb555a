/* record_picture.c - `wick record -o x.svg`: the picture of what was recorded */
#include "tools/record/record_picture.h"

#include "base/cleanup.h"
#include "tools/cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "x.7.svg" for "x.7.perf.gz", as the picture is asked for as "x.%p.svg". */
static char *picture_of(const char *recording, const char *asked)
{
	const char *end = NULL;
	char *picture;

	for (const char *at = recording; (at = strstr(at, ".perf")); at++)
		end = at;
	if (!end || asprintf(&picture, "%.*s%s", (int)(end - recording), recording,
			     strrchr(asked, '.')) < 0)
		return NULL;
	return picture;
}

static int draw(char *picture, char *recording, bool force)
{
	char verb[] = "flamegraph", output[] = "--output", replace[] = "--force", files[] = "--";
	char *argv[7] = {verb, output, picture};
	size_t n = 3;

	if (force)
		argv[n++] = replace;
	argv[n++] = files;
	argv[n++] = recording;
	return program_run("wick-view", argv, NULL);
}

void record_picture(const struct recorder *recorder)
{
	struct recording_stats stats;
	char *picture;

	if (!recorder->options->picture)
		return;
	recording_stats(recorder->recording, &stats);
	if (stats.n_paths != 1) {
		say_note("no picture: the recording is in %zu files, try: wick flamegraph -o %s "
			 "FILES",
			 stats.n_paths, recorder->options->picture);
		return;
	}
	picture = picture_of(stats.paths[0], recorder->options->picture);
	if (picture && draw(picture, (char *)stats.paths[0], recorder->options->force) == WICK_OK)
		say_note("the flame graph is '%s'", picture);
	free(picture);
}

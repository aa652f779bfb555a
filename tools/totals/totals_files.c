/* totals_files.c - rows of recordings, and of files of --stats-to */
#include "tools/totals/totals.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/saturated.h"
#include "flamescope/load/load.h"
#include "flamescope/text/text.h"
#include "tools/cli/terminal.h"
#include "tools/view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_SAMPLES = 4096 }; /* of a file, for labels */

static const char row_start[] = "# req : ";
static const char sample_start[] = "# s ";
static const char end_start[] = "# wick-end :";

/* What has been found, in all files. */
struct found {
	struct totals_sum *sum;
	uint64_t rows;
	const char *label;    /* of samples; NULL: none seen */
	const char *labelled; /* the file that they are in */
	bool is_unfinished;   /* that file has no end */
};

/* One file while it is read. */
struct reading {
	struct found *found;
	const char *path;
	bool bare; /* each line is a row, as --stats-to writes it */
	bool ended;
	unsigned samples;
	uint64_t bad;      /* lines that should be rows and are none */
	uint64_t left_out; /* rows that are too long, or more than are kept */
	uint64_t dropped;  /* that the recording says it does not have */
};

static bool starts(const struct line *line, const char *start)
{
	return strncmp(line->text, start, strlen(start)) == 0;
}

/* The first label of a sample that there is a table by. */
static void look_for_labels(struct reading *reading, const struct line *line)
{
	static const char *const labels[] = {"tier", "task", "identity", "function", "trace"};

	if (reading->found->label || reading->samples++ >= LOOK_SAMPLES)
		return;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		const size_t len = strlen(labels[i]);
		const char *at = line->text;

		while ((at = strstr(at, labels[i])) && (at[-1] != ' ' || at[len] != '='))
			at += len;
		if (!at)
			continue;
		reading->found->label = labels[i];
		reading->found->labelled = reading->path;
		return;
	}
}

static int add_row(struct reading *reading, const char *json, size_t len)
{
	int r = totals_sum_add(reading->found->sum, json, len);

	reading->found->rows += r == 0;
	reading->bad += r == -EINVAL;
	reading->left_out += r == -E2BIG;
	return r == -ENOMEM ? r : 0;
}

static void take_end(struct reading *reading, const struct line *line)
{
	struct json_scan scan = {.at = line->text + strlen(end_start)};
	struct json_pair pair;
	uint64_t value;

	reading->ended = true;
	while (json_scan_next(&scan, &pair))
		if (pair.depth == 1 && json_scan_is(&pair, "dropped_lines") &&
		    json_scan_number(&pair, &value))
			reading->dropped = saturated_add(reading->dropped, value);
}

static int take_line(struct reading *reading, const struct line *line)
{
	size_t skip;

	if (line->number == 1)
		reading->bare = line->text[0] == '{';
	if (!reading->bare && starts(line, sample_start))
		look_for_labels(reading, line);
	if (starts(line, end_start))
		take_end(reading, line);
	if (reading->bare ? line->text[0] != '{' : !perf_line_is_totals(line->text))
		return 0;
	skip = reading->bare ? 0 : strlen(row_start);
	if (!line->cut)
		return add_row(reading, line->text + skip, line->len - skip);
	reading->left_out++;
	return 0;
}

static void say_left_out(const struct reading *reading)
{
	if (reading->bad)
		say_note("'%s': %" PRIu64 " lines of counts are damaged, and were passed over",
			 reading->path, reading->bad);
	if (reading->left_out)
		say_note("'%s': %" PRIu64 " lines of counts are too long or too many, and were "
			 "passed over",
			 reading->path, reading->left_out);
	if (reading->dropped)
		say_note("'%s': wick record left out %" PRIu64 " lines of counts or other notes: "
			 "the disk or the file had no room for them",
			 reading->path, reading->dropped);
}

/* What was read of a damaged file counts. Returns 0; -errno of open; -ENOMEM. */
static int read_one(struct found *found, const char *path, struct err *err)
{
	struct reading reading = {.found = found, .path = path};
	struct lines *lines = NULL;
	struct line line;
	int r = lines_open(strcmp(path, "-") == 0 ? "/dev/stdin" : path, &lines, err);
	int taken = 0;

	if (r < 0) {
		view_error_hint(path, err);
		return r;
	}
	while (taken == 0 && (r = lines_next(lines, &line, err)) > 0)
		taken = take_line(&reading, &line);
	lines_close(lines);
	if (found->labelled == path)
		found->is_unfinished = !reading.ended;
	if (taken < 0)
		return err_set(err, -taken, "read '%s'", path);
	if (r < 0)
		say_note("%s", err->text);
	say_left_out(&reading);
	return 0;
}

static int nothing_found(const struct found *found, const struct view_input *input, struct err *err)
{
	if (found->is_unfinished) {
		(void)err_set(err, 0, "'%s' has no exact counts yet: the recording has not ended",
			      found->labelled);
		err_hint(err, "-p PID while it runs; wick record --stats-every 10s writes them "
			      "meanwhile");
	} else if (found->label) {
		(void)err_set(err, 0, "'%s' has samples with labels, but no exact counts",
			      found->labelled);
		err_hint(err, "wick report --by %s", found->label);
	} else {
		(void)err_set(err, 0, "no exact counts in '%s'%s", input->paths[0],
			      input->n_paths > 1 ? " and the other files" : "");
		err_hint(err, "wick record of a program that includes wick.h");
	}
	return -ENODATA;
}

static int read_all(struct found *found, const struct view_input *input, struct err *err)
{
	_cleanup_free_ bool *again = calloc(input->n_paths + 1, sizeof(*again));
	int r = again ? load_mark_again((const char *const *)input->paths, input->n_paths, again)
		      : -ENOMEM;

	if (r < 0)
		return err_set(err, -r, "list the files");
	for (size_t i = 0; r == 0 && i < input->n_paths; i++) {
		if (again[i])
			say_note("'%s' was given before: it is counted once", input->paths[i]);
		else
			r = read_one(found, input->paths[i], err);
	}
	return r;
}

static int add_newest(struct view_input *input, struct err *err)
{
	if (view_input_add_newest(input, "tiers", true, err) == 0)
		return 0;
	(void)err_set(err, 0, "neither a process nor a file given, and no recording here");
	err_hint(err, "-p PID, or a FILE of wick record");
	return -EINVAL;
}

static int add_path(struct view_input *input, const char *path, struct err *err)
{
	int r = view_input_add(input, path, err);

	if (r != -ENOENT)
		return r;
	(void)err_set(err, 0, "no recording (*.perf) in '%s'", path);
	err_hint(err, "the name of a file in it");
	return r;
}

int totals_read_files(char *const *paths, size_t n, struct totals_sum *sum, struct err *err)
{
	struct found found = {.sum = sum};
	struct view_input input = {0};
	int r = n == 0 ? add_newest(&input, err) : 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_path(&input, paths[i], err);
	if (r == 0)
		r = read_all(&found, &input, err);
	if (r == 0 && found.rows == 0)
		r = nothing_found(&found, &input, err);
	view_input_release(&input);
	return r;
}

/* recording_demand.c - files that are made when somebody asks for them, and comment lines in files
 */
#include "output/files/internal.h"

#include "base/io.h"
#include "output/files/compress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void recording_note(struct recording *recording, const char *word, const char *json)
{
	if (recording->segment.fd < 0 || recording->options.text.bare)
		return;
	recording_hold_again(recording);
	(void)backlog_note(&recording->backlog, word, json);
}

int recording_begin(struct recording *recording, unsigned number, struct err *err)
{
	int r;

	if (recording->segment.fd >= 0)
		return err_set(err, EBUSY, "begin a file");
	if (number > recording->name.number)
		recording->name.number = number;
	recording->name.time_ns = io_realtime_ns();
	r = recording_open_segment(recording, err);
	return r < 0 ? r : (int)recording->name.number;
}

/* What the counts were, where the end line is to count from. */
static void count_from(struct recording *recording, const struct perf_script_count *before,
		       size_t n_before)
{
	for (size_t i = 0; i < recording->n_counts; i++) {
		recording->counts_written[i] = 0;
		for (size_t j = 0; j < n_before; j++)
			if (strcmp(recording->counts[i].name, before[j].name) == 0)
				recording->counts_written[i] = before[j].value;
	}
}

int recording_end(struct recording *recording, const struct perf_script_count *before,
		  size_t n_before, char **ret_path)
{
	uint64_t dropped = recording->stats.dropped;
	int r = 0;

	*ret_path = NULL;
	if (recording->segment.fd < 0)
		return -EIO;
	(void)recording_flush(recording);
	recording->in_trouble = false; /* what this file could not take is lost, not waited for */
	if (recording->segment.fd < 0) /* it was removed, and there is no other */
		return -EIO;
	if (asprintf(ret_path, "%s%s", recording->segment.path,
		     compress_ending(recording->options.compress)) < 0)
		*ret_path = NULL;
	count_from(recording, before, n_before);
	if (recording->segment.len == 0)
		r = -EIO;
	recording_close_segment(recording);
	recording->name.number++;
	return recording->stats.dropped > dropped ? -EIO : r;
}

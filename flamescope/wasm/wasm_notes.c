/* wasm_notes.c - what is unusual about a recording, and what to do about it, for the page */
#include "flamescope/wasm/internal.h"

#include "base/json.h"
#include "base/words.h"
#include "flamescope/query/query.h"

#include <string.h>

enum { MAX_NOTE = 16 * 1024 };

static const double ns_per_s = 1e9;
static const double day_ns = 24 * 3600 * 1e9;

static void add_bad_lines(struct buf *note, const struct profile_file *file)
{
	uint64_t n = file->bad_lines < PROFILE_BAD_LINES ? file->bad_lines : PROFILE_BAD_LINES;

	words_count(note, file->bad_lines);
	buf_add(note, " lines that cannot be read, skipped (");
	for (size_t i = 0; i < n; i++)
		buf_printf(note, "%s%llu", i ? ", " : "", (unsigned long long)file->bad[i]);
	buf_add(note, file->bad_lines > n ? "\xe2\x80\xa6)." : ").");
}

static void add_lost(struct buf *note, const struct profile *profile, uint64_t lost)
{
	if (!period_can_be((double)lost / (profile->hz ? profile->hz : ns_per_s),
			   profile->length_ns)) {
		buf_add(note, "it gives more lost samples than possible: its numbers are damaged "
			      "or forged.");
		return;
	}
	if (profile->hz) {
		buf_add(note, "samples of ");
		words_amount(note, (uint64_t)((double)lost * ns_per_s / profile->hz), "ns");
	} else {
		words_count(note, lost);
		buf_add(note, " samples");
	}
	buf_add(note, " were lost while recording, see: wick info.");
}

/* An element of the list: what is written to NOTE by then; of a file after its name. */
static void end_note(struct buf *buf, struct buf *note, const struct profile_file *file)
{
	struct buf whole = {.limit = MAX_NOTE};

	if (file)
		buf_printf(&whole, "%s: ", strcmp(file->path, "-") ? file->path : "standard input");
	buf_add(&whole, buf_text(note));
	if (note->len) {
		if (buf->data[buf->len - 1] != '[')
			buf_add_char(buf, ',');
		json_add_string(buf, buf_text(&whole));
	}
	buf_clear(note);
	buf_release(&whole);
}

static void add_file(struct buf *buf, struct buf *note, const struct profile *profile,
		     const struct profile_file *file)
{
	if (file->problem)
		buf_printf(note, "%s. What could be read is shown.", file->problem);
	end_note(buf, note, file);
	if (file->bad_lines)
		add_bad_lines(note, file);
	end_note(buf, note, file);
	if (file->lost)
		add_lost(note, profile, file->lost);
	end_note(buf, note, file);
	if (file->cut)
		buf_add(note, "a line or stack was too long and was cut.");
	end_note(buf, note, file);
	if (file->unended)
		buf_add(note, "the last sample is not whole: still being written?");
	end_note(buf, note, file);
}

/* Whether most samples are in functions without a name. */
static bool is_unknown(const struct profile *profile)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_node *node = &profile->nodes[profile->stacks[i]];

		/* the root has no frame */
		n += profile->stacks[i] &&
		     strcmp(profile->strings[profile->frames[node->frame].name], "[unknown]") == 0;
	}
	return n > profile->n_samples / 2;
}

static const char *note_of_samples(const struct profile *profile)
{
	if (profile->n_samples == 1)
		return "The recording has one sample only, try: a longer recording or a higher "
		       "rate (`wick record -F 999`).";
	if (profile->n_samples && !profile->has_times)
		return "The recording has no times: the heatmap shows one moment.";
	return "";
}

static const char *note_of_stacks(const struct profile *profile)
{
	if (profile->n_samples && profile->n_nodes == 1)
		return "No sample has a stack, try: `perf script` with ip, sym and dso in -F, "
		       "after `perf record -g`.";
	if (is_unknown(profile))
		return "More than half of the samples are in functions without a name, try: "
		       "`wick symbolize FILE`, or the programs' debugging symbols.";
	return "";
}

/* A list of texts; NOW_NS since 1970. */
WASM_EXPORT("notes_facts")
const char *wasm_notes_facts(const struct profile *profile, double now_ns)
{
	struct buf *buf = wasm_answer();
	struct buf note = {.limit = MAX_NOTE};
	double last_ns = (double)profile->epoch_offset_ns + (double)profile->start_ns +
			 (double)profile->length_ns;

	buf_add_char(buf, '[');
	for (size_t i = 0; i < profile->n_files; i++)
		add_file(buf, &note, profile, &profile->files[i]);
	buf_add(&note, note_of_samples(profile));
	end_note(buf, &note, NULL);
	if (profile->n_samples && profile->has_epoch && last_ns > now_ns + day_ns)
		buf_add(&note, "The recording's date is in the future: the clock was wrong, or the "
			       "date is forged.");
	end_note(buf, &note, NULL);
	buf_add(&note, note_of_stacks(profile));
	end_note(buf, &note, NULL);
	buf_release(&note);
	buf_add_char(buf, ']');
	return buf_text(buf);
}

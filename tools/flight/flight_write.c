/* flight_write.c - one window of the flight recorder becomes a file */
#include "tools/flight/flight_write.h"

#include "base/cleanup.h"
#include "tools/cli/say.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_S UINT64_C(1000000000)

/* A dump while it is written. */
struct writing {
	struct flight *flight;
	const struct flight_dump *dump;
	size_t next_note;
	unsigned number; /* of the file */
	bool begun[HOOK_FILES];
	uint64_t n_samples;
	uint64_t first_ns;
	uint64_t last_ns;
};

/* The notes of the window up to a time. */
static void write_notes(struct writing *writing, uint64_t until_ns)
{
	const struct flight *flight = writing->flight;

	for (; writing->next_note < flight->n_notes; writing->next_note++) {
		const struct flight_note *note =
			&flight->notes[writing->next_note % FLIGHT_MOST_NOTES];

		if (note->time_ns > until_ns)
			return;
		if (note->time_ns >= writing->dump->from_ns)
			recording_note(flight->files.recording, note->word, note->json);
	}
}

/* The file beside the main one that a sample belongs to; NULL: it is the main one's. */
static struct recording *beside(struct writing *writing, const struct sample *sample)
{
	struct hook_files *files = writing->flight->files.beside;
	struct recording *recording = hook_files_of(files, sample->event);
	struct err err = {0};

	for (size_t i = 0; i < HOOK_FILES; i++) {
		if (!recording || files->at[i] != recording || writing->begun[i])
			continue;
		writing->begun[i] = true;
		if (recording_begin(recording, writing->number, &err) < 0)
			say_error("%s", err.text);
	}
	return recording;
}

static void write_sample(void *context, const struct sample *sample)
{
	struct writing *writing = context;
	struct recording *other = beside(writing, sample);

	if (other) {
		recording_write(other, sample);
		return;
	}
	write_notes(writing, sample->time_ns);
	recording_write(writing->flight->files.recording, sample);
	writing->n_samples++;
	if (!writing->first_ns)
		writing->first_ns = sample->time_ns;
	writing->last_ns = sample->time_ns;
}

static int end(struct writing *writing, struct recording *recording, enum sample_series series,
	       char **ret_path)
{
	const struct perf_script_count *before = NULL;
	size_t n =
		flight_counts_at(&writing->flight->counts, series, writing->dump->from_ns, &before);

	return recording_end(recording, before, n, ret_path);
}

static void end_beside(struct writing *writing)
{
	const struct hook_files *files = writing->flight->files.beside;

	for (size_t i = 0; i < HOOK_FILES; i++) {
		_cleanup_free_ char *path = NULL;

		if (writing->begun[i])
			(void)end(writing, files->at[i], hook_files_series(i), &path);
	}
}

/* The memory did not suffice for the whole of the window. */
static void tell_forced(const struct writing *writing)
{
	struct flight_ring_stats stats;

	flight_ring_stats(writing->flight->ring, &stats);
	if (stats.n_forced && stats.forced_ns >= writing->dump->from_ns)
		say_note("the memory of the flight recorder (%lu KiB) was too small for the whole "
			 "time, try: --flight %lus:%luK",
			 (unsigned long)(stats.limit >> 10),
			 (unsigned long)(writing->flight->window_ns / NS_PER_S),
			 (unsigned long)(stats.limit >> 8));
}

static void tell(const struct writing *writing)
{
	const struct flight_dump *dump = writing->dump;
	uint64_t tenths = (writing->last_ns - writing->first_ns) / (NS_PER_S / 10);

	if (!dump->path)
		return;
	say_note("%s: %lu samples of %lu.%lu s are in '%s'", dump->why,
		 (unsigned long)writing->n_samples, (unsigned long)(tenths / 10),
		 (unsigned long)(tenths % 10), dump->path);
	tell_forced(writing);
}

/* A file begins where the counters are known, so that its end line speaks of its samples. */
static void align(struct flight *flight, struct flight_dump *dump)
{
	uint64_t begin_ns;

	if (dump->from_ns < flight->restart_ns)
		dump->from_ns = flight->restart_ns;
	begin_ns = flight_counts_begin(&flight->counts, dump->from_ns);
	if (begin_ns)
		dump->from_ns = begin_ns;
}

void flight_write(struct flight *flight, struct flight_dump *dump)
{
	struct writing writing = {.flight = flight, .dump = dump};
	struct err err = {0};
	int r = recording_begin(flight->files.recording, 0, &err);

	dump->done = true;
	dump->result = r < 0 ? r : 0;
	if (r < 0) {
		say_error("%s: %s", dump->why, err.text);
		return;
	}
	writing.number = (unsigned)r;
	if (flight->n_notes > FLIGHT_MOST_NOTES)
		writing.next_note = flight->n_notes - FLIGHT_MOST_NOTES;
	align(flight, dump);
	flight_ring_each(flight->ring, dump->from_ns, dump->until_ns, write_sample, &writing);
	write_notes(&writing, dump->until_ns);
	dump->result = end(&writing, flight->files.recording, flight->files.series, &dump->path);
	end_beside(&writing);
	flight->n_files += dump->path != NULL;
	if (dump->result < 0)
		say_error("%s: not all of it could be written", dump->why);
	tell(&writing);
}

/* flight.c - the flight recorder: the causes of a dump, and its time */
#include "tools/flight/flight.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "tools/cli/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * Write a dump, tell where it is, and mark it done. What hooks saw goes to files of the same
 * number beside it.
 */
static void flight_write(struct flight *flight, struct flight_dump *dump)
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
	if (flight->files.ending)
		flight->files.ending(flight->files.ending_context, dump->from_ns, dump->until_ns);
	dump->result = end(&writing, flight->files.recording, flight->files.series, &dump->path);
	end_beside(&writing);
	flight->n_files += dump->path != NULL;
	if (dump->result < 0)
		say_error("%s: not all of it could be written", dump->why);
	tell(&writing);
}

#define LATE_NS        (8 * NS_PER_S)  /* names may take 5 s */
#define CRASH_PAUSE_NS (10 * NS_PER_S) /* between two ends of processes that were not named */

static atomic_int n_signals;
static _Atomic(struct collector *) nudged; /* by them */

static void on_signal(int signo)
{
	struct collector *collector = atomic_load(&nudged);

	(void)signo;
	atomic_fetch_add(&n_signals, 1);
	if (collector)
		collector_nudge(collector);
}

int flight_start(struct flight *flight, const struct flight_options *options,
		 struct collector *collector)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	const uint64_t step_ns = options->keep_ns / (FLIGHT_MOMENTS - 16);
	const struct flight_ring_options ring = {
		/* a file may begin a step before it has to */
		.window_ns = options->keep_ns + step_ns + 2 * NS_PER_S,
		.bytes = options->bytes,
		.metrics = options->metrics,
	};

	flight->ring = flight_ring_new(&ring);
	if (!flight->ring)
		return -ENOMEM;
	flight->collector = collector;
	flight->window_ns = options->window_ns;
	flight->counts.step_ns = step_ns;
	atomic_store(&nudged, collector);
	(void)sigaction(SIGUSR2, &action, NULL);
	return 0;
}

bool flight_is_on(const struct flight *flight)
{
	return flight->ring != NULL;
}

bool flight_sample(struct flight *flight, const struct sample *sample)
{
	if (!flight->ring)
		return false;
	flight_ring_add(flight->ring, sample);
	return true;
}

void flight_restart(struct flight *flight, uint64_t time_ns)
{
	if (!flight->ring)
		return;
	flight_ring_forget(flight->ring, UINT64_MAX);
	flight->restart_ns = time_ns;
	flight->counts.n = 0; /* what is added next is of this moment */
}

void flight_note(struct flight *flight, uint64_t time_ns, const char *word, const char *json)
{
	struct flight_note *note = &flight->notes[flight->n_notes % FLIGHT_MOST_NOTES];

	if (!flight->ring || strlen(json) >= sizeof(note->json))
		return;
	note->time_ns = time_ns;
	note->word = word;
	(void)snprintf(note->json, sizeof(note->json), "%s", json);
	flight->n_notes++;
}

void flight_barrier_passed(struct flight *flight, uint64_t barrier)
{
	if (barrier > flight->barrier)
		flight->barrier = barrier;
}

/* A place for another: the oldest that is done. */
static struct flight_dump *place(struct flight *flight)
{
	struct flight_dump *oldest = NULL;

	for (size_t i = 0; i < FLIGHT_MOST_WAITING; i++) {
		struct flight_dump *dump = &flight->dumps[i];

		if (!dump->number)
			return dump;
		if (dump->done && (!oldest || dump->number < oldest->number))
			oldest = dump;
	}
	return oldest;
}

static struct flight_dump *ask(struct flight *flight, const char *why, uint64_t from_ns,
			       uint64_t until_ns)
{
	struct flight_dump *dump = flight->ring ? place(flight) : NULL;

	if (!dump)
		return NULL;
	free(dump->path);
	*dump = (struct flight_dump){
		.number = ++flight->n_asked,
		.from_ns = from_ns,
		.until_ns = until_ns,
		.late_ns = until_ns + LATE_NS,
	};
	(void)snprintf(dump->why, sizeof(dump->why), "%s", why);
	return dump;
}

bool flight_ask(struct flight *flight, const char *why, uint64_t from_ns, uint64_t until_ns)
{
	return ask(flight, why, from_ns, until_ns) != NULL;
}

void flight_note_why(struct flight *flight, uint64_t time_ns, const char *why, const char *value)
{
	struct buf json;

	buf_init(&json, FLIGHT_NOTE_BYTES);
	buf_add_char(&json, '{');
	json_add_number(&json, "time_ns", time_ns);
	json_add_text(&json, "why", why);
	if (value)
		json_add_text(&json, "value", value);
	buf_add_char(&json, '}');
	flight_note(flight, time_ns, "trigger", buf_text(&json));
	buf_release(&json);
}

/* The samples of the window up to now. */
static struct flight_dump *ask_last(struct flight *flight, const char *why, uint64_t now_ns)
{
	uint64_t from_ns = now_ns > flight->window_ns ? now_ns - flight->window_ns : 0;
	struct flight_dump *dump = ask(flight, why, from_ns, now_ns);

	if (dump)
		flight_note_why(flight, now_ns, why, NULL);
	return dump;
}

/* SIGTERM from a user or a service manager. */
static bool is_request(int signo)
{
	return signo == SIGINT || signo == SIGTERM || signo == SIGHUP;
}

/* Programs of many processes that crash one after the other are not to fill the disk. */
static bool is_one_too_many(struct flight *flight, uint64_t now_ns)
{
	if (flight->crash_ns && now_ns - flight->crash_ns < CRASH_PAUSE_NS) {
		flight->n_crashes_unwritten++;
		return true;
	}
	flight->crash_ns = now_ns;
	return false;
}

void flight_ended(struct flight *flight, pid_t pid, int ended_by, bool target, uint64_t now_ns)
{
	const char *name = ended_by > 0 ? sigabbrev_np(ended_by) : NULL;
	char why[128];

	if (!flight->ring || ended_by == 0 || is_request(ended_by) || (ended_by < 0 && !target) ||
	    (!target && is_one_too_many(flight, now_ns)))
		return;
	if (ended_by < 0)
		(void)snprintf(why, sizeof(why), "the end of %d", (int)pid);
	else if (name)
		(void)snprintf(why, sizeof(why), "SIG%s ended %d", name, (int)pid);
	else
		(void)snprintf(why, sizeof(why), "signal %d ended %d", ended_by, (int)pid);
	(void)ask_last(flight, why, now_ns);
}

/* All samples of its window have come; or it has waited long enough. */
static bool is_due(struct flight *flight, struct flight_dump *dump, uint64_t now_ns)
{
	if (!dump->number || dump->done || now_ns < dump->until_ns)
		return false;
	if (!dump->barrier)
		dump->barrier = collector_barrier(flight->collector);
	return now_ns >= dump->late_ns || flight->barrier >= dump->barrier;
}

static void check_signals(struct flight *flight, uint64_t now_ns)
{
	int n = atomic_load(&n_signals);

	if (n != flight->n_signals)
		(void)ask_last(flight, "SIGUSR2", now_ns);
	flight->n_signals = n;
}

bool flight_is_due(struct flight *flight, uint64_t now_ns)
{
	if (!flight->ring)
		return false;
	for (size_t i = 0; i < FLIGHT_MOST_WAITING; i++)
		if (is_due(flight, &flight->dumps[i], now_ns))
			return true;
	return false;
}

uint64_t flight_due_ns(const struct flight *flight, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	for (size_t i = 0; flight->ring && i < FLIGHT_MOST_WAITING; i++) {
		const struct flight_dump *dump = &flight->dumps[i];
		uint64_t ns = now_ns < dump->until_ns ? dump->until_ns : dump->late_ns;

		if (dump->number && !dump->done && ns < due_ns)
			due_ns = ns;
	}
	return due_ns;
}

void flight_tick(struct flight *flight, uint64_t now_ns)
{
	if (!flight->ring)
		return;
	check_signals(flight, now_ns);
	for (size_t i = 0; i < FLIGHT_MOST_WAITING; i++)
		if (is_due(flight, &flight->dumps[i], now_ns))
			flight_write(flight, &flight->dumps[i]);
}

int flight_now(struct flight *flight, const char *why, uint64_t now_ns, const char **ret_path)
{
	struct flight_dump *dump = ask_last(flight, why, now_ns);

	if (!dump)
		return -EBUSY;
	flight_write(flight, dump);
	*ret_path = dump->path;
	return dump->result;
}

/* The one that was requested first, of those that wait. */
static struct flight_dump *first_waiting(struct flight *flight)
{
	struct flight_dump *first = NULL;

	for (size_t i = 0; i < FLIGHT_MOST_WAITING; i++) {
		struct flight_dump *dump = &flight->dumps[i];

		if (dump->number && !dump->done && (!first || dump->number < first->number))
			first = dump;
	}
	return first;
}

void flight_finish(struct flight *flight)
{
	struct flight_dump *dump;

	if (!flight->ring)
		return;
	check_signals(flight, io_now_ns());
	while ((dump = first_waiting(flight)))
		flight_write(flight, dump);
	if (flight->n_crashes_unwritten)
		say_note("%lu more processes crashed less than 10 s after another, and have no "
			 "file of their own",
			 (unsigned long)flight->n_crashes_unwritten);
}

void flight_release(struct flight *flight)
{
	atomic_store(&nudged, NULL);
	flight_ring_free(flight->ring);
	for (size_t i = 0; i < FLIGHT_MOST_WAITING; i++)
		free(flight->dumps[i].path);
	*flight = (struct flight){0};
}

/*
 * flight.h - the flight recorder: the last samples are kept in memory, and written when asked for
 *
 * Who asks gets a file of its own, numbered, with everything of a window of time.  It is written
 * once all samples of the window have come.
 */
#ifndef FLIGHT_FLIGHT_H
#define FLIGHT_FLIGHT_H

#include "base/err.h"
#include "base/sample.h"
#include "output/files/recording.h"
#include "sampler/collector/collector.h"
#include "tools/flight/flight_counts.h"
#include "tools/flight/flight_ring.h"
#include "tools/samples/hook_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	FLIGHT_MOST_WAITING = 16, /* files that wait for their last samples */
	FLIGHT_MOST_NOTES = 256,
	FLIGHT_NOTE_BYTES = 512,
};

struct flight_options {
	uint64_t window_ns; /* of a file that says nothing else */
	uint64_t keep_ns;   /* how long samples are kept; window_ns or more */
	size_t bytes;       /* in memory, at most */
	uint32_t metrics;   /* the columns to keep */
};

/* A comment line that belongs to a time. */
struct flight_note {
	uint64_t time_ns;
	const char *word; /* static */
	char json[FLIGHT_NOTE_BYTES];
};

/* A file that was asked for.  number 0: none. */
struct flight_dump {
	uint64_t number;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t mark;    /* of the collector, set when until_ns is reached; 0: not yet */
	uint64_t late_ns; /* it waits no longer than this */
	char why[128];
	bool done;
	int result;
	char *path;
};

/* Where the files come from. */
struct flight_files {
	struct recording *recording; /* made with on_demand, as all of these */
	struct hook_files *beside;
	enum sample_series series; /* of the recording */
};

/* Zero it: then it is off, and every call does nothing; flight_release() takes any state. */
struct flight {
	struct flight_ring *ring;
	struct flight_files files;
	struct collector *collector;
	uint64_t window_ns;  /* of a file that says nothing else */
	uint64_t restart_ns; /* nothing is older; 0: there is everything */
	struct flight_counts counts;
	struct flight_dump dumps[FLIGHT_MOST_WAITING];
	uint64_t n_asked;
	uint64_t mark; /* the last that has come by */
	struct flight_note notes[FLIGHT_MOST_NOTES];
	size_t n_notes;    /* ever; they are kept round about */
	uint64_t crash_ns; /* of the last process that was not CMD, and what was not written */
	uint64_t n_crashes_unwritten;
	int n_signals;
	uint64_t n_files;
};

/**
 * flight_start - begin to keep samples, and to listen to SIGUSR2
 *
 * Return:  0; -ENOMEM.
 * Owns:    FILES and COLLECTOR outlive it.
 * Context: main thread, as for all of these.
 */
int flight_start(struct flight *flight, const struct flight_options *options,
		 struct collector *collector);

/**
 * flight_is_on - whether samples are kept instead of written
 *
 * Context: main thread.
 */
bool flight_is_on(const struct flight *flight);

/**
 * flight_sample - keep a sample
 *
 * Return:  false: it is off.
 * Context: main thread.
 */
bool flight_sample(struct flight *flight, const struct sample *sample);

/**
 * flight_restart - forget what came before: weights are counted in other periods from now on
 * @time_ns: when that is; the counters of that moment are added next
 *
 * Context: main thread.
 */
void flight_restart(struct flight *flight, uint64_t time_ns);

/**
 * flight_note - keep a comment line: `# WORD : JSON`, for every file whose window has its time
 * @word: static
 *
 * Context: main thread.
 */
void flight_note(struct flight *flight, uint64_t time_ns, const char *word, const char *json);

/**
 * flight_note_why - the line `# trigger`: why a file was asked for
 * @value: what a trigger saw; NULL: it was none
 *
 * Context: main thread.
 */
void flight_note_why(struct flight *flight, uint64_t time_ns, const char *why, const char *value);

/**
 * flight_marked - everything up to a mark of the collector has come to flight_sample()
 *
 * Context: main thread.
 */
void flight_marked(struct flight *flight, uint64_t mark);

/**
 * flight_ended - a process has ended
 * @ended_by: as the collector has it
 * @target: it is one that was named: its end is never one too many
 *
 * A signal that is not a request to end has the last samples written.
 *
 * Context: main thread.
 */
void flight_ended(struct flight *flight, pid_t pid, int ended_by, bool target, uint64_t now_ns);

/**
 * flight_ask - have the samples of a window written, which may end later
 * @why: what the message says; it is copied
 *
 * Return:  false: it is off, or too many wait.
 * Context: main thread.
 */
bool flight_ask(struct flight *flight, const char *why, uint64_t from_ns, uint64_t until_ns);

/**
 * flight_is_due - whether flight_tick() has a file to write, for which counts should be new
 *
 * Context: main thread.
 */
bool flight_is_due(struct flight *flight, uint64_t now_ns);

/**
 * flight_due_ns - when flight_tick() next has something to do by the clock
 *
 * Return:  ns; UINT64_MAX: no file waits for its time.
 * Context: main thread.
 */
uint64_t flight_due_ns(const struct flight *flight, uint64_t now_ns);

/**
 * flight_tick - look for SIGUSR2, and write what is due
 *
 * Context: main thread.
 */
void flight_tick(struct flight *flight, uint64_t now_ns);

/**
 * flight_now - write the samples of the last window_ns: everything up to now has been kept
 * @why: as for flight_ask()
 *
 * Return:  0 and the path, NULL where memory ran out; -EBUSY: too many wait; -errno, and why has
 *          been told.
 * Owns:    the flight; good until the next call of another function.
 * Context: main thread.
 */
int flight_now(struct flight *flight, const char *why, uint64_t now_ns, const char **ret_path);

/**
 * flight_finish - write what was asked for: nothing more will come
 *
 * Context: main thread.
 */
void flight_finish(struct flight *flight);

/**
 * flight_release - forget everything
 *
 * Context: main thread.
 */
void flight_release(struct flight *flight);

#endif

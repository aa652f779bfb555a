/* output_fixture.h - a directory to record into, samples to record, and eyes on the files */
#ifndef TESTS_UNIT_OUTPUT_FIXTURE_H
#define TESTS_UNIT_OUTPUT_FIXTURE_H

#include "base/buf.h"
#include "output/files/recording.h"
#include "tests/unit/folder_fixture.h"

#include <limits.h>

struct output_fixture {
	char dir[FOLDER_BYTES];
	struct buf told; /* every message, each with a newline */
	size_t n_told;
	struct frame frames[3];
	uint64_t now_ns; /* of the next sample */
	struct recording_options options;
	char path[PATH_MAX]; /* options.path */
	struct recording *recording;
};

/* A test whose *STATE is a fixture for "DIR/x.perf". */
#define output_test(test) cmocka_unit_test_setup_teardown(test, output_begin, output_end)

/**
 * output_begin, output_end - the set-up and the tear-down of an output_test()
 *
 * Context: main thread.
 */
int output_begin(void **state);
int output_end(void **state);

/**
 * output_setup - a fresh directory and options for "DIR/NAME"
 *
 * Context: main thread.
 */
void output_setup(struct output_fixture *fixture, const char *name);

/**
 * output_teardown - free the recording, and remove the directory and all in it
 *
 * Context: main thread.
 */
void output_teardown(struct output_fixture *fixture);

/**
 * output_open - a recording with the fixture's options, in place of the one before
 *
 * Owns:    the fixture; good until it is opened again or torn down.
 * Context: main thread.
 */
struct recording *output_open(struct output_fixture *fixture);

/**
 * output_close - free the recording, if there is one
 *
 * Context: main thread.
 */
void output_close(struct output_fixture *fixture);

/**
 * output_write - write the next N samples
 *
 * Context: main thread.
 */
void output_write(struct output_fixture *fixture, struct recording *recording, size_t n);

/**
 * output_sample - the next sample, a millisecond after the last
 *
 * Owns:    the fixture; good until the next call.
 * Context: main thread.
 */
struct sample output_sample(struct output_fixture *fixture);

/**
 * output_text - a file of the directory, whole; "" when there is none
 *
 * Owns:    the caller, to free().
 * Context: main thread.
 */
char *output_text(const struct output_fixture *fixture, const char *name);

/**
 * output_count - how often WORD stands in TEXT
 *
 * Context: any thread.
 */
size_t output_count(const char *text, const char *word);

/**
 * output_exists - whether the directory has a file NAME
 *
 * Context: main thread.
 */
int output_exists(const struct output_fixture *fixture, const char *name);

/**
 * output_ends_whole - whether TEXT ends on a whole sample, the header, or the end line
 *
 * Context: any thread.
 */
int output_ends_whole(const char *text);

#endif

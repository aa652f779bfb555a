/* convert_fixture.h - a small profile, all of it selected, and a sink that keeps what it gets */
#ifndef UNIT_CONVERT_FIXTURE_H
#define UNIT_CONVERT_FIXTURE_H

#include "base/buf.h"
#include "flamescope/convert/convert.h"

/* Stacks of the fixture: nodes of its one tree. */
enum {
	NODE_MAIN = 1,  /* main */
	NODE_WORK,      /* main;work */
	NODE_INNER,     /* main;work;inner, inlined */
	NODE_READ,      /* main;read;x */
	NODE_GROUP = 5, /* running;work: below a group's label */
	N_NODES = 7,
};

struct fixture {
	struct profile profile;
	struct selection selection;
	struct convert_options options;
	struct convert_report report;
	struct convert_sink sink;
	struct buf out;
	struct err err;
	int64_t values[8];
};

/* A test whose *STATE is the fixture. */
#define fixture_test(test) cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

/**
 * fixture_begin, fixture_end - the set-up and the tear-down of a fixture_test()
 *
 * Context: main thread.
 */
int fixture_begin(void **state);
int fixture_end(void **state);

/**
 * fixture_init - four samples of two threads, by weight
 *
 * Context: main thread, as for all of these; there is one.
 */
struct fixture *fixture_init(void);

/**
 * fixture_release - forget what the sink has kept
 *
 * Context: main thread.
 */
void fixture_release(struct fixture *fixture);

/**
 * fixture_convert - the text of the fixture in a format
 *
 * Return:  the sink's text; NULL when the conversion failed.
 * Owns:    the fixture; good until the next call.
 * Context: main thread.
 */
const char *fixture_convert(struct fixture *fixture, enum convert_format format);

#endif

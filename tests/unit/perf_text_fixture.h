/* perf_text_fixture.h - what a reader of perf-script text saw, as one text */
#ifndef PERF_TEXT_FIXTURE_H
#define PERF_TEXT_FIXTURE_H

#include "flamescope/text/text.h"

/* What the visitor saw, in words: "sample comm pid/tid ...; ..." */
struct seen {
	struct buf text;
	struct perf_text_stats stats;
};

/* Its context is a struct seen. */
extern const struct perf_text_visitor fixture_visitor;

/* cmocka's: *STATE is a struct seen. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Feed LEN bytes, or a text, as lines. */
const char *fixture_read_bytes(struct seen *seen, const char *bytes, size_t len);
const char *fixture_read_text(struct seen *seen, const char *text);

#endif

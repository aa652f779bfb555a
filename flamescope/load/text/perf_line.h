/* perf_line.h - the lines of perf-script text, one at a time */
#ifndef TEXT_PERF_LINE_H
#define TEXT_PERF_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERF_LINE_MAX_METRICS = 64, PERF_LINE_MAX_WORDS = 16 };

/* Views into the line, which is cut into strings; good as long as the line is. */
struct perf_head {
	const char *comm;
	int64_t pid; /* -1: not given */
	int64_t tid; /* -1: perf did not know */
	int64_t cpu; /* -1: not given */
	uint64_t time_ns;
	uint64_t period; /* 1 when not given */
	const char *event;
	char *rest; /* what follows the event: inline metrics, or the frame of perf without -g */
};

struct perf_frame {
	uint64_t addr;
	const char *name; /* without +0x...; "[unknown]" as it stands */
	uint64_t offset;
	bool has_offset;
	const char *module; /* "" when inlined */
	bool inlined;
};

struct perf_metric {
	const char *name;
	int64_t value;
	int64_t delta;
};

/* A word that is none of the others: op, task, req, waker and what programs add. */
struct perf_word {
	const char *name;
	const char *value;
};

/* What a "# s" line, or an inline header line, says of a sample. */
struct perf_facts {
	const char *state;  /* NULL: not given */
	const char *wait;   /* the kind of call that it waits in; NULL: none */
	const char *object; /* what it waits for there ("on="); NULL: not given */
	const char *comm;   /* the thread's full name, where the header line has it altered */
	size_t n_metrics;
	struct perf_metric metrics[PERF_LINE_MAX_METRICS];
	bool from_head; /* the metrics stand on the header line */
	size_t n_words;
	struct perf_word words[PERF_LINE_MAX_WORDS];
};

/**
 * perf_line_head - parse `comm pid/tid [cpu] flags time: period event:`, any of perf's variants
 *
 * A thread whose name is empty or blank is called ":TID".  The time may be whole seconds, and the
 * event's name empty or with blanks.
 *
 * Return:  true, and *RET_HEAD; false: it is no such line, and TEXT is unchanged.
 * Context: any thread, as for all of these.
 */
bool perf_line_head(char *text, struct perf_head *ret_head);

/**
 * perf_line_frame - parse `<blank> addr name+0xoff (module)`
 *
 * The marks that wick's files have in names like `f<table>` (docs/perf-script.md) are taken out.
 * An address alone or with its module, as perf script -F without sym prints it, is "[unknown]".
 * What is not indented has to have a module.
 *
 * Return:  true, and *RET_FRAME; false: it is no such line, and TEXT is unchanged.
 * Context: any thread.
 */
bool perf_line_frame(char *text, struct perf_frame *ret_frame);

/**
 * perf_line_is_unfolded - whether a name is Java's `caller->inlined->inlined`
 *
 * perf-map-agent writes such names for code that has calls inlined.  `operator->` and Rust's
 * `f() -> T` are none.
 *
 * Context: any thread.
 */
bool perf_line_is_unfolded(const char *name);

/**
 * perf_line_unfold - a frame as its function and the calls that were inlined there
 *
 * Innermost first; FRAME's own name, which is cut up, becomes that of its outermost function.  Of
 * more than ROOM the innermost are written.
 *
 * Return:  how many there are; 1 when the name is no such name.
 * Context: any thread.
 */
size_t perf_line_unfold(const struct perf_frame *frame, struct perf_frame *frames, size_t room);

/**
 * perf_line_head_frame - parse the only frame, which perf script prints on the header line itself
 *
 * It does so for what was recorded without call stacks.
 *
 * Return:  true, and *RET_FRAME; false: there is none, and HEAD is unchanged.
 * Context: any thread.
 */
bool perf_line_head_frame(struct perf_head *head, struct perf_frame *ret_frame);

/**
 * perf_line_is_side_band - whether a line tells of a PERF_RECORD_... (--show-mmap-events)
 *
 * The name of its thread may look like an address: `cc1`.
 *
 * Context: any thread.
 */
bool perf_line_is_side_band(const char *text);

/**
 * perf_line_is_aside - whether perf script prints such lines beside samples and frames
 *
 * They are `  file.c:12` below a frame (-F srcline), and PERF_RECORD_... (--show-mmap-events).
 *
 * Context: any thread.
 */
bool perf_line_is_aside(const char *text);

/**
 * perf_line_facts - add what follows "# s "
 *
 * A field that is neither known nor `name=value,delta` is a word; those past PERF_LINE_MAX_WORDS
 * are passed over.
 *
 * Context: any thread.
 */
void perf_line_facts(char *text, struct perf_facts *facts);

/**
 * perf_line_decode - %41 to A, in place; what is no such thing stays, and so does %00
 *
 * Return:  TEXT.
 * Context: any thread.
 */
char *perf_line_decode(char *text);

/**
 * perf_line_inline_facts - the same for `metric_NAME: VALUE, DELTA` behind the event
 *
 * The dialect of flame_prof and its fork of FlameScope: NAME is of letters, digits, _ and -, there
 * is one blank behind the colon, and the numbers are whole.  wick calls its own metric_wick_NAME.
 *
 * Context: any thread.
 */
void perf_line_inline_facts(char *text, struct perf_facts *facts);

#endif

/*
 * text.h - perf-script text and folded stacks, by lines and by samples
 *
 * Context: any thread, unless a function says another.
 */
#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* source: the bytes of a file or of standard input, without their compression */

struct source;

/*
 * What compressed bytes may become: recordings become 25 to 40 times as large, and the most uniform
 * ones (an idle program, 100 times a second) 450 times.
 */
enum { SOURCE_FREE_MIB = 64, SOURCE_MOST_TIMES = 500 /* beyond SOURCE_FREE_MIB */ };

/**
 * source_open - open a file by its path, "-" being standard input
 *
 * gzip (any number of members, and zeros after them) and zstd (any number of frames) are known by
 * their first bytes.
 *
 * Return:  0; -errno of open; -EISDIR; -ENOMEM.
 * Owns:    the caller, to source_close().
 * Context: any thread; one user at a time, as for all of these.
 */
int source_open(const char *path, struct source **ret_source, struct err *err);

/**
 * source_plain - whether any thread may pread() it, being an uncompressed regular file
 *
 * Return:  its descriptor, which is the source's, and *RET_BYTES; -1: it is none.
 */
int source_plain(const struct source *source, uint64_t *ret_bytes);

/**
 * source_read - the next bytes
 *
 * Return:  how many, 0 at the end; -EIO and the reason when the file is damaged or cut short;
 *          -EINVAL when it would become larger than a recording does.
 */
ssize_t source_read(struct source *source, void *to, size_t len, struct err *err);

/**
 * source_close - free it
 *
 * Context: any thread.  NULL is fine.
 */
void source_close(struct source *source);

/* lines: the lines of a text file, plain, gzip or zstd, however long it is */

enum {
	LINES_MAX_BYTES = 1024 * 1024, /* of one line; longer ones are cut, and said so */
	LINES_ENDLESS_MIB = 1024,      /* of one line: /dev/zero, or a bomb in an archive */
};

struct lines;

struct line {
	char *text; /* NUL-terminated, without its newline; may be written to */
	size_t len;
	uint64_t number; /* 1 for the first */
	int cut;         /* it was longer than LINES_MAX_BYTES: the rest is left out */
	int unended;     /* the file ended without a newline */
};

/**
 * lines_open - open a file for reading by lines
 *
 * Return:  0; -errno of open; -EISDIR.
 * Owns:    the caller, to lines_close().
 * Context: any thread; one user at a time, as for all of these.
 */
int lines_open(const char *path, struct lines **ret_lines, struct err *err);

/**
 * lines_next - the next line
 *
 * Return:  1; 0 at the end; -EIO and the reason when the file is damaged or cut short, or has a
 *          line that does not end.
 * Owns:    the lines; good until the next call.
 */
int lines_next(struct lines *lines, struct line *ret_line, struct err *err);

/**
 * lines_close - close the file
 *
 * Context: any thread.  NULL is fine.
 */
void lines_close(struct lines *lines);

/* perf_line: the lines of perf-script text, one at a time */

enum { PERF_LINE_MAX_METRICS = 64, PERF_LINE_MAX_WORDS = 48 };

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

/* A word that is none of the others: op, task, trace, waker and what programs add. */
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
 */
bool perf_line_frame(char *text, struct perf_frame *ret_frame);

/**
 * perf_line_is_unfolded - whether a name is Java's `caller->inlined->inlined`
 *
 * perf-map-agent writes such names for code that has calls inlined.  `operator->` and Rust's
 * `f() -> T` are none.
 */
bool perf_line_is_unfolded(const char *name);

/**
 * perf_line_unfold - a frame as its function and the calls that were inlined there
 *
 * Innermost first; FRAME's own name, which is cut up, becomes that of its outermost function.  Of
 * more than MAX the innermost are written.
 *
 * Return:  how many there are; 1 when the name is no such name.
 */
size_t perf_line_unfold(const struct perf_frame *frame, struct perf_frame *frames, size_t max);

/**
 * perf_line_head_frame - parse the only frame, which perf script prints on the header line itself
 *
 * It does so for what was recorded without call stacks.
 *
 * Return:  true, and *RET_FRAME; false: there is none, and HEAD is unchanged.
 */
bool perf_line_head_frame(struct perf_head *head, struct perf_frame *ret_frame);

/**
 * perf_line_is_side_band - whether a line is a PERF_RECORD_... (--show-mmap-events)
 *
 * The name of its thread may look like an address: `cc1`.
 */
bool perf_line_is_side_band(const char *text);

/**
 * perf_line_is_aside - whether perf script prints such lines beside samples and frames
 *
 * They are `  file.c:12` below a frame (-F srcline), and PERF_RECORD_... (--show-mmap-events).
 */
bool perf_line_is_aside(const char *text);

/** perf_line_is_totals - whether a line is one of exact counts, "# req : {...}", and no sample's */
bool perf_line_is_totals(const char *text);

/**
 * perf_line_facts - add what follows "# s "
 *
 * A field that is neither known nor `name=value,delta` is a word; those past PERF_LINE_MAX_WORDS
 * are passed over.
 */
void perf_line_facts(char *text, struct perf_facts *facts);

/**
 * perf_line_decode - %41 to A, in place; what is no such thing stays, and so does %00
 *
 * Return:  TEXT.
 */
char *perf_line_decode(char *text);

/**
 * perf_line_inline_facts - the same for `metric_NAME: VALUE, DELTA` after the event
 *
 * The dialect of flame_prof and its fork of FlameScope: NAME is of letters, digits, _ and -, there
 * is one blank after the colon, and the numbers are whole.  wick calls its own metric_wick_NAME.
 */
void perf_line_inline_facts(char *text, struct perf_facts *facts);

/* perf_text: a streaming reader of perf-script text: wick's dialect and perf's own */

enum {
	PERF_TEXT_MAX_FRAMES = 1024,              /* of a sample; deeper ones keep the leaf side */
	PERF_TEXT_SAMPLE_BYTES = 4 * 1024 * 1024, /* of the text of a sample */
	PERF_TEXT_BAD_LINES = 8,                  /* whose numbers are kept */
};

/* Views are good until the callback returns. */
struct perf_text_sample {
	uint64_t line; /* of its header line */
	struct perf_head head;
	struct perf_facts facts;
	size_t n_frames; /* innermost first */
	const struct perf_frame *frames;
	int cut; /* it had more frames, or a longer line, than are kept */
};

/* Any of them may be NULL. */
struct perf_text_visitor {
	void (*comment)(void *context, const char *text); /* a "#" line that is none of below */
	void (*header)(void *context, const char *json);  /* of "# wick : {...}" */
	void (*rate)(void *context, const char *json);    /* of "# rate : {...}" */
	void (*sample)(void *context, const struct perf_text_sample *sample);
	void (*end)(void *context, const char *json); /* of "# wick-end : {...}" */
	void (*bad)(void *context, uint64_t line);    /* a line that was passed over */
	void *context;
};

struct perf_text_stats {
	uint64_t lines;
	uint64_t samples;
	uint64_t bad_lines;                /* that were none of the above, and were passed over */
	uint64_t bad[PERF_TEXT_BAD_LINES]; /* the numbers of the first ones */
	int stray_frames;                  /* one of these was a frame of no sample */
	int unended; /* the last sample has no empty line: it was being written */
};

struct perf_text;

/**
 * perf_text_new - a reader that is fed with lines
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to perf_text_free(); VISITOR is copied.
 * Context: any thread; one user at a time, as for all of these.
 */
int perf_text_new(const struct perf_text_visitor *visitor, struct perf_text **ret_text);

/**
 * perf_text_line - take in the next line; calls the visitor when a sample is whole
 *
 * What one line means never reaches past an empty line, so that the text between two of them can
 * be read by itself.  A carriage return at the end of a line is no part of it.
 */
void perf_text_line(struct perf_text *text, const struct line *line);

/**
 * perf_text_finish - the end of the file: gives the last sample, if it is not whole either
 *
 * What comes then is of another file, and so are its statistics.
 */
void perf_text_finish(struct perf_text *text, struct perf_text_stats *ret_stats);

/**
 * perf_text_no_times - say why a file with stacks has no sample, and what to do
 *
 * Frames without a line that names a thread and a time are what perf script -F ip,sym prints.
 */
void perf_text_no_times(struct err *err);

/**
 * perf_text_free - free everything
 *
 * Context: any thread.  NULL is fine.
 */
void perf_text_free(struct perf_text *text);

/**
 * perf_text_read - all of the above for a file
 *
 * Return:  0; -errno of open; -EIO when it is damaged: what came before has been visited.
 */
int perf_text_read(const char *path, const struct perf_text_visitor *visitor,
		   struct perf_text_stats *ret_stats, struct err *err);

/* folded: `main;work;read 12`: stacks as stackcollapse writes them, one a line */

/* What the samples of a text whose counts have fractions are called: each counts 1,000. */
#define FOLDED_THOUSANDTHS "thousandths"

/**
 * folded_scale - whether a file that begins so is one of folded stacks, not of perf-script text
 *
 * It is when most of its first lines are such stacks, and none begins a sample of perf's.
 *
 * Return:  what its counts have to be multiplied with: 1,000 when one of them has a fraction,
 *          else 1; 0: it is no such file.
 */
uint32_t folded_scale(const char *text, size_t len);

/**
 * folded_file_scale - the same of a file, which may be compressed
 *
 * It is read once more for that: of a pipe nothing is taken, and it is 0.
 *
 * Return:  as folded_scale(); -errno of open; -EIO when it is damaged.
 */
int folded_file_scale(const char *path, struct err *err);

/**
 * folded_line - a stack and its count as a sample; TEXT is cut into strings
 * @frames: room for PERF_TEXT_MAX_FRAMES
 *
 * The count is the last word: whole or with a fraction, as flamegraph.pl takes it.
 *
 * Return:  true, and *RET_SAMPLE, which points into TEXT and FRAMES; false: it is no such line.
 */
bool folded_line(char *text, uint32_t scale, struct perf_frame *frames,
		 struct perf_text_sample *ret_sample);

/** folded_is_aside - whether a line is empty or a comment */
bool folded_is_aside(const char *text);

#endif

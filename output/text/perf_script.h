/*
 * perf_script.h - samples to perf-script text, exactly as docs/perf-script.md says
 *
 * Context: any thread, unless a function says another.
 */
#ifndef TEXT_PERF_SCRIPT_H
#define TEXT_PERF_SCRIPT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* groups: outermost frames that are made up, so that any consumer groups stacks by them */

enum {
	GROUPS_MAX = 8,
	GROUPS_CLASSES = 64, /* more than there are of any unit */
};

enum group_kind {
	GROUP_STATE,   /* running, sleeping */
	GROUP_WAIT,    /* futex, epoll; the state of what does not wait */
	GROUP_OBJECT,  /* pipe:[7]; - when there is none */
	GROUP_THREAD,  /* worker/4001 */
	GROUP_COMM,    /* worker */
	GROUP_PROCESS, /* process 4000 */
	GROUP_CPU,     /* cpu 3 */
	GROUP_METRIC,  /* 100s MiB */
	GROUP_LABEL,   /* a label of the program's: db; - when there is none */
	GROUP_GIVEN,   /* as its maker says */
};

struct group {
	enum group_kind kind;
	size_t metric;    /* GROUP_METRIC: which of the recording's */
	const char *name; /* GROUP_LABEL: its key; GROUP_GIVEN: what it is called */
	const char *text; /* GROUP_GIVEN: the word of the sample that is written next */
};

/* In the order of --group: the first is outermost, and so the root of a flame graph. */
struct groups {
	size_t n;
	struct group at[GROUPS_MAX];
};

/**
 * groups_parse - a list of what to group by
 * @text: words with commas: state, wait, object, thread, comm, process, cpu, labels (task, tier,
 *        identity, trace, span or req, function), names of metrics (rss stands for rss_kib)
 *
 * Return:  0; -EINVAL and the reason, with the words there are.
 */
int groups_parse(const char *text, const struct metric *metrics, size_t n_metrics,
		 struct groups *ret_groups, struct err *err);

/**
 * groups_limit - leave out groups by metrics that a file does not have
 * @mask: bit i: it has metric i
 */
void groups_limit(struct groups *groups, uint32_t mask);

/**
 * groups_name - what a group is called, in the parentheses of its frames and in the head
 *
 * Owns:    static, or the metric's.
 */
const char *groups_name(const struct group *group, const struct metric *metrics);

/**
 * groups_add - the frames of all groups of a sample, the first group last
 * @metrics: the columns of the sample's metrics
 */
void groups_add(struct buf *buf, const struct groups *groups, const struct metric *metrics,
		const struct sample *sample);

/**
 * groups_state_word - the word for a state
 *
 * Owns:    static.
 */
const char *groups_state_word(enum sample_state state);

/**
 * groups_size_class - the power of ten that a value lies in, as a number
 * @unit: of the value: "B", "KiB", "ns", anything else counts
 *
 * Return:  below GROUPS_CLASSES; 0 for the value 0.
 */
unsigned groups_size_class(int64_t value, const char *unit);

/**
 * groups_class_word - a size class in words: 1s KiB, 10s MiB, -100s B, 0
 * @class: of a value of this UNIT
 */
void groups_class_word(struct buf *buf, unsigned class, const char *unit);

/* Frame lines of a sample, groups included: FlameScope dies of more than 485. */
enum { PERF_SCRIPT_MAX_LINES = 480 };

enum perf_script_metrics_as {
	METRICS_AS_COMMENT, /* a "# s" line before each sample */
	METRICS_AS_INLINE,  /* flame_prof's: the state word as comm, metrics on the header line */
};

/* A module whose code is in the stacks, for the "# wick-end" line. */
struct perf_script_module {
	const char *path;     /* as in the frame lines, but for what they have to escape */
	const char *build_id; /* hexadecimal; "" it has none */
	const char *names;   /* where they came from: none, dynsym, jit, minidebug, symtab, debug */
	const char *missing; /* what there would be with TRY; "" nothing */
	const char *try;
};

struct perf_script_modules {
	const struct perf_script_module *at;
	size_t n;
};

struct perf_script_options {
	bool bare; /* no line that starts with # */
	bool ns;   /* 9 decimals instead of 6 */
	enum perf_script_metrics_as metrics_as;
	const struct metric *metrics; /* the columns of struct sample.metrics */
	size_t n_metrics;
	uint32_t metrics_mask; /* bit i: write metrics[i]; 0: no "# s" metrics */
	struct groups groups;  /* made-up outermost frames */
	bool flatten;          /* a function that calls itself is one frame */
	const struct perf_script_modules *modules; /* read for each end line; NULL: none */
	bool srcline;   /* a "# l" line before each sample: file and line of each frame */
	bool own_facts; /* the caller writes the "# s" lines */
	bool own_times; /* of a copy: samples of a thread that have one time keep it */
	bool keep_comm; /* METRICS_AS_INLINE: the states are not known */
};

/* What a copy knows of its original: instead of this machine's words and the times above. */
struct perf_script_copy {
	bool is_wick;            /* the original is wick's, too: weights are of one kind */
	const char *captured;    /* the original's words for when; "" unknown */
	const char *hostname;    /* "" unknown */
	const char *cmdline;     /* "" unknown */
	const char *const *keys; /* of "# s" lines, but those of metrics */
	size_t n_keys;
};

/* What stands in the head of a file. */
struct perf_script_header {
	const char *event;   /* "cpu-clock" */
	uint32_t hz;         /* of a clock; 0: it is none */
	uint64_t mean_bytes; /* of memory: between two samples; 0: it is not */
	uint64_t least_ns;   /* of locks: the shortest wait reported; 0: it is not */
	pid_t pid;
	pid_t namespace_pid;      /* what it calls itself in its pid namespace; 0: the same */
	uint64_t captured_ns;     /* CLOCK_REALTIME */
	uint64_t epoch_offset_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC, measured for this file */
	int argc;                 /* the command line; 0 leaves it out */
	const char *const *argv;
	const char *hostname; /* this and the next three: NULL or 0: this machine's */
	const char *os_release;
	const char *arch;
	uint32_t n_cpus;
	const struct perf_script_copy *copy; /* of what was read elsewhere; NULL: it is recorded */
};

/* What stands in the "# wick-end" line: name and number, in order. */
struct perf_script_count {
	const char *name;
	uint64_t value;
};

enum { PERF_SCRIPT_MAX_EQUAL = 64 }; /* samples that print the same stamp */

/* The state of one file; zero it for each, then set event. */
struct perf_script_file {
	const char *event;   /* as the file's header has it; NULL: "cpu-clock" */
	uint64_t last_stamp; /* as printed: a sample never prints an earlier one */
	uint64_t latest;     /* the latest that a sample itself had, in the same unit */
	size_t n_equal;      /* threads that have printed last_stamp */
	pid_t equal[PERF_SCRIPT_MAX_EQUAL];
	uint64_t n_samples; /* releases too */
	uint64_t n_releases;
	uint64_t weight;
	uint64_t n_late;  /* samples that came later than the last written stamp, and got that */
	uint64_t n_notes; /* comment lines between samples */
};

/** perf_script_header - the block of comment lines at the start of a file; nothing when bare */
void perf_script_header(const struct perf_script_options *options,
			const struct perf_script_header *header, struct buf *buf);

/** perf_script_frame - one frame's line */
void perf_script_frame(const struct frame *frame, struct buf *buf);

/** perf_script_line - a frame's word of a "# l" line */
void perf_script_line(const struct frame *frame, struct buf *buf);

/* A name of the waker's stack is not begun after so many bytes: names can be very long. */
enum { PERF_SCRIPT_WAKER_BYTES = 1024 };

/**
 * perf_script_labels - the words of a sample's labels: trace, span, identity, task and tier first
 *
 * A ',' in a value is encoded: readers take a word with one for a metric.
 */
void perf_script_labels(struct buf *buf, const struct sample *sample);

/**
 * perf_script_waker - add " waker=TID:INNERMOST;CALLER;..." of a sample whose waker is known
 *
 * Names are percent-encoded as in sanitise_word(), and so are ';' and ',' in them.  A frame without
 * a name is its module in brackets, or [unknown].
 */
void perf_script_waker(struct buf *buf, const struct sample *sample);

/** perf_script_modules - `,"modules":[...]`, as the end line has it; nothing when there are none */
void perf_script_modules(const struct perf_script_modules *modules, struct buf *buf);

/**
 * perf_script_hides - whether a sample stands in comment lines, so that only wick counts it
 *
 * Releases of memory do, but in the inline dialect, which is for what changes metrics.  A bare
 * text has nothing of them.
 */
bool perf_script_hides(const struct perf_script_options *options, const struct sample *sample);

/**
 * perf_script_sample - one sample, whole: comment, header line, frames, empty line
 *
 * Context: any thread.  One writer per file.
 */
void perf_script_sample(const struct perf_script_options *options, struct perf_script_file *file,
			const struct sample *sample, struct buf *buf);

/**
 * perf_script_end - the "# wick-end" line; nothing when bare
 *
 * Writes samples, weight and late of FILE first, then COUNTS, then the modules.
 */
void perf_script_end(const struct perf_script_options *options, const struct perf_script_file *file,
		     const struct perf_script_count *counts, size_t n_counts, struct buf *buf);

enum {
	SANITISED_COMM_SIZE = 80,  /* 15 bytes, each 3 after repair, marks added, and a NUL */
	SANITISE_MAX_NAME = 16384, /* bytes of a symbol or path; longer ones are cut */
};

/**
 * sanitise_comm - a thread's name, ready for the header line of a sample
 * @text:  at most LEN bytes, or up to a NUL
 * @out:   the name, NUL-terminated
 *
 * Return:  true when it had to be altered.
 */
bool sanitise_comm(const char *text, size_t len, pid_t tid, char out[static SANITISED_COMM_SIZE]);

/**
 * sanitise_symbol - a symbol's name, ready for a frame line
 *
 * Return:  false, and nothing is added, when nothing of it is left.
 */
bool sanitise_symbol(struct buf *buf, const char *symbol);

/**
 * sanitise_module - a module's path, ready to stand in the parentheses of a frame line
 *
 * Return:  false, and nothing is added, when it is empty.
 */
bool sanitise_module(struct buf *buf, const char *module);

/**
 * sanitise_basename - the last part of a module's path, ready to stand in a symbol's place
 *
 * Return:  false, and nothing is added, when it is empty.
 */
bool sanitise_basename(struct buf *buf, const char *module);

/**
 * sanitise_word - percent-encode everything that is not visible ASCII, and % < > \
 *
 * For values in a "# s" line: the bytes come back whole by decoding every %XX.
 */
void sanitise_word(struct buf *buf, const char *text, size_t len);

/**
 * sanitise_line - percent-encode < > \, controls, bytes that are not UTF-8, and a % that would
 *                 read as an encoded byte
 *
 * For the rest of a comment line: blanks and UTF-8 stay readable.
 */
void sanitise_line(struct buf *buf, const char *text);

/* markup: what makes libmagic call a recording a web page or TeX */

/**
 * markup_opens - whether the `<` or `\` at the start of LEFT bytes opens such a word
 *
 * libmagic looks for these words anywhere in the first kilobytes: a mark before them does not
 * help, one after the first character does.  A word that has marks gets one more, so that
 * markup_restore() gives every name back.
 */
bool markup_opens(const char *text, size_t left);

/** markup_restore - take the marks out of a name again */
void markup_restore(char *text);

#endif

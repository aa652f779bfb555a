/*
 * sample.h - types that the libraries share: sample, frame, metric, mapping
 *
 * Context: any thread.
 */
#ifndef BASE_SAMPLE_H
#define BASE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SAMPLE_MAX_FRAMES = 256, /* pcs of one stack; deeper ones keep the leaf side */
	SAMPLE_MAX_NAMED =
		4096, /* frames of a named one: with calls that were inlined, and waker */
	SAMPLE_MAX_METRICS = 32,
	SAMPLE_COMM_SIZE = 16, /* TASK_COMM_LEN, NUL included */
	SAMPLE_OBJECT_SIZE = 64,
	SAMPLE_MAX_LABELS = 32,
	SAMPLE_LABEL_BYTES = 1024, /* of all keys and values of a sample, NULs included */
};

#define SAMPLE_NO_CPU UINT32_MAX /* as the cpu of a sample: not known */

enum metric_kind {
	METRIC_COUNTER, /* only grows: cpu_ns, minflt */
	METRIC_GAUGE,   /* goes up and down: rss_kib, stack_bytes */
};

/* What a column of values is.  Names are [a-z0-9_]+. */
struct metric {
	const char *name;
	const char *unit; /* "ns", "1", "KiB", "B" */
	enum metric_kind kind;
};

struct metric_value {
	int64_t value;
	int64_t delta; /* against the same thread's previous sample; 0 for its first */
};

/**
 * metric_delta - what a value has changed by
 *
 * A program's gauge can be any number: what does not fit wraps around, so that sums of deltas
 * still lead from one value to another.
 */
static inline int64_t metric_delta(int64_t now, int64_t before)
{
	return (int64_t)((uint64_t)now - (uint64_t)before);
}

/* Whose work a sample is: "trace", "span", "identity", "task", "tier", and what else the program
 * published for the thread.  Keys are [a-zA-Z0-9_.]+; values are any bytes but NUL. */
struct sample_label {
	const char *key;
	const char *value;
};

/* Samples that filters left out of the file. */
struct filtered {
	uint64_t samples;
	uint64_t weight;
};

/* What made a sample; the event's name in the text is output's. */
enum sample_event {
	EVENT_CPU,   /* another period of CPU */
	EVENT_WALL,  /* a period of a thread's life, running or not */
	EVENT_ALLOC, /* memory taken or given back */
	EVENT_LOCK,  /* a lock waited for */
	EVENT_COUNT, /* one of the kernel's events: page faults, switches, cycles */
};

/* Samples of one kind of weight: they have files and deltas of their own. */
enum sample_series { SERIES_CLOCK, SERIES_MEMORY, SERIES_LOCKS, N_SERIES };

/** sample_series - which series a sample of an event belongs to */
static inline enum sample_series sample_series(enum sample_event event)
{
	return event == EVENT_ALLOC  ? SERIES_MEMORY
	       : event == EVENT_LOCK ? SERIES_LOCKS
				     : SERIES_CLOCK;
}

enum sample_state {
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_SLEEPING,
	STATE_DISK,
	STATE_STOPPED,
};

/*
 * One frame.  The collector sets addr and exact; the symbolizer the rest.
 * Names, modules and files are views that the symbolizer keeps until it is freed.
 */
struct frame {
	uint64_t addr;          /* interrupted pc, or the return address of a call */
	const char *symbol;     /* demangled, without parameters; NULL: unknown */
	uint64_t offset;        /* addr minus the symbol's start */
	const char *module;     /* path, "[vdso]", "[anon]"; NULL: unknown */
	uint64_t module_offset; /* addr as the module's own (ELF virtual) address; 0: unknown */
	const char *file;       /* as the debugging information has it; NULL: unknown */
	uint32_t line;          /* 0: unknown */
	bool exact;             /* addr was interrupted there: look up addr, not addr - 1 */
	bool inlined;           /* into the next frame, at the same addr */
};

/* One stack of one thread at one moment, with what it stood for and what it had used. */
struct sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC of wick's own time namespace */
	uint32_t process; /* the collector's number for one image of one process: never reused */
	pid_t pid;        /* below 0: not known */
	pid_t tid;
	uint32_t cpu;
	enum sample_event event;
	uint64_t weight; /* what it stands for: periods (1 + overruns), bytes, microseconds */
	enum sample_state state;
	const char *wait; /* what a blocked thread waits in; NULL when it runs; static */
	char object[SAMPLE_OBJECT_SIZE]; /* what it waits for there: "pipe:[7]"; "" unknown */
	char comm[SAMPLE_COMM_SIZE];
	size_t n_metrics; /* the recording's metrics, in its order */
	struct metric_value metrics[SAMPLE_MAX_METRICS];
	size_t n_frames; /* innermost first */
	struct frame *frames;
	const char *op;  /* EVENT_ALLOC: "alloc" or "free"; else NULL; static */
	size_t n_waker;  /* frames of the waker, which follow the sample's in FRAMES */
	pid_t waker_tid; /* the thread that ended the wait; 0: not known */
	bool truncated;  /* the stack was deeper than SAMPLE_MAX_FRAMES */
	size_t n_labels;
	const struct sample_label *labels; /* each key once */
};

/** sample_labels_bytes - what sample_labels_copy() needs */
size_t sample_labels_bytes(const struct sample *sample);

/**
 * sample_labels_copy - copy a sample's labels and their texts
 * @to: sample_labels_bytes(), aligned as a pointer
 *
 * Return:  the labels, at TO.
 */
const struct sample_label *sample_labels_copy(const struct sample *sample, void *to);

/*
 * A range of a process's address space that can hold code, from a given time
 * on (a line of /proc/PID/maps, or a module that the agent announced).
 */
struct mapping {
	uint32_t process;
	pid_t pid;
	uint64_t time_ns; /* valid from here on; 0: from the start of the process */
	uint64_t start;
	uint64_t end;
	uint64_t pgoff; /* bytes into the file at START */
	uint64_t dev;   /* makedev(); 0 with inode 0: not known, or no file */
	uint64_t inode;
	bool gone;        /* was unmapped at time_ns: names end here */
	const char *path; /* as the process sees it, " (deleted)" removed; "" or "[vdso]" */
	bool deleted;     /* the kernel said " (deleted)" */
};

#endif

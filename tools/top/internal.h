/*
 * internal.h - the model of wick top, its text, and the screen
 *
 * Context: main thread, unless a function says another.
 */
#ifndef TOP_INTERNAL_H
#define TOP_INTERNAL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/sample.h"
#include "tools/cli/pattern.h"
#include "tools/options/options.h"
#include "tools/record/name_queue.h"
#include "tools/target/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	TOP_PARTS = 100,           /* of a second, in the heatmap */
	TOP_SECONDS = 600,         /* that the heatmap remembers */
	TOP_SLOTS = 6,             /* of recent time, the one that fills included */
	TOP_MAX_FUNCTIONS = 65536, /* what comes after these is counted as one function */
	TOP_MAX_THREADS = 20000,
};

/* "Now" is this long, and ends this long ago: samples are given a moment after they were taken. */
#define TOP_SLOT_NS   UINT64_C(500000000)
#define TOP_WINDOW_NS UINT64_C(2000000000)
#define TOP_LATE_NS   UINT64_C(400000000)

/* Sums of recent time, by slots; a slot whose number is not the one requested is empty. */
struct top_recent {
	uint64_t number[TOP_SLOTS];
	uint64_t ns[TOP_SLOTS];
};

/* What is counted of one function. */
struct top_function {
	const char *symbol; /* the model's own copies */
	const char *module;
	uint64_t self_ns; /* since the last reset */
	uint64_t total_ns;
	struct top_recent self;
	struct top_recent total;
	uint64_t last_sample; /* that it was counted in: once a stack, however deep it recurses */
	struct top_function *next; /* of the same symbol, in another module */
};

/* What is known of a thread from its samples. */
struct top_seen {
	pid_t pid;
	pid_t tid;
	enum sample_state state; /* of its last sample */
	const char *wait;        /* NULL: in none, or not known */
	const char *symbol;      /* innermost function of its last sample */
	uint64_t time_ns;
};

/* The model's own copy of a second of the heatmap. */
struct top_second {
	uint64_t number; /* second of the clock */
	bool used;
	uint64_t ns[TOP_PARTS];
};

/* Zero it and set period_ns; top_model_release() takes any state. */
struct top_model {
	uint64_t period_ns; /* what a weight of 1 stands for */
	uint64_t since_ns;  /* when counting began, on the samples' clock */
	uint64_t samples;
	uint64_t sum_ns;
	struct top_recent recent;
	struct top_function **functions;
	size_t n_functions;
	size_t room;
	struct map by_symbol; /* the model's copy of a symbol -> first of its functions */
	struct map threads;   /* tid -> struct top_seen */
	struct top_second *seconds;
	struct intern strings;
	bool full; /* memory ran out, or a limit was reached: some names are missing */
};

/**
 * top_model_init - nothing counted yet
 *
 * Return:  0; -ENOMEM.
 */
int top_model_init(struct top_model *model, uint64_t period_ns, uint64_t now_ns);

/** top_model_add - count a sample, names resolved */
void top_model_add(struct top_model *model, const struct sample *sample);

/** top_model_reset - count anew from here on; the heatmap stays */
void top_model_reset(struct top_model *model, uint64_t now_ns);

/**
 * top_recent_ns - what was counted in the window that ends TOP_LATE_NS before NOW_NS
 *
 * Context: any thread.
 */
uint64_t top_recent_ns(const struct top_recent *recent, uint64_t now_ns);

/**
 * top_window_ns - how long that window is: less than TOP_WINDOW_NS soon after the start
 *
 * Return:  at least 1.
 * Context: any thread.
 */
uint64_t top_window_ns(const struct top_model *model, uint64_t now_ns);

/** top_model_release - forget everything */
void top_model_release(struct top_model *model);

/* What rows are sorted by, most first: keys 1 to 4. */
enum top_order { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_SELF_SUM, TOP_BY_TOTAL_SUM, N_TOP_ORDERS };

/* A function.  Percent are of one CPU, in the last two seconds, or of all time. */
struct top_row {
	const char *symbol; /* the view's own copies */
	const char *module;
	double self_pct;
	double total_pct;
	uint64_t self_ns; /* since the last reset */
	uint64_t total_ns;
};

/* A thread as /proc has it, and what its samples say. */
struct top_thread {
	pid_t pid;
	pid_t tid;
	char comm[SAMPLE_COMM_SIZE];
	char state;         /* as /proc/PID/stat has it: R, S, D, T, Z... */
	double cpu_pct;     /* of one CPU, since the reading before */
	uint64_t cpu_ns;    /* in its life */
	const char *symbol; /* innermost function of its last sample; NULL: none yet */
	const char *wait;   /* NULL: none */
};

/* Zero it; top_view_release() takes any state. */
struct top_view {
	struct top_row *rows;
	size_t n_rows;
	struct top_thread *threads;
	size_t n_threads;
	uint32_t *shown; /* which rows, or threads, in which order */
	size_t n_shown;
	struct top_second *seconds; /* the model's, as they were */
	uint64_t now_ns;
	uint64_t since_ns;
	uint64_t samples;
	double cpu_pct; /* of one CPU */
	bool full;
	bool whole; /* the caller's: percent are of all time, not of now */
	struct intern strings;
};

/**
 * top_view_take - what the model has now
 *
 * Return:  0; -ENOMEM: the view is empty.
 */
int top_view_take(struct top_view *view, const struct top_model *model, uint64_t now_ns);

/**
 * top_view_threads - the threads to show with it
 * @threads: N of them; symbol and wait are looked up in MODEL
 *
 * Return:  0; -ENOMEM.
 * Owns:    the view has its own copy.
 */
int top_view_threads(struct top_view *view, const struct top_model *model,
		     const struct top_thread *threads, size_t n);

/**
 * top_view_order_rows - which functions are shown, and in which order
 * @filter: names or modules that match; NULL: all
 *
 * Return:  0; -ENOMEM.
 */
int top_view_order_rows(struct top_view *view, enum top_order order, struct pattern *filter);

/**
 * top_view_order_threads - the same of threads: by CPU now, by state, by CPU in all, by name
 *
 * Return:  0; -ENOMEM.
 */
int top_view_order_threads(struct top_view *view, enum top_order order, struct pattern *filter);

/**
 * top_view_heat - how warm each cell of a heatmap is
 * @levels: ROWS times COLUMNS, the top row first: 0 nothing, up to N_LEVELS - 1
 *
 * A column is a second, the newest one at the right; rows are parts of a second, upwards.
 */
void top_view_heat(const struct top_view *view, uint32_t rows, uint32_t columns, unsigned n_levels,
		   uint8_t *levels);

/** top_view_release - forget everything */
void top_view_release(struct top_view *view);

/* Keys that are no characters. */
enum top_key {
	TOP_KEY_UP = 0x1000,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
	TOP_KEY_RESIZE,
};

/* What a key requests. */
enum top_action {
	TOP_NOTHING, /* nothing is to be drawn anew */
	TOP_DRAW,    /* the same, shown otherwise */
	TOP_RESET,   /* count anew */
	TOP_LEAVE,   /* end; the program runs on */
	TOP_END_CMD, /* end, and ask the program to */
};

enum { TOP_FILTER_BYTES = 64, TOP_MESSAGE_BYTES = 128 };

/* What the user has chosen with keys.  Zero it; top_keys_release() takes any state. */
struct top_keys {
	enum top_order order;
	bool threads; /* instead of functions */
	bool frozen;
	bool no_heat;
	bool help;
	bool typing;  /* a filter, up to Enter */
	bool leaving; /* asks what to do with the program */
	bool started; /* the program is wick's own: it can be ended */
	size_t scroll;
	char typed[TOP_FILTER_BYTES];
	char filter[TOP_FILTER_BYTES];   /* that holds; "": none */
	struct pattern *pattern;         /* the same */
	char message[TOP_MESSAGE_BYTES]; /* until the next key */
};

/**
 * top_keys_press - take in a key
 * @key: a character, or an enum top_key
 * @page: how many rows are seen at a time
 */
enum top_action top_keys_press(struct top_keys *keys, int key, size_t page);

/**
 * top_keys_order_name - what rows are sorted by, in words
 *
 * Context: any thread.
 */
const char *top_keys_order_name(const struct top_keys *keys);

/** top_keys_release - forget it */
void top_keys_release(struct top_keys *keys);

enum {
	TOP_THREADS_READ = 4096, /* a reading; more are not shown */
	TOP_PROCESSES_READ = 256,
};

/* Zero it; top_threads_release() takes any state. */
struct top_threads {
	pid_t pids[TOP_PROCESSES_READ];
	size_t n_pids;
	struct top_thread *at; /* of the last reading */
	size_t n;
	struct map before; /* tid -> CPU at the reading before, in a struct of this file */
	uint64_t read_ns;
	uint64_t readings;
};

/** top_threads_watch - from now on this process's threads are read too */
void top_threads_watch(struct top_threads *threads, pid_t pid);

/**
 * top_threads_read - read all threads of all processes that are watched and still live
 *
 * Return:  how many; a thread that is read for the first time has used 0 % of late.
 * Owns:    threads->at holds until the next call.
 */
size_t top_threads_read(struct top_threads *threads, uint64_t now_ns);

/**
 * top_threads_parse - what a line of /proc/PID/task/TID/stat says
 * @ret_thread: tid, comm, state and cpu_ns are set
 *
 * Return:  0; -EINVAL: it is no such line.
 * Context: any thread.
 */
int top_threads_parse(const char *stat, struct top_thread *ret_thread);

/** top_threads_release - forget everything */
void top_threads_release(struct top_threads *threads);

/* What is known of the program beside the model. */
struct top_facts {
	const char *command;
	pid_t pid;
	uint32_t hz;
	uint32_t effective_hz; /* lower for a budget */
	bool paused;           /* wick cannot keep up */
	bool wall;             /* all of a thread's time is counted, not only its CPU */
	uint64_t threads;
	uint64_t processes;
	uint64_t lost;      /* weight, by all causes */
	const char *output; /* where what CMD writes goes; NULL: where it always did */
	bool ended;
	const char *ending; /* "exited with status 1"; NULL: of samples, not of the program */
};

enum { TOP_HEAD_LINES = 2, TOP_HELP_LINES = 15 };

/**
 * top_lines_head - two lines: the program, and what was counted
 *
 * No line is longer than COLUMNS characters, as in all of these.
 */
void top_lines_head(struct buf *buf, const struct top_facts *facts, const struct top_view *view,
		    const struct top_keys *keys, uint32_t columns);

/** top_lines_titles - the line above the table; the column that it is sorted by has a * */
void top_lines_titles(struct buf *buf, const struct top_keys *keys, uint32_t columns);

/** top_lines_row - the INDEXth row that is shown, of functions or threads */
void top_lines_row(struct buf *buf, const struct top_view *view, const struct top_keys *keys,
		   size_t index, uint32_t columns);

/** top_lines_foot - the last line: keys, a question, or what is typed */
void top_lines_foot(struct buf *buf, const struct top_facts *facts, const struct top_keys *keys,
		    uint32_t columns);

/** top_lines_help - what every key does, TOP_HELP_LINES lines */
void top_lines_help(struct buf *buf, uint32_t columns);

/*
 * What CMD reads and writes while `wick top` has the terminal.  Nothing that CMD writes is lost
 * without a word: it goes to a file, and what came last is shown when CMD has ended.
 */
enum { TOP_OUTPUT_PATH = 4096 };

/* Zero it. */
struct top_output {
	char path[TOP_OUTPUT_PATH];
	int file;     /* plus 1; 0: none */
	int saved[3]; /* plus 1; wick's own descriptors 0 to 2 */
	bool made;    /* a file of wick's own, that it keeps small and removes */
};

/**
 * top_output_redirect - descriptors 0 to 2 as CMD is to have them
 * @path: where standard output, and standard error that is a terminal, go; NULL: a file of our own
 *
 * Standard input that is a terminal becomes /dev/null: the keys are wick's.
 *
 * Return:  0; -errno and the reason, and nothing has changed.
 * Context: main thread, before CMD starts.
 */
int top_output_redirect(struct top_output *output, const char *path, struct err *err);

/**
 * top_output_restore - descriptors 0 to 2 as wick had them
 *
 * Context: main thread, once CMD has started.
 */
void top_output_restore(struct top_output *output);

/**
 * top_output_trim - give back the disk that a file of our own takes, but for what came last
 *
 * Context: main thread, now and then.
 */
void top_output_trim(const struct top_output *output);

/**
 * top_output_finish - show what came last, or say where it is
 * @command: CMD, for the message
 * @ended: CMD has ended; else it goes on, and the file stays
 *
 * Context: main thread, when wick no longer has the terminal.
 */
void top_output_finish(struct top_output *output, const char *command, bool ended);

struct top_options {
	uint32_t hz;
	uint32_t events;      /* COLLECT_CPU or COLLECT_WALL */
	uint64_t duration_ns; /* 0: until CMD ends or the user quits */
	const char *cmd_output;
	struct symbol_options symbols;
	struct attach_options attach; /* instead of CMD */
	struct budget_options budget;
	enum top_order order;
	bool threads;
	bool once;
	bool page;
	bool help;
	int argc; /* of CMD */
	char **argv;
};

/* Zero it; top_session_release() takes any state. */
struct top_session {
	const struct top_options *options;
	struct collector *collector;
	struct symbolizer *symbolizer;
	struct name_queue queue;
	struct external_choice external;
	struct following following;
	struct collector_rate rate; /* the last that has come by; hz 0: none has */
	struct top_model model;
	struct top_threads threads;
	struct top_output output;
	char *agent_path;
	char *comm;
	char ending[64];
	uint64_t start_ns;
	uint64_t ticked_ns;
	pid_t pid;
	bool launched; /* CMD has started */
	bool started;  /* CMD has, or a process is attached */
	bool ended;    /* nothing more will come */
	bool cmd_ended;
	int wait_status;
};

/**
 * top_session_start - CMD runs, or processes are attached, and samples are taken
 *
 * If it attaches to some processes only, it prints the others.
 *
 * Return:  0; -errno and the reason.
 * Owns:    OPTIONS outlives it.
 */
int top_session_start(struct top_session *session, const struct top_options *options,
		      struct err *err);

/** top_session_turn - take in what comes within a time */
void top_session_turn(struct top_session *session, uint64_t timeout_ns);

/**
 * top_session_facts - what is known beside the model
 *
 * Owns:    the session.
 */
void top_session_facts(struct top_session *session, struct top_facts *ret_facts);

/** top_session_end - take no more samples; CMD goes on */
void top_session_end(struct top_session *session);

/** top_session_release - forget everything */
void top_session_release(struct top_session *session);

/**
 * top_page_run - record in a temporary folder, and serve the page of it until Ctrl-C
 * @argv: options and CMD as `wick record` takes them, to NULL
 *
 * Return:  the exit status of the server; of the recorder, if that ended before there was a sample.
 */
int top_page_run(char *const *argv);

struct top_screen;

/**
 * top_screen_open - take the terminal that standard output is
 *
 * Keys are read from the terminal itself, whatever standard input is.
 *
 * Return:  0; -ENOTTY and others, and the reason.
 * Owns:    the caller, to top_screen_close(); one at a time.
 */
int top_screen_open(struct top_screen **ret_screen, struct err *err);

/**
 * top_screen_key - the next key that was pressed
 *
 * Return:  a character or an enum top_key; 0: none.
 */
int top_screen_key(struct top_screen *screen);

/** top_screen_wait - until a key may have been pressed, or so many ms */
void top_screen_wait(const struct top_screen *screen, int ms);

/** top_screen_is_gone - whether the terminal has hung up: no key comes any more, and there is no
 * viewer */
bool top_screen_is_gone(const struct top_screen *screen);

/** top_screen_page - how many rows of the table are seen */
size_t top_screen_page(const struct top_screen *screen, const struct top_keys *keys);

/** top_screen_draw - show it */
void top_screen_draw(struct top_screen *screen, const struct top_facts *facts,
		     const struct top_view *view, struct top_keys *keys);

/**
 * top_screen_close - give the terminal back as it was
 *
 * Context: main thread.  NULL is fine.
 */
void top_screen_close(struct top_screen *screen);

#endif

/*
 * top_model.h - what a program does now, from its samples as they come: functions, moments, threads
 *
 * Nothing here knows a clock, a file or a terminal: the caller says what time it is.
 */
#ifndef TOP_TOP_MODEL_H
#define TOP_TOP_MODEL_H

#include "base/intern.h"
#include "base/map.h"
#include "base/sample.h"

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

/* Sums of recent time, by slots; a slot whose number is not the one asked for is empty. */
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
 * Context: main thread, as for all of these.
 */
int top_model_init(struct top_model *model, uint64_t period_ns, uint64_t now_ns);

/**
 * top_model_add - count a sample, names resolved
 *
 * Context: main thread.
 */
void top_model_add(struct top_model *model, const struct sample *sample);

/**
 * top_model_reset - count anew from here on; the heatmap stays
 *
 * Context: main thread.
 */
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

/**
 * top_model_release - forget everything
 *
 * Context: main thread.
 */
void top_model_release(struct top_model *model);

#endif

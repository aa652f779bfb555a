/* top_session.h - a program and its samples, on their way to the model of `wick top` */
#ifndef TOP_TOP_SESSION_H
#define TOP_TOP_SESSION_H

#include "base/err.h"
#include "tools/options/attach_options.h"
#include "tools/options/budget_options.h"
#include "tools/options/symbol_options.h"
#include "tools/record/name_queue.h"
#include "tools/target/attaching.h"
#include "tools/target/following.h"
#include "tools/top/top_lines.h"
#include "tools/top/top_model.h"
#include "tools/top/top_output.h"
#include "tools/top/top_threads.h"

#include <stdbool.h>
#include <stdint.h>

struct top_options {
	uint32_t hz;
	uint32_t events;      /* COLLECT_CPU or COLLECT_WALL */
	uint64_t duration_ns; /* 0: until CMD ends or somebody quits */
	const char *cmd_output;
	struct symbol_options symbols;
	struct attach_options attach; /* instead of CMD */
	struct budget_options budget;
	enum top_order order;
	bool threads;
	bool once;
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
	bool started;  /* CMD has, or a process has been joined */
	bool ended;    /* nothing more will come */
	bool cmd_ended;
	int wait_status;
};

/**
 * top_session_start - CMD runs, or processes have been joined, and samples are taken
 *
 * Processes that cannot be joined are told of where others can.
 *
 * Return:  0; -errno and the reason.
 * Owns:    OPTIONS outlives it.
 * Context: main thread, as for all of these.
 */
int top_session_start(struct top_session *session, const struct top_options *options,
		      struct err *err);

/**
 * top_session_turn - take in what comes within a time
 *
 * Context: main thread.
 */
void top_session_turn(struct top_session *session, uint64_t timeout_ns);

/**
 * top_session_facts - what is known beside the model
 *
 * Owns:    the session.
 * Context: main thread.
 */
void top_session_facts(struct top_session *session, struct top_facts *ret_facts);

/**
 * top_session_end - take no more samples; CMD goes on
 *
 * Context: main thread.
 */
void top_session_end(struct top_session *session);

/**
 * top_session_release - forget everything
 *
 * Context: main thread.
 */
void top_session_release(struct top_session *session);

#endif

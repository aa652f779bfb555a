/* record_control.c - requests to a running recording */
#include "tools/record/recorder.h"

#include "base/io.h"
#include "output/files/recording.h"
#include "tools/cli/terminal.h"
#include "tools/summary/summary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Timers are checked at the kernel's tick. */
static uint32_t delivered_hz(const struct recorder *recorder)
{
	uint32_t hz = recorder->options->hz;
	uint32_t most_hz = collector_kernel_hz();

	return recorder->engine.kind == RING_ENGINE_CTIMER && hz > most_hz ? most_hz : hz;
}

void record_control_start(struct recorder *recorder)
{
	struct control_server *server = &recorder->control.server;
	struct err err = {0};
	int r;

	recorder->control.rate = (struct collector_rate){
		.hz = recorder->options->hz,
		.effective_hz = delivered_hz(recorder),
		.pauses = recorder->options->paused ? PAUSE_ASKED : 0,
	};
	recorder->control.hz_least = recorder->options->hz;
	recorder->control.hz_most = recorder->options->hz;
	r = control_server_open(server, &err);
	if (r > 0)
		say_note("%s; wick stop, rate and the like use '%s' for this recording", err.text,
			 server->path);
	if (r < 0)
		say_note("%s; wick stop, rate and the like cannot reach this recording", err.text);
	else /* if it cannot, requests are seen a second later */
		(void)collector_watch(recorder->collector, server->fd);
}

static const char *newest_path(const struct recording_stats *written)
{
	return written->n_paths ? written->paths[written->n_paths - 1] : "";
}

static void note_tick(bool timers, struct control_reply *reply)
{
	uint32_t tick = collector_kernel_hz();

	if (timers && reply->hz > tick)
		(void)snprintf(reply->text, sizeof(reply->text),
			       "samples come at most at the kernel's %u Hz tick; each stands for "
			       "more time, so that totals are right",
			       (unsigned)tick);
}

static void describe(struct recorder *recorder, struct control_reply *reply)
{
	const struct collector_rate *rate = &recorder->control.rate;
	struct collector_stats stats;
	struct recording_stats written = {0};

	collector_stats(recorder->collector, &stats);
	if (recorder->recording)
		recording_stats(recorder->recording, &written);
	*reply = (struct control_reply){.result = CONTROL_DONE,
					.pid = recorder->pid,
					.hz = rate->hz,
					.effective_hz = rate->effective_hz,
					.lowered_ns = stats.lowered_ns,
					.pauses = rate->pauses,
					.processes = (uint32_t)stats.processes,
					.elapsed_ns = io_now_ns() - recorder->start_ns,
					.samples = stats.samples,
					.stood_ns = stats.stood_ns,
					.running_ns = stats.running_ns,
					.lost = summary_weight_lost(&stats),
					.cpu_ns = stats.charged_ns,
					.paused_ns = stats.paused_ns,
					.files = written.segments,
					.bytes = written.bytes};
	(void)snprintf(reply->command, sizeof(reply->command), "%s", recorder->comm);
	(void)snprintf(reply->path, sizeof(reply->path), "%s", newest_path(&written));
	note_tick(recorder->engine.kind == RING_ENGINE_CTIMER || stats.timers_took_over, reply);
}

static void fail(struct control_reply *reply, const char *why)
{
	reply->result = CONTROL_FAILED;
	(void)snprintf(reply->text, sizeof(reply->text), "%s", why);
}

static bool is_recorded(struct recorder *recorder, pid_t pid)
{
	return pid == getpid() || pid == recorder->pid ||
	       collector_records(recorder->collector, pid);
}

/* Return: the barrier after which the request has been done; 0: it cannot be. */
static uint64_t begin(struct recorder *recorder, const struct control_request *request)
{
	switch ((enum control_verb)request->verb) {
	case CONTROL_START:
		return collector_resume(recorder->collector);
	case CONTROL_STOP:
		return collector_pause(recorder->collector);
	case CONTROL_RATE:
		return collector_set_hz(recorder->collector, request->hz);
	default:
		return collector_barrier(recorder->collector);
	}
}

/* Rows need no barrier: what was counted is counted. */
static void answer_rows(struct recorder *recorder, struct control_client *client)
{
	bool reset = client->request.verb == CONTROL_TOTALS_RESET;
	struct control_reply reply;
	struct buf rows;
	int r;

	buf_init(&rows, CONTROL_ROWS_BYTES);
	describe(recorder, &reply);
	r = record_counts_rows(recorder, reset, &rows);
	if (r == -ENODATA)
		fail(&reply, "no recorded program counts anything: that needs wick.h, see man "
			     "wick-tasks");
	else if (r < 0)
		fail(&reply, "there is no memory for the answer");
	if (r < 0)
		control_server_answer(client, &reply);
	else
		control_server_answer_rows(client, &reply, &rows);
	buf_release(&rows);
}

static void take(struct recorder *recorder, struct control_client *client)
{
	const struct control_request *request = &client->request;
	struct control_reply reply = {.result = CONTROL_NOT_MINE};

	if (!is_recorded(recorder, request->pid)) {
		control_server_answer(client, &reply);
		return;
	}
	if (request->verb == CONTROL_TOTALS || request->verb == CONTROL_TOTALS_RESET) {
		answer_rows(recorder, client);
		return;
	}
	describe(recorder, &reply);
	if (request->verb == CONTROL_SPLIT && flight_is_on(&recorder->flight))
		fail(&reply, "with --flight samples are in memory, and no file is open; wick flush "
			     "writes one");
	else if (request->verb != CONTROL_STATUS)
		client->barrier = begin(recorder, request);
	if (client->barrier == 0)
		fail(&reply, "a rate is 1 to 10000 Hz");
	else if (client->barrier < UINT64_MAX)
		return; /* until it comes by */
	control_server_answer(client, &reply);
}

static int split(struct recording *recording)
{
	return recording_split(recording, 0);
}

/* Return: 0; -errno of one that failed. */
static int each_file(struct recorder *recorder, int (*act)(struct recording *recording))
{
	int r = recorder->recording ? act(recorder->recording) : 0;

	for (size_t i = 0; i < HOOK_FILES; i++) {
		struct recording *beside = recorder->hook_files.at[i];
		int failed = beside ? act(beside) : 0;

		r = failed < 0 ? failed : r;
	}
	return r;
}

/* The file could not be compressed: it has kept its name. */
static void correct_path(const struct recorder *recorder, char *path)
{
	const char *ending = recording_ending(recorder->options->compress);
	size_t len = strlen(path);

	if (*path && access(path, F_OK) < 0 && len > strlen(ending) &&
	    strcmp(path + len - strlen(ending), ending) == 0)
		path[len - strlen(ending)] = '\0';
}

/* Those whose files are there now. */
static void answer_held(struct recorder *recorder)
{
	struct control_client *client;

	while ((client = control_server_held(&recorder->control.server))) {
		correct_path(recorder, client->reply.path);
		control_server_answer(client, &client->reply);
	}
}

void record_control_tick(struct recorder *recorder, uint64_t now_ns)
{
	struct control_client *client;

	while ((client = control_server_take(&recorder->control.server, now_ns)))
		take(recorder, client);
	if (recorder->recording && recording_settled(recorder->recording))
		answer_held(recorder);
}

void record_control_stop(struct recorder *recorder)
{
	answer_held(recorder);
	control_server_close(&recorder->control.server);
}

static void fail_to_write(struct control_reply *reply)
{
	fail(reply, "not everything could be written; wick record has printed why");
}

/* The last samples, as a file of their own. */
static void flush_flight(struct recorder *recorder, struct control_client *client)
{
	struct control_reply reply;
	const char *path = NULL;
	int r = record_flight_now(recorder, "wick flush", &path);

	describe(recorder, &reply);
	(void)snprintf(reply.path, sizeof(reply.path), "%s", path ? path : "");
	if (r < 0)
		fail_to_write(&reply);
	control_server_hold(client, &reply);
}

/* The path in the message is of the file that has ended. */
static void split_files(struct recorder *recorder, struct control_client *client)
{
	struct control_reply before;
	struct control_reply reply;

	describe(recorder, &before);
	recorder_update_counts(recorder);
	if (each_file(recorder, split) < 0)
		fail_to_write(&before);
	describe(recorder, &reply);
	if (strcmp(before.path, reply.path) != 0)
		(void)strncat(before.path, recording_ending(recorder->options->compress),
			      sizeof(before.path) - strlen(before.path) - 1);
	control_server_hold(client, &before);
}

static void finish(struct recorder *recorder, struct control_client *client)
{
	struct control_reply reply;
	bool flush = client->request.verb == CONTROL_FLUSH;

	if (client->request.verb == CONTROL_SPLIT) {
		split_files(recorder, client);
	} else if (flush && flight_is_on(&recorder->flight)) {
		flush_flight(recorder, client);
	} else {
		int r = flush ? each_file(recorder, recording_write_out) : 0;

		describe(recorder, &reply);
		if (r < 0)
			fail_to_write(&reply);
		control_server_answer(client, &reply);
	}
}

void record_control_passed(struct recorder *recorder, const struct collector_rate *rate)
{
	struct record_control *control = &recorder->control;
	struct collector_rate last = control->rate;
	struct control_client *client;

	control->rate = *rate;
	recorder->barrier = rate;
	record_rate_changed(recorder, &last);
	while ((client = control_server_next(&control->server, rate->barrier)))
		finish(recorder, client);
	recorder->barrier = NULL;
}

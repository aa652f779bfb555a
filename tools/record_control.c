/* record_control.c - what a recording does when it is asked to while it runs */
#include "tools/record_control.h"

#include "base/io.h"
#include "base/json.h"
#include "tools/record_flight.h"
#include "tools/recorder.h"
#include "tools/say.h"

#include <stdio.h>
#include <string.h>

enum { NOTE_BYTES = 512 };

void record_control_start(struct recorder *recorder)
{
	struct err err = {0};

	recorder->control.rate = (struct collector_rate){
		.hz = recorder->options->hz,
		.thinned = 1,
		.pauses = recorder->options->paused ? PAUSE_ASKED : 0,
	};
	if (control_server_open(&recorder->control.server, &err) < 0)
		say_note("%s; wick stop, rate and the like cannot reach this recording", err.text);
}

void record_control_stop(struct recorder *recorder)
{
	control_server_close(&recorder->control.server);
}

static uint64_t lost(const struct collector_stats *stats)
{
	return stats->lost_full + stats->lost_nested + stats->lost_noslot + stats->lost_queue +
	       stats->lost_corrupt;
}

static const char *newest_path(const struct recording_stats *written)
{
	return written->n_paths ? written->paths[written->n_paths - 1] : "";
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
					.thinned = rate->thinned,
					.pauses = rate->pauses,
					.processes = (uint32_t)stats.processes,
					.elapsed_ns = io_now_ns() - recorder->start_ns,
					.samples = stats.samples,
					.weight = stats.weight,
					.lost = lost(&stats),
					.cpu_ns = stats.charged_ns,
					.paused_ns = stats.paused_ns,
					.files = written.segments,
					.bytes = written.bytes};
	(void)snprintf(reply->command, sizeof(reply->command), "%s", recorder->comm);
	(void)snprintf(reply->path, sizeof(reply->path), "%s", newest_path(&written));
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

/* Return: the mark behind which the request has been done; 0: it cannot be. */
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
		return collector_mark(recorder->collector);
	}
}

static void take(struct recorder *recorder, struct control_client *client)
{
	const struct control_request *request = &client->request;
	struct control_reply reply = {.result = CONTROL_NOT_MINE};

	if (!is_recorded(recorder, request->pid)) {
		control_server_answer(client, &reply);
		return;
	}
	if (request->verb != CONTROL_STATUS)
		client->mark = begin(recorder, request);
	if (client->mark > 0 && request->verb != CONTROL_STATUS)
		return;
	describe(recorder, &reply);
	if (client->mark == 0)
		fail(&reply, "a rate is 1 to 10000 Hz");
	control_server_answer(client, &reply);
}

void record_control_tick(struct recorder *recorder, uint64_t now_ns)
{
	struct control_client *client;

	while ((client = control_server_take(&recorder->control.server, now_ns)))
		take(recorder, client);
}

static void each_file(struct recorder *recorder, int (*act)(struct recording *, int *), int *ret)
{
	if (recorder->recording)
		(void)act(recorder->recording, ret);
	for (size_t i = 0; i < HOOK_FILES; i++)
		if (recorder->hook_files.at[i])
			(void)act(recorder->hook_files.at[i], ret);
}

static int write_out(struct recording *recording, int *ret)
{
	int r = recording_write_out(recording);

	if (r < 0)
		*ret = r;
	return r;
}

static int split(struct recording *recording, int *ret)
{
	int r = recording_split(recording, 0);

	if (r < 0)
		*ret = r;
	return r;
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
		fail(&reply, "not everything could be written; the recording has said why");
	control_server_answer(client, &reply);
}

static void finish(struct recorder *recorder, struct control_client *client)
{
	struct control_reply reply;
	char path[CONTROL_PATH_BYTES];
	int r = 0;

	describe(recorder, &reply);
	memcpy(path, reply.path, sizeof(path));
	if (client->request.verb == CONTROL_FLUSH)
		each_file(recorder, write_out, &r);
	if (client->request.verb == CONTROL_SPLIT) {
		recorder_update_counts(recorder);
		each_file(recorder, split, &r);
	}
	describe(recorder, &reply);
	if (client->request.verb == CONTROL_SPLIT) /* the one that has ended */
		memcpy(reply.path, path, sizeof(path));
	if (r < 0)
		fail(&reply, "not everything could be written; the recording has said why");
	control_server_answer(client, &reply);
}

static const char *why_of(const struct collector_rate *now, const struct collector_rate *last)
{
	if (now->thinned != last->thinned)
		return "budget";
	return (now->pauses ^ last->pauses) & PAUSE_BREAKER ? "breaker" : "asked";
}

/* `# rate : {...}`: how the samples behind it were taken. */
static void note(struct recorder *recorder, const struct collector_rate *rate, const char *why)
{
	struct buf text;

	if (!recorder->recording)
		return;
	buf_init(&text, NOTE_BYTES);
	buf_add_char(&text, '{');
	json_add_number(&text, "time_ns", rate->time_ns);
	json_add_number(&text, "hz", rate->hz);
	json_add_number(&text, "thinned", rate->thinned);
	json_add_bool(&text, "paused", rate->pauses != 0);
	json_add_number(&text, "cost_ppm", rate->cost_ppm);
	json_add_text(&text, "why", why);
	buf_add_char(&text, '}');
	recording_note(recorder->recording, "rate", buf_text(&text));
	flight_note(&recorder->flight, rate->time_ns, "rate", buf_text(&text));
	buf_release(&text);
}

/* Weights are of another kind from here on: so is the file. */
static void change_hz(struct recorder *recorder, uint32_t hz)
{
	recorder->lockstep.hz = 0; /* it knows of one rate */
	flight_restart(&recorder->flight, recorder->control.rate.time_ns);
	if (!recorder->recording)
		return;
	recorder_update_counts(recorder);
	(void)recording_split(recorder->recording, hz); /* a line says it where there is no other */
}

void record_control_passed(struct recorder *recorder, const struct collector_rate *rate)
{
	struct record_control *control = &recorder->control;
	struct collector_rate last = control->rate;
	struct control_client *client;

	control->rate = *rate;
	recorder->marked = rate;
	if (rate->hz != last.hz)
		change_hz(recorder, rate->hz);
	if (rate->hz != last.hz || rate->thinned != last.thinned || rate->pauses != last.pauses)
		note(recorder, rate, why_of(rate, &last));
	while ((client = control_server_next(&control->server, rate->mark)))
		if (client->request.verb == CONTROL_FLUSH && flight_is_on(&recorder->flight))
			flush_flight(recorder, client);
		else
			finish(recorder, client);
	recorder->marked = NULL;
}

/* record_rate.c - the `# rate` lines of a recording, and a file for each rate */
#include "tools/record/recorder.h"

#include "base/json.h"
#include "output/files/recording.h"

enum { NOTE_BYTES = 512 };

static const char *why_of(const struct collector_rate *now, const struct collector_rate *last)
{
	if (now->hz == last->hz && now->effective_hz != last->effective_hz)
		return "budget";
	return (now->pauses ^ last->pauses) & PAUSE_BREAKER ? "breaker" : "asked";
}

/* `# rate : {...}`: how the samples after it were taken. */
static void note(struct recorder *recorder, const struct collector_rate *rate, const char *why)
{
	struct buf text;

	buf_init(&text, NOTE_BYTES);
	buf_add_char(&text, '{');
	json_add_number(&text, "time_ns", rate->time_ns);
	json_add_number(&text, "hz", rate->hz);
	json_add_number(&text, "effective_hz", rate->effective_hz);
	json_add_bool(&text, "paused", rate->pauses != 0);
	json_add_number(&text, "cost_ppm", rate->cost_ppm);
	json_add_text(&text, "why", why);
	buf_add_char(&text, '}');
	recorder_note(recorder, rate->time_ns, "rate", buf_text(&text));
	buf_release(&text);
}

/* Weights are of another kind from here on: so is the file. */
static void change_hz(struct recorder *recorder, uint32_t hz)
{
	struct record_control *control = &recorder->control;

	control->hz_least = hz < control->hz_least ? hz : control->hz_least;
	control->hz_most = hz > control->hz_most ? hz : control->hz_most;
	flight_restart(&recorder->flight, recorder->control.rate.time_ns);
	if (!recorder->recording)
		return;
	recorder_update_counts(recorder);
	(void)recording_split(recorder->recording, hz); /* a line says it where there is no other */
}

void record_rate_changed(struct recorder *recorder, const struct collector_rate *last)
{
	const struct collector_rate *rate = &recorder->control.rate;

	if (rate->hz != last->hz)
		change_hz(recorder, rate->hz);
	if (rate->hz != last->hz || rate->effective_hz != last->effective_hz ||
	    rate->pauses != last->pauses)
		note(recorder, rate, why_of(rate, last));
}

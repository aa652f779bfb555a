/* record_budget.c - messages and lines about the budget and the breaker */
#include "tools/record/recorder.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_BYTES = 256, PPM = 1000000, PPM_PER_PCT = 10000, TOLD_PPM = 10000 };

/* Signals a second of CPU: timers are checked at the kernel's tick, whatever rate they have. */
static double signals_of(const struct recorder *recorder)
{
	double hz = recorder->options->hz;
	double tick = collector_kernel_hz();

	return recorder->engine.kind == RING_ENGINE_PERF || hz < tick ? hz : tick;
}

void record_budget_tell_price(const struct recorder *recorder)
{
	const struct engine *engine = &recorder->engine;
	uint32_t limit_ppm = recorder->options->budget.max_overhead_ppm;
	bool perf = engine->kind == RING_ENGINE_PERF;
	uint64_t signal_ns = perf ? engine->prices.event_ns : engine->prices.timer_ns;
	double ppm = signals_of(recorder) * (double)signal_ns / 1000;
	struct buf text;

	if (recorder->options->quiet || ppm <= (limit_ppm ? limit_ppm : TOLD_PPM))
		return;
	buf_init(&text, LINE_BYTES);
	buf_printf(&text, "%u Hz will cost about ", (unsigned)recorder->options->hz);
	text_share(&text, ppm, PPM);
	buf_add(&text, " of the program's CPU");
	if (limit_ppm)
		buf_printf(&text, ", and --max-overhead allows %g %%: the rate will be lower",
			   (double)limit_ppm / PPM_PER_PCT);
	else
		buf_printf(&text,
			   " (%.0f us a sample, measured now); for less, try: a lower -F, or "
			   "--max-overhead 1%%",
			   (double)signal_ns / 1000);
	say_note("%s", buf_text(&text));
	buf_release(&text);
}

void record_budget_passed(struct recorder *recorder, const struct collector_rate *rate)
{
	bool paused = (rate->pauses & PAUSE_BREAKER) != 0;
	char json[LINE_BYTES];

	if (paused == recorder->in_break)
		return;
	recorder->in_break = paused;
	(void)snprintf(json, sizeof(json), "{\"time_ns\":%llu,\"paused\":%s,\"why\":\"%s\"}",
		       (unsigned long long)rate->time_ns, paused ? "true" : "false",
		       rate->full ? "ring full" : "behind");
	recorder_note(recorder, rate->time_ns, "pause", json);
}

/* Memory of our own: what is shared with programs is theirs as well.  0: it cannot be read. */
static uint64_t own_bytes(void)
{
	_cleanup_fd_ int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? -1 : io_pread(fd, text, sizeof(text) - 1, 0);
	unsigned long long resident;
	unsigned long long shared;
	char *at;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	(void)strtoull(text, &at, 10); /* all that is mapped */
	resident = strtoull(at, &at, 10);
	shared = strtoull(at, NULL, 10);
	return resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void limit_memory(struct recorder *recorder)
{
	uint64_t limit = recorder->options->budget.mem_limit;

	if (!limit || recorder->no_more_names || own_bytes() <= limit)
		return;
	recorder->no_more_names = true;
	symbolizer_stop_reading(recorder->symbolizer);
	say_note("wick has used all of --mem-limit: new addresses are written as module+offset "
		 "from now on");
}

static uint64_t bytes_of(struct recording *recording)
{
	struct recording_stats written = {0};

	if (recording)
		recording_stats(recording, &written);
	return written.bytes;
}

static void limit_disk(struct recorder *recorder)
{
	uint64_t limit = recorder->options->disk_limit;
	uint64_t bytes;

	if (!limit || recorder->disk_is_full)
		return;
	bytes = bytes_of(recorder->recording);
	for (size_t i = 0; i < HOOK_FILES; i++)
		bytes += bytes_of(recorder->hook_files.at[i]);
	if (bytes < limit)
		return;
	recorder->disk_is_full = true;
	say_note("--disk-limit is reached: the recording ends, and the program continues to run");
	collector_detach(recorder->collector);
}

void record_budget_tick(struct recorder *recorder)
{
	limit_memory(recorder);
	limit_disk(recorder);
}

/* convert_fixture.c - a small profile, all of it selected, and a sink that keeps what it gets */
#include "tests/unit/convert_fixture.h"

#include <string.h>

enum { KEEP_BYTES = 16 * 1024 * 1024 };

enum {
	S_EMPTY,
	S_MAIN,
	S_WORK,
	S_INNER,
	S_READ,
	S_APP,
	S_LIBC,
	S_COMM,
	S_WORKER,
	S_STATE,
	S_RUNNING,
	S_SLEEPING,
	S_OP,
	S_ODD,
	S_RSS,
	S_KIB,
	S_CPU_NS,
	S_NS,
	S_EVENT,
	S_HOST,
	S_COMMAND,
	S_CAPTURED,
	S_UNKNOWN,
	N_STRINGS,
};

static const char *strings[N_STRINGS] = {
	[S_EMPTY] = "",
	[S_MAIN] = "main",
	[S_WORK] = "work;or \"play\"",
	[S_INNER] = "inner",
	[S_READ] = "read",
	[S_APP] = "/opt/app",
	[S_LIBC] = "[kernel.kallsyms]",
	[S_COMM] = "app",
	[S_WORKER] = "a worker",
	[S_STATE] = "state",
	[S_RUNNING] = "running",
	[S_SLEEPING] = "sleeping",
	[S_OP] = "task",
	[S_ODD] = "50%, or more",
	[S_RSS] = "rss_kib",
	[S_KIB] = "KiB",
	[S_CPU_NS] = "cpu_ns",
	[S_NS] = "ns",
	[S_EVENT] = "cpu-clock",
	[S_HOST] = "box",
	[S_COMMAND] = "app --fast",
	[S_CAPTURED] = "2026-11-21T08:16:26Z",
	[S_UNKNOWN] = "[unknown]",
};

static struct profile_frame frames[] = {
	{S_MAIN, S_APP, false, 0x4011, 0x2b}, {S_WORK, S_APP, false, 0x4020, 4},
	{S_INNER, S_EMPTY, true, 0x4020, 0},  {S_READ, S_LIBC, false, 0x7f01, 0x11},
	{S_UNKNOWN, S_UNKNOWN, false, 0, 0},
};

static struct profile_node nodes[N_NODES] = {
	{0, 0}, {0, 0}, {NODE_MAIN, 1}, {NODE_WORK, 2}, {NODE_MAIN, 3}, {0, 5}, {NODE_GROUP, 1},
};

static struct profile_thread threads[] = {{S_COMM, S_HOST, 4000, 4000},
					  {S_WORKER, S_HOST, 4000, 4001}};
static uint64_t times_ns[] = {0, 10000000, 10000000, 1500000000};
static uint32_t thread_of[] = {0, 1, 0, 1};
static uint32_t stacks[] = {NODE_INNER, NODE_READ, NODE_WORK, NODE_READ};
static uint64_t weights[] = {1, 3, 2, 1};
static uint16_t cpus[] = {0, 2, PROFILE_CPU_UNKNOWN, 2};
static uint8_t events[] = {0, 0, 0, 0};
static uint32_t states[] = {S_EMPTY, S_RUNNING, S_SLEEPING};
static uint32_t state_of[] = {1, 2, 1, 2};
static uint32_t tasks[] = {S_EMPTY, S_ODD};
static uint32_t task_of[] = {0, 0, 1, 0};
static int64_t rss[] = {100, 200, PROFILE_ABSENT, 180};
static int64_t rss_delta[] = {0, 100, PROFILE_ABSENT, -20};
static int64_t cpu[] = {10, 20, 30, 40};
static int64_t cpu_delta[] = {0, 0, 20, 20};
static uint32_t samples[] = {0, 1, 2, 3};
static char *labels[] = {(char[]){"running"}};
static struct profile_file file = {.path = (char[]){"/tmp/one.perf"}, .lost = 7};

static const struct profile profile = {
	.n_samples = 4,
	.start_ns = 12345010101000,
	.length_ns = 1500000000,
	.epoch_offset_ns = 1700000000000000000,
	.has_epoch = true,
	.is_wick = true,
	.has_times = true,
	.hz = 100,
	.times_ns = times_ns,
	.threads = thread_of,
	.stacks = stacks,
	.weights = weights,
	.cpus = cpus,
	.events = events,
	.n_tags = 2,
	.tags = {{S_STATE, 3, states, state_of}, {S_OP, 2, tasks, task_of}},
	.n_metrics = 2,
	.metrics = {{S_RSS, S_KIB, METRIC_GAUGE, rss, rss_delta},
		    {S_CPU_NS, S_NS, METRIC_COUNTER, cpu, cpu_delta}},
	.n_events = 1,
	.event_names = {S_EVENT},
	.n_frames = sizeof(frames) / sizeof(frames[0]),
	.frames = frames,
	.n_nodes = NODE_GROUP,
	.nodes = nodes,
	.n_threads = 2,
	.thread_list = threads,
	.n_strings = N_STRINGS,
	.strings = strings,
	.command = S_COMMAND,
	.captured = S_CAPTURED,
	.n_files = 1,
	.files = &file,
};

static int keep(void *context, const void *bytes, size_t len)
{
	return buf_append(context, bytes, len);
}

struct fixture *fixture_init(void)
{
	static struct fixture fixture;

	fixture = (struct fixture){.profile = profile};
	fixture.selection = (struct selection){
		.profile = &fixture.profile,
		.n = 4,
		.samples = samples,
		.stacks = stacks,
		.values = fixture.values,
		.n_nodes = N_NODES,
		.nodes = nodes,
		.n_labels = 1,
		.labels = labels,
		.measure = QUERY_WEIGHT,
		.unit = "ns",
		.noun = "of CPU",
	};
	for (size_t i = 0; i < 4; i++)
		fixture.values[i] = (int64_t)weights[i] * 10000000;
	buf_init(&fixture.out, KEEP_BYTES);
	fixture.sink = (struct convert_sink){keep, &fixture.out};
	return &fixture;
}

void fixture_release(struct fixture *fixture)
{
	buf_release(&fixture->out);
}

int fixture_begin(void **state)
{
	*state = fixture_init();
	return 0;
}

int fixture_end(void **state)
{
	fixture_release(*state);
	return 0;
}

const char *fixture_convert(struct fixture *fixture, enum convert_format format)
{
	buf_clear(&fixture->out);
	fixture->options.format = format;
	if (convert_write(&fixture->selection, &fixture->options, &fixture->sink, &fixture->report,
			  &fixture->err) < 0)
		return NULL;
	return buf_text(&fixture->out);
}

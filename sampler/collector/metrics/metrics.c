/* metrics.c - the catalogue of metrics */
#include "sampler/collector/metrics/metrics.h"

#include <sys/stat.h>

static const struct metric columns[METRIC_BUILTIN] = {
	[METRIC_CPU_NS] = {"cpu_ns", "ns", METRIC_COUNTER},
	[METRIC_MINFLT] = {"minflt", "1", METRIC_COUNTER},
	[METRIC_MAJFLT] = {"majflt", "1", METRIC_COUNTER},
	[METRIC_VCSW] = {"vcsw", "1", METRIC_COUNTER},
	[METRIC_IVCSW] = {"ivcsw", "1", METRIC_COUNTER},
	[METRIC_STACK_BYTES] = {"stack_bytes", "B", METRIC_GAUGE},
	[METRIC_RSS_KIB] = {"rss_kib", "KiB", METRIC_GAUGE},
	[METRIC_RSS_ANON_KIB] = {"rss_anon_kib", "KiB", METRIC_GAUGE},
	[METRIC_RSS_FILE_KIB] = {"rss_file_kib", "KiB", METRIC_GAUGE},
	[METRIC_SWAP_KIB] = {"swap_kib", "KiB", METRIC_GAUGE},
	[METRIC_RUN_DELAY_NS] = {"run_delay_ns", "ns", METRIC_COUNTER},
	[METRIC_IO_READ_BYTES] = {"io_read_bytes", "B", METRIC_COUNTER},
	[METRIC_IO_WRITE_BYTES] = {"io_write_bytes", "B", METRIC_COUNTER},
	[METRIC_FD_COUNT] = {"fd_count", "1", METRIC_GAUGE},
	[METRIC_THREADS] = {"threads", "1", METRIC_GAUGE},
	[METRIC_SOCK_IN_BYTES] = {"sock_in_bytes", "B", METRIC_GAUGE},
	[METRIC_SOCK_OUT_BYTES] = {"sock_out_bytes", "B", METRIC_GAUGE},
	[METRIC_ARENA_BYTES] = {"arena_bytes", "B", METRIC_GAUGE},
	[METRIC_ARENA_FREE_BYTES] = {"arena_free_bytes", "B", METRIC_GAUGE},
	[METRIC_ALLOC_BYTES] = {"alloc_bytes", "B", METRIC_COUNTER},
	[METRIC_FREE_BYTES] = {"free_bytes", "B", METRIC_COUNTER},
	[METRIC_HEAP_LIVE_BYTES] = {"heap_live_bytes", "B", METRIC_GAUGE},
};

#define RUSAGE       "getrusage(RUSAGE_THREAD)"
#define STATM        "/proc/PID/statm"
#define IO           "/proc/PID/task/TID/io"
#define SOCK         "sock_diag(7), /proc/PID/fd"
#define ARENAS       "mallinfo2(3), called by the program's own malloc()"
#define ARENAS_ERROR "as of the last sampled allocation"
#define HOOKS        "what the thread's samples of memory stand for"
#define HOOKS_ERROR  "1 / sqrt(samples), from below at first"
#define SAMPLED      "none: read as the sample was taken"
#define FRESH        "as old as the reading"
#define SOCK_ERROR   "as old as the reading, which comes 200 times as seldom as it takes"
#define RSS_ERROR    "64 pages a thread or CPU before Linux 6.16; " FRESH

static const struct metric_fact facts[METRIC_BUILTIN] = {
	[METRIC_CPU_NS] = {SCOPE_RECORD, 300, RUSAGE, "2 us: both times are cut to 1 us"},
	[METRIC_MINFLT] = {SCOPE_RECORD, 300, RUSAGE, SAMPLED},
	[METRIC_MAJFLT] = {SCOPE_RECORD, 300, RUSAGE, SAMPLED},
	[METRIC_VCSW] = {SCOPE_RECORD, 300, RUSAGE, SAMPLED},
	[METRIC_IVCSW] = {SCOPE_RECORD, 300, RUSAGE, SAMPLED},
	[METRIC_STACK_BYTES] = {SCOPE_RECORD, 0, "outermost CFA minus sp",
				"a walk that ends early counts as far as it came"},
	[METRIC_RSS_KIB] = {SCOPE_PROCESS, 950, STATM, RSS_ERROR},
	[METRIC_RSS_ANON_KIB] = {SCOPE_PROCESS, 950, STATM, RSS_ERROR},
	[METRIC_RSS_FILE_KIB] = {SCOPE_PROCESS, 950, STATM, RSS_ERROR},
	[METRIC_SWAP_KIB] = {SCOPE_PROCESS, 6100, "/proc/PID/status", RSS_ERROR},
	[METRIC_RUN_DELAY_NS] = {SCOPE_THREAD, 760, "/proc/PID/task/TID/schedstat", FRESH},
	[METRIC_IO_READ_BYTES] = {SCOPE_THREAD, 1250, IO, FRESH},
	[METRIC_IO_WRITE_BYTES] = {SCOPE_THREAD, 1250, IO, FRESH},
	[METRIC_FD_COUNT] = {SCOPE_PROCESS, 600, "/proc/PID/fd", FRESH},
	[METRIC_THREADS] = {SCOPE_PROCESS, 500, "/proc/PID/task", FRESH},
	[METRIC_SOCK_IN_BYTES] = {SCOPE_PROCESS, 100000, SOCK, SOCK_ERROR},
	[METRIC_SOCK_OUT_BYTES] = {SCOPE_PROCESS, 100000, SOCK, SOCK_ERROR},
	[METRIC_ARENA_BYTES] = {SCOPE_PROCESS, 3000, ARENAS, ARENAS_ERROR},
	[METRIC_ARENA_FREE_BYTES] = {SCOPE_PROCESS, 3000, ARENAS, ARENAS_ERROR},
	[METRIC_ALLOC_BYTES] = {SCOPE_HOOKS, 0, HOOKS, HOOKS_ERROR},
	[METRIC_FREE_BYTES] = {SCOPE_HOOKS, 0, HOOKS, HOOKS_ERROR},
	[METRIC_HEAP_LIVE_BYTES] = {SCOPE_HOOKS, 0, HOOKS, HOOKS_ERROR},
};

const struct metric *metrics_columns(void)
{
	return columns;
}

const struct metric_fact *metrics_facts(void)
{
	return facts;
}

/* Since Linux 6.2 the directory's size says it; before, every entry costs another 150 ns. */
static bool counts_fds(void)
{
	struct stat dir;

	return stat("/proc/self/fd", &dir) == 0 && dir.st_size > 0;
}

uint32_t metrics_auto(void)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < METRIC_BUILTIN; i++)
		if (facts[i].cost_ns < METRIC_AUTO_NS)
			mask |= UINT32_C(1) << i;
	if (!counts_fds())
		mask &= ~(UINT32_C(1) << METRIC_FD_COUNT);
	return mask;
}

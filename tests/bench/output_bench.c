/* output_bench.c - what a sample costs to write: ns and bytes, by depth and by names
 *
 * usage: output_bench [--once]; --once: one round instead of the best of five */
#include "output/text/perf_script.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { N_SAMPLES = 20000, N_ROUNDS = 5, MAX_DEPTH = 100 };

static const struct metric metrics[] = {
	{"cpu_ns", "ns", METRIC_COUNTER}, {"minflt", "1", METRIC_COUNTER},
	{"majflt", "1", METRIC_COUNTER},  {"vcsw", "1", METRIC_COUNTER},
	{"ivcsw", "1", METRIC_COUNTER},   {"stack_bytes", "B", METRIC_GAUGE},
	{"rss_kib", "KiB", METRIC_GAUGE},
};

static const char *const c_names[] = {"leaf", "parse_expression", "read_chunk", "main_loop"};
static const char *const cpp_names[] = {
	"std::vector<int, std::allocator<int> >::operator[]",
	"app::storage::(anonymous namespace)::flush_pages",
	"std::_Function_handler<void (int), app::run()::{lambda(int)#1}>::_M_invoke",
	"std::shared_ptr<app::Node>::operator->",
};

struct run {
	const char *what;
	const char *const *names;
	size_t depth;
};

/* CPU time, so that a busy machine matters less. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static double one_round(const struct run *run, size_t *ret_bytes)
{
	const struct perf_script_options options = {
		.metrics = metrics, .n_metrics = 7, .metrics_mask = 127};
	struct perf_script_file file = {0};
	struct frame frames[MAX_DEPTH];
	struct buf text;
	uint64_t start;
	uint64_t took;

	for (size_t i = 0; i < run->depth; i++)
		frames[i] = (struct frame){.addr = 0x7f0000001000U + i * 4096,
					   .symbol = run->names[i % 4],
					   .offset = 16 * i,
					   .module = "/usr/lib/x86_64-linux-gnu/libc.so.6"};
	buf_init(&text, 64 * 1024 * 1024);
	*ret_bytes = 0;
	start = cpu_ns();
	for (unsigned i = 0; i < N_SAMPLES; i++) {
		struct sample sample = {.time_ns = 12345000000000U + i * 1000U,
					.pid = 4000,
					.tid = 4001,
					.weight = 1,
					.comm = "worker-12",
					.n_metrics = 7,
					.metrics = {{i * 1000, 1000}, {i, 1}, {0, 0}, {i, 1}},
					.n_frames = run->depth,
					.frames = frames};

		perf_script_sample(&options, &file, &sample, &text);
		if (text.len > 256 * 1024) {
			*ret_bytes += text.len;
			buf_clear(&text);
		}
	}
	took = cpu_ns() - start;
	*ret_bytes += text.len;
	buf_release(&text);
	return (double)took / N_SAMPLES;
}

int main(int argc, char **argv)
{
	static const struct run runs[] = {
		{"C names", c_names, 10},     {"C names", c_names, 30},
		{"C names", c_names, 100},    {"C++ names", cpp_names, 10},
		{"C++ names", cpp_names, 30}, {"C++ names", cpp_names, 100},
	};

	int n_rounds = argc == 2 && strcmp(argv[1], "--once") == 0 ? 1 : N_ROUNDS;

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		double best = 1e18;
		size_t bytes = 0;

		for (int round = 0; round < n_rounds; round++) {
			double ns = one_round(&runs[i], &bytes);

			best = ns < best ? ns : best;
		}
		(void)printf("output: depth %3zu, %-9s %8.0f ns a sample, %6.1f ns a frame, %6zu "
			     "bytes a sample\n",
			     runs[i].depth, runs[i].what, best, best / (double)runs[i].depth,
			     bytes / N_SAMPLES);
	}
	return 0;
}

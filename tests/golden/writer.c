/* writer.c - hand-made samples through the writer, to standard output: exact bytes to compare */
#include "output/text/perf_script.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REFERENCE_SAMPLES = 90 };

static const struct metric metrics[] = {
	{"cpu_ns", "ns", METRIC_COUNTER},
	{"minflt", "1", METRIC_COUNTER},
	{"vcsw", "1", METRIC_COUNTER},
	{"rss_kib", "KiB", METRIC_GAUGE},
};

static const char libc[] = "/lib/libc.so.6";
static const char app[] = "/opt/app";

struct writer {
	struct perf_script_options options;
	struct perf_script_file file;
	struct buf text;
	uint64_t time_ns; /* of the next sample */
};

static void write_sample(struct writer *writer, struct sample *sample)
{
	if (!sample->time_ns)
		sample->time_ns = writer->time_ns;
	sample->weight += !sample->weight && !sample->op;
	writer->time_ns += 10101000;
	perf_script_sample(&writer->options, &writer->file, sample, &writer->text);
}

/* ---- the reference: samples whose text the five consumers were run on */

static size_t reference_stack(unsigned i, struct frame *frames)
{
	static const struct frame leaves[][2] = {
		{{.addr = 0x7f01, .symbol = "leaf", .offset = 0x1a, .module = libc}},
		{{.addr = 0xffffffff8103ce3b,
		  .symbol = "do_syscall_64",
		  .offset = 0x3b,
		  .module = "[kernel.kallsyms]"},
		 {.addr = 0x7f02, .symbol = "read", .offset = 0x11, .module = libc}},
		{{.addr = 0x7f03, .symbol = "inner", .inlined = true},
		 {.addr = 0x7f03, .symbol = "outer", .offset = 4, .module = app}},
		{{.addr = 0x7f04,
		  .symbol = "(anonymous namespace)::run",
		  .offset = 9,
		  .module = app}},
		{{.addr = 0x7f05,
		  .symbol = "std::shared_ptr<T>::operator->",
		  .offset = 0x10,
		  .module = app}},
		{{.addr = 0x7f06,
		  .symbol = "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		  .offset = 0x10,
		  .module = "/opt/My App/app"}},
		{{.addr = 0x7f07, .module = "/tmp/a.so (deleted)"}},
		{{.addr = 0}},
		{{.addr = 0x7f08,
		  .symbol = "gr\xc3\xb6\xc3\x9f"
			    "e",
		  .offset = 1,
		  .module = "//anon"}},
	};
	const struct frame *leaf = leaves[i % 9];
	size_t n = 0;

	frames[n++] = leaf[0];
	if (leaf[1].addr)
		frames[n++] = leaf[1];
	frames[n++] =
		(struct frame){.addr = 0x4011, .symbol = "main", .offset = 0x2b, .module = app};
	frames[n++] = (struct frame){.addr = 0x23a90,
				     .symbol = "__libc_start_main",
				     .offset = 0x80,
				     .module = "/usr/lib/x86_64-linux-gnu/libc.so.6"};
	return n;
}

static void write_reference(struct writer *writer)
{
	static const char *const comms[] = {"app", "Worker_3", ":4002", "a_", "worker-12"};
	static const enum sample_state states[] = {STATE_RUNNING, STATE_SLEEPING, STATE_DISK};

	for (int64_t i = 0; i < REFERENCE_SAMPLES; i++) {
		int64_t step = i < 5 ? 0 : 5;
		struct frame frames[4];
		struct sample sample = {
			.pid = 4000,
			.tid = 4000 + (pid_t)(i % 5),
			.cpu = (uint32_t)(i % 2),
			.weight = i % 7 ? 1 : 2,
			.state = states[i % 3],
			.wait = i % 3 == 1 ? "futex" : NULL,
			.n_metrics = 4,
			.metrics = {{i * 10000000, step * 10000000},
				    {i, step},
				    {i / 2, i < 5 ? 0 : i / 2 - (i - 5) / 2},
				    {1000 + i, step}},
			.frames = frames,
		};

		(void)strcpy(sample.comm, comms[i % 5]);
		sample.n_frames = reference_stack((unsigned)i, frames);
		write_sample(writer, &sample);
	}
}

/* ---- the zoo: every rule of docs/perf-script.md, one animal a sample */

static const char odd_comms[][SAMPLE_COMM_SIZE] = {
	"",
	"a",
	"\xc3\xa9",
	"#x",
	"#",
	"Worker 3",
	"V8 WorkerThread",
	"worker-12",
	"7zip",
	"w 12: x",
	"tab\there",
	"line\nfeed",
	"esc\x1b[0m",
	"del\x7f",
	"nbsp\xc2\xa0"
	"12",
	"ls\xe2\x80\xa8x",
	"\xef\xbb\xbf"
	"bom",
	"bad\xff\xfe",
	"cut\xe2\x82",
	"over\xc0\xaf",
	"sur\xed\xa0\x80",
	"struct",
	"extern",
	"union",
	"public:",
	"private:",
	".TH",
	".sp",
	"a<b",
	"<html>",
	"a\\b",
	"\\begin",
	"x;y",
	"(x)",
	"[x]",
	"-x",
	"a/b",
	"->",
	"a->b",
	"a;b",
	";",
	" ",
	"swapper",
	"%41",
	"123456789012345",
};

static void write_comms(struct writer *writer)
{
	for (size_t i = 0; i < sizeof(odd_comms) / sizeof(odd_comms[0]); i++) {
		struct frame frame = {.addr = 0x4011, .symbol = "main", .module = app};
		struct sample sample = {.pid = 4000,
					.tid = 4000 + (pid_t)i,
					.n_frames = 1,
					.frames = &frame,
					.n_metrics = 4};

		memcpy(sample.comm, odd_comms[i], sizeof(sample.comm));
		write_sample(writer, &sample);
	}
}

static void write_frame(struct writer *writer, struct frame frame)
{
	struct frame frames[2] = {frame, {.addr = 0x4011, .symbol = "main", .module = app}};
	struct sample sample = {.pid = 4000,
				.tid = 4000,
				.comm = "app",
				.n_frames = 2,
				.frames = frames,
				.n_metrics = 4};

	write_sample(writer, &sample);
}

static void write_symbols(struct writer *writer)
{
	static const char *const symbols[] = {
		"(anonymous namespace)::f",
		"ns::(anonymous namespace)::g",
		"(lambda)",
		"operator->",
		"a->b->c",
		"read 3: foo::bar",
		"12: foo",
		"x 1.5: y",
		"f 1: 2: 3: x",
		"ends 7:",
		"trailing  ",
		"  leading",
		"",
		"   ",
		"tab\tin",
		"line\nfeed",
		"bad\377utf8",
		"ls\xe2\x80\xa8sep",
		"a<b, c>::f(int)",
		"operator+",
		"operator()",
		"main::{lambda(int)#1}::operator()",
		"<&(A, B) as Debug>::fmt",
		"function<void (int)>",
		"net/http.(*Client).Do",
		"a;b",
		"parser<html>::run",
		"x\\begin{y}",
		"\"q'uote",
		"{{closure}}",
		"f (inlined)",
		"f (/lib/x)",
		"+0x10",
		"f+0x1a",
		"_Z3foov",
		"[libc.so.6@0x1200]",
	};
	static const char *const files[] = {"/src/a b/<c>.c", "x.perf 12.5: y:", "#include", NULL};
	static char longest[20000];

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		write_frame(writer, (struct frame){.addr = 0x7f00 + i,
						   .symbol = symbols[i],
						   .offset = i,
						   .module = libc});
		write_frame(writer, (struct frame){.addr = 0x7f00 + i,
						   .symbol = symbols[i],
						   .file = files[i % 4],
						   .line = (uint32_t)i,
						   .inlined = true});
	}
	memset(longest, 'x', sizeof(longest) - 1);
	write_frame(writer, (struct frame){.addr = 1, .symbol = longest, .module = libc});
}

static void write_modules(struct writer *writer)
{
	static const char *const modules[] = {
		"/opt/My App/app",
		"/tmp/a.so (deleted)",
		"/a(1)/b",
		"/tmp/x) (y",
		"",
		"[vdso]",
		"[kernel.kallsyms]",
		"[anon]",
		"/tmp/perf-12.map",
		"//anon",
		"/m\303\266d",
		"/bad\xff",
		"/new\nline",
		"/nbsp\xc2\xa0x",
		"/a->b.so",
		"/dir/",
		"/lib/<html>/x",
		"/memfd:x (deleted)",
		"rel.so",
		"/usr/lib/libstdc++.so.6",
	};

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		struct frame frame = {.addr = 0x7f00 + i, .module = modules[i]};

		write_frame(writer, frame);
		frame.module_offset = 0x1000 + i;
		write_frame(writer, frame);
		frame.symbol = "f";
		write_frame(writer, frame);
	}
	write_frame(writer, (struct frame){.addr = 0x7f00, .symbol = "f"});
	write_frame(writer, (struct frame){.addr = UINT64_MAX, .module_offset = UINT64_MAX});
}

static void write_depths(struct writer *writer)
{
	static const size_t depths[] = {0, 1, 255, 256, 257, 300};
	struct frame frames[300];

	for (size_t i = 0; i < 300; i++)
		frames[i] = (struct frame){.addr = i, .symbol = "f", .module = app};
	for (size_t i = 0; i < 2 * sizeof(depths) / sizeof(depths[0]); i++) {
		struct sample sample = {.pid = 4000,
					.tid = 4000,
					.comm = "deep",
					.n_frames = depths[i / 2],
					.frames = frames,
					.truncated = i % 2,
					.n_metrics = 4};

		write_sample(writer, &sample);
	}
}

static void write_times(struct writer *writer)
{
	static const uint64_t times[] = {
		20000999999999U, 20001000000000U, 20001000000999U, 20001000001000U, 20000500000000U,
		20001999999999U, 20002000000000U, 20003012345678U, 20003999000000U,
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct frame frame = {.addr = 0x4011, .symbol = "main", .module = app};
		struct sample sample = {.pid = 4194304,
					.tid = 1,
					.comm = "time",
					.cpu = 1023,
					.time_ns = times[i],
					.n_frames = 1,
					.frames = &frame,
					.weight = 1U << (3 * i),
					.state = STATE_RUNNABLE,
					.wait = i % 2 ? "page-fault" : NULL,
					.n_metrics = 2,
					.metrics = {{INT64_MAX, INT64_MIN}, {-1, -16}}};

		write_sample(writer, &sample);
	}
}

/* An allocation, its release, and the next of the same moment; and samples of one thread at once.
 */
static void write_releases(struct writer *writer)
{
	static const char *const ops[] = {"alloc", "free", "free", "alloc", NULL, NULL, NULL};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct frame frames[] = {
			{.addr = 0x7f00, .symbol = "in", .file = "/src/in.h", .inlined = true},
			{.addr = 0x7f00, .symbol = "give->back", .module = "/opt/My App/app"}};
		struct sample sample = {.pid = 4000,
					.tid = 4000,
					.comm = "a;b",
					.time_ns = writer->time_ns / 1000 * 1000,
					.object = "7f0012345678",
					.op = ops[i],
					.weight = i == 0 || i == 3 ? 100 : 0,
					.n_frames = 2,
					.frames = frames,
					.n_metrics = 4};

		writer->time_ns -= 10101000; /* write_sample() goes on */
		write_sample(writer, &sample);
	}
	writer->time_ns += 10101000;
}

static void write_waits(struct writer *writer)
{
	static const struct {
		enum sample_state state;
		const char *wait;
		char object[SAMPLE_OBJECT_SIZE];
	} waits[] = {
		{STATE_RUNNING, NULL, ""},
		{STATE_RUNNABLE, NULL, ""},
		{STATE_SLEEPING, "futex", "futex:0x7f0012345678"},
		{STATE_SLEEPING, "read", "pipe:[12]"},
		{STATE_SLEEPING, "poll", "socket:[7],500ms"},
		{STATE_SLEEPING, "epoll", "anon_inode:[eventpoll]"},
		{STATE_SLEEPING, "connect", "@a b=c"},
		{STATE_DISK, "open", "/tmp/new\nline 100% <html> \\begin gr\303\274\303\237e \xff"},
		{STATE_DISK, "page-fault", ""},
		{STATE_STOPPED, "read", "/dev/pts/3 (deleted)"},
		{STATE_SLEEPING, "other",
		 "123456789012345678901234567890123456789012345678901234567890123"},
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct frame frame = {.addr = 0x4011, .symbol = "main", .module = app};
		struct sample sample = {.pid = 4000,
					.tid = 4000,
					.comm = "waits",
					.state = waits[i].state,
					.wait = waits[i].wait,
					.n_frames = 1,
					.frames = &frame,
					.n_metrics = 4};

		memcpy(sample.object, waits[i].object, sizeof(sample.object));
		write_sample(writer, &sample);
	}
}

static void write_zoo(struct writer *writer)
{
	static const char *const argv[] = {"./app",     "<html>",  "a\\b",
					   "100%",      "%41",     "a b",
					   "new\nline", "bad\xff", "gr\303\274\303\237e",
					   ""};
	const struct perf_script_header header = {
		.event = "cpu-clock",
		.hz = 99,
		.pid = 4000,
		.captured_ns = 1795248986000000000U,
		.epoch_offset_ns = 1795236641000000000U,
		.argc = sizeof(argv) / sizeof(argv[0]),
		.argv = argv,
		.hostname = "h\"<ost>",
		.os_release = "6.1.0",
		.arch = "x86_64",
		.n_cpus = 2,
	};
	static const struct perf_script_count counts[] = {{"lost_full", 3}, {"dropped", 0}};

	perf_script_header(&writer->options, &header, &writer->text);
	write_comms(writer);
	write_symbols(writer);
	write_modules(writer);
	write_depths(writer);
	write_waits(writer);
	write_releases(writer);
	write_times(writer);
	perf_script_end(&writer->options, &writer->file, counts, 2, &writer->text);
}

/* Every kind of group, and what calls itself as one frame. */
static int set_groups(struct perf_script_options *options)
{
	struct err err = {0};

	options->flatten = true;
	return groups_parse("state,wait,object,thread,process,cpu,rss,cpu_ns", metrics, 4,
			    &options->groups, &err);
}

static int set_mode(struct perf_script_options *options, const char *mode)
{
	if (strcmp(mode, "comment") == 0)
		return 0;
	if (strcmp(mode, "inline") == 0)
		options->metrics_as = METRICS_AS_INLINE;
	else if (strcmp(mode, "bare") == 0)
		options->bare = true;
	else if (strcmp(mode, "ns") == 0)
		options->ns = true;
	else if (strcmp(mode, "srcline") == 0)
		options->srcline = true;
	else if (strcmp(mode, "group") == 0)
		return set_groups(options);
	else if (strcmp(mode, "plain") == 0)
		options->metrics_mask = 0;
	else
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct writer writer = {
		.options = {.metrics = metrics, .n_metrics = 4, .metrics_mask = 15},
		.time_ns = 12345010101000U,
	};
	size_t n;

	if (argc != 3 || set_mode(&writer.options, argv[2]) < 0) {
		(void)fprintf(
			stderr,
			"usage: writer reference|zoo comment|inline|bare|ns|plain|group|srcline\n");
		return 2;
	}
	buf_init(&writer.text, 16 * 1024 * 1024);
	if (strcmp(argv[1], "reference") == 0)
		write_reference(&writer);
	else
		write_zoo(&writer);
	n = fwrite(writer.text.data, 1, writer.text.len, stdout);
	n = n == writer.text.len && !writer.text.failed;
	buf_release(&writer.text);
	return fflush(stdout) == 0 && n ? 0 : 1;
}

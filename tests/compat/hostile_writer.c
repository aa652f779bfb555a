/* hostile_writer.c - random names that want to break every grammar, through the writer */
#include "output/text/perf_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 200, MAX_FRAMES = 40 };

static uint64_t state; /* xorshift64* */

static uint32_t draw(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 2685821657736338717U) >> 33) % below;
}

/* What grammars stumble over; the empty ones stand for random bytes and plain letters. */
static const char *const pieces[] = {
	"",
	"",
	"",
	"",
	" ",
	"  ",
	"\t",
	"\n",
	"\r",
	"\r\n",
	"(",
	")",
	"()",
	" (",
	") ",
	"->",
	"+",
	"+0x10",
	":",
	": ",
	" 1: ",
	" 12.5: x:",
	"12: ",
	"12",
	"/",
	"#",
	"# ",
	"\n\n",
	"\n# x",
	"<html>",
	"<script ",
	"\\begin{",
	"struct ",
	"(anonymous namespace)",
	"(anonymous",
	" (deleted)",
	"[unknown]",
	"[",
	"]",
	";",
	"\"",
	"'",
	"%",
	"%41",
	"\xc2\xa0",
	"\xe2\x80\xa8",
	"\xef\xbb\xbf",
	"\xff",
	"\xc0\xaf",
	"\xed\xa0\x80",
	"\xe2\x82",
	"\xf0\x9f\x98\x80",
	"\xc3\xa9",
	"\x1b[1m",
	"\x7f",
	"\x01",
	"\xc2\x85",

	"=",
	",",
	"metric_x: 1, 2",
	"cpu-clock: ",
	"0x7f",
	"7f01 f (x)",
	"operator",
	"::",
	"<T as U>",
};

static void add_piece(char *name, size_t size)
{
	const char *piece = pieces[draw(sizeof(pieces) / sizeof(pieces[0]))];
	size_t len = strlen(name);
	size_t n = strlen(piece);

	if (n == 0 && len + 1 < size) {
		name[len] = (char)(draw(4) ? 'a' + draw(26) : 1 + draw(255));
		name[len + 1] = '\0';
	} else if (len + n < size) {
		memcpy(name + len, piece, n + 1);
	}
}

static const char *make_name(char *name, size_t size, uint32_t n_pieces)
{
	name[0] = '\0';
	for (uint32_t n = draw(n_pieces + 1); n; n--)
		add_piece(name, size);
	return name;
}

struct stack {
	struct frame frames[MAX_FRAMES];
	char symbols[MAX_FRAMES][NAME_MAX_BYTES];
	char modules[MAX_FRAMES][NAME_MAX_BYTES];
};

static size_t make_stack(struct stack *stack)
{
	size_t n = draw(MAX_FRAMES);

	for (size_t i = 0; i < n; i++) {
		struct frame *frame = &stack->frames[i];

		*frame = (struct frame){.addr = (uint64_t)draw(UINT32_MAX) << draw(33),
					.offset = draw(5000),
					.inlined = draw(8) == 0,
					.module_offset = draw(2) ? draw(1 << 20) : 0};
		if (draw(5))
			frame->symbol = make_name(stack->symbols[i], NAME_MAX_BYTES, 12);
		if (draw(8))
			frame->module = make_name(stack->modules[i], NAME_MAX_BYTES, 8);
	}
	return n;
}

static const struct metric metrics[] = {{"cpu_ns", "ns", METRIC_COUNTER},
					{"rss_kib", "KiB", METRIC_GAUGE}};

static void write_samples(const struct perf_script_options *options, unsigned n)
{
	static struct stack stack;
	struct perf_script_file file = {0};
	uint64_t time_ns = (uint64_t)(1 + draw(100000)) * 1000000000U;
	struct buf text;

	buf_init(&text, 1024 * 1024);
	if (!options->bare) {
		struct perf_script_header header = {.hz = 99, .pid = 1};

		perf_script_header(options, &header, &text);
	}
	for (unsigned i = 0; i < n; i++) {
		struct sample sample = {
			.pid = 1 + (pid_t)draw(4194304),
			.tid = 1 + (pid_t)draw(4194304),
			.cpu = draw(2000),
			.weight = 1 + draw(9),
			.state = draw(5),
			.wait = draw(3) ? NULL : "futex",
			.n_metrics = 2,
			.metrics = {{draw(UINT32_MAX), -(int64_t)draw(1000)}},
			.frames = stack.frames,
			.truncated = draw(10) == 0,
		};
		char comm[SAMPLE_COMM_SIZE];
		char object[SAMPLE_OBJECT_SIZE] = "";

		memcpy(sample.object, make_name(object, sizeof(object), 6), sizeof(object));
		memcpy(sample.comm, make_name(comm, sizeof(comm), 5), sizeof(comm));
		sample.n_frames = make_stack(&stack);
		sample.time_ns = time_ns - draw(2) * draw(1000000);
		time_ns += draw(4) ? draw(100000000) : 1000000000U - time_ns % 1000000000U;
		perf_script_sample(options, &file, &sample, &text);
		(void)fwrite(text.data, 1, text.len, stdout);
		buf_clear(&text);
	}
	perf_script_end(options, &file, NULL, 0, &text);
	(void)fwrite(buf_text(&text), 1, text.len, stdout);
	buf_release(&text);
}

/* Bare, so that Perfetto is asked too. */
static int set_groups(struct perf_script_options *options)
{
	struct err err = {0};

	options->bare = true;
	options->flatten = true;
	return groups_parse("thread,comm,object,wait,state,cpu,process,rss", metrics, 2,
			    &options->groups, &err);
}

int main(int argc, char **argv)
{
	struct perf_script_options options = {
		.metrics = metrics, .n_metrics = 2, .metrics_mask = 3};

	if (argc != 4) {
		(void)fprintf(stderr,
			      "usage: hostile_writer SEED SAMPLES comment|inline|bare|ns|group\n");
		return 2;
	}
	options.bare = strcmp(argv[3], "bare") == 0;
	options.ns = strcmp(argv[3], "ns") == 0;
	if (strcmp(argv[3], "inline") == 0)
		options.metrics_as = METRICS_AS_INLINE;
	if (strcmp(argv[3], "group") == 0 && set_groups(&options) < 0)
		return 2;
	state = strtoull(argv[1], NULL, 0) * 2654435761U + 1;
	write_samples(&options, (unsigned)strtoul(argv[2], NULL, 0));
	return fflush(stdout) == 0 ? 0 : 1;
}

/*
 * firefox.c - the Firefox Profiler's processed profile format, version 48 (its
 * CHANGELOG-formats.md): every thread has tables of its own, each column an array
 */
#include "flamescope/convert/internal.h"

#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

static const char meta[] =
	"\"version\":30,\"preprocessedProfileVersion\":48,\"processType\":0,\"stackwalk\":1,"
	"\"debug\":false,\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
	"\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,"
	"\"extensions\":{\"baseURL\":[],\"id\":[],\"name\":[],\"length\":0},"
	"\"markerSchema\":[],\"categories\":["
	"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],"
	"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}";

/* Numbers of one thread's table: THEIRS of a number of ours, good when STAMP is the thread's. */
struct renumber {
	uint32_t *theirs;
	uint32_t *stamp;
	uint32_t *ours; /* by their numbers */
	size_t n;
};

struct firefox {
	struct out *out;
	const struct selection *selection;
	const struct profile *profile;
	struct out_scale scale;
	struct out_threads threads;
	struct renumber nodes, frames, modules;
	uint32_t *path;
	uint32_t stamp; /* the thread's number + 1 */
};

/* ---- numbers */

static int renumber_init(struct renumber *numbers, size_t n)
{
	numbers->theirs = calloc(n + 1, sizeof(uint32_t));
	numbers->stamp = calloc(n + 1, sizeof(uint32_t));
	numbers->ours = calloc(n + 1, sizeof(uint32_t));
	return numbers->theirs && numbers->stamp && numbers->ours ? 0 : -ENOMEM;
}

static void renumber_release(struct renumber *numbers)
{
	free(numbers->theirs);
	free(numbers->stamp);
	free(numbers->ours);
}

static bool knows(const struct renumber *numbers, uint32_t stamp, uint32_t ours)
{
	return numbers->stamp[ours] == stamp;
}

static void learn(struct renumber *numbers, uint32_t stamp, uint32_t ours)
{
	if (knows(numbers, stamp, ours))
		return;
	numbers->stamp[ours] = stamp;
	numbers->theirs[ours] = (uint32_t)numbers->n;
	numbers->ours[numbers->n++] = ours;
}

/* A stack, its callers before it, with their frames and modules. */
static void learn_stack(struct firefox *to, uint32_t node)
{
	size_t n = 0;

	for (; node && !knows(&to->nodes, to->stamp, node);
	     node = to->selection->nodes[node].parent)
		to->path[n++] = node;
	while (n-- > 0) {
		uint32_t frame = to->selection->nodes[to->path[n]].frame;

		learn(&to->nodes, to->stamp, to->path[n]);
		learn(&to->frames, to->stamp, frame);
		if (*out_module(to->selection, frame))
			learn(&to->modules, to->stamp, to->profile->frames[frame].module);
	}
}

/* ---- columns */

/* One array of a table: all elements are SAME, or ADD writes them one by one. */
struct column {
	const char *name;
	const char *same;
	void (*add)(struct firefox *to, size_t i);
};

static void add_column(struct firefox *to, const struct column *column, size_t n)
{
	struct buf *buf = &to->out->buf;

	buf_printf(buf, ",\"%s\":[", column->name);
	for (size_t i = 0; i < n && out_step(to->out); i++) {
		if (i)
			buf_add_char(buf, ',');
		if (column->same)
			buf_add(buf, column->same);
		else
			column->add(to, i);
	}
	buf_add_char(buf, ']');
}

/* Every array of a table has the same N elements; the last of COLUMNS has no name. */
static void add_table(struct firefox *to, const char *name, const struct column *columns, size_t n)
{
	buf_printf(&to->out->buf, ",\n\"%s\":{\"length\":%zu", name, n);
	for (; columns->name; columns++)
		add_column(to, columns, n);
	buf_add_char(&to->out->buf, '}');
}

static void add_number(struct firefox *to, uint64_t number)
{
	buf_add_dec(&to->out->buf, number, 0, ' ');
}

static void add_index(struct firefox *to, size_t i)
{
	add_number(to, i);
}

/* ---- samples */

static size_t first_sample(const struct firefox *to)
{
	return to->threads.first[to->stamp - 1];
}

static uint32_t selected(const struct firefox *to, size_t i)
{
	return to->threads.order[first_sample(to) + i];
}

static void add_sample_stack(struct firefox *to, size_t i)
{
	uint32_t node = to->selection->stacks[selected(to, i)];

	if (node)
		add_number(to, to->nodes.theirs[node]);
	else
		buf_add(&to->out->buf, "null");
}

/* Nanoseconds as milliseconds, which have to be numbers of JSON. */
static void add_ms(struct buf *buf, uint64_t ns)
{
	buf_add_dec(buf, ns / 1000000, 0, ' ');
	buf_add_char(buf, '.');
	buf_add_dec(buf, ns % 1000000, 6, '0');
}

static void add_sample_time(struct firefox *to, size_t i)
{
	add_ms(&to->out->buf, to->profile->times_ns[to->selection->samples[selected(to, i)]]);
}

static void add_sample_weight(struct firefox *to, size_t i)
{
	struct buf *buf = &to->out->buf;
	int64_t value = out_scaled(&to->scale, to->selection->values[selected(to, i)]);

	if (to->scale.unit == OUT_NANOSECONDS || to->scale.unit == OUT_MICROSECONDS) {
		uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

		if (value < 0)
			buf_add_char(buf, '-');
		if (to->scale.unit == OUT_MICROSECONDS)
			size = size > UINT64_MAX / 1000 ? UINT64_MAX : size * 1000;
		add_ms(buf, size);
		return;
	}
	out_signed(buf, value);
}

/* The weights' unit is a member among the columns. */
static void add_samples(struct firefox *to)
{
	static const char *const types[] = {
		[OUT_COUNT] = "samples",
		[OUT_NANOSECONDS] = "tracing-ms",
		[OUT_MICROSECONDS] = "tracing-ms",
		[OUT_BYTES] = "bytes",
	};
	static const struct column columns[] = {
		{"stack", NULL, add_sample_stack},
		{"time", NULL, add_sample_time},
		{"weight", NULL, add_sample_weight},
	};
	size_t n = to->threads.first[to->stamp] - first_sample(to);

	buf_printf(&to->out->buf, ",\n\"samples\":{\"length\":%zu,\"weightType\":\"%s\"", n,
		   types[to->scale.unit]);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		add_column(to, &columns[i], n);
	buf_add_char(&to->out->buf, '}');
	to->out->report.n_samples += n;
}

/* ---- tables */

static uint32_t frame_of(const struct firefox *to, size_t i)
{
	return to->frames.ours[i];
}

static uint32_t frame_of_node(const struct firefox *to, size_t i)
{
	return to->selection->nodes[to->nodes.ours[i]].frame;
}

static void add_stack_frame(struct firefox *to, size_t i)
{
	add_number(to, to->frames.theirs[frame_of_node(to, i)]);
}

static void add_stack_prefix(struct firefox *to, size_t i)
{
	uint32_t parent = to->selection->nodes[to->nodes.ours[i]].parent;

	if (parent)
		add_number(to, to->nodes.theirs[parent]);
	else
		buf_add(&to->out->buf, "null");
}

static void add_category(struct firefox *to, uint32_t frame)
{
	int category = out_is_label(to->selection, frame)    ? CATEGORY_OTHER
		       : out_in_kernel(to->selection, frame) ? CATEGORY_KERNEL
							     : CATEGORY_USER;

	add_number(to, (uint64_t)category);
}

static void add_stack_category(struct firefox *to, size_t i)
{
	add_category(to, frame_of_node(to, i));
}

static void add_frame_category(struct firefox *to, size_t i)
{
	add_category(to, frame_of(to, i));
}

/* Strings: the names of the frames by their numbers, then those of the modules. */
static void add_resource_name(struct firefox *to, size_t i)
{
	add_number(to, to->frames.n + i);
}

static void add_resource(struct firefox *to, size_t i)
{
	uint32_t frame = frame_of(to, i);

	if (*out_module(to->selection, frame))
		add_number(to, to->modules.theirs[to->profile->frames[frame].module]);
	else
		buf_add(&to->out->buf, "-1");
}

static void add_string(struct firefox *to, size_t i)
{
	json_add_string(&to->out->buf,
			i < to->frames.n
				? selection_frame_name(to->selection, frame_of(to, i))
				: to->profile->strings[to->modules.ours[i - to->frames.n]]);
}

static const struct column stack_columns[] = {
	{"frame", NULL, add_stack_frame},
	{"prefix", NULL, add_stack_prefix},
	{"category", NULL, add_stack_category},
	{"subcategory", "0", NULL},
	{NULL, NULL, NULL},
};

/* A frame is a function: addresses are not distinguished. */
static const struct column frame_columns[] = {
	{"address", "-1", NULL},
	{"inlineDepth", "0", NULL},
	{"category", NULL, add_frame_category},
	{"subcategory", "0", NULL},
	{"func", NULL, add_index},
	{"nativeSymbol", "null", NULL},
	{"innerWindowID", "0", NULL},
	{"implementation", "null", NULL},
	{"line", "null", NULL},
	{"column", "null", NULL},
	{NULL, NULL, NULL},
};

static const struct column function_columns[] = {
	{"name", NULL, add_index},        {"isJS", "false", NULL},
	{"relevantForJS", "false", NULL}, {"resource", NULL, add_resource},
	{"fileName", "null", NULL},       {"lineNumber", "null", NULL},
	{"columnNumber", "null", NULL},   {NULL, NULL, NULL},
};

static const struct column resource_columns[] = {
	{"lib", "null", NULL},  {"name", NULL, add_resource_name},
	{"host", "null", NULL}, {"type", "1", NULL}, /* a library */
	{NULL, NULL, NULL},
};

/* Nothing is known that they could hold, but there they have to be. */
static const char empty_tables[] = ",\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],"
				   "\"address\":[],\"name\":[],\"functionSize\":[]}"
				   ",\n\"markers\":{\"length\":0,\"category\":[],\"data\":[],"
				   "\"endTime\":[],\"name\":[],\"phase\":[],\"startTime\":[]}";

/* ---- threads */

static void add_thread_facts(struct firefox *to)
{
	const struct profile_thread *thread = &to->profile->thread_list[to->stamp - 1];
	const char *host = to->profile->strings[thread->host];
	struct buf *buf = &to->out->buf;
	bool main_thread = thread->pid == thread->tid;

	buf_add(buf, "{\"processType\":\"default\",\"processStartupTime\":0,"
		     "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		     "\"pausedRanges\":[],\"name\":");
	json_add_string(buf, to->profile->strings[thread->comm]);
	buf_add(buf, ",\"processName\":");
	json_add_string(buf, *host ? host : to->profile->strings[thread->comm]);
	buf_printf(buf, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d",
		   main_thread ? "true" : "false", (int)thread->pid, (int)thread->tid);
}

static void add_thread(struct firefox *to, uint32_t number)
{
	static const struct column strings = {"stringArray", NULL, add_string};

	to->stamp = number + 1;
	to->nodes.n = to->frames.n = to->modules.n = 0;
	for (size_t i = to->threads.first[number]; i < to->threads.first[number + 1]; i++)
		learn_stack(to, to->selection->stacks[to->threads.order[i]]);
	add_thread_facts(to);
	add_samples(to);
	add_table(to, "stackTable", stack_columns, to->nodes.n);
	add_table(to, "frameTable", frame_columns, to->frames.n);
	add_table(to, "funcTable", function_columns, to->frames.n);
	add_table(to, "resourceTable", resource_columns, to->modules.n);
	buf_add(&to->out->buf, empty_tables);
	add_column(to, &strings, to->frames.n + to->modules.n);
	buf_add_char(&to->out->buf, '}');
}

static void add_meta(struct firefox *to)
{
	const struct profile *profile = to->profile;
	struct buf *buf = &to->out->buf;
	uint64_t epoch =
		profile->has_epoch ? profile->start_ns + (uint64_t)profile->epoch_offset_ns : 0;

	buf_add(buf, "{\"meta\":{\"product\":");
	json_add_string(buf, out_title(to->out));
	buf_add(buf, ",\"importedFrom\":\"wick " WICK_VERSION "\",\"startTime\":");
	add_ms(buf, epoch);
	buf_add(buf, ",\"interval\":");
	add_ms(buf, profile->hz ? 1000000000U / profile->hz : 1000000);
	buf_add_char(buf, ',');
	buf_add(buf, meta);
	buf_add(buf, "},\n\"libs\":[],\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n"
		     "\"threads\":[");
}

static int prepare(struct firefox *to)
{
	const struct selection *selection = to->selection;
	int r = out_threads_make(selection, &to->threads);

	if (r == 0)
		r = renumber_init(&to->nodes, selection->n_nodes);
	if (r == 0)
		r = renumber_init(&to->frames, to->profile->n_frames + selection->n_labels);
	if (r == 0)
		r = renumber_init(&to->modules, to->profile->n_strings);
	to->path = calloc(selection->n_nodes + 1, sizeof(*to->path));
	return to->path ? r : -ENOMEM;
}

int firefox_write(struct out *out)
{
	struct firefox to = {.out = out, .selection = out->selection};
	const char *comma = "\n";
	int r;

	to.profile = out->selection->profile;
	to.scale = out_scale_of(out->selection);
	r = prepare(&to);
	if (r == 0) {
		add_meta(&to);
		for (uint32_t i = 0; i < to.profile->n_threads && out_step(out); i++) {
			if (to.threads.first[i] == to.threads.first[i + 1])
				continue;
			buf_add(&out->buf, comma);
			add_thread(&to, i);
			comma = ",\n";
		}
		buf_add(&out->buf, "]}\n");
	}
	out_threads_release(&to.threads);
	renumber_release(&to.nodes);
	renumber_release(&to.frames);
	renumber_release(&to.modules);
	free(to.path);
	return r;
}

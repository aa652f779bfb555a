/* code_answer.c - addresses to lines and instructions, as JSON */
#include "flamescope/serve/code.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "symbolize/symbolize.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_STARTS = 64,    /* of functions that another is inlined into */
	MAX_RANGES = 512,   /* functions that begin at the same place of a page */
	NAME_BYTES = 65536, /* of a function */
	CONTEXT_ROWS = 5,
	ALL_ROWS = 200, /* lines or instructions of a function that are shown; of more only parts */
	DEAR_ROWS = 40,
	RANGE_BYTES = 256 * 1024, /* of a function that are disassembled */
};

#define MEMORY_BYTES (UINT64_C(2) << 30)
#define NS_PER_S     UINT64_C(1000000000)

static const char anonymous[] = "{anonymous}"; /* as perf-script text has it */

/* What a place is in the module. */
struct found {
	uint64_t vaddr; /* as it is looked up; 0: not found */
	struct symbol_range range;
	const char *file; /* NULL: not known */
	uint32_t line;
	uint32_t function; /* string of the profile: what the machine runs */
	struct code_cost cost;
};

/* The symbols are searched once for each place of a page that a function begins at. */
struct starts {
	unsigned page_offset;
	size_t n;
	struct symbol_range ranges[MAX_RANGES];
};

struct finding {
	const struct code_places *places;
	struct symbolizer *symbolizer;
	struct module *module;
	struct starts *starts;
	size_t n_starts;
	struct found *found; /* one a place */
};

static void add(struct code_cost *sum, const struct code_cost *cost)
{
	sum->self += cost->self;
	sum->total += cost->total;
}

/* Whether a recording calls a symbol so. */
static bool is_name(const char *symbol, const char *name)
{
	struct buf text;
	bool same;
	const char *at;

	if (!strstr(name, anonymous))
		return strcmp(symbol, name) == 0;
	buf_init(&text, NAME_BYTES);
	for (; (at = strstr(name, anonymous)); name = at + sizeof(anonymous) - 1) {
		(void)buf_append(&text, name, (size_t)(at - name));
		buf_add(&text, "(anonymous namespace)");
	}
	buf_add(&text, name);
	same = strcmp(symbol, buf_text(&text)) == 0;
	buf_release(&text);
	return same;
}

static const struct starts *starts_of(struct finding *finding, unsigned page_offset)
{
	struct starts *made;

	for (size_t i = 0; i < finding->n_starts; i++)
		if (finding->starts[i].page_offset == page_offset)
			return &finding->starts[i];
	if (finding->n_starts == MAX_STARTS)
		return NULL;
	made = &finding->starts[finding->n_starts++];
	made->page_offset = page_offset;
	made->n = symbolizer_ranges(finding->module, page_offset, made->ranges, MAX_RANGES);
	return made;
}

/* Whether the address is in the function that the recording says, at the same place of it. */
static bool look_up(struct finding *finding, const struct code_place *place,
		    const struct profile_frame *frame, const struct symbol_range *range,
		    struct found *ret_found)
{
	const uint64_t at = range->start + frame->offset;
	struct frame looked = {.addr = at, .module_offset = at, .exact = place->exact};
	struct sample sample = {.frames = &looked, .n_frames = 1};
	const struct frame *level;

	if (symbolizer_resolve_in(finding->symbolizer, finding->module, &sample, true) < 0 ||
	    sample.n_frames == 0)
		return false;
	level = &sample.frames[sample.n_frames - 1];
	if (!level->symbol || level->offset != frame->offset ||
	    !is_name(level->symbol, finding->places->profile->strings[frame->name]))
		return false;
	if (place->depth < sample.n_frames)
		level -= place->depth;
	*ret_found = (struct found){.vaddr = at - !place->exact,
				    .range = *range,
				    .file = level->file,
				    .line = level->line,
				    .function = frame->name,
				    .cost = place->cost};
	return true;
}

static bool goes_on(const _Atomic bool *stop, uint64_t until_ns)
{
	return !atomic_load_explicit(stop, memory_order_relaxed) && io_now_ns() <= until_ns;
}

static void find_all(struct finding *finding, const _Atomic bool *stop)
{
	const struct code_places *places = finding->places;
	const uint64_t until_ns = io_now_ns() + CODE_S * NS_PER_S;

	for (size_t i = 0; i < places->n; i++) {
		const struct code_place *place = &places->places[i];
		const struct profile_frame *frame = &places->profile->frames[place->frame];
		const struct starts *starts;

		if (!goes_on(stop, until_ns))
			return;
		starts = starts_of(finding, (frame->addr - frame->offset) & SYMBOL_PAGE_MASK);
		for (size_t j = 0; starts && j < starts->n && goes_on(stop, until_ns); j++)
			if (look_up(finding, place, frame, &starts->ranges[j], &finding->found[i]))
				break;
	}
}

/* The file that most of it is in; NULL: none is known. */
static const char *dearest_file(const struct finding *finding)
{
	const char *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < finding->places->n; i++) {
		const char *file = finding->found[i].file;
		uint64_t sum = 0;

		if (!file || finding->found[i].line == 0 || file == best)
			continue;
		for (size_t j = i; j < finding->places->n; j++)
			if (finding->found[j].file == file)
				sum += finding->found[j].cost.total;
		if (sum > most) {
			most = sum;
			best = file;
		}
	}
	return best;
}

struct lines {
	const char *file;
	uint32_t first; /* that are shown, FIRST to LAST */
	uint32_t last;
	struct code_cost *costs; /* from FIRST */
	struct code_cost elsewhere;
};

static uint32_t less(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* All lines that cost something, or as many as are shown around the dearest. */
static int choose_lines(const struct finding *finding, struct lines *lines)
{
	struct code_cost most = {0};
	uint32_t dearest = 0;

	lines->first = UINT32_MAX;
	for (size_t i = 0; i < finding->places->n; i++) {
		const struct found *found = &finding->found[i];

		if (!found->file || found->file != lines->file || !found->line)
			continue;
		lines->first = less(lines->first, found->line);
		lines->last = found->line > lines->last ? found->line : lines->last;
		if (found->cost.total > most.total) {
			most = found->cost;
			dearest = found->line;
		}
	}
	lines->first -= less(lines->first - 1, CONTEXT_ROWS);
	lines->last += less(UINT32_MAX - lines->last, CONTEXT_ROWS);
	if (lines->last - lines->first >= CODE_MAX_LINES) {
		lines->first = dearest - less(dearest - 1, CODE_MAX_LINES / 2);
		lines->last = lines->first + less(UINT32_MAX - lines->first, CODE_MAX_LINES - 1);
	}
	lines->costs = calloc((size_t)lines->last - lines->first + 1, sizeof(*lines->costs));
	return lines->costs ? 0 : -ENOMEM;
}

static void add_costs(const struct finding *finding, struct lines *lines)
{
	for (size_t i = 0; i < finding->places->n; i++) {
		const struct found *found = &finding->found[i];
		const bool is_shown = lines->costs && found->file == lines->file &&
				      found->line >= lines->first && found->line <= lines->last;

		add(is_shown ? &lines->costs[found->line - lines->first] : &lines->elsewhere,
		    &finding->places->places[i].cost);
	}
}

static int by_total(const void *left, const void *right)
{
	const struct code_cost *a = left, *b = right;

	return (a->total < b->total) - (a->total > b->total);
}

/* Below this a row is shown only beside a dearer one. */
static uint64_t least_shown(const struct code_cost *costs, size_t n)
{
	struct code_cost *sorted;
	uint64_t least = 1;

	if (!costs || n <= ALL_ROWS)
		return least;
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return least;
	memcpy(sorted, costs, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_total);
	least = sorted[DEAR_ROWS].total + 1;
	free(sorted);
	return least;
}

static bool is_shown(const struct code_cost *costs, size_t n, size_t at, uint64_t least)
{
	const size_t to = at + CONTEXT_ROWS < n ? at + CONTEXT_ROWS + 1 : n;

	if (n <= ALL_ROWS)
		return true;
	for (size_t i = at > CONTEXT_ROWS ? at - CONTEXT_ROWS : 0; i < to; i++)
		if (costs[i].total >= least)
			return true;
	return false;
}

static void put_cost(const char *before, uint64_t number, const struct code_cost *cost,
		     struct buf *json)
{
	buf_printf(json, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", before, number, cost->self,
		   cost->total);
}

/* The text is cut there; NULL: it has no more. */
static const char *next_line(char **text)
{
	const char *line = *text;
	char *end = line ? strchr(line, '\n') : NULL;

	if (end)
		*end = '\0';
	*text = end && end[1] ? end + 1 : NULL;
	return line;
}

/* [line, self, total, text] of each; without a text only of those that cost something. */
static void put_lines(const struct lines *lines, char *text, struct buf *json)
{
	const size_t n = lines->costs ? (size_t)lines->last - lines->first + 1 : 0;
	const uint64_t least = n ? least_shown(lines->costs, n) : 0;
	const bool has_text = text;
	const char *before = "";

	buf_add(json, ",\"lines\":[");
	for (uint32_t number = 1; has_text && number < lines->first; number++)
		(void)next_line(&text);
	for (size_t i = 0; i < n; i++) {
		const char *line = next_line(&text);

		if (line ? !is_shown(lines->costs, n, i, least) : !lines->costs[i].total) {
			before = *before && has_text ? ",null," : before;
			continue;
		}
		put_cost(before, lines->first + i, &lines->costs[i], json);
		json_add_string(json, line ? line : "");
		buf_add(json, "]");
		before = ",";
	}
	buf_add(json, "]");
}

static const char *why_no_source(int error, const char *file, size_t n_folders)
{
	if (!file)
		return "The module has no line numbers for it. Try: build it with -g.";
	switch (error) {
	case 0:
		return "";
	case -ENOENT:
		return n_folders ? "The source file is not here. Try: wick serve --source DIR, "
				   "where DIR has the source files."
				 : "No source file may be read. Try: wick serve --source DIR.";
	case -EFBIG:
		return "The source file is too large to be shown.";
	default:
		return "The source file may not be read: it is hidden, a link, or no text.";
	}
}

/* A program that was built from what the file was before has other lines. */
static bool is_newer(int64_t source_ns, int module)
{
	struct stat st;

	return fstat(module, &st) == 0 && source_ns > catalog_stamp_of(&st).mtime_ns;
}

static void put_source(const struct code_options *options, const struct finding *finding,
		       int module, struct buf *json)
{
	struct lines lines = {.file = dearest_file(finding)};
	int64_t mtime_ns = 0;
	int r = -ENOENT;
	struct buf text;

	buf_init(&text, CODE_SOURCE_BYTES + 1);
	if (lines.file && choose_lines(finding, &lines) == 0)
		r = code_read_source(options, lines.file, &text, &mtime_ns);
	add_costs(finding, &lines);
	json_add_text(json, "file", lines.file ? lines.file : "");
	json_add_text(json, "no_source", why_no_source(r, lines.file, options->n_folders));
	json_add_bool(json, "is_newer", r == 0 && is_newer(mtime_ns, module));
	json_add_number(json, "elsewhere", lines.elsewhere.total);
	(void)buf_text(&text);
	put_lines(&lines, r == 0 ? text.data : NULL, json);
	free(lines.costs);
	buf_release(&text);
}

/* Of several functions that have it inlined, the one where it costs most. */
static const struct found *dearest_function(const struct finding *finding)
{
	const struct found *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < finding->places->n; i++) {
		const struct found *found = &finding->found[i];
		uint64_t sum = 0;

		if (!found->vaddr || (best && found->range.start == best->range.start))
			continue;
		for (size_t j = i; j < finding->places->n; j++)
			if (finding->found[j].vaddr &&
			    finding->found[j].range.start == found->range.start)
				sum += finding->found[j].cost.total;
		if (sum > most) {
			most = sum;
			best = found;
		}
	}
	return best;
}

/* The instruction that an address is in. */
static struct code_cost *cost_at(const struct instruction *instructions, size_t n,
				 struct code_cost *costs, uint64_t vaddr)
{
	size_t from = 0, to = n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (instructions[middle].addr <= vaddr)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? &costs[from - 1] : NULL;
}

/* Of a long function the dearest instructions and those around them, with null between. */
static void put_dear(const struct instruction *instructions, size_t n,
		     const struct code_cost *costs, struct buf *json)
{
	const uint64_t least = least_shown(costs, n);
	const char *before = "";

	for (size_t i = 0; i < n; i++) {
		if (!is_shown(costs, n, i, least)) {
			before = *before && *before != 'n' ? ",null," : "null,";
			continue;
		}
		put_cost(before, instructions[i].addr, &costs[i], json);
		json_add_string(json, instructions[i].text);
		buf_add(json, "]");
		before = ",";
	}
}

static void put_rows(const struct finding *finding, const struct found *function,
		     const struct instruction *instructions, size_t n, struct code_cost *costs,
		     struct buf *json)
{
	for (size_t i = 0; i < finding->places->n; i++) {
		const struct found *found = &finding->found[i];
		struct code_cost *cost;

		if (!found->vaddr || found->range.start != function->range.start ||
		    found->vaddr >= found->range.end)
			continue;
		cost = cost_at(instructions, n, costs, found->vaddr);
		if (cost)
			add(cost, &found->cost);
	}
	put_dear(instructions, n, costs, json);
}

static const char *why_no_instructions(int n)
{
	switch (n) {
	case 0:
		return "objdump says nothing of it.";
	case -ENOENT:
		return "There is no objdump here. Try: install binutils.";
	case -ETIMEDOUT:
		return "objdump took too long.";
	case -EFBIG:
		return "The function has too much code to be shown.";
	default:
		return n < 0 ? "objdump cannot be run." : "";
	}
}

static void put_instructions(const struct code_options *options, const struct finding *finding,
			     int module, const _Atomic bool *stop, struct buf *json)
{
	const struct found *function = dearest_function(finding);
	struct disassembly disassembly = {.module = module, .max = CODE_MAX_INSTRUCTIONS};
	struct code_cost *costs = calloc(CODE_MAX_INSTRUCTIONS, sizeof(*costs));
	const char *why = "The module has no symbol for it.";
	int n = 0;

	disassembly.instructions = calloc(CODE_MAX_INSTRUCTIONS, sizeof(*disassembly.instructions));
	buf_init(&disassembly.text, CODE_DISASSEMBLY_BYTES);
	if (function && disassembly.instructions && costs) {
		disassembly.from = function->range.start;
		disassembly.to = function->range.end;
		if (disassembly.to - disassembly.from > RANGE_BYTES)
			disassembly.to = disassembly.from + RANGE_BYTES;
		n = disassemble(options, stop, &disassembly);
		why = why_no_instructions(n);
	}
	json_add_text(json, "no_instructions", why);
	json_add_text(json, "function",
		      function ? finding->places->profile->strings[function->function] : "");
	buf_add(json, ",\"instructions\":[");
	if (n > 0)
		put_rows(finding, function, disassembly.instructions, (size_t)n, costs, json);
	buf_add(json, "]");
	buf_release(&disassembly.text);
	free(disassembly.instructions);
	free(costs);
}

/* The file that was checked; its path may lead to another one by now. */
static struct module *open_module(struct symbolizer *symbolizer, const struct code_module *module)
{
	char path[PATH_MAX] = "";
	char fd[32];

	(void)snprintf(fd, sizeof(fd), "/proc/self/fd/%d", module->fd);
	if (readlink(fd, path, sizeof(path) - 1) < 0)
		return NULL;
	return symbolizer_open(symbolizer, path, module->fd, module->build_id, NULL);
}

void code_answer(const struct code_options *options, const struct code_places *places,
		 const struct code_module *module, const _Atomic bool *stop, struct buf *json)
{
	const struct symbolize_options how = {
		.wait = true, .no_cache = true, .mem_limit = MEMORY_BYTES};
	struct finding finding = {.places = places};

	finding.starts = calloc(MAX_STARTS, sizeof(*finding.starts));
	finding.found = calloc(places->n, sizeof(*finding.found));
	if (finding.starts && finding.found && symbolizer_new(&how, &finding.symbolizer, NULL) == 0)
		finding.module = open_module(finding.symbolizer, module);
	if (finding.module)
		find_all(&finding, stop);
	buf_add(json, "{");
	json_add_text(json, "module", module->path);
	json_add_text(json, "unit", places->unit);
	json_add_bool(json, "is_checked", *module->build_id != '\0');
	json_add_number(json, "self", places->cost.self);
	json_add_number(json, "total", places->cost.total);
	if (finding.found) {
		put_source(options, &finding, module->fd, json);
		put_instructions(options, &finding, module->fd, stop, json);
	}
	buf_add(json, "}");
	symbolizer_free(finding.symbolizer);
	free(finding.starts);
	free(finding.found);
}

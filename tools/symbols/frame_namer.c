/* frame_namer.c - names for `[libfoo.so]+0x1234 (/usr/lib/libfoo.so)` from the modules found now */
#include "tools/symbols/frame_namer.h"

#include "base/intern.h"
#include "base/map.h"
#include "base/words.h"
#include "output/text/perf_script.h"
#include "tools/cli/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MODULES = 64 * 1024, PATH_BYTES = 64 * 1024, LINE_BYTES = 64 * 1024 };
#define WAIT_NS   UINT64_C(1000000000)
#define MEM_BYTES (UINT64_C(4) << 30) /* nothing is recorded meanwhile */

struct named_module {
	const char *path;      /* as frames have it */
	const char *file;      /* as it is */
	const char *build_id;  /* "" unknown */
	struct module *module; /* NULL: not to be had */
	struct map asked;      /* addresses to name, each once */
};

struct frame_namer {
	struct symbolizer *symbolizer;
	struct intern strings;
	struct map modules; /* by the address of the interned path */
	struct frame_namer_stats stats;
	struct err why;
};

/* The main thread waits meanwhile, and says nothing. */
static void show_progress(const char *module, uint64_t bytes, uint64_t left_ns)
{
	struct buf line;

	buf_init(&line, LINE_BYTES);
	buf_add(&line, "wick: asking servers for ");
	words_plain(&line, module);
	buf_add(&line, ", ");
	words_bytes(&line, bytes);
	buf_add(&line, " so far, ");
	text_seconds(&line, left_ns);
	buf_add(&line, " left");
	say_live(buf_text(&line));
	buf_release(&line);
}

int frame_namer_new(const struct symbol_options *options, struct frame_namer **ret_namer,
		    struct err *err)
{
	struct symbolize_options symbols = {0};
	struct frame_namer *namer = calloc(1, sizeof(*namer));
	int r;

	if (!namer)
		return err_set(err, ENOMEM, "start");
	symbol_options_pass(options, &symbols);
	symbols.progress = show_progress;
	symbols.mem_limit = MEM_BYTES;
	r = symbol_options_start(&symbols, &namer->symbolizer, err);
	if (r < 0) {
		free(namer);
		return r;
	}
	*ret_namer = namer;
	return 0;
}

static void free_module(void *context, uint64_t key, void *value)
{
	struct named_module *module = value;

	(void)context;
	(void)key;
	map_release(&module->asked);
	free(module);
}

void frame_namer_free(struct frame_namer *namer)
{
	if (!namer)
		return;
	map_each(&namer->modules, free_module, NULL);
	map_release(&namer->modules);
	intern_release(&namer->strings);
	symbolizer_free(namer->symbolizer);
	free(namer);
}

void frame_namer_stats(const struct frame_namer *namer, struct frame_namer_stats *ret_stats)
{
	*ret_stats = namer->stats;
}

void frame_namer_servers(struct frame_namer *namer, struct symbolize_servers *ret_servers)
{
	symbolizer_servers(namer->symbolizer, ret_servers);
}

size_t frame_namer_modules(struct frame_namer *namer, const struct symbolize_module **ret_modules)
{
	return symbolizer_modules(namer->symbolizer, ret_modules);
}

static struct named_module *find_module(struct frame_namer *namer, const char *name, bool add)
{
	const char *path = intern_string(&namer->strings, name);
	uint64_t key = (uint64_t)(uintptr_t)path;
	struct named_module *module = path ? map_get(&namer->modules, key) : NULL;

	if (module || !path || !add || map_count(&namer->modules) >= MAX_MODULES)
		return module;
	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	module->path = path;
	module->file = path;
	module->build_id = "";
	if (map_put(&namer->modules, key, module) < 0) {
		free(module);
		return NULL;
	}
	return module;
}

void frame_namer_build_id(struct frame_namer *namer, const char *path, const char *build_id)
{
	const char *file = intern_string(&namer->strings, path);
	const char *id = intern_string(&namer->strings, build_id);
	struct named_module *module;
	struct buf shown;

	buf_init(&shown, PATH_BYTES);
	(void)sanitise_module(&shown, path);
	module = find_module(namer, buf_text(&shown), true);
	buf_release(&shown);
	if (module && file && id) {
		module->file = file;
		module->build_id = id;
	}
}

/* The hexadecimal number between TEXT and the "]" that ends it. */
static bool take_start(const char *text, uint64_t *ret_start)
{
	char *end;

	if (strncmp(text, "@0x", 3) != 0)
		return false;
	errno = 0;
	*ret_start = strtoull(text + 3, &end, 16);
	return errno == 0 && end > text + 3 && strcmp(end, "]") == 0;
}

/* A name has "_" where the path has "+". */
static bool same_base(const char *name, const char *base, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] != (base[i] == '+' ? '_' : base[i]))
			return false;
	return true;
}

/*
 * `[basename]+0xoff (/path/basename)` and `[basename@0xstart]+0xoff (...)`: what the writer makes
 * of a frame without a name.
 */
static bool is_waiting(const struct perf_frame *frame, uint64_t *ret_offset)
{
	const char *base = strrchr(frame->module, '/');
	size_t len = base ? strlen(base + 1) : 0;
	uint64_t start = 0;

	if (frame->inlined || !frame->has_offset || frame->module[0] != '/' || !len ||
	    frame->name[0] != '[' || !same_base(frame->name + 1, base + 1, len))
		return false;
	if (strcmp(frame->name + 1 + len, "]") != 0 && !take_start(frame->name + 1 + len, &start))
		return false;
	*ret_offset = start + frame->offset;
	return true;
}

void frame_namer_ask(struct frame_namer *namer, const struct perf_frame *frame, bool leaf)
{
	struct named_module *module;
	uint64_t offset;

	if (!is_waiting(frame, &offset))
		return;
	namer->stats.waiting++;
	module = find_module(namer, frame->module, true);
	if (module)
		(void)map_put(&module->asked, offset - !leaf, module);
}

static void open_module(void *context, uint64_t key, void *value)
{
	struct frame_namer *namer = context;
	struct named_module *module = value;
	struct err err = {0};

	(void)key;
	if (map_count(&module->asked) == 0)
		return;
	module->module =
		symbolizer_open(namer->symbolizer, module->file, -1, module->build_id, &err);
	if (module->module || namer->stats.missing++)
		return;
	namer->why = err;
	namer->stats.missing_path = module->path;
	namer->stats.missing_why = namer->why.text;
}

struct address_request {
	struct symbolizer *symbolizer;
	struct module *module;
};

static void ask_address(void *context, uint64_t vaddr, void *value)
{
	const struct address_request *request = context;

	(void)value;
	symbolizer_request_in(request->symbolizer, request->module, vaddr);
}

static void ask_module(void *context, uint64_t key, void *value)
{
	struct frame_namer *namer = context;
	struct named_module *module = value;
	struct address_request request = {namer->symbolizer, module->module};

	(void)key;
	if (module->module)
		map_each(&module->asked, ask_address, &request);
}

static void wait(struct frame_namer *namer)
{
	while (symbolizer_is_busy(namer->symbolizer))
		symbolizer_wait(namer->symbolizer, WAIT_NS);
}

void frame_namer_look_up(struct frame_namer *namer)
{
	map_each(&namer->modules, open_module, namer);
	wait(namer);
	map_each(&namer->modules, ask_module, namer);
	wait(namer);
	say_live("");
}

size_t frame_namer_find(struct frame_namer *namer, const struct perf_frame *frame, bool leaf,
			const struct frame **ret_frames)
{
	struct frame asked = {.addr = frame->addr, .exact = leaf};
	struct sample sample = {.n_frames = 1, .frames = &asked};
	struct named_module *module;

	if (!is_waiting(frame, &asked.module_offset))
		return 0;
	module = find_module(namer, frame->module, false);
	if (!module || !module->module)
		return 0;
	asked.module = module->path;
	(void)symbolizer_resolve_in(namer->symbolizer, module->module, &sample, true);
	if (!sample.frames[sample.n_frames - 1].symbol)
		return 0;
	namer->stats.named += sample.frames[sample.n_frames - 1].symbol[0] != '[';
	*ret_frames = sample.frames;
	return sample.n_frames;
}

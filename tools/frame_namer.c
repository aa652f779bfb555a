/* frame_namer.c - names for `[libfoo.so]+0x1234 (/usr/lib/libfoo.so)` from the file as it is now */
#include "tools/frame_namer.h"

#include "base/intern.h"
#include "base/map.h"
#include "output/perf_script.h"
#include "symbolize/symbolize.h"
#include "tools/elf_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { MAX_MODULES = 64 * 1024, LINE_BYTES = 1024 * 1024 };

/*
 * A module is mapped as a process of its own, at its own addresses: the offset in the line is
 * the address to look up.
 */
struct named_module {
	uint32_t process;
	bool readable;
};

struct frame_namer {
	struct symbolizer *symbolizer;
	struct intern paths;
	struct map modules; /* by the address of the interned path */
	struct frame_namer_stats stats;
	struct err why;
};

int frame_namer_new(struct frame_namer **ret_namer, struct err *err)
{
	const struct symbolize_options options = {.wait = true};
	struct frame_namer *namer = calloc(1, sizeof(*namer));
	int r;

	if (!namer)
		return err_set(err, ENOMEM, "start");
	r = symbolizer_new(&options, &namer->symbolizer, err);
	if (r < 0) {
		free(namer);
		return r;
	}
	*ret_namer = namer;
	return 0;
}

static void free_module(void *context, uint64_t key, void *value)
{
	(void)context;
	(void)key;
	free(value);
}

void frame_namer_free(struct frame_namer *namer)
{
	if (!namer)
		return;
	map_each(&namer->modules, free_module, NULL);
	map_release(&namer->modules);
	intern_release(&namer->paths);
	symbolizer_free(namer->symbolizer);
	free(namer);
}

void frame_namer_stats(const struct frame_namer *namer, struct frame_namer_stats *ret_stats)
{
	*ret_stats = namer->stats;
}

static void add_mappings(struct frame_namer *namer, const char *path, struct named_module *module)
{
	struct elf_range ranges[ELF_RANGES_MAX];
	struct stat st = {0};
	struct err err = {0};
	int n = elf_ranges_read(path, ranges, &err);

	if (n < 0 || stat(path, &st) < 0) {
		if (namer->stats.missing++ == 0) {
			namer->why = err;
			namer->stats.missing_path = path;
			namer->stats.missing_why = namer->why.text;
		}
		return;
	}
	module->readable = true;
	for (int i = 0; i < n; i++) {
		struct mapping mapping = {
			.process = module->process,
			.start = ranges[i].start,
			.end = ranges[i].end,
			.pgoff = ranges[i].offset,
			.dev = st.st_dev,
			.inode = st.st_ino,
			.path = path,
		};

		symbolizer_add(namer->symbolizer, &mapping);
	}
}

static const struct named_module *find_module(struct frame_namer *namer, const char *name)
{
	const char *path = intern_string(&namer->paths, name);
	uint64_t key = (uint64_t)(uintptr_t)path;
	struct named_module *module = path ? map_get(&namer->modules, key) : NULL;
	size_t n = map_count(&namer->modules);

	if (module || !path || n >= MAX_MODULES)
		return module;
	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	module->process = (uint32_t)n + 1;
	if (map_put(&namer->modules, key, module) < 0) {
		free(module);
		return NULL;
	}
	add_mappings(namer, path, module);
	return module;
}

/* `[basename]+0xoff (/path/basename)`: what the writer makes of a frame without a name. */
static bool is_waiting(const struct perf_frame *frame)
{
	const char *base = strrchr(frame->module, '/');
	size_t len = strlen(frame->name);

	return !frame->inlined && frame->has_offset && frame->module[0] == '/' && base && len > 2 &&
	       frame->name[0] == '[' && frame->name[len - 1] == ']' &&
	       strlen(base + 1) == len - 2 && strncmp(frame->name + 1, base + 1, len - 2) == 0;
}

/* The writer knows how a frame is spelt: let it write a sample and take its second line. */
static void write_frame(const struct sample *sample, struct buf *buf)
{
	const struct perf_script_options options = {.bare = true};
	struct perf_script_file file = {0};
	struct buf text;
	const char *line;

	buf_init(&text, LINE_BYTES);
	perf_script_sample(&options, &file, sample, &text);
	line = strchr(buf_text(&text), '\n');
	if (line)
		(void)buf_append(buf, line + 1, strcspn(line + 1, "\n") + 1);
	else
		buf->failed = true;
	buf_release(&text);
}

bool frame_namer_try(struct frame_namer *namer, const struct perf_frame *frame, bool leaf,
		     struct buf *buf)
{
	struct frame asked = {.addr = frame->offset, .exact = leaf};
	struct sample sample = {.n_frames = 1, .frames = &asked, .weight = 1, .comm = "wick"};
	const struct named_module *module;

	if (!is_waiting(frame))
		return false;
	namer->stats.waiting++;
	module = find_module(namer, frame->module);
	if (!module || !module->readable)
		return false;
	sample.process = module->process;
	(void)symbolizer_resolve(namer->symbolizer, &sample, true);
	if (!sample.frames[0].symbol)
		return false;
	namer->stats.named++;
	sample.frames[0].addr = frame->addr;
	write_frame(&sample, buf);
	return true;
}

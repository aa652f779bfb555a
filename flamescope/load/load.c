/* load.c - files to one profile: how each is read, and what is reported of it */
#include "flamescope/load/load.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/load/build/builder.h"
#include "flamescope/load/import/import.h"
#include "flamescope/load/internal.h"
#include "flamescope/text/newlines.h"
#include "flamescope/text/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_id {
	dev_t device;
	ino_t inode;
	size_t path;
};

static int compare_ids(const void *a, const void *b)
{
	const struct file_id *one = a;
	const struct file_id *other = b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	if (one->inode != other->inode)
		return one->inode < other->inode ? -1 : 1;
	return (one->path > other->path) - (one->path < other->path);
}

/* Of a file or pipe: of what else there is, every opening may give something new. */
static bool find_id(const char *path, struct file_id *id)
{
	struct stat st;

	if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) < 0 ||
	    (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)))
		return false;
	id->device = st.st_dev;
	id->inode = st.st_ino;
	return true;
}

int load_mark_again(const char *const *paths, size_t n, bool *ret_again)
{
	struct file_id *ids = calloc(n + 1, sizeof(*ids));
	size_t n_ids = 0;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ret_again[i] = false;
		ids[n_ids].path = i;
		n_ids += find_id(paths[i], &ids[n_ids]);
	}
	qsort(ids, n_ids, sizeof(*ids), compare_ids);
	for (size_t i = 1; i < n_ids; i++)
		if (ids[i].device == ids[i - 1].device && ids[i].inode == ids[i - 1].inode)
			ret_again[ids[i].path] = true;
	free(ids);
	return 0;
}

enum {
	MAX_THREADS = 64,
	LOOK_BYTES = 64 * 1024,           /* to know what a file is */
	PARALLEL_BYTES = 8 * 1024 * 1024, /* below, threads are not worth it */
	COUNT_BYTES = 256 * 1024,         /* at a time, of lines before a bad one */
};

#define NS_PER_S UINT64_C(1000000000)

static const uint64_t default_memory = UINT64_C(4) << 30;

struct load {
	const struct load_options *options;
	struct load_by by;
	struct budget budget;
	size_t n_readers;
	struct builder *builders[MAX_THREADS];
	struct blocks *blocks[MAX_THREADS];
	struct merge_file *files;
	size_t n_files;
	bool *again;       /* one a path: it is a file that came before */
	uint64_t at;       /* of the file that is read, of all files */
	uint64_t of_bytes; /* 0: not known */
	uint64_t began_ns; /* with the file */
};

/* Whether to go on with the file. */
static bool report_progress(void *context, uint64_t bytes)
{
	struct load *load = context;
	const struct load_options *options = load->options;

	if (options->progress &&
	    !options->progress(options->context, load->at + bytes, load->of_bytes))
		budget_fail(&load->budget, ECANCELED);
	return !budget_failed(&load->budget) &&
	       (!options->file_ns || io_now_ns() - load->began_ns <= options->file_ns);
}

/* What all files have, and whether they can be read twice. */
static bool measure(struct load *load)
{
	bool all = true;

	for (size_t i = 0; i < load->options->n_paths; i++) {
		struct stat st;

		if (load->again[i] || stat(load->options->paths[i], &st) < 0)
			continue; /* it is said when it is opened */
		all &= S_ISREG(st.st_mode);
		load->of_bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	}
	for (size_t i = 0; i < load->options->n_paths; i++)
		all &= strcmp(load->options->paths[i], "-") != 0;
	return all;
}

static int add_reader(struct load *load)
{
	size_t i = load->n_readers;
	int r;

	load->builders[i] = builder_new(&load->budget);
	load->blocks[i] = calloc(1, sizeof(*load->blocks[i]));
	r = load->builders[i] && load->blocks[i] ? blocks_init(load->blocks[i], load->builders[i])
						 : -ENOMEM;
	if (r < 0) {
		builder_free(load->builders[i]);
		free(load->blocks[i]);
		load->builders[i] = NULL;
		load->blocks[i] = NULL;
		return r;
	}
	load->builders[i]->uniques.by_offset = load->options->by_offset;
	load->blocks[i]->slow = load->by.way == LOAD_SLOW;
	load->n_readers++;
	return 0;
}

static void release_readers(struct load *load)
{
	for (size_t i = 0; i < load->n_readers; i++) {
		blocks_release(load->blocks[i]);
		free(load->blocks[i]);
		builder_free(load->builders[i]);
	}
	load->n_readers = 0;
}

static void release_files(struct load *load)
{
	for (size_t i = 0; load->files && i < load->n_files; i++) {
		free(load->files[i].file.path);
		free(load->files[i].file.problem);
	}
	free(load->files);
	load->files = NULL;
	load->n_files = 0;
}

static unsigned count_threads(const struct load *load)
{
	unsigned n = load->options->n_threads;

	if (n == 0)
		n = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	return load->by.way != LOAD_ANY || n < 1 ? 1 : n < MAX_THREADS ? n : MAX_THREADS;
}

static int compare_bad(const void *a, const void *b)
{
	const struct blocks_bad *one = a;
	const struct blocks_bad *other = b;

	if (one->at != other->at)
		return one->at < other->at ? -1 : 1;
	return (one->line > other->line) - (one->line < other->line);
}

/* How many lines end in [FROM, TO) of a file. */
static uint64_t count_lines(int fd, uint64_t from, uint64_t to)
{
	char *bytes = malloc(COUNT_BYTES);
	uint64_t lines = 0;

	while (bytes && from < to) {
		size_t want = to - from < COUNT_BYTES ? (size_t)(to - from) : COUNT_BYTES;
		ssize_t n = io_pread(fd, bytes, want, from);

		if (n <= 0)
			break;
		lines += newlines_count(bytes, bytes + n);
		from += (uint64_t)n;
	}
	free(bytes);
	return lines;
}

/* Readers count bad lines from where they began: the lines before are counted only now. */
static void list_bad(const struct load *load, int fd, struct profile_file *file)
{
	struct blocks_bad bad[MAX_THREADS * PROFILE_BAD_LINES] = {0};
	uint64_t counted = load->at;
	uint64_t lines = 0;
	size_t n = 0;

	for (size_t i = 0; i < load->n_readers; i++)
		for (size_t j = 0; j < load->blocks[i]->n_bad; j++)
			bad[n++] = load->blocks[i]->bad[j];
	qsort(bad, n, sizeof(*bad), compare_bad);
	for (size_t i = 0; i < n && i < PROFILE_BAD_LINES; i++) {
		if (bad[i].at > counted)
			lines += count_lines(fd, counted - load->at, bad[i].at - load->at);
		counted = bad[i].at;
		file->bad[i] = lines + bad[i].line;
	}
}

static int read_parallel(struct load *load, int fd, uint64_t bytes)
{
	struct parallel parallel = {.fd = fd,
				    .bytes = bytes,
				    .at = load->at,
				    .chunk_bytes = load->by.chunk_bytes,
				    .blocks = load->blocks,
				    .done = report_progress,
				    .context = load};
	unsigned n = count_threads(load);

	while (load->n_readers < n && add_reader(load) == 0)
		blocks_start_file(load->blocks[load->n_readers - 1], (uint32_t)load->n_files - 1,
				  0);
	parallel.n_blocks = load->n_readers;
	return parallel_read(&parallel);
}

/* As much as is needed to know what it is. */
static ssize_t read_head(struct source *source, char *bytes, struct err *err)
{
	size_t have = 0;

	while (have < LOOK_BYTES) {
		ssize_t n = source_read(source, bytes + have, LOOK_BYTES - have, err);

		if (n < 0 && have == 0)
			return n;
		if (n <= 0)
			break; /* what is wrong is said again by the next read */
		have += (size_t)n;
	}
	return (ssize_t)have;
}

static size_t count_samples(const struct load *load)
{
	size_t n = 0;

	for (size_t i = 0; i < load->n_readers; i++)
		n += load->builders[i]->n_samples;
	return n;
}

/* What is to say of a file without a sample, of which N_BEFORE were read before it. */
static int say_empty(const struct load *load, size_t n_before, struct err *err)
{
	for (size_t i = 0; i < load->n_readers && count_samples(load) == n_before; i++) {
		if (load->blocks[i]->stray_frames) {
			perf_text_no_times(err);
			return -EINVAL;
		}
	}
	return 0;
}

static int say_late(const struct load *load, struct err *err)
{
	(void)err_set(err, 0, "it takes longer than %llu s, and was read no further",
		      (unsigned long long)(load->options->file_ns / NS_PER_S));
	return -ETIMEDOUT;
}

/* A file that only makes sense as a whole, of which N bytes are in HEAD. */
static int read_whole(struct load *load, struct source *source, const char *head, size_t n,
		      struct import *import, struct err *err)
{
	size_t size = n + 1;
	_cleanup_free_ char *bytes = budget_grow(&load->budget, NULL, 0, size, 1);
	ssize_t more = 1;

	if (!bytes)
		return -atomic_load_explicit(&load->budget.failed, memory_order_relaxed);
	memcpy(bytes, head, n);
	while (more > 0) {
		if (n + 1 == size) {
			char *grown = budget_grow(&load->budget, bytes, size, 2 * size, 1);

			if (!grown)
				break;
			bytes = grown;
			size *= 2;
		}
		more = source_read(source, bytes + n, size - n - 1, err);
		n += more > 0 ? (size_t)more : 0;
		if (!report_progress(load, n))
			break;
	}
	import->len = n;
	if (budget_failed(&load->budget))
		return -atomic_load_explicit(&load->budget.failed, memory_order_relaxed);
	if (more != 0)
		return more < 0 ? (int)more : -ETIMEDOUT;
	bytes[n] = '\0';
	import->bytes = bytes;
	more = import_read(import, import_kind_of(bytes, n), err);
	if (budget_failed(&load->budget))
		return -atomic_load_explicit(&load->budget.failed, memory_order_relaxed);
	return (int)more;
}

static int read_source(struct load *load, struct source *source, struct profile_file *file,
		       struct err *err)
{
	size_t n_before = count_samples(load);
	_cleanup_free_ char *bytes = malloc(LOOK_BYTES);
	struct stream stream = {.blocks = load->blocks[0],
				.at = load->at,
				.done = report_progress,
				.context = load};
	struct import import = {.builder = load->builders[0],
				.at = load->at,
				.done = report_progress,
				.context = load};
	int fd = source_plain(source, &file->bytes);
	ssize_t n = bytes ? read_head(source, bytes, err) : -ENOMEM;
	uint32_t folded;
	int r;

	if (n < 0)
		return (int)n;
	if (import_kind_of(bytes, (size_t)n) != IMPORT_NONE) {
		r = read_whole(load, source, bytes, (size_t)n, &import, err);
		file->bytes = import.len;
		load->files[load->n_files - 1].folded = !import.has_times;
		return r == -ETIMEDOUT ? say_late(load, err) : r;
	}
	folded = folded_scale(bytes, (size_t)n);
	for (size_t i = 0; i < load->n_readers; i++)
		blocks_start_file(load->blocks[i], (uint32_t)load->n_files - 1, folded);
	load->files[load->n_files - 1].folded = folded != 0;
	if (fd >= 0 && !folded && load->by.way == LOAD_ANY &&
	    file->bytes >= load->by.parallel_bytes && count_threads(load) > 1) {
		r = read_parallel(load, fd, file->bytes);
	} else {
		r = stream_read(&stream, source, bytes, (size_t)n, err);
		file->bytes = stream.bytes;
	}
	if (r == -ETIMEDOUT)
		(void)say_late(load, err);
	list_bad(load, fd, file);
	for (size_t i = 0; i < load->n_readers; i++)
		file->unended |= load->blocks[i]->unended;
	return r == 0 ? say_empty(load, n_before, err) : r;
}

static int open_file(const struct load *load, size_t number, struct source **ret_source,
		     struct err *err)
{
	if (!load->again[number])
		return source_open(load->options->paths[number], ret_source, err);
	(void)err_set(err, 0, "the same file was given before: it is counted once");
	return -EEXIST;
}

/* Errors of the file are the file's; only those of the load are returned. */
static int read_file(struct load *load, size_t number)
{
	struct merge_file *file = &load->files[load->n_files++];
	struct source *source = NULL;
	struct err err = {0};
	int r;

	load->began_ns = io_now_ns();
	file->file.path = strdup(load->options->paths[number]);
	if (!file->file.path)
		return -ENOMEM;
	for (size_t i = 0; i < load->n_readers; i++)
		blocks_start_file(load->blocks[i], (uint32_t)load->n_files - 1, 0);
	r = open_file(load, number, &source, &err);
	if (r == 0)
		r = read_source(load, source, &file->file, &err);
	source_close(source);
	merge_facts(load->builders, load->n_readers, &file->facts);
	load->at += file->file.bytes;
	file->end_at = ++load->at; /* so that no two files are at one place */
	if (r == 0 || r == -EAGAIN || budget_failed(&load->budget))
		return r;
	file->file.problem = strdup(err.text);
	return file->file.problem ? 0 : -ENOMEM;
}

static bool has_overflown(const struct load *load)
{
	for (size_t i = 0; i < load->n_readers; i++)
		if (load->builders[i]->overflow)
			return true;
	return false;
}

static int read_files(struct load *load, struct profile **ret_profile)
{
	int r = add_reader(load);

	load->files = calloc(load->options->n_paths + 1, sizeof(*load->files));
	if (!load->files)
		return -ENOMEM;
	for (size_t i = 0; i < load->options->n_paths && r == 0; i++)
		r = read_file(load, i);
	/* what does not fit would depend on which thread read it */
	if (r == 0 && load->n_readers > 1 && has_overflown(load))
		r = -EAGAIN;
	if (r == 0)
		r = merge_profile(load->builders, load->n_readers, load->files, load->n_files,
				  ret_profile);
	if (r == 0 && load->n_readers > 1 && has_overflown(load)) {
		profile_free(*ret_profile);
		r = -EAGAIN;
	}
	return r;
}

static int read_once(struct load *load, struct profile **ret_profile)
{
	int r;

	load->at = 0;
	atomic_store_explicit(&load->budget.used, 0, memory_order_relaxed);
	r = read_files(load, ret_profile);
	release_readers(load);
	release_files(load);
	return r;
}

static int read_all(struct load *load, bool *again, struct profile **ret_profile, struct err *err)
{
	const struct load_options *options = load->options;
	int r = load_mark_again(options->paths, options->n_paths, again);

	if (r < 0)
		return err_set(err, -r, "load");
	text_hash_seed();
	load->budget.limit = options->memory_bytes ? options->memory_bytes : default_memory;
	if (!measure(load) && load->by.way == LOAD_ANY)
		load->by.way = LOAD_ONE;
	r = read_once(load, ret_profile);
	if (r == -EAGAIN) {
		load->by.way = LOAD_ONE;
		r = read_once(load, ret_profile);
	}
	if (r == -E2BIG) {
		(void)err_set(err, 0, "the samples and stacks need more than %llu MiB of memory",
			      (unsigned long long)(load->budget.limit >> 20));
		err_hint(err, "fewer files at once, or a recording of less time");
		return r;
	}
	if (r < 0)
		(void)err_set(err, -r, "load");
	return r < 0 ? r : 0;
}

int load_profile_by(const struct load_options *options, const struct load_by *by,
		    struct profile **ret_profile, struct err *err)
{
	bool *again = calloc(options->n_paths + 1, sizeof(*again));
	struct load load = {.options = options, .by = *by, .again = again};
	int r;

	if (!again)
		return err_set(err, ENOMEM, "load");
	r = read_all(&load, again, ret_profile, err);
	free(again);
	return r;
}

/* Only what was there all of the time, and is whole, is worth keeping. */
static void keep(const struct load_options *options, const char *key, const struct profile *profile)
{
	char now[INDEX_KEY_SIZE];

	for (size_t i = 0; i < profile->n_files; i++)
		if (profile->files[i].problem)
			return;
	if (index_key(options, now) && strcmp(now, key) == 0)
		index_write(options, key, profile);
}

int load_profile(const struct load_options *options, struct profile **ret_profile, struct err *err)
{
	static const struct load_by by = {.way = LOAD_ANY, .parallel_bytes = PARALLEL_BYTES};
	char key[INDEX_KEY_SIZE];
	bool has_key = !options->no_index && index_key(options, key);
	struct profile *profile = has_key ? index_read(options, key) : NULL;
	int r;

	if (!profile) {
		r = load_profile_by(options, &by, &profile, err);
		if (r < 0)
			return r;
		if (has_key && profile)
			keep(options, key, profile);
	}
	*ret_profile = profile;
	return 0;
}

/* inflate.c - sizes come from the file: nothing is made larger than a ratio allows */
#include "symbolize/sections/inflate.h"

#include "symbolize/bounds/loader.h"

#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

/* Decompressing 4 MiB takes some 4 ms: less is not worth a thread. */
static const size_t worth_a_thread = 4 * 1024 * 1024;
static const size_t max_inflated = (size_t)4 * 1024 * 1024 * 1024;
static const size_t huge_page = 2 * 1024 * 1024;
static const size_t piece = 1024 * 1024;

enum { GNU_HEAD_BYTES = 12, MAX_JOBS = 16 };

struct work {
	struct loader *loader;              /* of the calling thread; NULL: none */
	struct inflate_job *jobs[MAX_JOBS]; /* the largest first */
	size_t n_jobs;
	atomic_size_t next;
};

void inflate_job_gnu(struct inflate_job *job, const void *bytes, size_t n_bytes)
{
	uint64_t size;

	if (n_bytes <= GNU_HEAD_BYTES || memcmp(bytes, "ZLIB", 4) != 0)
		return;
	memcpy(&size, (const uint8_t *)bytes + 4, sizeof(size));
	*job = (struct inflate_job){
		.bytes = (const uint8_t *)bytes + GNU_HEAD_BYTES,
		.n_bytes = n_bytes - GNU_HEAD_BYTES,
		.way = INFLATE_ZLIB,
		.n_inflated = be64toh(size),
	};
}

/* Pages of 2 MiB save half of the page faults, which cost as much as the entropy. */
static void *allocate(size_t n_bytes)
{
	size_t rounded = (n_bytes + huge_page - 1) / huge_page * huge_page;
	void *bytes;

	if (n_bytes < huge_page)
		return malloc(n_bytes);
	bytes = aligned_alloc(huge_page, rounded);
	if (bytes)
		(void)madvise(bytes, rounded, MADV_HUGEPAGE);
	return bytes;
}

/* In and out in pieces, between which the loader may be told to stop. */
static bool inflate_zlib(const struct inflate_job *job, uint8_t *to)
{
	z_stream stream = {0};
	size_t in = job->n_bytes;
	size_t out = job->n_inflated;
	int r = inflateInit(&stream);

	if (r != Z_OK)
		return false;
	stream.next_in = (Bytef *)(uintptr_t)job->bytes;
	stream.next_out = to;
	while (r == Z_OK && !loader_is_stopping()) {
		uInt fed = stream.avail_in;
		uInt given = stream.avail_out;

		if (fed == 0)
			stream.avail_in = (uInt)(in < piece ? in : piece);
		if (given == 0)
			stream.avail_out = (uInt)(out < piece ? out : piece);
		in -= fed == 0 ? stream.avail_in : 0;
		out -= given == 0 ? stream.avail_out : 0;
		r = inflate(&stream, Z_NO_FLUSH); /* Z_BUF_ERROR once it cannot go on */
	}
	out += stream.avail_out;
	(void)inflateEnd(&stream);
	return r == Z_STREAM_END && out == 0;
}

/* The section may be several frames. */
static bool inflate_zstd(const struct inflate_job *job, uint8_t *to)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {.src = job->bytes, .size = job->n_bytes};
	ZSTD_outBuffer out = {.dst = to};
	size_t left = 1; /* of the frame */

	while (stream && !loader_is_stopping() && (left || in.pos < in.size)) {
		size_t before = in.pos + out.pos;

		out.size = job->n_inflated - out.pos < piece ? job->n_inflated : out.pos + piece;
		left = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(left) || in.pos + out.pos == before)
			break;
	}
	(void)ZSTD_freeDStream(stream);
	return left == 0 && in.pos == in.size && out.pos == job->n_inflated;
}

static void run(struct inflate_job *job)
{
	uint8_t *to = allocate(job->n_inflated);
	bool done;

	if (!to)
		return;
	done = job->way == INFLATE_ZSTD ? inflate_zstd(job, to) : inflate_zlib(job, to);
	if (done)
		job->inflated = to;
	else
		free(to);
}

static void *run_some(void *context)
{
	struct work *work = (struct work *)context;
	size_t i;

	loader_set_current(work->loader);
	while ((i = atomic_fetch_add(&work->next, 1)) < work->n_jobs)
		run(work->jobs[i]);
	return NULL;
}

static bool allowed(const struct inflate_job *job, size_t *left)
{
	if (!job->bytes || job->way == INFLATE_UNKNOWN || job->n_inflated == 0 ||
	    job->n_inflated > max_inflated || job->n_inflated > *left ||
	    job->n_inflated / INFLATE_MAX_RATIO > job->n_bytes)
		return false;
	*left -= job->n_inflated;
	return true;
}

static void add(struct work *work, struct inflate_job *job)
{
	size_t i = work->n_jobs++;

	for (; i > 0 && work->jobs[i - 1]->n_inflated < job->n_inflated; i--)
		work->jobs[i] = work->jobs[i - 1];
	work->jobs[i] = job;
}

void inflate_all(struct inflate_job *jobs, size_t n_jobs, size_t file_bytes)
{
	size_t left = file_bytes > SIZE_MAX / INFLATE_MAX_RATIO ? SIZE_MAX
								: file_bytes * INFLATE_MAX_RATIO;
	struct work work = {.loader = loader_current()};
	size_t n_bytes = 0;
	pthread_t second;
	bool helped = false;

	for (size_t i = 0; i < n_jobs && work.n_jobs < MAX_JOBS; i++) {
		if (!allowed(&jobs[i], &left))
			continue;
		add(&work, &jobs[i]);
		n_bytes += jobs[i].n_inflated;
	}
	if (work.n_jobs > 1 && n_bytes >= worth_a_thread)
		helped = pthread_create(&second, NULL, run_some, &work) == 0;
	(void)run_some(&work);
	if (helped)
		(void)pthread_join(second, NULL);
}

/*
 * parallel.c - chunks of a file, each read by the next free thread
 *
 * A chunk has the blocks that begin in it: from the first empty line that ends at or after its
 * start up to the first that ends at or after its end.  So no thread has to wait for another.
 */
#include "flamescope/load/internal.h"

#include "base/io.h"
#include "flamescope/text/newlines.h"

#include <errno.h>
#include <pthread.h>

enum {
	CHUNK_BYTES = 256 * 1024,    /* stays in the second level of most caches while it is read */
	TAIL_BYTES = 16 * 1024,      /* read at once after it, for the last block */
	MAX_BYTES = 2 * 1024 * 1024, /* of a chunk with its last block: what many would read */
	PAGE_BYTES = 4096,
};

struct shared {
	const struct parallel *parallel;
	uint64_t chunk_bytes;
	_Atomic uint64_t next; /* chunk; taken by one thread each, nothing else hangs on it */
	_Atomic uint64_t bytes_done;
	_Atomic bool give_up;
	_Atomic bool late; /* the caller does not want the rest */
};

struct worker {
	struct shared *shared;
	struct blocks *blocks;
	bool reports; /* what is done: it is the caller's thread */
	char *room;   /* PAGE_BYTES and MAX_BYTES, of which only what is used takes memory */
	char *bytes;  /* of the chunk, in there */
	pthread_t thread;
};

/* The bytes [FROM, FROM + LEN) of the file after the HAVE that are there; false: give up. */
static bool read_more(struct worker *worker, uint64_t from, size_t have, size_t len)
{
	return have + len <= MAX_BYTES &&
	       io_pread(worker->shared->parallel->fd, worker->bytes + have, len, from + have) ==
		       (ssize_t)len;
}

static size_t at_most(uint64_t left, size_t want)
{
	return left < want ? (size_t)left : want;
}

/* The bytes from FROM on with the last block; its length, 0 to give up. */
static size_t read_chunk(struct worker *worker, uint64_t from, size_t len, const char **ret_end)
{
	uint64_t left = worker->shared->parallel->bytes - from;
	size_t have = at_most(left, len + TAIL_BYTES);
	size_t looked = len - 2;

	if (!read_more(worker, from, 0, have))
		return 0;
	for (;;) {
		const char *bytes = worker->bytes;
		const char *empty =
			have > looked ? newlines_empty(bytes + looked, bytes + have) : NULL;
		size_t more = at_most(left - have, have);

		*ret_end = empty ? empty + 2 : NULL;
		if (empty || more == 0)
			return have;
		if (!read_more(worker, from, have, more))
			return 0;
		looked = have - 1;
		have += more;
	}
}

static bool take_chunk(struct worker *worker, uint64_t chunk)
{
	const struct parallel *parallel = worker->shared->parallel;
	size_t before = chunk ? 2 : 0; /* where the empty line may be that ends at its start */
	uint64_t chunk_bytes = worker->shared->chunk_bytes;
	uint64_t from = chunk * chunk_bytes - before;
	/*
	 * Pages of the file come to pages of memory: a copy to a few bytes further on takes three
	 * times as long with the string instructions of AMD's Zen 3.
	 */
	const char *bytes = worker->bytes = worker->room + PAGE_BYTES - before;
	const char *start = bytes;
	const char *whole;
	const char *end;
	size_t len = read_chunk(worker, from, chunk_bytes + before, &end);
	uint64_t at;

	if (len == 0)
		return false;
	if (chunk) {
		start = newlines_empty(bytes, bytes + len);
		if (!start)
			return true;
		start += 2;
	}
	if (end && start >= end)
		return true;
	at = parallel->at + from + (uint64_t)(start - bytes);
	builder_start_segment(worker->blocks->builder, at);
	blocks_start(worker->blocks, at);
	if (end) {
		blocks_take(worker->blocks, start, (size_t)(end - start), at);
		return true;
	}
	whole = newlines_last_empty(start, bytes + len);
	whole = whole ? whole + 2 : start;
	blocks_take(worker->blocks, start, (size_t)(whole - start), at);
	blocks_take_part(worker->blocks, whole, (size_t)(bytes + len - whole),
			 at + (uint64_t)(whole - start));
	return true;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct shared *shared = worker->shared;
	const struct parallel *parallel = shared->parallel;
	struct budget *budget = worker->blocks->builder->uniques.budget;
	uint64_t n_chunks = (parallel->bytes + shared->chunk_bytes - 1) / shared->chunk_bytes;

	worker->room = aligned_alloc(PAGE_BYTES, PAGE_BYTES + MAX_BYTES);
	if (!worker->room)
		atomic_store_explicit(&shared->give_up, true, memory_order_relaxed);
	for (;;) {
		uint64_t chunk = atomic_fetch_add_explicit(&shared->next, 1, memory_order_relaxed);
		uint64_t done;

		if (chunk >= n_chunks || budget_failed(budget) ||
		    atomic_load_explicit(&shared->give_up, memory_order_relaxed) ||
		    atomic_load_explicit(&shared->late, memory_order_relaxed))
			break;
		if (!take_chunk(worker, chunk))
			atomic_store_explicit(&shared->give_up, true, memory_order_relaxed);
		done = atomic_fetch_add_explicit(&shared->bytes_done, shared->chunk_bytes,
						 memory_order_relaxed);
		if (worker->reports && parallel->done &&
		    !parallel->done(parallel->context,
				    at_most(parallel->bytes, done + shared->chunk_bytes)))
			atomic_store_explicit(&shared->late, true, memory_order_relaxed);
	}
	/* The one that has read the last chunk does so after it: chunks are taken in order. */
	blocks_finish(worker->blocks);
	free(worker->room);
	return NULL;
}

int parallel_read(const struct parallel *parallel)
{
	struct shared shared = {.parallel = parallel,
				.chunk_bytes = parallel->chunk_bytes ? parallel->chunk_bytes
								     : CHUNK_BYTES};
	struct worker *workers = calloc(parallel->n_blocks, sizeof(*workers));
	struct budget *budget = parallel->blocks[0]->builder->uniques.budget;
	size_t n = 1;

	if (!workers)
		return -ENOMEM;
	for (size_t i = 0; i < parallel->n_blocks; i++) {
		workers[i] = (struct worker){.shared = &shared, .blocks = parallel->blocks[i]};
		workers[i].reports = i == 0;
	}
	/* with fewer threads than it wants it is only slower */
	while (n < parallel->n_blocks &&
	       pthread_create(&workers[n].thread, NULL, work, &workers[n]) == 0)
		n++;
	(void)work(&workers[0]);
	for (size_t i = 1; i < n; i++)
		(void)pthread_join(workers[i].thread, NULL);
	free(workers);
	if (atomic_load_explicit(&shared.give_up, memory_order_relaxed))
		return -EAGAIN;
	if (!budget_failed(budget) && atomic_load_explicit(&shared.late, memory_order_relaxed))
		return -ETIMEDOUT;
	return -atomic_load_explicit(&budget->failed, memory_order_relaxed);
}

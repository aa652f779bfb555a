/* packed.c - pack and gzip; both live in memfds, so that neither is ever in the heap as a whole */
#include "flamescope/serve/packs.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/pack/pack.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* How many samples are before NS since the profile's start. */
static size_t n_before(const struct profile *profile, uint64_t ns)
{
	size_t low = 0;
	size_t high = profile->n_samples;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (profile->times_ns[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void skip(struct profile *view, size_t n)
{
	view->n_samples -= n;
	view->threads += n;
	view->stacks += n;
	view->weights += n;
	view->cpus += n;
	view->events += n;
	for (size_t i = 0; i < view->n_tags; i++)
		view->tags[i].codes += n;
	for (size_t i = 0; i < view->n_metrics; i++) {
		view->metrics[i].values += n;
		view->metrics[i].deltas += n;
	}
}

/* What the start is later by, if there is a sample from then on. */
static bool later_by(const struct profile *profile, int64_t from_ns, uint64_t *ret_ns)
{
	const int64_t start_ns = (int64_t)profile->start_ns;
	int64_t own_ns;

	if (!profile->has_epoch || !profile->n_samples || start_ns < 0 ||
	    __builtin_sub_overflow(from_ns, profile->epoch_offset_ns, &own_ns) ||
	    own_ns <= start_ns || (uint64_t)(own_ns - start_ns) > profile->length_ns)
		return false;
	*ret_ns = (uint64_t)(own_ns - start_ns);
	return true;
}

int trim_before(const struct profile *profile, int64_t from_ns, struct profile *ret_view,
		uint64_t **ret_times)
{
	uint64_t later_ns = 0;
	uint64_t first_ns;
	uint64_t *times;
	size_t n;

	*ret_view = *profile;
	*ret_times = NULL;
	if (!later_by(profile, from_ns, &later_ns))
		return 0;
	n = n_before(profile, later_ns);
	if (n == 0)
		return 0;
	times = malloc((profile->n_samples - n) * sizeof(*times));
	if (!times)
		return -ENOMEM;
	first_ns = profile->times_ns[n];
	for (size_t i = n; i < profile->n_samples; i++)
		times[i - n] = profile->times_ns[i] - first_ns;
	skip(ret_view, n);
	ret_view->times_ns = times;
	ret_view->start_ns += first_ns;
	ret_view->length_ns -= first_ns;
	*ret_times = times;
	return 0;
}

enum {
	BLOCK = 256 * 1024, /* that a thread compresses at a time */
	PROBE = 16 * 1024,  /* that it tries first */
	ROOM = BLOCK + BLOCK / 64,
	MAX_THREADS = 8,
	RAW_BITS = -15, /* zlib's word for "neither head nor end": those are of all blocks */
	/* Two steps more make a file 3 % smaller and take half as long again: a person waits. */
	LEVEL = 1,
};

/* What threads share.  They take blocks in order, and write them in order: one file comes of it. */
struct zipping {
	int from, to;
	uint64_t n_bytes;
	size_t n_blocks;
	const _Atomic bool *stop; /* NULL: nothing does */
	pthread_mutex_t lock;     /* of what follows */
	pthread_cond_t is_written;
	size_t next;    /* block that nobody has taken */
	size_t written; /* blocks */
	uint64_t total; /* bytes written */
	uLong crc;      /* of the blocks that are written */
	int error;
};

/* A block in the hands of one thread. */
struct block {
	z_stream stream;
	size_t number;
	size_t n_in, n_out;
	unsigned char in[BLOCK];
	unsigned char out[ROOM];
};

static int write_bytes(struct zipping *zipping, const void *bytes, size_t n)
{
	zipping->total += n;
	return io_write_all(zipping->to, bytes, n, NULL);
}

/* Bytes that N of a block become; 0: it does not work. */
static size_t deflated(struct block *block, int strategy, size_t n, int flush)
{
	z_stream *stream = &block->stream;

	if (deflateReset(stream) != Z_OK || deflateParams(stream, LEVEL, strategy) != Z_OK)
		return 0;
	stream->next_in = block->in;
	stream->avail_in = (uInt)n;
	stream->next_out = block->out;
	stream->avail_out = ROOM;
	if (deflate(stream, flush) == Z_STREAM_ERROR || stream->avail_out == 0)
		return 0;
	return ROOM - stream->avail_out;
}

/*
 * Where little repeats, as in most columns of metrics, it takes longest to search for that: letters
 * by how often they occur are as small then, in half the time.
 */
static int compress_block(const struct zipping *zipping, struct block *block)
{
	const bool is_last = block->number + 1 == zipping->n_blocks;
	ssize_t n = io_pread(zipping->from, block->in, BLOCK, (uint64_t)block->number * BLOCK);
	size_t probe = n < PROBE ? (size_t)n : PROBE;
	bool repeats;

	if (n < 0)
		return (int)n;
	block->n_in = (size_t)n;
	repeats = deflated(block, Z_DEFAULT_STRATEGY, probe, Z_FINISH) <
		  deflated(block, Z_HUFFMAN_ONLY, probe, Z_FINISH);
	block->n_out = deflated(block, repeats ? Z_DEFAULT_STRATEGY : Z_HUFFMAN_ONLY, (size_t)n,
				is_last ? Z_FINISH : Z_SYNC_FLUSH);
	return block->n_out ? 0 : -EIO;
}

/* The next one; false: there is none, or it is of no use any more. */
static bool take_block(struct zipping *zipping, struct block *block)
{
	bool taken;

	(void)pthread_mutex_lock(&zipping->lock);
	if (zipping->stop && atomic_load_explicit(zipping->stop, memory_order_relaxed))
		zipping->error = -ECANCELED;
	taken = zipping->error == 0 && zipping->next < zipping->n_blocks;
	if (taken)
		block->number = zipping->next++;
	(void)pthread_mutex_unlock(&zipping->lock);
	return taken;
}

/* After the blocks before it; R is what became of it. */
static void write_block(struct zipping *zipping, const struct block *block, int r)
{
	const uLong crc = r == 0 ? crc32_z(crc32(0, NULL, 0), block->in, block->n_in) : 0;

	(void)pthread_mutex_lock(&zipping->lock);
	while (zipping->written != block->number)
		(void)pthread_cond_wait(&zipping->is_written, &zipping->lock);
	if (zipping->error == 0 && r == 0)
		r = write_bytes(zipping, block->out, block->n_out);
	if (zipping->error == 0)
		zipping->error = r;
	zipping->crc = crc32_combine(zipping->crc, crc, (z_off_t)block->n_in);
	zipping->written++;
	(void)pthread_cond_broadcast(&zipping->is_written);
	(void)pthread_mutex_unlock(&zipping->lock);
}

static void *zip_blocks(void *argument)
{
	struct zipping *zipping = argument;
	struct block *block = calloc(1, sizeof(*block));

	if (block && deflateInit2(&block->stream, LEVEL, Z_DEFLATED, RAW_BITS, 8,
				  Z_DEFAULT_STRATEGY) == Z_OK) {
		while (take_block(zipping, block))
			write_block(zipping, block, compress_block(zipping, block));
		(void)deflateEnd(&block->stream);
	}
	free(block);
	return NULL;
}

/* The blocks are all written, or it is an error that they are not. */
static void zip_by_threads(struct zipping *zipping)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[MAX_THREADS];
	size_t n = 0;

	/* the caller is one; with fewer than it wants it is only slower */
	while (n + 1 < MAX_THREADS && (long)n + 1 < cpus && n + 1 < zipping->n_blocks &&
	       pthread_create(&threads[n], NULL, zip_blocks, zipping) == 0)
		n++;
	(void)zip_blocks(zipping);
	for (size_t i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
	if (zipping->error == 0 && zipping->written < zipping->n_blocks)
		zipping->error = -ENOMEM;
}

/* RFC 1952 */
static int gzip(struct zipping *zipping)
{
	static const unsigned char head[10] = {0x1f, 0x8b, Z_DEFLATED, [9] = 3 /* Unix */};
	uint32_t end[2];
	int r = write_bytes(zipping, head, sizeof(head));

	if (r < 0)
		return r;
	zip_by_threads(zipping);
	end[0] = (uint32_t)zipping->crc;
	end[1] = (uint32_t)zipping->n_bytes;
	return zipping->error ? zipping->error : write_bytes(zipping, end, sizeof(end));
}

int packed_make(const struct profile *profile, const _Atomic bool *stop, int *ret_fd,
		uint64_t *ret_bytes, struct err *err)
{
	_cleanup_fd_ int plain = memfd_create("wick-pack", MFD_CLOEXEC);
	_cleanup_fd_ int zipped = memfd_create("wick-pack-gz", MFD_CLOEXEC);
	struct zipping zipping = {.from = plain,
				  .to = zipped,
				  .stop = stop,
				  .lock = PTHREAD_MUTEX_INITIALIZER,
				  .is_written = PTHREAD_COND_INITIALIZER};
	struct stat st;
	int r;

	if (plain < 0 || zipped < 0)
		return err_set(err, errno, "no memory for a pack");
	r = pack_write(profile, plain, err);
	if (r < 0)
		return r;
	r = fstat(plain, &st) == 0 ? 0 : -errno;
	zipping.n_bytes = (uint64_t)st.st_size;
	zipping.n_blocks = (size_t)((zipping.n_bytes + BLOCK - 1) / BLOCK);
	if (r == 0)
		r = gzip(&zipping);
	if (r < 0)
		return err_set(err, -r, "cannot compress a pack");
	*ret_bytes = zipping.total;
	*ret_fd = steal_fd(&zipped);
	return 0;
}

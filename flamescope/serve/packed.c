/* packed.c - pack and gzip; both live in memfds, so that neither is ever in the heap as a whole */
#include "flamescope/serve/packs.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/pack/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
	CHUNK = 256 * 1024,
	GZIP_BITS = 15 + 16, /* zlib's word for "a gzip header" */
	/* A step more makes a file a tenth smaller and takes twice as long: a person waits. */
	LEVEL = 3,
};

struct deflating {
	z_stream stream;
	const _Atomic bool *stop; /* NULL: nothing does */
	unsigned char in[CHUNK];
	unsigned char out[CHUNK];
};

/* What deflate has to say about the bytes in `in`, until it wants more (or has ended). */
static int drain(struct deflating *deflating, int flush, int to, uint64_t *total)
{
	z_stream *stream = &deflating->stream;
	int r;

	do {
		size_t len;

		stream->next_out = deflating->out;
		stream->avail_out = CHUNK;
		if (deflate(stream, flush) == Z_STREAM_ERROR)
			return -EIO;
		len = CHUNK - stream->avail_out;
		r = io_write_all(to, deflating->out, len, NULL);
		if (r < 0)
			return r;
		*total += len;
	} while (stream->avail_out == 0);
	return 0;
}

static int deflate_all(struct deflating *deflating, int from, int to, uint64_t *total)
{
	uint64_t at = 0;
	ssize_t n;
	int r;

	do {
		if (deflating->stop && atomic_load_explicit(deflating->stop, memory_order_relaxed))
			return -ECANCELED;
		n = io_pread(from, deflating->in, CHUNK, at);
		if (n < 0)
			return (int)n;
		at += (uint64_t)n;
		deflating->stream.next_in = deflating->in;
		deflating->stream.avail_in = (uInt)n;
		r = drain(deflating, n < CHUNK ? Z_FINISH : Z_NO_FLUSH, to, total);
		if (r < 0)
			return r;
	} while (n == CHUNK);
	return 0;
}

static int gzip(int from, const _Atomic bool *stop, int to, uint64_t *ret_bytes)
{
	_cleanup_free_ struct deflating *deflating = calloc(1, sizeof(*deflating));
	int r;

	if (!deflating)
		return -ENOMEM;
	deflating->stop = stop;
	if (deflateInit2(&deflating->stream, LEVEL, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	*ret_bytes = 0;
	r = deflate_all(deflating, from, to, ret_bytes);
	(void)deflateEnd(&deflating->stream);
	return r;
}

int packed_make(const struct profile *profile, const _Atomic bool *stop, int *ret_fd,
		uint64_t *ret_bytes, struct err *err)
{
	_cleanup_fd_ int plain = memfd_create("wick-pack", MFD_CLOEXEC);
	_cleanup_fd_ int zipped = memfd_create("wick-pack-gz", MFD_CLOEXEC);
	int r;

	if (plain < 0 || zipped < 0)
		return err_set(err, errno, "no memory for a pack");
	r = pack_write(profile, plain, err);
	if (r < 0)
		return r;
	r = gzip(plain, stop, zipped, ret_bytes);
	if (r < 0)
		return err_set(err, -r, "cannot compress a pack");
	*ret_fd = steal_fd(&zipped);
	return 0;
}

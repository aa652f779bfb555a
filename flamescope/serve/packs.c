/* packs.c - a queue, threads that load, and the packs that were made last */
#include "flamescope/serve/packs.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/load/load.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { KEY_BYTES = 4 * 1024 * 1024, PATH_BYTES = 32, NICE = 10 };

/* A file that changed so lately grows: what is read of it is not worth an index. */
#define STEADY_NS    INT64_C(60000000000)
#define MEMORY_BYTES (UINT64_C(2) << 30)
#define NS_PER_S     UINT64_C(1000000000)

/* The bytes of a pack, kept while a response sends them or the cache has them. */
struct packs_bytes {
	int fd;
	uint64_t bytes;
	unsigned n_users;         /* under the mutex */
	struct packs_bytes *next; /* of those without a user */
};

/* Which files a pack was made of, and what they were then. */
struct kept {
	char *key;
	struct packs_bytes *pack;
	size_t n_files;
	uint64_t used; /* counts up */
};

struct packs {
	struct catalog *catalog;
	pthread_t threads[PACKS_LOADERS];
	size_t n_threads;
	uint64_t max_bytes;
	_Atomic bool ending;
	pthread_mutex_t mutex; /* of all that is below */
	pthread_cond_t asked;  /* or done: there may be work */
	struct packs_request *first;
	struct packs_request **last;
	size_t n_waiting;
	struct packs_request *loading[PACKS_LOADERS]; /* NULL: none */
	size_t n_began;                               /* threads that have a place there */
	uint64_t held_bytes;                          /* of all packs that have a user */
	struct kept kept[PACKS_KEPT];
	uint64_t clock;
};

/* The files of a request, open. */
struct opened {
	size_t n;
	int *fds;
	const char **names;
	char (*paths)[PATH_BYTES];
	struct buf key;
	bool is_steady;
	const _Atomic bool *ending;
	uint64_t until_ns; /* loading ends then */
	bool is_whole;     /* set by load(): nothing of them was left out */
};

static void close_all(struct opened *opened)
{
	for (size_t i = 0; i < opened->n; i++)
		(void)close(opened->fds[i]);
	free(opened->fds);
	free(opened->names);
	free(opened->paths);
	buf_release(&opened->key);
}

/* Files that have gone are no failure as long as one is left: a recorder deletes old segments. */
static int open_all(struct packs *packs, const struct packs_request *request, struct opened *opened)
{
	const int64_t now_ns = (int64_t)io_realtime_ns();
	int r = -ENOENT;

	*opened = (struct opened){.is_steady = true,
				  .ending = &packs->ending,
				  .until_ns = io_now_ns() + PACKS_LOAD_S * NS_PER_S};
	buf_init(&opened->key, KEY_BYTES);
	buf_printf(&opened->key, "%lld\n", (long long)request->from_ns);
	opened->fds = calloc(request->n_names, sizeof(*opened->fds));
	opened->names = calloc(request->n_names, sizeof(*opened->names));
	opened->paths = calloc(request->n_names, sizeof(*opened->paths));
	if (!opened->fds || !opened->names || !opened->paths)
		return -ENOMEM;
	for (size_t i = 0; i < request->n_names; i++) {
		struct catalog_stamp stamp;
		int fd = catalog_open(packs->catalog, request->names[i], &stamp);

		if (fd < 0) {
			r = fd;
			continue;
		}
		(void)snprintf(opened->paths[opened->n], PATH_BYTES, "/proc/self/fd/%d", fd);
		opened->names[opened->n] = request->names[i];
		opened->fds[opened->n++] = fd;
		if (now_ns - stamp.mtime_ns < STEADY_NS)
			opened->is_steady = false;
		buf_printf(&opened->key, "%s/%llx:%llx:%llu:%lld\n", request->names[i],
			   (unsigned long long)stamp.dev, (unsigned long long)stamp.ino,
			   (unsigned long long)stamp.bytes, (long long)stamp.mtime_ns);
	}
	if (opened->key.failed)
		return -ENOMEM;
	return opened->n ? 0 : r;
}

/* What was wrong with a file, with its name for its descriptor's.  NULL: nothing was. */
static char *renamed(const char *problem, const char *path, const char *name)
{
	const char *at = problem ? strstr(problem, path) : NULL;
	char *text = NULL;

	if (at &&
	    asprintf(&text, "%.*s%s%s", (int)(at - problem), problem, name, at + strlen(path)) < 0)
		return NULL;
	return text ? text : problem ? strdup(problem) : NULL;
}

/* In the view the files are called what the reader knows them by, not by their descriptors. */
static int pack_named(struct profile *view, const struct opened *opened, struct packs_bytes *made,
		      struct err *err)
{
	const size_t n = view->n_files == opened->n ? opened->n : 0;
	_cleanup_free_ struct profile_file *files = calloc(n + 1, sizeof(*files));
	struct profile_file *own = view->files;
	int r;

	if (!files)
		return err_set(err, ENOMEM, "load %zu files", opened->n);
	for (size_t i = 0; i < n; i++) {
		files[i] = own[i];
		files[i].path = (char *)opened->names[i];
		files[i].problem = renamed(own[i].problem, opened->paths[i], opened->names[i]);
	}
	view->files = files;
	view->n_files = n;
	r = packed_make(view, opened->ending, &made->fd, &made->bytes, err);
	for (size_t i = 0; i < n; i++)
		free(files[i].problem);
	return r;
}

static int pack_from(const struct profile *profile, int64_t from_ns, const struct opened *opened,
		     struct packs_bytes *made, struct err *err)
{
	_cleanup_free_ uint64_t *times = NULL;
	struct profile view;
	int r = trim_before(profile, from_ns, &view, &times);

	return r < 0 ? err_set(err, -r, "load %zu files", opened->n)
		     : pack_named(&view, opened, made, err);
}

/* Called between the parts of what is read. */
static bool goes_on(void *context, uint64_t done_bytes, uint64_t of_bytes)
{
	const struct opened *opened = context;

	(void)done_bytes;
	(void)of_bytes;
	return io_now_ns() < opened->until_ns &&
	       !atomic_load_explicit(opened->ending, memory_order_relaxed);
}

static int say_given_up(const struct opened *opened, struct err *err)
{
	if (atomic_load_explicit(opened->ending, memory_order_relaxed))
		return err_set(err, ECANCELED, "the server ends");
	(void)err_set(err, 0, "they take longer than %d s to load", PACKS_LOAD_S);
	err_hint(err, "fewer recordings at once, or: again later");
	return -ETIMEDOUT;
}

static bool has_problem(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_files; i++)
		if (profile->files[i].problem)
			return true;
	return false;
}

static int load(struct opened *opened, int64_t from_ns, struct packs_bytes *made, struct err *err)
{
	_cleanup_free_ const char **paths = calloc(opened->n, sizeof(char *));
	struct load_options options = {
		.paths = paths,
		.n_paths = opened->n,
		.memory_bytes = MEMORY_BYTES,
		.no_index = !opened->is_steady,
		.file_ns = PACKS_FILE_S * NS_PER_S,
		.progress = goes_on,
		.context = opened,
	};
	struct profile *profile = NULL;
	int r;

	if (!paths)
		return err_set(err, ENOMEM, "load %zu files", opened->n);
	for (size_t i = 0; i < opened->n; i++)
		paths[i] = opened->paths[i];
	r = load_profile(&options, &profile, err);
	if (r == 0) {
		opened->is_whole = !has_problem(profile);
		r = pack_from(profile, from_ns, opened, made, err);
	}
	profile_free(profile);
	return r == -ECANCELED ? say_given_up(opened, err) : r;
}

/* The caller has the mutex, and hands GONE to release_gone() without it: that takes its time. */
static void let_go(struct packs *packs, struct packs_bytes *pack, struct packs_bytes **gone)
{
	if (--pack->n_users)
		return;
	packs->held_bytes -= pack->bytes;
	pack->next = *gone;
	*gone = pack;
}

static void release_gone(struct packs_bytes *gone)
{
	while (gone) {
		struct packs_bytes *next = gone->next;

		(void)close(gone->fd);
		free(gone);
		gone = next;
	}
}

static void evict(struct packs *packs, struct kept *kept, struct packs_bytes **gone)
{
	if (kept->key)
		let_go(packs, kept->pack, gone);
	free(kept->key);
	*kept = (struct kept){0};
}

/* IDLE: of those that no response sends. */
static struct kept *oldest_kept(struct packs *packs, bool idle)
{
	struct kept *oldest = NULL;

	for (size_t i = 0; i < PACKS_KEPT; i++) {
		struct kept *kept = &packs->kept[i];

		if (kept->key && (!idle || kept->pack->n_users == 1) &&
		    (!oldest || kept->used < oldest->used))
			oldest = kept;
	}
	return oldest;
}

/* Room for one more of BYTES: the longest unused go.  NULL: it is too large to be kept. */
static struct kept *free_place(struct packs *packs, uint64_t bytes, struct packs_bytes **gone)
{
	if (bytes > PACKS_KEPT_BYTES)
		return NULL;
	for (;;) {
		struct kept *free_one = NULL;
		uint64_t sum = bytes;

		for (size_t i = 0; i < PACKS_KEPT; i++) {
			struct kept *kept = &packs->kept[i];

			if (!kept->key)
				free_one = kept;
			else
				sum += kept->pack->bytes;
		}
		if (free_one && sum <= PACKS_KEPT_BYTES)
			return free_one;
		evict(packs, oldest_kept(packs, false), gone);
	}
}

/* Whether one more may be made; packs that no response sends are removed first. */
static bool may_hold_more(struct packs *packs)
{
	struct packs_bytes *gone = NULL;
	struct kept *idle;
	bool full;

	(void)pthread_mutex_lock(&packs->mutex);
	while ((full = packs->held_bytes >= packs->max_bytes) && (idle = oldest_kept(packs, true)))
		evict(packs, idle, &gone);
	(void)pthread_mutex_unlock(&packs->mutex);
	release_gone(gone);
	return !full;
}

/* Gives the request a descriptor of its own; the caller has the mutex. */
static int answer_with(struct packs_bytes *pack, size_t n_files, struct packs_request *request)
{
	int fd = fcntl(pack->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return err_set(&request->err, errno, "open a pack");
	pack->n_users++;
	request->fd = fd;
	request->bytes = pack->bytes;
	request->n_files = n_files;
	request->pack = pack;
	return 0;
}

/* Whether it was answered with what is kept; *RET_R says how that went. */
static bool answer_kept(struct packs *packs, const char *key, struct packs_request *request,
			int *ret_r)
{
	bool found = false;

	(void)pthread_mutex_lock(&packs->mutex);
	for (size_t i = 0; i < PACKS_KEPT && !found; i++) {
		struct kept *kept = &packs->kept[i];

		found = kept->key && strcmp(kept->key, key) == 0;
		if (!found)
			continue;
		kept->used = ++packs->clock;
		*ret_r = answer_with(kept->pack, kept->n_files, request);
	}
	(void)pthread_mutex_unlock(&packs->mutex);
	return found;
}

/* What was not read to its end is read again when it is requested again. */
static int answer_made(struct packs *packs, struct opened *opened, struct packs_bytes *pack,
		       struct packs_request *request)
{
	char *key = opened->is_whole ? strdup(buf_text(&opened->key)) : NULL;
	struct packs_bytes *gone = NULL;
	struct kept *place;
	int r;

	pack->n_users = 1;
	(void)pthread_mutex_lock(&packs->mutex);
	packs->held_bytes += pack->bytes;
	r = answer_with(pack, opened->n, request);
	place = key ? free_place(packs, pack->bytes, &gone) : NULL;
	if (place)
		*place = (struct kept){
			.key = key, .pack = pack, .n_files = opened->n, .used = ++packs->clock};
	else
		let_go(packs, pack, &gone);
	(void)pthread_mutex_unlock(&packs->mutex);
	if (!place)
		free(key);
	release_gone(gone);
	return r;
}

static int make(struct packs *packs, struct opened *opened, struct packs_request *request)
{
	struct packs_bytes *pack;
	int r;

	if (!may_hold_more(packs))
		return err_set(&request->err, EBUSY, "too much is being sent");
	pack = calloc(1, sizeof(*pack));
	if (!pack)
		return err_set(&request->err, ENOMEM, "no memory for a pack");
	r = load(opened, request->from_ns, pack, &request->err);
	if (r < 0) {
		free(pack);
		return r;
	}
	return answer_made(packs, opened, pack, request);
}

static int serve(struct packs *packs, struct packs_request *request)
{
	struct opened opened;
	int r = open_all(packs, request, &opened);

	if (r < 0)
		(void)err_set(&request->err, -r, "'%s'", request->n_names ? request->names[0] : "");
	else if (!answer_kept(packs, buf_text(&opened.key), request, &r))
		r = make(packs, &opened, request);
	close_all(&opened);
	return r;
}

static bool is_same(const struct packs_request *left, const struct packs_request *right)
{
	if (left->n_names != right->n_names || left->from_ns != right->from_ns)
		return false;
	for (size_t i = 0; i < left->n_names; i++)
		if (strcmp(left->names[i], right->names[i]) != 0)
			return false;
	return true;
}

/* A request for what is being loaded waits for it, and takes no other thread. */
static bool is_loading(const struct packs *packs, const struct packs_request *request)
{
	for (size_t i = 0; i < PACKS_LOADERS; i++)
		if (packs->loading[i] && is_same(packs->loading[i], request))
			return true;
	return false;
}

/* The first that can be loaded, out of the queue; NULL: there is none. */
static struct packs_request *take_request(struct packs *packs)
{
	const bool ending = atomic_load_explicit(&packs->ending, memory_order_relaxed);
	struct packs_request **at = &packs->first;
	struct packs_request *request;

	while (*at && !ending && is_loading(packs, *at))
		at = &(*at)->next;
	request = *at;
	if (!request)
		return NULL;
	*at = request->next;
	if (!*at)
		packs->last = at;
	packs->n_waiting--;
	if (ending)
		request->error = -ECANCELED;
	return request;
}

static struct packs_request *next_request(struct packs *packs, struct packs_request **loading)
{
	struct packs_request *request;

	(void)pthread_mutex_lock(&packs->mutex);
	while (!(request = take_request(packs)) &&
	       !atomic_load_explicit(&packs->ending, memory_order_relaxed))
		(void)pthread_cond_wait(&packs->asked, &packs->mutex);
	*loading = request;
	(void)pthread_mutex_unlock(&packs->mutex);
	return request;
}

/* From done() on the request belongs to the caller again. */
static void finish(struct packs *packs, struct packs_request **loading)
{
	struct packs_request *request = *loading;

	(void)pthread_mutex_lock(&packs->mutex);
	*loading = NULL;
	(void)pthread_cond_broadcast(&packs->asked);
	(void)pthread_mutex_unlock(&packs->mutex);
	request->done(request->context);
}

/* The place of a thread that begins, where it says what it is loading. */
static struct packs_request **take_place(struct packs *packs)
{
	size_t i;

	(void)pthread_mutex_lock(&packs->mutex);
	i = packs->n_began++;
	(void)pthread_mutex_unlock(&packs->mutex);
	return &packs->loading[i];
}

static void *work(void *argument)
{
	struct packs *packs = argument;
	struct packs_request **loading = take_place(packs);
	struct packs_request *request;

	/* Requests for the list come first.  Threads of the loader inherit this priority. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	while ((request = next_request(packs, loading))) {
		if (request->error)
			(void)err_set(&request->err, ECANCELED, "the server ends");
		else
			request->error = serve(packs, request);
		finish(packs, loading);
	}
	return NULL;
}

int packs_new(struct catalog *catalog, uint64_t max_bytes, struct packs **ret_packs,
	      struct err *err)
{
	struct packs *packs = calloc(1, sizeof(*packs));
	int r = 0;

	if (!packs)
		return err_set(err, ENOMEM, "serve");
	packs->catalog = catalog;
	packs->max_bytes = max_bytes;
	packs->last = &packs->first;
	(void)pthread_mutex_init(&packs->mutex, NULL);
	(void)pthread_cond_init(&packs->asked, NULL);
	while (r == 0 && packs->n_threads < PACKS_LOADERS) {
		r = pthread_create(&packs->threads[packs->n_threads], NULL, work, packs);
		packs->n_threads += r == 0;
	}
	/* with fewer threads than it wants it is only slower */
	if (packs->n_threads == 0) {
		packs_free(packs);
		return err_set(err, r, "start a thread");
	}
	*ret_packs = packs;
	return 0;
}

int packs_queue(struct packs *packs, struct packs_request *request)
{
	int r = 0;

	request->next = NULL;
	request->error = 0;
	request->fd = -1;
	request->pack = NULL;
	(void)pthread_mutex_lock(&packs->mutex);
	if (packs->n_waiting == PACKS_MAX_QUEUE ||
	    atomic_load_explicit(&packs->ending, memory_order_relaxed)) {
		r = -EBUSY;
	} else {
		*packs->last = request;
		packs->last = &request->next;
		packs->n_waiting++;
		(void)pthread_cond_broadcast(&packs->asked);
	}
	(void)pthread_mutex_unlock(&packs->mutex);
	return r;
}

void packs_release(struct packs *packs, struct packs_request *request)
{
	struct packs_bytes *gone = NULL;

	if (request->fd >= 0)
		(void)close(request->fd);
	request->fd = -1;
	if (request->pack) {
		(void)pthread_mutex_lock(&packs->mutex);
		let_go(packs, request->pack, &gone);
		(void)pthread_mutex_unlock(&packs->mutex);
		release_gone(gone);
	}
	request->pack = NULL;
}

void packs_stop(struct packs *packs)
{
	(void)pthread_mutex_lock(&packs->mutex);
	atomic_store_explicit(&packs->ending, true, memory_order_relaxed);
	(void)pthread_cond_broadcast(&packs->asked);
	(void)pthread_mutex_unlock(&packs->mutex);
	for (size_t i = 0; i < packs->n_threads; i++)
		(void)pthread_join(packs->threads[i], NULL);
}

void packs_free(struct packs *packs)
{
	struct packs_bytes *gone = NULL;

	if (!packs)
		return;
	for (size_t i = 0; i < PACKS_KEPT; i++)
		evict(packs, &packs->kept[i], &gone);
	release_gone(gone);
	(void)pthread_cond_destroy(&packs->asked);
	(void)pthread_mutex_destroy(&packs->mutex);
	free(packs);
}

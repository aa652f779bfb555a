/* packs.c - a queue, a thread, and the packs that were made last */
#include "flamescope/serve/packs.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/load/load.h"
#include "flamescope/serve/packed.h"
#include "flamescope/serve/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 4 * 1024 * 1024, PATH_BYTES = 32 };

/* A file that changed so lately grows: what is read of it is not worth an index. */
#define STEADY_NS    INT64_C(60000000000)
#define MEMORY_BYTES (UINT64_C(2) << 30)

/* The bytes of a pack, as long as anybody has them: who is sent them, and who keeps them. */
struct packs_bytes {
	int fd;
	uint64_t bytes;
	unsigned n_users; /* under the mutex */
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
	pthread_t thread;
	uint64_t max_bytes;
	pthread_mutex_t mutex; /* of the queue, and of who has what */
	pthread_cond_t asked;
	struct packs_wish *first;
	struct packs_wish **last;
	size_t n_waiting;
	uint64_t held_bytes; /* of all packs that anybody has */
	bool ending;
	struct kept kept[PACKS_KEPT]; /* the thread's own */
	uint64_t clock;
};

/* The files of a wish, open. */
struct opened {
	size_t n;
	int *fds;
	const char **names;
	char (*paths)[PATH_BYTES];
	struct buf key;
	bool is_steady;
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
static int open_all(struct packs *packs, const struct packs_wish *wish, struct opened *opened)
{
	const int64_t now_ns = (int64_t)io_realtime_ns();
	int r = -ENOENT;

	*opened = (struct opened){.is_steady = true};
	buf_init(&opened->key, KEY_BYTES);
	buf_printf(&opened->key, "%lld\n", (long long)wish->from_ns);
	opened->fds = calloc(wish->n_names, sizeof(*opened->fds));
	opened->names = calloc(wish->n_names, sizeof(*opened->names));
	opened->paths = calloc(wish->n_names, sizeof(*opened->paths));
	if (!opened->fds || !opened->names || !opened->paths)
		return -ENOMEM;
	for (size_t i = 0; i < wish->n_names; i++) {
		struct catalog_stamp stamp;
		int fd = catalog_open(packs->catalog, wish->names[i], &stamp);

		if (fd < 0) {
			r = fd;
			continue;
		}
		(void)snprintf(opened->paths[opened->n], PATH_BYTES, "/proc/self/fd/%d", fd);
		opened->names[opened->n] = wish->names[i];
		opened->fds[opened->n++] = fd;
		if (now_ns - stamp.mtime_ns < STEADY_NS)
			opened->is_steady = false;
		buf_printf(&opened->key, "%s/%llx:%llx:%llu:%lld\n", wish->names[i],
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
	r = packed_make(view, &made->fd, &made->bytes, err);
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

static int load(const struct opened *opened, int64_t from_ns, struct packs_bytes *made,
		struct err *err)
{
	_cleanup_free_ const char **paths = calloc(opened->n, sizeof(char *));
	struct load_options options = {
		.paths = paths,
		.n_paths = opened->n,
		.memory_bytes = MEMORY_BYTES,
		.no_index = !opened->is_steady,
	};
	struct profile *profile = NULL;
	int r;

	if (!paths)
		return err_set(err, ENOMEM, "load %zu files", opened->n);
	for (size_t i = 0; i < opened->n; i++)
		paths[i] = opened->paths[i];
	r = load_profile(&options, &profile, err);
	if (r == 0)
		r = pack_from(profile, from_ns, opened, made, err);
	profile_free(profile);
	return r;
}

static struct packs_bytes *have(struct packs *packs, struct packs_bytes *pack)
{
	(void)pthread_mutex_lock(&packs->mutex);
	pack->n_users++;
	(void)pthread_mutex_unlock(&packs->mutex);
	return pack;
}

static void let_go(struct packs *packs, struct packs_bytes *pack)
{
	bool last;

	(void)pthread_mutex_lock(&packs->mutex);
	last = --pack->n_users == 0;
	if (last)
		packs->held_bytes -= pack->bytes;
	(void)pthread_mutex_unlock(&packs->mutex);
	if (!last)
		return;
	(void)close(pack->fd);
	free(pack);
}

static void forget(struct packs *packs, struct kept *kept)
{
	if (kept->key)
		let_go(packs, kept->pack);
	free(kept->key);
	*kept = (struct kept){0};
}

/* IDLE: of those that nobody is being sent; the caller has the mutex then. */
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
static struct kept *make_room(struct packs *packs, uint64_t bytes)
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
		forget(packs, oldest_kept(packs, false));
	}
}

/* Whether one more may be made; what nobody is being sent goes first. */
static bool may_hold_more(struct packs *packs)
{
	for (;;) {
		struct kept *idle = NULL;
		bool full;

		(void)pthread_mutex_lock(&packs->mutex);
		full = packs->held_bytes >= packs->max_bytes;
		if (full)
			idle = oldest_kept(packs, true);
		(void)pthread_mutex_unlock(&packs->mutex);
		if (!idle)
			return !full;
		forget(packs, idle);
	}
}

static struct kept *find(struct packs *packs, const char *key)
{
	for (size_t i = 0; i < PACKS_KEPT; i++)
		if (packs->kept[i].key && strcmp(packs->kept[i].key, key) == 0)
			return &packs->kept[i];
	return NULL;
}

/* Gives the wish a descriptor of its own. */
static int answer_with(struct packs *packs, struct kept *kept, struct packs_wish *wish)
{
	int fd = fcntl(kept->pack->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return err_set(&wish->err, errno, "open a pack");
	kept->used = ++packs->clock;
	wish->fd = fd;
	wish->bytes = kept->pack->bytes;
	wish->n_files = kept->n_files;
	wish->pack = have(packs, kept->pack);
	return 0;
}

static int make_bytes(struct packs *packs, const struct opened *opened, struct packs_wish *wish,
		      struct packs_bytes **ret_pack)
{
	struct packs_bytes *pack = calloc(1, sizeof(*pack));
	int r;

	if (!pack) {
		(void)err_set(&wish->err, ENOMEM, "no memory for a pack");
		return -ENOMEM;
	}
	r = load(opened, wish->from_ns, pack, &wish->err);
	if (r < 0) {
		free(pack);
		return r;
	}
	pack->n_users = 1;
	(void)pthread_mutex_lock(&packs->mutex);
	packs->held_bytes += pack->bytes;
	(void)pthread_mutex_unlock(&packs->mutex);
	*ret_pack = pack;
	return 0;
}

static int make(struct packs *packs, struct opened *opened, struct packs_wish *wish)
{
	struct kept made = {.n_files = opened->n};
	struct kept *room;
	int r;

	if (!may_hold_more(packs))
		return err_set(&wish->err, EBUSY, "too much is being sent");
	r = make_bytes(packs, opened, wish, &made.pack);
	if (r < 0)
		return r;
	room = make_room(packs, made.pack->bytes);
	made.key = strdup(buf_text(&opened->key));
	r = answer_with(packs, &made, wish);
	if (room && made.key) {
		*room = made;
		return r;
	}
	let_go(packs, made.pack);
	free(made.key);
	return r;
}

static int serve(struct packs *packs, struct packs_wish *wish)
{
	struct opened opened;
	struct kept *kept;
	int r = open_all(packs, wish, &opened);

	if (r < 0) {
		(void)err_set(&wish->err, -r, "'%s'", wish->n_names ? wish->names[0] : "");
	} else {
		kept = find(packs, buf_text(&opened.key));
		r = kept ? answer_with(packs, kept, wish) : make(packs, &opened, wish);
	}
	close_all(&opened);
	return r;
}

static struct packs_wish *next_wish(struct packs *packs)
{
	struct packs_wish *wish;

	(void)pthread_mutex_lock(&packs->mutex);
	while (!packs->first && !packs->ending)
		(void)pthread_cond_wait(&packs->asked, &packs->mutex);
	wish = packs->first;
	if (wish) {
		packs->first = wish->next;
		if (!packs->first)
			packs->last = &packs->first;
		packs->n_waiting--;
		if (packs->ending)
			wish->error = -ECANCELED;
	}
	(void)pthread_mutex_unlock(&packs->mutex);
	return wish;
}

static void *work(void *argument)
{
	struct packs *packs = argument;
	struct packs_wish *wish;

	while ((wish = next_wish(packs))) {
		if (wish->error)
			(void)err_set(&wish->err, ECANCELED, "the server ends");
		else
			wish->error = serve(packs, wish);
		wish->done(wish->context);
	}
	return NULL;
}

int packs_new(struct catalog *catalog, uint64_t max_bytes, struct packs **ret_packs,
	      struct err *err)
{
	struct packs *packs = calloc(1, sizeof(*packs));
	int r;

	if (!packs)
		return err_set(err, ENOMEM, "serve");
	packs->catalog = catalog;
	packs->max_bytes = max_bytes;
	packs->last = &packs->first;
	(void)pthread_mutex_init(&packs->mutex, NULL);
	(void)pthread_cond_init(&packs->asked, NULL);
	r = pthread_create(&packs->thread, NULL, work, packs);
	if (r) {
		free(packs);
		return err_set(err, r, "start a thread");
	}
	*ret_packs = packs;
	return 0;
}

int packs_ask(struct packs *packs, struct packs_wish *wish)
{
	int r = 0;

	wish->next = NULL;
	wish->error = 0;
	wish->fd = -1;
	wish->pack = NULL;
	(void)pthread_mutex_lock(&packs->mutex);
	if (packs->n_waiting == PACKS_MAX_QUEUE || packs->ending) {
		r = -EBUSY;
	} else {
		*packs->last = wish;
		packs->last = &wish->next;
		packs->n_waiting++;
		(void)pthread_cond_signal(&packs->asked);
	}
	(void)pthread_mutex_unlock(&packs->mutex);
	return r;
}

void packs_take_back(struct packs *packs, struct packs_wish *wish)
{
	if (wish->fd >= 0)
		(void)close(wish->fd);
	wish->fd = -1;
	if (wish->pack)
		let_go(packs, wish->pack);
	wish->pack = NULL;
}

void packs_stop(struct packs *packs)
{
	(void)pthread_mutex_lock(&packs->mutex);
	packs->ending = true;
	(void)pthread_cond_signal(&packs->asked);
	(void)pthread_mutex_unlock(&packs->mutex);
	(void)pthread_join(packs->thread, NULL);
}

void packs_free(struct packs *packs)
{
	if (!packs)
		return;
	for (size_t i = 0; i < PACKS_KEPT; i++)
		forget(packs, &packs->kept[i]);
	(void)pthread_cond_destroy(&packs->asked);
	(void)pthread_mutex_destroy(&packs->mutex);
	free(packs);
}

/* catalog.c - one list of recordings that is replaced as a whole, so that readers never wait long
 */
#include "flamescope/serve/catalog.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "flamescope/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 32 };

struct catalog {
	int folder;
	size_t facts_from;     /* the file that the next scan begins with, where it reads */
	pthread_mutex_t mutex; /* of what is below */
	struct catalog_file *files;
	size_t n;
	size_t n_left_out;
	uint64_t version;
};

static void free_files(struct catalog_file *files, size_t n)
{
	for (size_t i = 0; files && i < n; i++)
		free(files[i].name);
	free(files);
}

int catalog_new(const char *folder, struct catalog **ret_catalog, struct err *err)
{
	struct catalog *catalog = calloc(1, sizeof(*catalog));

	if (!catalog)
		return err_set(err, ENOMEM, "serve '%s'", folder);
	catalog->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (catalog->folder < 0) {
		int error = errno;

		free(catalog);
		(void)err_set(err, error, "open '%s'", folder);
		if (error == ENOTDIR)
			err_hint(err, "its folder, or: wick view %s", folder);
		else if (error == ENOENT)
			err_hint(err, "mkdir %s, and wick record -o %s/app.perf", folder, folder);
		else if (error == EACCES)
			err_hint(err, "as its owner, or as root");
		return -error;
	}
	(void)pthread_mutex_init(&catalog->mutex, NULL);
	*ret_catalog = catalog;
	return 0;
}

/* FNV-1a: all that a collision does is to show a list a moment late. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t version_of(const struct catalog_found *found)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < found->n; i++) {
		const struct catalog_file *file = &found->files[i];

		hash = mix(hash, file->name, strlen(file->name) + 1);
		hash = mix(hash, &file->stamp.ino, sizeof(file->stamp.ino));
		hash = mix(hash, &file->stamp.bytes, sizeof(file->stamp.bytes));
		hash = mix(hash, &file->stamp.mtime_ns, sizeof(file->stamp.mtime_ns));
		hash = mix(hash, &file->has_facts, sizeof(file->has_facts));
	}
	return hash;
}

static void read_facts(struct catalog *catalog, struct catalog_file *file)
{
	struct catalog_stamp stamp = {0};
	_cleanup_fd_ int fd = catalog_open(catalog, file->name, &stamp);

	if (fd >= 0)
		recording_facts_read(fd, stamp.bytes, stamp.mtime_ns, &file->facts);
	file->has_facts = true;
}

/* Both lists are sorted by name: what has not changed keeps what is known of it. */
static void keep_facts(const struct catalog *catalog, struct catalog_found *found)
{
	size_t old = 0;

	for (size_t i = 0; i < found->n; i++) {
		struct catalog_file *file = &found->files[i];
		const struct catalog_file *known;

		while (old < catalog->n && strcmp(catalog->files[old].name, file->name) < 0)
			old++;
		if (old == catalog->n)
			break;
		known = &catalog->files[old];
		if (strcmp(known->name, file->name) != 0)
			continue;
		file->facts = known->facts;
		file->has_facts = known->has_facts && known->stamp.dev == file->stamp.dev &&
				  known->stamp.ino == file->stamp.ino &&
				  known->stamp.bytes == file->stamp.bytes &&
				  known->stamp.mtime_ns == file->stamp.mtime_ns;
	}
}

/* From where the scan before had no more time: files that grow would always come first. */
static bool add_facts(struct catalog *catalog, struct catalog_found *found, uint64_t facts_ns)
{
	const uint64_t from_ns = io_now_ns();

	for (size_t i = 0; i < found->n; i++) {
		const size_t at = (catalog->facts_from + i) % found->n;

		if (found->files[at].has_facts)
			continue;
		if (i > 0 && io_now_ns() - from_ns >= facts_ns) {
			catalog->facts_from = at;
			return false;
		}
		read_facts(catalog, &found->files[at]);
	}
	return true;
}

int catalog_scan(struct catalog *catalog, uint64_t facts_ns)
{
	struct catalog_found found = {0};
	int r = catalog_walk(catalog->folder, &found);
	bool is_whole;

	if (r < 0) {
		free_files(found.files, found.n);
		return r;
	}
	/* Only this thread ever replaces the list, so it may be read without the mutex here. */
	keep_facts(catalog, &found);
	is_whole = add_facts(catalog, &found, facts_ns);
	(void)pthread_mutex_lock(&catalog->mutex);
	free_files(catalog->files, catalog->n);
	catalog->files = found.files;
	catalog->n = found.n;
	catalog->n_left_out = found.n_left_out;
	catalog->version = version_of(&found);
	(void)pthread_mutex_unlock(&catalog->mutex);
	return is_whole ? 0 : 1;
}

uint64_t catalog_version(struct catalog *catalog)
{
	uint64_t version;

	(void)pthread_mutex_lock(&catalog->mutex);
	version = catalog->version;
	(void)pthread_mutex_unlock(&catalog->mutex);
	return version;
}

static void list_file(const struct catalog_file *file, struct buf *buf)
{
	buf_add(buf, "{\"file\":");
	json_add_string(buf, file->name);
	buf_printf(buf, ",\"bytes\":%llu,\"mtime_ns\":\"%lld\",\"host\":",
		   (unsigned long long)file->stamp.bytes, (long long)file->stamp.mtime_ns);
	json_add_string(buf, file->facts.host);
	if (file->facts.from_ns)
		buf_printf(buf, ",\"from_ns\":\"%lld\",\"to_ns\":\"%lld\"}",
			   (long long)file->facts.from_ns, (long long)file->facts.to_ns);
	else
		buf_add(buf, ",\"from_ns\":\"\",\"to_ns\":\"\"}");
}

/* By their end, or when they were written if they do not say it. */
static int newest_first(const void *left, const void *right)
{
	const struct catalog_file *a = *(const struct catalog_file *const *)left;
	const struct catalog_file *b = *(const struct catalog_file *const *)right;
	const int64_t end_a = a->facts.to_ns ? a->facts.to_ns : a->stamp.mtime_ns;
	const int64_t end_b = b->facts.to_ns ? b->facts.to_ns : b->stamp.mtime_ns;

	if (end_a != end_b)
		return end_a < end_b ? 1 : -1;
	return strcmp(b->name, a->name);
}

void catalog_list(struct catalog *catalog, struct buf *buf)
{
	_cleanup_free_ const struct catalog_file **files = NULL;

	(void)pthread_mutex_lock(&catalog->mutex);
	files = calloc(catalog->n + 1, sizeof(struct catalog_file *));
	for (size_t i = 0; files && i < catalog->n; i++)
		files[i] = &catalog->files[i];
	if (files)
		qsort(files, catalog->n, sizeof(struct catalog_file *), newest_first);
	buf_printf(buf, "{\"version\":\"%016llx\",\"left_out\":%zu,\"recordings\":[",
		   (unsigned long long)catalog->version, catalog->n_left_out);
	for (size_t i = 0; i < catalog->n; i++) {
		buf_add(buf, i ? ",\n" : "\n");
		/* without memory as they are */
		list_file(files ? files[i] : &catalog->files[i], buf);
	}
	buf_add(buf, "]}\n");
	(void)pthread_mutex_unlock(&catalog->mutex);
}

static bool is_of_host(const struct catalog_file *file, const char *host)
{
	return !host || strcmp(file->facts.host, host) == 0;
}

static int by_time(const void *left, const void *right)
{
	const struct catalog_file *a = *(struct catalog_file *const *)left;
	const struct catalog_file *b = *(struct catalog_file *const *)right;

	if (a->facts.from_ns != b->facts.from_ns)
		return a->facts.from_ns < b->facts.from_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Pointers to the chosen files; the caller has the mutex. */
static size_t choose(struct catalog *catalog, const struct catalog_choice *choice,
		     struct catalog_file **chosen, int64_t *ret_from_ns, int64_t *ret_to_ns)
{
	int64_t from_ns = INT64_MAX;
	int64_t to_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < catalog->n; i++)
		if (is_of_host(&catalog->files[i], choice->host) &&
		    catalog->files[i].facts.to_ns > to_ns)
			to_ns = catalog->files[i].facts.to_ns;
	for (size_t i = 0; i < catalog->n; i++) {
		struct catalog_file *file = &catalog->files[i];

		if (!is_of_host(file, choice->host))
			continue;
		/* A range of time is of those whose time is known. */
		if (choice->last_ns &&
		    (!file->facts.from_ns || to_ns - file->facts.to_ns > (int64_t)choice->last_ns))
			continue;
		if (file->facts.from_ns && file->facts.from_ns < from_ns)
			from_ns = file->facts.from_ns;
		chosen[n++] = file;
	}
	if (choice->last_ns)
		from_ns = to_ns - (int64_t)choice->last_ns;
	*ret_from_ns = from_ns;
	*ret_to_ns = to_ns;
	qsort(chosen, n, sizeof(void *), by_time);
	return n;
}

static int copy_names(struct catalog_file *const *files, size_t n, char ***ret_names)
{
	char **names = calloc(n, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		names[i] = strdup(files[i]->name);
		if (!names[i]) {
			catalog_names_free(names, i);
			return -ENOMEM;
		}
	}
	*ret_names = names;
	return (int)n;
}

int catalog_choose(struct catalog *catalog, const struct catalog_choice *choice, char ***ret_names,
		   int64_t *ret_from_ns, int64_t *ret_to_ns)
{
	_cleanup_free_ struct catalog_file **chosen = NULL;
	int r = -ENOENT;
	size_t n = 0;

	(void)pthread_mutex_lock(&catalog->mutex);
	if (catalog->n) {
		chosen = calloc(catalog->n, sizeof(void *));
		if (chosen)
			n = choose(catalog, choice, chosen, ret_from_ns, ret_to_ns);
		else
			r = -ENOMEM;
	}
	if (n)
		r = copy_names(chosen, n, ret_names);
	(void)pthread_mutex_unlock(&catalog->mutex);
	return r;
}

void catalog_names_free(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

/*
 * The type is checked before the open: opening a pipe would start a writer that waits for a reader,
 * and opening a device could start it.
 */
int catalog_open(struct catalog *catalog, const char *name, struct catalog_stamp *ret_stamp)
{
	_cleanup_fd_ int place = -1;
	char path[PATH_BYTES];
	struct stat st;
	int fd;

	if (!catalog_is_recording(name))
		return -EACCES;
	place = beneath_open(catalog->folder, name, O_PATH);
	if (place < 0)
		return place;
	if (fstat(place, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*ret_stamp = catalog_stamp_of(&st);
	return fd;
}

void catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	free_files(catalog->files, catalog->n);
	(void)close(catalog->folder);
	(void)pthread_mutex_destroy(&catalog->mutex);
	free(catalog);
}

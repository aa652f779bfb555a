/* archive.c - closed segments: compressed, handed to the hook, kept or removed */
#include "output/files/internal.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HOOK_CAUSE_START = 1000, HOOK_CAUSE_SIGNAL = 256 };

static int set_up(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files)
{
	sigset_t all;
	sigset_t none;
	int r;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
							 POSIX_SPAWN_SETPGROUP);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
	return r;
}

/* Run `sh -c COMMAND wick PATH` in a process group of its own. */
static pid_t hook_start(const char *command, const char *path)
{
	/* posix_spawn() takes them without const and leaves them alone */
	char *const argv[] = {(char *)"sh",   (char *)"-c", (char *)command,
			      (char *)"wick", (char *)path, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid = 0;
	int r;

	if (posix_spawnattr_init(&attributes) != 0)
		return -ENOMEM;
	if (posix_spawn_file_actions_init(&files) != 0) {
		(void)posix_spawnattr_destroy(&attributes);
		return -ENOMEM;
	}
	r = set_up(&attributes, &files);
	if (r == 0)
		r = posix_spawn(&pid, "/bin/sh", &files, &attributes, argv, environ);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
	return r ? -r : pid;
}

/* Why a run failed, as a number to compare: the exit status, HOOK_CAUSE_SIGNAL + n. */
static int hook_cause(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return HOOK_CAUSE_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

/* A cause in words; HOOK_CAUSE_START + errno says that it did not start. */
static void hook_describe(int cause, char *to, size_t size)
{
	if (cause >= HOOK_CAUSE_START)
		(void)snprintf(to, size, "could not start: %s",
			       strerrordesc_np(cause - HOOK_CAUSE_START));
	else if (cause >= HOOK_CAUSE_SIGNAL)
		(void)snprintf(to, size, "was killed by signal %d", cause - HOOK_CAUSE_SIGNAL);
	else
		(void)snprintf(to, size, "exited with status %d", cause);
}

enum { ARCHIVE_MAX_CAUSES = 16 };

enum archive_stage {
	STAGE_CLOSED, /* to be compressed */
	STAGE_READY,  /* to be handed to the hook */
	STAGE_DONE,   /* --keep may remove it */
};

struct archive_entry {
	struct archive_entry *next;
	char *path;
	dev_t dev;
	ino_t ino;
	uint64_t bytes;
	uint64_t closed_ns;
	enum archive_stage stage;
	unsigned n_tries;
	uint64_t retry_ns;
};

struct archive_message {
	struct archive_message *next;
	char *text;
};

/* Everything but options and stop is guarded by the lock. */
struct archive {
	struct archive_options options;
	atomic_bool stop; /* set by archive_free(), read by the thread between its steps */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something became DONE */
	pthread_t thread;
	bool has_thread;
	int wake_fd;
	struct archive_entry *entries; /* oldest first */
	struct archive_entry **last;
	struct archive_message *messages;
	struct archive_stats stats;
	struct archive_entry *running; /* whose hook runs */
	pid_t pid;
	int pid_fd;
	int causes[ARCHIVE_MAX_CAUSES]; /* of failed hooks, that were reported */
	size_t n_causes;
	bool compress_reported;
};

enum { POLL_CHILD_MS = 50 }; /* where the kernel gives no pidfd */

/* Leave a line for the main thread to report. */
static void post(struct archive *archive, const char *format, const char *path, const char *why)
{
	struct archive_message *message = calloc(1, sizeof(*message));
	struct archive_message **at = &archive->messages;
	char text[PATH_MAX + 256];

	if (!message)
		return;
	(void)snprintf(text, sizeof(text), "%s '%s': %s", format, path, why);
	message->text = strdup(text);
	if (!message->text) {
		free(message);
		return;
	}
	while (*at)
		at = &(*at)->next;
	*at = message;
}

static void finish_entry(struct archive *archive, struct archive_entry *entry)
{
	entry->stage = STAGE_DONE;
	archive->stats.n_waiting--;
	(void)pthread_cond_broadcast(&archive->changed);
}

/* Compress the oldest segment that needs it; the lock is open meanwhile. */
static bool compress_one(struct archive *archive)
{
	struct archive_entry *entry = archive->entries;
	struct err err = {0};
	struct stat st;
	char *path;
	int r;

	while (entry && entry->stage != STAGE_CLOSED)
		entry = entry->next;
	if (!entry)
		return false;
	(void)pthread_mutex_unlock(&archive->lock);
	r = compress_file(entry->path, archive->options.compress, &archive->stop, &path, &st, &err);
	(void)pthread_mutex_lock(&archive->lock);
	if (r == 0) {
		free(entry->path);
		entry->path = path;
		entry->dev = st.st_dev;
		entry->ino = st.st_ino;
		entry->bytes = (uint64_t)st.st_size;
	} else if (r != -ECANCELED && !archive->compress_reported) {
		archive->compress_reported = true;
		post(archive, "left uncompressed", entry->path, err.text);
	}
	entry->stage = STAGE_READY;
	archive->stats.n_uncompressed--;
	return true;
}

static bool is_new_cause(struct archive *archive, int cause)
{
	for (size_t i = 0; i < archive->n_causes; i++) {
		if (archive->causes[i] == cause)
			return false;
	}
	if (archive->n_causes < ARCHIVE_MAX_CAUSES)
		archive->causes[archive->n_causes++] = cause;
	return true;
}

static void note_result(struct archive *archive, struct archive_entry *entry, int cause)
{
	char cause_text[128];
	char why[160];

	if (cause == 0) {
		finish_entry(archive, entry);
		return;
	}
	archive->stats.hook_failures++;
	if (is_new_cause(archive, cause)) {
		hook_describe(cause, cause_text, sizeof(cause_text));
		(void)snprintf(why, sizeof(why), "it %s; every file gets %d tries", cause_text,
			       ARCHIVE_HOOK_TRIES);
		post(archive, "--on-rotate failed for", entry->path, why);
	}
	if (++entry->n_tries == ARCHIVE_HOOK_TRIES) {
		archive->stats.n_given_up++;
		finish_entry(archive, entry);
		return;
	}
	entry->retry_ns = io_now_ns() + (archive->options.backoff_ns << (entry->n_tries - 1));
}

/* The oldest segment whose hook is to run: its turn first, however long it has to wait. */
static struct archive_entry *next_for_hook(const struct archive *archive)
{
	struct archive_entry *entry = archive->entries;

	if (!archive->options.on_rotate)
		return NULL;
	while (entry && entry->stage == STAGE_DONE)
		entry = entry->next;
	return entry && entry->stage == STAGE_READY ? entry : NULL;
}

static void finish_all(struct archive *archive)
{
	for (struct archive_entry *entry = archive->entries; entry; entry = entry->next) {
		if (entry->stage == STAGE_READY)
			finish_entry(archive, entry);
	}
}

static void start_hook(struct archive *archive)
{
	struct archive_entry *entry = next_for_hook(archive);
	pid_t pid;

	if (!archive->options.on_rotate)
		finish_all(archive);
	if (archive->running || !entry || entry->retry_ns > io_now_ns())
		return;
	pid = hook_start(archive->options.on_rotate, entry->path);
	if (pid < 0) {
		note_result(archive, entry, HOOK_CAUSE_START - (int)pid);
		return;
	}
	archive->running = entry;
	archive->pid = pid;
	archive->pid_fd = pidfd_open(pid, 0);
}

static void reap_hook(struct archive *archive)
{
	struct archive_entry *entry = archive->running;
	int status = 0;
	pid_t pid;

	if (!entry)
		return;
	pid = waitpid(archive->pid, &status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return;
	if (archive->pid_fd >= 0)
		(void)close(archive->pid_fd);
	archive->pid_fd = -1;
	archive->running = NULL;
	note_result(archive, entry, pid < 0 ? HOOK_CAUSE_START + ECHILD : hook_cause(status));
}

/* Remove a segment's file if it still is that file, and forget the segment. */
static void remove_entry(struct archive *archive, struct archive_entry **at)
{
	struct archive_entry *entry = *at;
	struct stat st;

	if (lstat(entry->path, &st) == 0 && st.st_dev == entry->dev && st.st_ino == entry->ino)
		(void)unlink(entry->path);
	*at = entry->next;
	if (archive->last == &entry->next)
		archive->last = at;
	free(entry->path);
	free(entry);
}

static bool is_over(const struct recording_limit *keep, uint64_t n, uint64_t bytes, uint64_t age_ns)
{
	return (keep->samples && n > keep->samples) ||
	       (keep->bytes && bytes > keep->bytes && n > 1) || (keep->ns && age_ns >= keep->ns);
}

static void keep_some(struct archive *archive)
{
	uint64_t now = io_now_ns();
	uint64_t bytes = 0;
	uint64_t n = 0;

	for (const struct archive_entry *entry = archive->entries; entry; entry = entry->next) {
		bytes += entry->bytes;
		n++;
	}
	for (struct archive_entry **at = &archive->entries; *at;) {
		struct archive_entry *entry = *at;

		if (!is_over(&archive->options.keep, n, bytes, now - entry->closed_ns))
			return;
		if (entry->stage != STAGE_DONE) {
			at = &entry->next;
			continue;
		}
		bytes -= entry->bytes;
		n--;
		remove_entry(archive, at);
	}
}

/* Milliseconds until something is due by the clock; -1: nothing is. */
static int time_out(const struct archive *archive)
{
	const struct archive_entry *entry = next_for_hook(archive);
	uint64_t now = io_now_ns();
	uint64_t due = UINT64_MAX;
	uint64_t ms;

	if (archive->running)
		return archive->pid_fd < 0 ? POLL_CHILD_MS : -1;
	if (entry)
		due = entry->retry_ns;
	if (archive->options.keep.ns && archive->entries && archive->entries->stage == STAGE_DONE &&
	    archive->entries->closed_ns + archive->options.keep.ns < due)
		due = archive->entries->closed_ns + archive->options.keep.ns;
	if (due == UINT64_MAX)
		return -1;
	if (due <= now)
		return 0;
	ms = (due - now) / 1000000U + 1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void rest(struct archive *archive)
{
	struct pollfd fds[] = {{.fd = archive->wake_fd, .events = POLLIN},
			       {.fd = archive->pid_fd, .events = POLLIN}};
	int ms = time_out(archive);
	uint64_t count;

	(void)pthread_mutex_unlock(&archive->lock);
	(void)poll(fds, 2, ms);
	while (read(archive->wake_fd, &count, sizeof(count)) > 0)
		;
	(void)pthread_mutex_lock(&archive->lock);
}

/* The thread: compress, hook, keep, until archive.stop. */
static void *archive_run(void *context)
{
	struct archive *archive = context;

	(void)pthread_mutex_lock(&archive->lock);
	while (!atomic_load_explicit(&archive->stop, memory_order_relaxed)) {
		reap_hook(archive);
		start_hook(archive);
		if (compress_one(archive))
			continue;
		keep_some(archive);
		rest(archive);
	}
	if (archive->pid_fd >= 0)
		(void)close(archive->pid_fd);
	(void)pthread_mutex_unlock(&archive->lock);
	return NULL;
}

static bool needs_thread(const struct archive_options *options)
{
	const struct recording_limit *keep = &options->keep;

	return options->compress != COMPRESS_NONE || options->on_rotate || keep->bytes ||
	       keep->ns || keep->samples;
}

/* A thread that no signal of the program lands on. */
static int start_thread(struct archive *archive)
{
	sigset_t all;
	sigset_t before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&archive->thread, NULL, archive_run, archive);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	archive->has_thread = r == 0;
	return -r;
}

static void init_locks(struct archive *archive)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&archive->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&archive->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

int archive_new(const struct archive_options *options, struct archive **ret_archive,
		struct err *err)
{
	struct archive *archive = calloc(1, sizeof(*archive));
	int r = 0;

	if (!archive)
		return err_set(err, ENOMEM, "keep files");
	archive->options = *options;
	archive->last = &archive->entries;
	archive->pid_fd = -1;
	init_locks(archive);
	archive->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (archive->wake_fd < 0)
		r = -errno;
	else if (needs_thread(options))
		r = start_thread(archive);
	if (r < 0) {
		archive_free(archive);
		return err_set(err, -r, "start the thread for closed files");
	}
	*ret_archive = archive;
	return 0;
}

static void wake(struct archive *archive)
{
	const uint64_t one = 1;

	(void)io_write_all(archive->wake_fd, &one, sizeof(one), NULL);
}

int archive_add(struct archive *archive, const char *path, dev_t dev, ino_t ino)
{
	struct archive_entry *entry = calloc(1, sizeof(*entry));
	struct stat st;

	if (entry)
		entry->path = strdup(path);
	if (!entry || !entry->path) {
		free(entry);
		return -ENOMEM;
	}
	entry->dev = dev;
	entry->ino = ino;
	entry->bytes = lstat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
	entry->closed_ns = io_now_ns();
	if (archive->options.compress == COMPRESS_NONE)
		entry->stage = archive->has_thread ? STAGE_READY : STAGE_DONE;
	(void)pthread_mutex_lock(&archive->lock);
	*archive->last = entry;
	archive->last = &entry->next;
	archive->stats.n_waiting += entry->stage != STAGE_DONE;
	archive->stats.n_uncompressed += entry->stage == STAGE_CLOSED;
	(void)pthread_mutex_unlock(&archive->lock);
	wake(archive);
	return 0;
}

char *archive_message(struct archive *archive)
{
	struct archive_message *message;
	char *text = NULL;

	(void)pthread_mutex_lock(&archive->lock);
	message = archive->messages;
	if (message) {
		archive->messages = message->next;
		text = message->text;
		free(message);
	}
	(void)pthread_mutex_unlock(&archive->lock);
	return text;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000U),
				 .tv_nsec = (long)(ns % 1000000000U)};
}

int archive_drain(struct archive *archive, uint64_t wait_ns)
{
	uint64_t deadline = io_now_ns() + wait_ns;
	struct timespec until = timespec_of(deadline);
	int r = 0;

	(void)pthread_mutex_lock(&archive->lock);
	while (archive->stats.n_waiting && r == 0) {
		r = pthread_cond_timedwait(&archive->changed, &archive->lock, &until);
		/* compression has no time limit */
		if (r == ETIMEDOUT && archive->stats.n_uncompressed) {
			until = timespec_of(io_now_ns() + wait_ns / 16 + 1000000U);
			r = 0;
		}
	}
	(void)pthread_mutex_unlock(&archive->lock);
	return -r;
}

static bool is_there(const struct archive_entry *entry)
{
	struct stat st;

	return lstat(entry->path, &st) == 0 && st.st_dev == entry->dev && st.st_ino == entry->ino;
}

void archive_each(struct archive *archive, void (*visit)(void *context, const char *path),
		  void *context)
{
	(void)pthread_mutex_lock(&archive->lock);
	for (struct archive_entry *entry = archive->entries; entry; entry = entry->next) {
		if (is_there(entry))
			visit(context, entry->path);
	}
	(void)pthread_mutex_unlock(&archive->lock);
}

void archive_stats(struct archive *archive, struct archive_stats *ret_stats)
{
	(void)pthread_mutex_lock(&archive->lock);
	*ret_stats = archive->stats;
	(void)pthread_mutex_unlock(&archive->lock);
}

static void free_entries(struct archive *archive)
{
	while (archive->entries) {
		struct archive_entry *entry = archive->entries;

		archive->entries = entry->next;
		free(entry->path);
		free(entry);
	}
}

void archive_free(struct archive *archive)
{
	char *message;

	if (!archive)
		return;
	atomic_store_explicit(&archive->stop, true, memory_order_relaxed); /* the thread polls it */
	if (archive->has_thread) {
		wake(archive);
		(void)pthread_join(archive->thread, NULL);
	}
	while ((message = archive_message(archive)))
		free(message);
	free_entries(archive);
	if (archive->wake_fd >= 0)
		(void)close(archive->wake_fd);
	(void)pthread_cond_destroy(&archive->changed);
	(void)pthread_mutex_destroy(&archive->lock);
	free(archive);
}

/* background.c - the shelf's thread: compress closed segments, run the hook, keep what is wanted */
#include "base/io.h"
#include "output/files/archive_internal.h"
#include "output/files/compress.h"
#include "output/files/hook.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_CHILD_MS = 50 }; /* where the kernel gives no pidfd */

static bool stops(const struct shelf *shelf)
{
	return atomic_load_explicit(&shelf->stop, memory_order_relaxed); /* by shelf_free() */
}

/* Leave a line for the main thread to tell. */
static void post(struct shelf *shelf, const char *format, const char *path, const char *why)
{
	struct shelf_message *message = calloc(1, sizeof(*message));
	struct shelf_message **at = &shelf->messages;
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

static void finish_entry(struct shelf *shelf, struct shelf_entry *entry)
{
	entry->stage = STAGE_DONE;
	shelf->stats.n_waiting--;
	(void)pthread_cond_broadcast(&shelf->changed);
}

/* Compress the oldest segment that needs it; the lock is open meanwhile. */
static bool compress_one(struct shelf *shelf)
{
	struct shelf_entry *entry = shelf->entries;
	struct err err = {0};
	struct stat st;
	char *path;
	int r;

	while (entry && entry->stage != STAGE_CLOSED)
		entry = entry->next;
	if (!entry)
		return false;
	(void)pthread_mutex_unlock(&shelf->lock);
	r = compress_file(entry->path, shelf->options.compress, &shelf->stop, &path, &st, &err);
	(void)pthread_mutex_lock(&shelf->lock);
	if (r == 0) {
		free(entry->path);
		entry->path = path;
		entry->dev = st.st_dev;
		entry->ino = st.st_ino;
		entry->bytes = (uint64_t)st.st_size;
	} else if (r != -ECANCELED && !shelf->compress_told) {
		shelf->compress_told = true;
		post(shelf, "left uncompressed", entry->path, err.text);
	}
	entry->stage = STAGE_READY;
	shelf->stats.n_uncompressed--;
	return true;
}

static bool is_new_cause(struct shelf *shelf, int cause)
{
	for (size_t i = 0; i < shelf->n_causes; i++) {
		if (shelf->causes[i] == cause)
			return false;
	}
	if (shelf->n_causes < SHELF_MAX_CAUSES)
		shelf->causes[shelf->n_causes++] = cause;
	return true;
}

static void note_result(struct shelf *shelf, struct shelf_entry *entry, int cause)
{
	char cause_text[128];
	char why[160];

	if (cause == 0) {
		finish_entry(shelf, entry);
		return;
	}
	shelf->stats.hook_failures++;
	if (is_new_cause(shelf, cause)) {
		hook_describe(cause, cause_text, sizeof(cause_text));
		(void)snprintf(why, sizeof(why), "it %s; every file gets %d tries", cause_text,
			       SHELF_HOOK_TRIES);
		post(shelf, "--on-rotate failed for", entry->path, why);
	}
	if (++entry->n_tries == SHELF_HOOK_TRIES) {
		shelf->stats.n_given_up++;
		finish_entry(shelf, entry);
		return;
	}
	entry->retry_ns = io_now_ns() + (shelf->options.backoff_ns << (entry->n_tries - 1));
}

/* The oldest segment whose hook is to run: its turn first, however long it has to wait. */
static struct shelf_entry *next_for_hook(const struct shelf *shelf)
{
	struct shelf_entry *entry = shelf->entries;

	if (!shelf->options.on_rotate)
		return NULL;
	while (entry && entry->stage == STAGE_DONE)
		entry = entry->next;
	return entry && entry->stage == STAGE_READY ? entry : NULL;
}

static void finish_all(struct shelf *shelf)
{
	for (struct shelf_entry *entry = shelf->entries; entry; entry = entry->next) {
		if (entry->stage == STAGE_READY)
			finish_entry(shelf, entry);
	}
}

static void start_hook(struct shelf *shelf)
{
	struct shelf_entry *entry = next_for_hook(shelf);
	pid_t pid;

	if (!shelf->options.on_rotate)
		finish_all(shelf);
	if (shelf->running || !entry || entry->retry_ns > io_now_ns())
		return;
	pid = hook_start(shelf->options.on_rotate, entry->path);
	if (pid < 0) {
		note_result(shelf, entry, HOOK_CAUSE_START - (int)pid);
		return;
	}
	shelf->running = entry;
	shelf->pid = pid;
	shelf->pid_fd = pidfd_open(pid, 0);
}

static void reap_hook(struct shelf *shelf)
{
	struct shelf_entry *entry = shelf->running;
	int status = 0;
	pid_t pid;

	if (!entry)
		return;
	pid = waitpid(shelf->pid, &status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return;
	if (shelf->pid_fd >= 0)
		(void)close(shelf->pid_fd);
	shelf->pid_fd = -1;
	shelf->running = NULL;
	note_result(shelf, entry, pid < 0 ? HOOK_CAUSE_START + ECHILD : hook_cause(status));
}

/* Remove a segment's file if it still is that file, and forget the segment. */
static void remove_entry(struct shelf *shelf, struct shelf_entry **at)
{
	struct shelf_entry *entry = *at;
	struct stat st;

	if (lstat(entry->path, &st) == 0 && st.st_dev == entry->dev && st.st_ino == entry->ino)
		(void)unlink(entry->path);
	*at = entry->next;
	if (shelf->last == &entry->next)
		shelf->last = at;
	free(entry->path);
	free(entry);
}

static bool is_over(const struct recording_limit *keep, uint64_t n, uint64_t bytes, uint64_t age_ns)
{
	return (keep->samples && n > keep->samples) ||
	       (keep->bytes && bytes > keep->bytes && n > 1) || (keep->ns && age_ns >= keep->ns);
}

static void keep_some(struct shelf *shelf)
{
	uint64_t now = io_now_ns();
	uint64_t bytes = 0;
	uint64_t n = 0;

	for (const struct shelf_entry *entry = shelf->entries; entry; entry = entry->next) {
		bytes += entry->bytes;
		n++;
	}
	for (struct shelf_entry **at = &shelf->entries; *at;) {
		struct shelf_entry *entry = *at;

		if (!is_over(&shelf->options.keep, n, bytes, now - entry->closed_ns))
			return;
		if (entry->stage != STAGE_DONE) {
			at = &entry->next;
			continue;
		}
		bytes -= entry->bytes;
		n--;
		remove_entry(shelf, at);
	}
}

/* Milliseconds until something is due by the clock; -1: nothing is. */
static int time_out(const struct shelf *shelf)
{
	const struct shelf_entry *entry = next_for_hook(shelf);
	uint64_t now = io_now_ns();
	uint64_t due = UINT64_MAX;
	uint64_t ms;

	if (shelf->running)
		return shelf->pid_fd < 0 ? POLL_CHILD_MS : -1;
	if (entry)
		due = entry->retry_ns;
	if (shelf->options.keep.ns && shelf->entries && shelf->entries->stage == STAGE_DONE &&
	    shelf->entries->closed_ns + shelf->options.keep.ns < due)
		due = shelf->entries->closed_ns + shelf->options.keep.ns;
	if (due == UINT64_MAX)
		return -1;
	if (due <= now)
		return 0;
	ms = (due - now) / 1000000U + 1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void rest(struct shelf *shelf)
{
	struct pollfd fds[] = {{.fd = shelf->wake_fd, .events = POLLIN},
			       {.fd = shelf->pid_fd, .events = POLLIN}};
	int ms = time_out(shelf);
	uint64_t count;

	(void)pthread_mutex_unlock(&shelf->lock);
	(void)poll(fds, 2, ms);
	while (read(shelf->wake_fd, &count, sizeof(count)) > 0)
		;
	(void)pthread_mutex_lock(&shelf->lock);
}

void *shelf_run(void *context)
{
	struct shelf *shelf = context;

	(void)pthread_mutex_lock(&shelf->lock);
	while (!stops(shelf)) {
		reap_hook(shelf);
		start_hook(shelf);
		if (compress_one(shelf))
			continue;
		keep_some(shelf);
		rest(shelf);
	}
	if (shelf->pid_fd >= 0)
		(void)close(shelf->pid_fd);
	(void)pthread_mutex_unlock(&shelf->lock);
	return NULL;
}

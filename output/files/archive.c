/* archive.c - closed segments, as the main thread sees them */
#include "output/files/archive.h"

#include "base/io.h"
#include "output/files/archive_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool needs_thread(const struct shelf_options *options)
{
	const struct recording_limit *keep = &options->keep;

	return options->compress != COMPRESS_NONE || options->on_rotate || keep->bytes ||
	       keep->ns || keep->samples;
}

/* A thread that no signal of the program lands on. */
static int start_thread(struct shelf *shelf)
{
	sigset_t all;
	sigset_t before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&shelf->thread, NULL, shelf_run, shelf);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	shelf->has_thread = r == 0;
	return -r;
}

static void init_locks(struct shelf *shelf)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&shelf->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&shelf->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

int shelf_new(const struct shelf_options *options, struct shelf **ret_shelf, struct err *err)
{
	struct shelf *shelf = calloc(1, sizeof(*shelf));
	int r = 0;

	if (!shelf)
		return err_set(err, ENOMEM, "keep files");
	shelf->options = *options;
	shelf->last = &shelf->entries;
	shelf->pid_fd = -1;
	init_locks(shelf);
	shelf->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shelf->wake_fd < 0)
		r = -errno;
	else if (needs_thread(options))
		r = start_thread(shelf);
	if (r < 0) {
		shelf_free(shelf);
		return err_set(err, -r, "start the thread for closed files");
	}
	*ret_shelf = shelf;
	return 0;
}

static void wake(struct shelf *shelf)
{
	const uint64_t one = 1;

	(void)io_write_all(shelf->wake_fd, &one, sizeof(one), NULL);
}

int shelf_add(struct shelf *shelf, const char *path, dev_t dev, ino_t ino)
{
	struct shelf_entry *entry = calloc(1, sizeof(*entry));
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
	if (shelf->options.compress == COMPRESS_NONE)
		entry->stage = shelf->has_thread ? STAGE_READY : STAGE_DONE;
	(void)pthread_mutex_lock(&shelf->lock);
	*shelf->last = entry;
	shelf->last = &entry->next;
	shelf->stats.n_waiting += entry->stage != STAGE_DONE;
	shelf->stats.n_uncompressed += entry->stage == STAGE_CLOSED;
	(void)pthread_mutex_unlock(&shelf->lock);
	wake(shelf);
	return 0;
}

char *shelf_message(struct shelf *shelf)
{
	struct shelf_message *message;
	char *text = NULL;

	(void)pthread_mutex_lock(&shelf->lock);
	message = shelf->messages;
	if (message) {
		shelf->messages = message->next;
		text = message->text;
		free(message);
	}
	(void)pthread_mutex_unlock(&shelf->lock);
	return text;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000U),
				 .tv_nsec = (long)(ns % 1000000000U)};
}

int shelf_drain(struct shelf *shelf, uint64_t wait_ns)
{
	uint64_t deadline = io_now_ns() + wait_ns;
	struct timespec until = timespec_of(deadline);
	int r = 0;

	(void)pthread_mutex_lock(&shelf->lock);
	while (shelf->stats.n_waiting && r == 0) {
		r = pthread_cond_timedwait(&shelf->changed, &shelf->lock, &until);
		/* compression has no time limit */
		if (r == ETIMEDOUT && shelf->stats.n_uncompressed) {
			until = timespec_of(io_now_ns() + wait_ns / 16 + 1000000U);
			r = 0;
		}
	}
	(void)pthread_mutex_unlock(&shelf->lock);
	return -r;
}

static bool is_there(const struct shelf_entry *entry)
{
	struct stat st;

	return lstat(entry->path, &st) == 0 && st.st_dev == entry->dev && st.st_ino == entry->ino;
}

void shelf_each(struct shelf *shelf, void (*visit)(void *context, const char *path), void *context)
{
	(void)pthread_mutex_lock(&shelf->lock);
	for (struct shelf_entry *entry = shelf->entries; entry; entry = entry->next) {
		if (is_there(entry))
			visit(context, entry->path);
	}
	(void)pthread_mutex_unlock(&shelf->lock);
}

void shelf_stats(struct shelf *shelf, struct shelf_stats *ret_stats)
{
	(void)pthread_mutex_lock(&shelf->lock);
	*ret_stats = shelf->stats;
	(void)pthread_mutex_unlock(&shelf->lock);
}

static void free_entries(struct shelf *shelf)
{
	while (shelf->entries) {
		struct shelf_entry *entry = shelf->entries;

		shelf->entries = entry->next;
		free(entry->path);
		free(entry);
	}
}

void shelf_free(struct shelf *shelf)
{
	char *message;

	if (!shelf)
		return;
	atomic_store_explicit(&shelf->stop, true, memory_order_relaxed); /* the thread polls it */
	if (shelf->has_thread) {
		wake(shelf);
		(void)pthread_join(shelf->thread, NULL);
	}
	while ((message = shelf_message(shelf)))
		free(message);
	free_entries(shelf);
	if (shelf->wake_fd >= 0)
		(void)close(shelf->wake_fd);
	(void)pthread_cond_destroy(&shelf->changed);
	(void)pthread_mutex_destroy(&shelf->lock);
	free(shelf);
}

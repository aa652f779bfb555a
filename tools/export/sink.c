/* sink.c - JSON lines to a file, standard output, a socket or a command, by a thread of its own */
#include "tools/export/export.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 512, REAP_MS = 10, NS_PER_MS = 1000000 };

struct sink {
	const char *target;
	const char *socket; /* where it is one */
	void (*report)(const char *message);
	int fd;        /* -1: not connected */
	pid_t command; /* 0: none */
	pthread_t thread;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t changed;
	struct buf waiting; /* lines */
	size_t in_hand;     /* lines that the thread writes */
	bool ending;        /* no lines will come */
	bool left;          /* nobody wants to know how it ends */
	bool ended;         /* the thread has nothing more to do with this */
	bool failed;        /* the last write did: it was reported */
	bool full;          /* the reader is too slow: it was reported */
	struct sink_stats stats;
};

static uint64_t count_lines(const char *lines, size_t len)
{
	const char *at = lines;
	uint64_t n = 0;

	while (len && (at = memchr(at, '\n', len - (size_t)(at - lines)))) {
		at++;
		n++;
	}
	return n;
}

static void tell(const struct sink *sink, const char *what)
{
	char message[MESSAGE_BYTES];

	(void)snprintf(message, sizeof(message), "--stats-to '%.200s': %s; lines are lost",
		       sink->target, what);
	sink->report(message);
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return steal_fd(&fd);
}

/* Return: 0; -errno.  It takes as long as the reader does. */
static int write_lines(struct sink *sink, const struct buf *lines, size_t *ret_written)
{
	int r;

	*ret_written = 0;
	if (sink->fd < 0)
		sink->fd = sink->socket ? connect_to(sink->socket) : -EPIPE;
	if (sink->fd < 0)
		return sink->fd;
	r = io_write_all(sink->fd, lines->data, lines->len, ret_written);
	if (r == -EPIPE || (r < 0 && sink->socket)) {
		(void)close(sink->fd);
		sink->fd = -1;
	}
	return r;
}

/* With the mutex. */
static void account(struct sink *sink, const struct buf *lines, size_t written, int r)
{
	uint64_t lost = count_lines(lines->data + written, lines->len - written);

	sink->stats.lines += sink->in_hand - lost;
	sink->stats.lost += lost;
	sink->in_hand = 0;
	if (r < 0 && !sink->failed && !sink->left)
		tell(sink, strerrordesc_np(-r));
	sink->failed = r < 0;
	sink->full = false;
}

/* With the mutex, which others can take while lines are written. */
static void write_waiting(struct sink *sink)
{
	struct buf lines = sink->waiting;
	size_t written;
	int r;

	buf_init(&sink->waiting, SINK_WAITING_BYTES);
	sink->in_hand = count_lines(lines.data, lines.len);
	(void)pthread_mutex_unlock(&sink->mutex);
	r = write_lines(sink, &lines, &written);
	(void)pthread_mutex_lock(&sink->mutex);
	account(sink, &lines, written, r);
	buf_release(&lines);
}

static void *run(void *context)
{
	struct sink *sink = context;

	(void)pthread_mutex_lock(&sink->mutex);
	while (sink->waiting.len || !sink->ending)
		if (sink->waiting.len)
			write_waiting(sink);
		else
			(void)pthread_cond_wait(&sink->changed, &sink->mutex);
	if (sink->fd >= 0) /* a command sees the end of its input */
		(void)close(sink->fd);
	sink->fd = -1;
	sink->ended = true;
	(void)pthread_cond_broadcast(&sink->changed);
	(void)pthread_mutex_unlock(&sink->mutex);
	return NULL;
}

static int prepare_command(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files,
			   int input)
{
	sigset_t all;
	sigset_t none;
	int r;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	/* a group of its own: Ctrl-C is for the program; the command ends after the last line */
	r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
							 POSIX_SPAWN_SETPGROUP);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(files, input, STDIN_FILENO);
	return r;
}

static int start_command(const char *command, int input, pid_t *ret_pid)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int r;

	if (posix_spawnattr_init(&attributes) != 0)
		return -ENOMEM;
	if (posix_spawn_file_actions_init(&files) != 0) {
		(void)posix_spawnattr_destroy(&attributes);
		return -ENOMEM;
	}
	r = prepare_command(&attributes, &files, input);
	if (r == 0)
		r = posix_spawn(ret_pid, "/bin/sh", &files, &attributes, argv, environ);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

static int open_command(struct sink *sink, const char *command)
{
	int ends[2];
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = start_command(command, ends[0], &sink->command);
	(void)close(ends[0]);
	if (r < 0)
		(void)close(ends[1]);
	else
		sink->fd = ends[1];
	return r;
}

/* A regular file alone, as all that wick writes: a command can write to anything else. */
static int open_path(const char *path)
{
	_cleanup_fd_ int fd = open(
		path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return -errno;
	return S_ISREG(stat.st_mode) ? steal_fd(&fd) : -EINVAL;
}

static int open_file(const char *path)
{
	int fd;

	if (strcmp(path, "-") != 0)
		return open_path(path);
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd < 0 ? -errno : fd;
}

/* A socket is connected when there are lines. */
static int open_target(struct sink *sink, struct err *err)
{
	const char *target = sink->target;
	int r = 0;

	if (strncmp(target, "unix:", strlen("unix:")) == 0)
		sink->socket = target + strlen("unix:");
	else if (*target == '|')
		r = open_command(sink, target + 1);
	else
		r = sink->fd = open_file(target);
	if (r >= 0)
		return 0;
	(void)err_set(err, -r, "write counts to '%s'", target);
	err_hint(err, "a file in a folder that you can write to, -, unix:PATH or '|COMMAND'");
	return r;
}

static int start_thread(struct sink *sink, struct err *err)
{
	sigset_t all;
	sigset_t before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&sink->thread, NULL, run, sink);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r ? err_set(err, r, "start a thread") : 0;
}

int sink_new(const char *target, void (*report)(const char *message), struct sink **ret_sink,
	     struct err *err)
{
	struct sink *sink = calloc(1, sizeof(*sink));
	int r;

	if (!sink)
		return err_set(err, ENOMEM, "write counts");
	sink->target = target;
	sink->report = report;
	sink->fd = -1;
	buf_init(&sink->waiting, SINK_WAITING_BYTES);
	(void)pthread_mutex_init(&sink->mutex, NULL);
	(void)pthread_cond_init(&sink->changed, NULL);
	r = open_target(sink, err);
	if (r == 0)
		r = start_thread(sink, err);
	if (r < 0) {
		if (sink->fd >= 0)
			(void)close(sink->fd);
		free(sink);
		return r;
	}
	*ret_sink = sink;
	return 0;
}

void sink_add(struct sink *sink, const char *lines, size_t len)
{
	bool tells = false;

	(void)pthread_mutex_lock(&sink->mutex);
	if (buf_append(&sink->waiting, lines, len) < 0) {
		sink->waiting.failed = false; /* what waits is whole */
		sink->stats.lost += count_lines(lines, len);
		tells = !sink->full;
		sink->full = true;
	}
	(void)pthread_cond_broadcast(&sink->changed);
	(void)pthread_mutex_unlock(&sink->mutex);
	if (tells)
		tell(sink, "the reader is too slow");
}

void sink_stats(struct sink *sink, struct sink_stats *ret_stats)
{
	(void)pthread_mutex_lock(&sink->mutex);
	*ret_stats = sink->stats;
	(void)pthread_mutex_unlock(&sink->mutex);
}

static void wait_for_command(pid_t pid, uint64_t until_ns)
{
	while (waitpid(pid, NULL, WNOHANG) == 0 && io_now_ns() < until_ns) {
		const struct timespec rest = {.tv_nsec = REAP_MS * NS_PER_MS};

		(void)nanosleep(&rest, NULL);
	}
}

/* With the mutex.  Return: whether the thread has ended. */
static bool wait_for_thread(struct sink *sink)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SINK_LEAVE_MS / 1000;
	while (!sink->ended)
		if (pthread_cond_timedwait(&sink->changed, &sink->mutex, &until) == ETIMEDOUT)
			break;
	return sink->ended;
}

void sink_free(struct sink *sink, struct sink_stats *ret_stats)
{
	uint64_t until_ns = io_now_ns() + (uint64_t)SINK_LEAVE_MS * NS_PER_MS;
	struct sink_stats stats;
	bool ended;

	if (!sink)
		return;
	(void)pthread_mutex_lock(&sink->mutex);
	sink->ending = true;
	(void)pthread_cond_broadcast(&sink->changed);
	ended = wait_for_thread(sink);
	sink->left = !ended;
	stats = sink->stats;
	stats.lost += count_lines(sink->waiting.data, sink->waiting.len) + sink->in_hand;
	(void)pthread_mutex_unlock(&sink->mutex);
	if (ret_stats)
		*ret_stats = stats;
	if (!ended) {
		(void)pthread_detach(sink->thread); /* and it keeps the memory */
		return;
	}
	(void)pthread_join(sink->thread, NULL);
	if (sink->command)
		wait_for_command(sink->command, until_ns);
	buf_release(&sink->waiting);
	(void)pthread_cond_destroy(&sink->changed);
	(void)pthread_mutex_destroy(&sink->mutex);
	free(sink);
}

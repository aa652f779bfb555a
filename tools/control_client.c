/* control_client.c - finds the recording of a process and asks it for something */
#include "tools/control_client.h"

#include "base/cleanup.h"
#include "tools/control_place.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

enum {
	ANSWER_S = 30, /* names of what was sampled before may have to come over the net */
	STATUS_S = 15, /* which needs none of them; another user's socket may never answer */
	MOST_SOCKETS = 1024,
};

/* The sockets that there are. */
struct search {
	char (*paths)[sizeof(((struct sockaddr_un *)0)->sun_path)];
	size_t n;
};

static void end_strings(struct control_reply *reply)
{
	reply->command[sizeof(reply->command) - 1] = '\0';
	reply->path[sizeof(reply->path) - 1] = '\0';
	reply->text[sizeof(reply->text) - 1] = '\0';
}

static int exchange(int fd, const struct control_request *request, struct control_reply *ret_reply)
{
	unsigned char bytes[sizeof(*ret_reply) + 1];
	ssize_t n;

	if (send(fd, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		return -errno;
	do
		n = recv(fd, bytes, sizeof(bytes), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (n == 0) /* the recording has ended */
		return -ECONNRESET;
	if (n != (ssize_t)sizeof(*ret_reply))
		return -EPROTO;
	memcpy(ret_reply, bytes, sizeof(*ret_reply));
	if (ret_reply->magic != CONTROL_MAGIC || ret_reply->version != CONTROL_VERSION)
		return -EPROTO;
	end_strings(ret_reply);
	return 0;
}

static int tell(int error, const char *path, struct err *err)
{
	if (error == -EPROTO)
		return err_set(err, 0, "the recording '%s' is of another wick", path);
	if (error == -ECONNRESET) {
		(void)err_set(err, 0, "the recording '%s' has ended, or turned us away", path);
		err_hint(err, "wick status, which says what is recorded");
		return error;
	}
	return err_set(err, -error, "ask the recording '%s'", path);
}

/* A recording that is stopped takes nobody in: even the way to it has a limit. */
static int limit_waits(int fd, const struct control_request *request)
{
	const struct timeval limit = {.tv_sec = request->verb == CONTROL_STATUS ? STATUS_S
										: ANSWER_S};

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ? -errno : 0;
}

static int reach(const char *path, const struct control_request *request)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int r = fd < 0 ? -errno : limit_waits(fd, request);

	if (r < 0)
		return r;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return steal_fd(&fd);
}

static int ask(const char *path, const struct control_request *request,
	       struct control_reply *ret_reply)
{
	_cleanup_fd_ int fd = reach(path, request);

	return fd < 0 ? fd : exchange(fd, request, ret_reply);
}

static void add_path(struct search *search, const char *directory, const char *name)
{
	size_t len = strlen(name);
	int n;

	if (search->n == MOST_SOCKETS || len <= 8 || strcmp(name + len - 8, ".control") != 0)
		return;
	n = snprintf(search->paths[search->n], sizeof(search->paths[0]), "%s/%s", directory, name);
	if (n > 0 && (size_t)n < sizeof(search->paths[0]))
		search->n++;
}

static void look_in(struct search *search, const char *directory)
{
	const struct dirent *entry;
	DIR *entries = opendir(directory);

	if (!entries)
		return;
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(entries))) /* NOLINT(concurrency-mt-unsafe) */
		add_path(search, directory, entry->d_name);
	(void)closedir(entries);
}

static void look_at(struct search *search, uid_t uid)
{
	struct control_places places;

	control_places_list(uid, &places);
	for (size_t i = 0; i < places.n; i++)
		if (control_place_is_private(places.at[i], uid))
			look_in(search, places.at[i]);
}

static bool owner_of(pid_t pid, uid_t *ret_uid)
{
	struct stat at;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &at) < 0)
		return false;
	*ret_uid = at.st_uid;
	return true;
}

/* Who may do anything looks where the owner of PID would record it, too. */
static int look_everywhere(struct search *search, pid_t pid)
{
	uid_t uid = geteuid();
	uid_t owner;

	search->paths = calloc(MOST_SOCKETS, sizeof(search->paths[0]));
	if (!search->paths)
		return -ENOMEM;
	look_at(search, uid);
	if (uid == 0 && owner_of(pid, &owner) && owner != 0)
		look_at(search, owner);
	return 0;
}

static int nobody(pid_t pid, struct err *err)
{
	(void)err_set(err, 0, "no recording of yours has process %d in it", (int)pid);
	err_hint(err, "wick record -p %d", (int)pid);
	return -ESRCH;
}

/* Ended, or killed: the next recording sweeps what it left. */
static bool is_gone(int error)
{
	return error == -ECONNREFUSED || error == -ECONNRESET || error == -ENOENT;
}

/* The one recording that has PID: which answer it gave, or why it cannot be told. */
static int find(const struct search *search, pid_t pid, size_t *ret_index, struct err *err)
{
	const time_t until = time(NULL) + ANSWER_S;
	const struct control_request request = {.magic = CONTROL_MAGIC,
						.version = CONTROL_VERSION,
						.verb = CONTROL_STATUS,
						.pid = pid};
	struct control_reply reply;
	unsigned n_found = 0;
	int trouble = 0;

	for (size_t i = 0; i < search->n && time(NULL) < until; i++) {
		int r = ask(search->paths[i], &request, &reply);

		if (r < 0 && !is_gone(r))
			trouble = tell(r, search->paths[i], err);
		if (r < 0 || reply.result == CONTROL_NOT_MINE)
			continue;
		*ret_index = i;
		n_found++;
		if (reply.wick_pid == pid)
			return 0;
	}
	if (n_found > 1) {
		(void)err_set(err, 0, "process %d is in %u recordings", (int)pid, n_found);
		err_hint(err, "-p with the pid of one wick record");
		return -ENOTUNIQ;
	}
	if (n_found == 0)
		return trouble ? trouble : nobody(pid, err);
	return 0;
}

static int ask_found(const struct search *search, const struct control_request *request,
		     struct control_reply *ret_reply, struct err *err)
{
	size_t i = 0;
	int r = 0;

	if (search->n != 1) /* the only one can say itself that it has not PID */
		r = find(search, request->pid, &i, err);
	if (r < 0)
		return r;
	r = ask(search->paths[i], request, ret_reply);
	if (r == -ECONNREFUSED || r == -ENOENT)
		return nobody(request->pid, err);
	if (r < 0)
		return tell(r, search->paths[i], err);
	if (ret_reply->result == CONTROL_NOT_MINE)
		return nobody(request->pid, err);
	if (ret_reply->result == CONTROL_REFUSED) {
		(void)err_set(err, 0, "%s", ret_reply->text);
		return -EPERM;
	}
	if (ret_reply->result != CONTROL_DONE)
		return err_set(err, 0, "%s", ret_reply->text);
	return 0;
}

int control_ask(const struct control_request *request, struct control_reply *ret_reply,
		struct err *err)
{
	struct search search = {0};
	int r = look_everywhere(&search, request->pid);

	if (r < 0)
		return err_set(err, -r, "look for recordings");
	r = ask_found(&search, request, ret_reply, err);
	free(search.paths);
	return r;
}

/* A socket is named after its recording. */
static pid_t pid_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (pid_t)strtol(slash + 1, NULL, 10) : 0;
}

int control_ask_all(void (*tell_one)(void *context, struct control_reply *reply), void *context,
		    struct err *err)
{
	struct control_request request = {
		.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .verb = CONTROL_STATUS};
	struct search search = {0};
	struct control_reply reply = {0};
	int trouble = look_everywhere(&search, 0);
	int n = 0;

	if (trouble < 0)
		return err_set(err, -trouble, "look for recordings");
	for (size_t i = 0; i < search.n; i++) {
		int r;

		request.pid = pid_of(search.paths[i]);
		r = ask(search.paths[i], &request, &reply);
		if (r < 0 && !is_gone(r))
			trouble = tell(r, search.paths[i], err);
		if (r < 0 || reply.result != CONTROL_DONE)
			continue;
		tell_one(context, &reply);
		n++;
	}
	free(search.paths);
	return n ? n : trouble;
}

pid_t control_recorder(pid_t pid)
{
	const struct control_request request = {.magic = CONTROL_MAGIC,
						.version = CONTROL_VERSION,
						.verb = CONTROL_STATUS,
						.pid = pid};
	struct control_reply reply = {0};

	return control_ask(&request, &reply, NULL) == 0 ? reply.wick_pid : 0;
}

/* control_client.c - finds the recording of a process and sends it a request */
#include "tools/control/control.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/procfs/proc_stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ANSWER_MS = 30000, /* names of what was sampled before may have to come over the net */
	STATUS_MS = 15000, /* which needs none of them */
	/* Another user's recording may be any program. */
	THEIR_ANSWER_MS = 5000,
	THEIR_STATUS_MS = 500, /* all of them together */
	OTHERS_MS = 500,       /* for silent ones, once a recording has said that it is the one */
	STOPPED_MS = 500,      /* a recording that is stopped says nothing more */
	RETRY_MS = 5,          /* its queue of connections is full */
	AT_ONCE = 64,
	MOST_SOCKETS = 1024,
	NS_PER_MS = 1000000,
};

/* A socket, and the user whose directory it stands in: only that user or root can have made it. */
struct found {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	uid_t uid;
};

/* The sockets that there are, the caller's own first. */
struct search {
	struct found *at;
	size_t n;
	size_t n_own;
};

/* One socket during a request. */
struct exchange {
	const struct found *at;
	struct control_request request;
	int fd;     /* -1: not connected */
	int result; /* -EINPROGRESS; 0: it has answered; -errno */
	struct ucred peer;
	struct control_reply reply;
	int rows; /* a descriptor that came with it; 0: none */
};

static struct control_request request_of(enum control_verb verb, pid_t pid)
{
	return (struct control_request){.magic = CONTROL_MAGIC,
					.version = CONTROL_VERSION,
					.verb = (uint16_t)verb,
					.pid = pid};
}

static uint64_t in_ms(uint64_t ms)
{
	return io_now_ns() + ms * NS_PER_MS;
}

static bool is_theirs(uid_t uid)
{
	return uid != geteuid();
}

static void end_strings(struct control_reply *reply)
{
	reply->command[sizeof(reply->command) - 1] = '\0';
	reply->path[sizeof(reply->path) - 1] = '\0';
	reply->text[sizeof(reply->text) - 1] = '\0';
}

/* Relative to where the recording runs, it would be another file here. */
static int make_absolute(struct control_reply *reply, pid_t pid)
{
	char link[32];
	char folder[CONTROL_PATH_BYTES];
	size_t len = strlen(reply->path) + 1;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	n = readlink(link, folder, sizeof(folder));
	if (n <= 0 || (size_t)n + 1 + len > sizeof(reply->path))
		return -ENAMETOOLONG;
	memmove(reply->path + n + 1, reply->path, len);
	memcpy(reply->path, folder, (size_t)n);
	reply->path[n] = '/';
	return 0;
}

/* What another user's recording says: its pid is the kernel's word, its file that user's own. */
static int check_theirs(struct control_reply *reply, const struct ucred *peer)
{
	struct stat at;

	reply->wick_pid = peer->pid;
	if (reply->path[0] == '\0')
		return 0;
	if (reply->path[0] != '/' && make_absolute(reply, peer->pid) < 0)
		return -EBADMSG;
	return lstat(reply->path, &at) == 0 && S_ISREG(at.st_mode) && at.st_uid == peer->uid
		       ? 0
		       : -EBADMSG;
}

static bool takes_rows(const struct control_request *request)
{
	return request->verb == CONTROL_TOTALS || request->verb == CONTROL_TOTALS_RESET;
}

static int receive(struct exchange *exchange)
{
	unsigned char bytes[sizeof(exchange->reply) + 1];
	_cleanup_fd_ int rows = -1;
	ssize_t n = control_rows_receive(exchange->fd, bytes, sizeof(bytes), &rows);

	if (n < 0)
		return n == -EAGAIN || n == -EINTR ? -EINPROGRESS : (int)n;
	if (n == 0) /* the recording has ended */
		return -ECONNRESET;
	if (n != (ssize_t)sizeof(exchange->reply))
		return -EPROTO;
	memcpy(&exchange->reply, bytes, sizeof(exchange->reply));
	if (exchange->reply.magic != CONTROL_MAGIC || exchange->reply.version != CONTROL_VERSION)
		return -EPROTO;
	end_strings(&exchange->reply);
	if (rows >= 0 && takes_rows(&exchange->request))
		exchange->rows = steal_fd(&rows);
	return is_theirs(exchange->peer.uid) ? check_theirs(&exchange->reply, &exchange->peer) : 0;
}

/* By a descriptor: a name could be a link to any socket, or become one. */
static int connect_to(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_fd_ int at = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat stat;

	if (at < 0 || fstat(at, &stat) < 0)
		return -errno;
	if (!S_ISSOCK(stat.st_mode))
		return -ENOTSOCK;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", at);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

/* Return: -EINPROGRESS: its answer is due, or its queue is full; -errno. */
static int reach(struct exchange *exchange)
{
	socklen_t len = sizeof(exchange->peer);
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r = fd < 0 ? -errno : connect_to(fd, exchange->at->path);

	if (r < 0)
		return r == -EAGAIN ? -EINPROGRESS : r;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &exchange->peer, &len) < 0)
		return -errno;
	if (exchange->peer.uid != 0 && exchange->peer.uid != exchange->at->uid)
		return -EKEYREJECTED;
	if (send(fd, &exchange->request, sizeof(exchange->request), MSG_NOSIGNAL) < 0)
		return -errno;
	exchange->fd = steal_fd(&fd);
	return -EINPROGRESS;
}

static void finish(struct exchange *exchange, int result)
{
	exchange->result = result;
	if (exchange->fd >= 0)
		(void)close(exchange->fd);
	exchange->fd = -1;
}

/* A socket is named after its recording. */
static pid_t pid_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (pid_t)strtol(slash + 1, NULL, 10) : 0;
}

/* By a signal or a debugger: it replies only after it is continued. */
static bool is_stopped(const struct exchange *exchange)
{
	pid_t pid = exchange->fd < 0 ? pid_of(exchange->at->path) : exchange->peer.pid;
	struct proc_stat stat;

	return proc_stat_of(pid, STAT_PARENT, &stat) == 0 &&
	       (stat.state == 'T' || stat.state == 't');
}

static void give_up_stopped(struct exchange *each, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (each[i].result == -EINPROGRESS && is_stopped(&each[i]))
			finish(&each[i], -EHOSTDOWN);
}

/* Return: how many have not answered yet. */
static size_t step(struct exchange *each, size_t n, bool *ret_answered)
{
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		int r = each[i].result;

		if (r == -EINPROGRESS)
			r = each[i].fd < 0 ? reach(&each[i]) : receive(&each[i]);
		else
			continue;
		if (r != -EINPROGRESS)
			finish(&each[i], r);
		else
			n_left++;
		if (r == 0 && each[i].reply.result != CONTROL_NOT_MINE)
			*ret_answered = true;
	}
	return n_left;
}

/* Until one of them says something, or it is time to try again. */
static void wait_for_any(const struct exchange *each, size_t n, uint64_t until_ns)
{
	struct pollfd polled[AT_ONCE];
	uint64_t now_ns = io_now_ns();
	uint64_t ms = until_ns > now_ns ? (until_ns - now_ns) / NS_PER_MS + 1 : 0;
	nfds_t n_polled = 0;

	for (size_t i = 0; i < n; i++) {
		if (each[i].result != -EINPROGRESS)
			continue;
		if (each[i].fd >= 0)
			polled[n_polled++] = (struct pollfd){.fd = each[i].fd, .events = POLLIN};
		else if (ms > RETRY_MS)
			ms = RETRY_MS;
	}
	(void)poll(polled, n_polled, (int)ms);
}

/* All of them at once: one that is silent does not delay the others. */
static void ask_each(struct exchange *each, size_t n, uint64_t until_ns)
{
	uint64_t stopped_ns = in_ms(STOPPED_MS);
	bool answered = false;

	while (step(each, n, &answered) > 0 && io_now_ns() < until_ns) {
		if (answered && until_ns > in_ms(OTHERS_MS))
			until_ns = in_ms(OTHERS_MS);
		if (io_now_ns() >= stopped_ns) {
			give_up_stopped(each, n);
			stopped_ns = in_ms(STOPPED_MS);
			continue;
		}
		wait_for_any(each, n, until_ns < stopped_ns ? until_ns : stopped_ns);
	}
	for (size_t i = 0; i < n; i++)
		if (each[i].result == -EINPROGRESS)
			finish(&each[i], -ETIMEDOUT);
}

static int tell(int error, const struct found *at, struct err *err)
{
	switch (-error) {
	case EPROTO:
		return err_set(err, 0, "the recording '%s' was started by another version of wick",
			       at->path);
	case EKEYREJECTED:
		(void)err_set(
			err, 0,
			"the socket '%s' belongs neither to user %u nor to root: it is not trusted",
			at->path, (unsigned)at->uid);
		return -EACCES;
	case EBADMSG:
		(void)err_set(err, 0,
			      "the recording '%s' names a file that does not belong to user %u: it "
			      "is not trusted",
			      at->path, (unsigned)at->uid);
		return -EACCES;
	case EHOSTDOWN:
		(void)err_set(
			err, 0,
			"the recording '%s' cannot answer: its wick record is stopped by a signal",
			at->path);
		err_hint(err, "kill -CONT %d", (int)pid_of(at->path));
		return error;
	case ECONNRESET:
		(void)err_set(err, 0, "the recording '%s' has ended or refused the request",
			      at->path);
		err_hint(err, "wick status, which lists the recordings");
		return error;
	default:
		return err_set(err, -error, "ask the recording '%s'", at->path);
	}
}

static void add_path(struct search *search, const char *directory, uid_t uid, const char *name)
{
	struct found *at = &search->at[search->n];
	size_t len = strlen(name);
	int n;

	if (search->n == MOST_SOCKETS || len <= 8 || strcmp(name + len - 8, ".control") != 0)
		return;
	n = snprintf(at->path, sizeof(at->path), "%s/%s", directory, name);
	at->uid = uid;
	if (n > 0 && (size_t)n < sizeof(at->path))
		search->n++;
}

static void search_directory(struct search *search, const char *directory, uid_t uid)
{
	const struct dirent *entry;
	DIR *entries = opendir(directory);

	if (!entries)
		return;
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(entries))) /* NOLINT(concurrency-mt-unsafe) */
		add_path(search, directory, uid, entry->d_name);
	(void)closedir(entries);
}

static void search_places(struct search *search, uid_t uid)
{
	struct control_directories places;

	control_directories_list(uid, &places);
	for (size_t i = 0; i < places.n; i++)
		if (control_directory_is_private(places.at[i], uid))
			search_directory(search, places.at[i], uid);
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

/* Root also searches where the owner of PID would record it. */
static int search_everywhere(struct search *search, pid_t pid)
{
	uid_t uid = geteuid();
	uid_t owner;

	search->at = calloc(MOST_SOCKETS, sizeof(search->at[0]));
	if (!search->at)
		return -ENOMEM;
	search_places(search, uid);
	search->n_own = search->n;
	if (uid == 0 && owner_of(pid, &owner) && owner != 0)
		search_places(search, owner);
	return 0;
}

static int nobody(pid_t pid, struct err *err)
{
	(void)err_set(err, 0, "you have no recording of process %d", (int)pid);
	err_hint(err, "wick record -p %d", (int)pid);
	return -ESRCH;
}

/* Ended, or killed: the next recording sweeps what it left. */
static bool is_gone(int error)
{
	return error == -ECONNREFUSED || error == -ECONNRESET || error == -ENOENT;
}

/* The one recording that has a process, so far, and what it says of itself. */
struct finding {
	const struct found *at;
	struct control_reply reply;
	unsigned n;
	bool named; /* the pid is the recording's own */
	int error;
};

static void take_answers(struct finding *finding, const struct exchange *each, size_t n,
			 struct err *err)
{
	for (size_t i = 0; i < n && !finding->named; i++) {
		const struct exchange *exchange = &each[i];

		if (exchange->result < 0 && !is_gone(exchange->result))
			finding->error = tell(exchange->result, exchange->at, err);
		if (exchange->result < 0 || exchange->reply.result == CONTROL_NOT_MINE)
			continue;
		finding->at = exchange->at;
		finding->reply = exchange->reply;
		finding->n++;
		finding->named = exchange->reply.wick_pid == exchange->request.pid;
	}
}

/* Sends the request to FROM up to TO, AT_ONCE at a time. */
static int ask_range(const struct search *search, size_t from, size_t to, pid_t pid,
		     struct finding *finding, struct err *err)
{
	const uint64_t until_ns = in_ms(from < search->n_own ? STATUS_MS : THEIR_STATUS_MS);
	struct exchange *each = calloc(AT_ONCE, sizeof(*each));

	if (!each)
		return err_set(err, ENOMEM, "look for recordings");
	while (from < to && !finding->named && io_now_ns() < until_ns) {
		size_t n = 0;

		for (; n < AT_ONCE && from < to; n++, from++)
			each[n] = (struct exchange){.at = &search->at[from],
						    .fd = -1,
						    .result = -EINPROGRESS,
						    .request = request_of(CONTROL_STATUS, pid)};
		ask_each(each, n, until_ns);
		take_answers(finding, each, n, err);
	}
	free(each);
	return 0;
}

/* The one recording that has PID, the caller's own if there is one; or why that is unknown. */
static int find(const struct search *search, pid_t pid, struct finding *finding, struct err *err)
{
	int r = ask_range(search, 0, search->n_own, pid, finding, err);

	if (r == 0 && finding->n == 0)
		r = ask_range(search, search->n_own, search->n, pid, finding, err);
	if (r < 0)
		return r;
	if (finding->n > 1 && !finding->named) {
		(void)err_set(err, 0, "process %d is in %u recordings", (int)pid, finding->n);
		err_hint(err, "-p with the pid of one wick record");
		return -ENOTUNIQ;
	}
	if (finding->n == 0)
		return finding->error ? finding->error : nobody(pid, err);
	return 0;
}

static int judge(const struct control_reply *reply, pid_t pid, struct err *err)
{
	if (reply->result == CONTROL_NOT_MINE)
		return nobody(pid, err);
	if (reply->result == CONTROL_DONE)
		return 0;
	(void)err_set(err, 0, "%s", reply->text);
	return reply->result == CONTROL_REFUSED ? -EPERM : -EINVAL;
}

static int ask_found(const struct search *search, const struct control_request *request,
		     struct control_reply *ret_reply, int *ret_rows, struct err *err)
{
	struct finding finding = {0};
	struct exchange exchange = {.fd = -1, .result = -EINPROGRESS, .request = *request};
	int r = find(search, request->pid, &finding, err);

	if (r < 0)
		return r;
	*ret_reply = finding.reply;
	if (request->verb == CONTROL_STATUS)
		return judge(ret_reply, request->pid, err);
	exchange.at = finding.at;
	ask_each(&exchange, 1, in_ms(is_theirs(finding.at->uid) ? THEIR_ANSWER_MS : ANSWER_MS));
	*ret_rows = exchange.rows ? exchange.rows : -1;
	if (exchange.result == -ECONNREFUSED || exchange.result == -ENOENT)
		return nobody(request->pid, err);
	if (exchange.result < 0)
		return tell(exchange.result, finding.at, err);
	*ret_reply = exchange.reply;
	return judge(ret_reply, request->pid, err);
}

static int ask(const struct control_request *request, struct control_reply *ret_reply,
	       int *ret_rows, struct err *err)
{
	struct search search = {0};
	int r = search_everywhere(&search, request->pid);

	if (r < 0)
		return err_set(err, -r, "look for recordings");
	r = ask_found(&search, request, ret_reply, ret_rows, err);
	free(search.at);
	return r;
}

int control_ask(const struct control_request *request, struct control_reply *ret_reply,
		struct err *err)
{
	_cleanup_fd_ int rows = -1;

	return ask(request, ret_reply, &rows, err);
}

int control_ask_rows(const struct control_request *request, struct buf *rows, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	struct control_reply reply = {0};
	int r = ask(request, &reply, &fd, err);

	if (r < 0)
		return r;
	r = fd < 0 ? -EPROTO : control_rows_read(fd, rows);
	return r < 0 ? err_set(err, -r, "read the answer of the recording (pid %d)",
			       (int)reply.wick_pid)
		     : 0;
}

/* All sockets are the caller's own. */
static int tell_each(const struct search *search, struct exchange *each,
		     void (*tell_one)(void *context, struct control_reply *reply), void *context,
		     struct err *err)
{
	const uint64_t until_ns = in_ms(STATUS_MS);
	int error = 0;
	int n_told = 0;

	for (size_t from = 0; from < search->n; from += AT_ONCE) {
		size_t n = search->n - from < AT_ONCE ? search->n - from : AT_ONCE;

		for (size_t i = 0; i < n; i++) {
			const struct found *at = &search->at[from + i];

			each[i] = (struct exchange){
				.at = at,
				.fd = -1,
				.result = -EINPROGRESS,
				.request = request_of(CONTROL_STATUS, pid_of(at->path))};
		}
		ask_each(each, n, until_ns);
		for (size_t i = 0; i < n; i++) {
			int r = each[i].result;

			if (r < 0 && !is_gone(r))
				error = tell(r, each[i].at, err);
			if (r < 0 || each[i].reply.result != CONTROL_DONE)
				continue;
			tell_one(context, &each[i].reply);
			n_told++;
		}
	}
	return n_told ? n_told : error;
}

int control_ask_all(void (*tell_one)(void *context, struct control_reply *reply), void *context,
		    struct err *err)
{
	struct exchange *each = calloc(AT_ONCE, sizeof(*each));
	struct search search = {0};
	int r;

	if (!each)
		return err_set(err, ENOMEM, "look for recordings");
	r = search_everywhere(&search, 0);
	if (r < 0)
		(void)err_set(err, -r, "look for recordings");
	else
		r = tell_each(&search, each, tell_one, context, err);
	free(search.at);
	free(each);
	return r;
}

pid_t control_recorder(pid_t pid)
{
	const struct control_request request = request_of(CONTROL_STATUS, pid);
	struct control_reply reply = {0};

	return control_ask(&request, &reply, NULL) == 0 ? reply.wick_pid : 0;
}

/* sock_queues.c - the bytes that wait in a process's sockets */
#include "sampler/collector/metrics/sock_queues.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES = 32 * 1024, FIRST_SIZE = 1024 };

/*
 * The kernel's own states after TCP_CLOSING would make it search its table of ports as well.
 * Of a socket that listens the numbers are of connections, not of bytes.
 */
#define STATES (((1U << (TCP_CLOSING + 1)) - 1) & ~(1U << TCP_LISTEN) & ~(1U << TCP_TIME_WAIT))

struct request {
	struct nlmsghdr head;
	union {
		struct inet_diag_req_v2 inet;
		struct unix_diag_req local;
	};
};

/* The requests, in order. */
static const struct {
	uint8_t family;
	uint8_t protocol;
} kinds[] = {
	{AF_INET, IPPROTO_TCP}, {AF_INET6, IPPROTO_TCP},
	{AF_INET, IPPROTO_UDP}, {AF_INET6, IPPROTO_UDP},
	{AF_UNIX, 0},
};

void sock_table_init(struct sock_table *table)
{
	*table = (struct sock_table){.fd = -1};
}

void sock_table_release(struct sock_table *table)
{
	cleanup_fd(&table->fd);
	free(table->entries);
	*table = (struct sock_table){.fd = -1};
}

/* ---- by inode */

static struct sock_entry *find(const struct sock_table *table, uint32_t inode)
{
	size_t at = inode * UINT32_C(2654435761) & (table->size - 1);

	while (table->entries[at].inode && table->entries[at].inode != inode)
		at = (at + 1) & (table->size - 1);
	return &table->entries[at];
}

static int grow(struct sock_table *table)
{
	struct sock_table larger = {.size = table->size ? table->size * 2 : FIRST_SIZE};

	if (table->n * 2 < table->size)
		return 0;
	if (table->n >= SOCK_MOST)
		return -ENOSPC;
	larger.entries = calloc(larger.size, sizeof(*larger.entries));
	if (!larger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < table->size; i++)
		if (table->entries[i].inode)
			*find(&larger, table->entries[i].inode) = table->entries[i];
	free(table->entries);
	table->entries = larger.entries;
	table->size = larger.size;
	return 0;
}

static int put(struct sock_table *table, const struct sock_entry *entry)
{
	struct sock_entry *at;
	int r;

	if (!entry->inode || (!entry->in && !entry->out))
		return 0;
	r = grow(table);
	if (r < 0)
		return r;
	at = find(table, entry->inode);
	table->n += at->inode == 0;
	*at = *entry;
	return 0;
}

void sock_table_add(const struct sock_table *table, uint32_t inode, struct sock_bytes *sum)
{
	const struct sock_entry *entry;

	if (table->n == 0 || inode == 0)
		return;
	entry = find(table, inode);
	sum->in += entry->in;
	sum->out += entry->out;
}

/* ---- the kernel's replies */

static int take_inet(struct sock_table *table, const struct nlmsghdr *head)
{
	struct inet_diag_msg message;

	if (head->nlmsg_len < NLMSG_LENGTH(sizeof(message)))
		return -EBADMSG;
	memcpy(&message, NLMSG_DATA(head), sizeof(message));
	return put(table, &(struct sock_entry){.inode = message.idiag_inode,
					       .in = message.idiag_rqueue,
					       .out = message.idiag_wqueue});
}

static int take_unix(struct sock_table *table, const struct nlmsghdr *head)
{
	struct unix_diag_msg message;
	struct unix_diag_rqlen queues = {0};
	struct rtattr attribute;
	size_t step;

	if (head->nlmsg_len < NLMSG_LENGTH(sizeof(message)))
		return -EBADMSG;
	memcpy(&message, NLMSG_DATA(head), sizeof(message));
	for (size_t at = NLMSG_LENGTH(sizeof(message)); at + sizeof(attribute) <= head->nlmsg_len;
	     at += step) {
		memcpy(&attribute, (const char *)head + at, sizeof(attribute));
		if (attribute.rta_len < sizeof(attribute) ||
		    attribute.rta_len > head->nlmsg_len - at)
			break;
		if (attribute.rta_type == UNIX_DIAG_RQLEN &&
		    attribute.rta_len >= RTA_LENGTH(sizeof(queues)))
			memcpy(&queues, (const char *)head + at + RTA_LENGTH(0), sizeof(queues));
		step = RTA_ALIGN(attribute.rta_len);
	}
	return put(table, &(struct sock_entry){.inode = message.udiag_ino,
					       .in = queues.udiag_rqueue,
					       .out = queues.udiag_wqueue});
}

/* Both kinds of messages begin with the family. */
static int take_socket(struct sock_table *table, const struct nlmsghdr *head)
{
	const uint8_t *family = NLMSG_DATA(head);

	if (head->nlmsg_len < NLMSG_LENGTH(sizeof(*family)))
		return -EBADMSG;
	return *family == AF_UNIX ? take_unix(table, head) : take_inet(table, head);
}

static int take_error(const struct nlmsghdr *head)
{
	struct nlmsgerr error;

	if (head->nlmsg_len < NLMSG_LENGTH(sizeof(error)))
		return -EBADMSG;
	memcpy(&error, NLMSG_DATA(head), sizeof(error));
	return error.error < 0 ? error.error : 1;
}

/* The end of a list says whether it could be made. */
static int take_done(const struct nlmsghdr *head)
{
	int code = 0;

	if (head->nlmsg_len >= NLMSG_LENGTH(sizeof(code)))
		memcpy(&code, NLMSG_DATA(head), sizeof(code));
	return code < 0 ? code : 1;
}

int sock_table_take(struct sock_table *table, const void *answer, size_t len)
{
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < len) {
		const struct nlmsghdr *head = (const void *)((const char *)answer + at);

		if (len - at < sizeof(*head) || head->nlmsg_len < sizeof(*head) ||
		    head->nlmsg_len > len - at)
			return -EBADMSG;
		if (head->nlmsg_type == NLMSG_DONE)
			return take_done(head);
		if (head->nlmsg_type == NLMSG_ERROR)
			return take_error(head);
		if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			r = take_socket(table, head);
		at += NLMSG_ALIGN(head->nlmsg_len);
	}
	return r;
}

/* ---- reading */

static int ask(struct sock_table *table, uint8_t family, uint8_t protocol)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct request request = {
		.head = {.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	};

	if (family == AF_UNIX) {
		request.head.nlmsg_len = NLMSG_LENGTH(sizeof(request.local));
		request.local.sdiag_family = family;
		request.local.udiag_states = STATES;
		request.local.udiag_show = UDIAG_SHOW_RQLEN;
	} else {
		request.head.nlmsg_len = NLMSG_LENGTH(sizeof(request.inet));
		request.inet.sdiag_family = family;
		request.inet.sdiag_protocol = protocol;
		request.inet.idiag_states = STATES;
	}
	return sendto(table->fd, &request, request.head.nlmsg_len, 0, (struct sockaddr *)&kernel,
		      sizeof(kernel)) < 0
		       ? -errno
		       : 0;
}

/* The kernel makes each part of a reply during the call that requests it. */
static int receive(struct sock_table *table, uint64_t until_ns)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
	struct sockaddr_nl from = {0};
	int r = 0;

	while (r == 0) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(table->fd, answer, sizeof(answer), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &len);

		if (n > 0 && from.nl_pid == 0)
			r = sock_table_take(table, answer, (size_t)n);
		else
			r = n < 0 ? -errno : -EBADMSG;
		if (r == 0 && io_thread_ns() > until_ns)
			r = -ETIME;
	}
	return r < 0 ? r : 0;
}

static int read_kind(struct sock_table *table, uint8_t family, uint8_t protocol, uint64_t until_ns)
{
	int r;

	if (table->fd < 0)
		table->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	r = table->fd < 0 ? -errno : ask(table, family, protocol);
	if (r == 0)
		r = receive(table, until_ns);
	/* What is left of an answer goes with the descriptor. */
	if (r < 0) {
		cleanup_fd(&table->fd);
		table->fd = -1;
	}
	return r;
}

/* To ask for a diag module that is not there may start modprobe each time. */
static bool is_refusal(int r)
{
	return r == -ENOENT || r == -EOPNOTSUPP || r == -EPROTONOSUPPORT || r == -EPERM ||
	       r == -EACCES;
}

/* Return: false when that takes too long here. */
static bool read_all(struct sock_table *table, uint64_t until_ns)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int r = 0;

		if (!(table->refused >> i & 1))
			r = read_kind(table, kinds[i].family, kinds[i].protocol, until_ns);
		if (r == -ETIME)
			return false;
		table->refused |= (uint32_t)is_refusal(r) << i;
	}
	return true;
}

void sock_table_refresh(struct sock_table *table, uint64_t now_ns)
{
	uint64_t begun_ns;

	if (now_ns < table->next_ns)
		return;
	begun_ns = io_thread_ns();
	if (table->entries)
		memset(table->entries, 0, table->size * sizeof(*table->entries));
	table->n = 0;
	if (read_all(table, begun_ns + SOCK_LONGEST_NS)) {
		table->next_ns = now_ns + (io_thread_ns() - begun_ns) * SOCK_PART;
		return;
	}
	table->n = 0;
	table->next_ns = UINT64_MAX;
}

enum {
	STEP_FDS = 512,   /* descriptors that are read in one step: less than a millisecond */
	MOST_FDS = 65536, /* of a process; sockets among further ones are not seen */
};

struct inodes {
	uint32_t *at;
	size_t n;
	size_t size;
};

struct sock_queues {
	struct sock_table *table;
	DIR *fds;             /* /proc/PID/fd; stands where the next step begins */
	size_t n_seen;        /* descriptors of this listing */
	uint64_t next_ns;     /* when it may be read again */
	struct inodes found;  /* by this listing so far */
	struct inodes listed; /* by the last whole one; ascending, each once */
	struct sock_bytes sum;
};

int sock_queues_new(struct sock_queues **ret_queues, struct sock_table *table, pid_t pid)
{
	struct sock_queues *queues = calloc(1, sizeof(*queues));
	char path[64];
	int error;

	if (!queues)
		return -ENOMEM;
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	queues->fds = opendir(path);
	if (!queues->fds) {
		error = errno;
		free(queues);
		return -error;
	}
	queues->table = table;
	table->n_users++;
	*ret_queues = queues;
	return 0;
}

void sock_queues_free(struct sock_queues *queues)
{
	if (!queues)
		return;
	queues->table->n_users--;
	(void)closedir(queues->fds);
	free(queues->found.at);
	free(queues->listed.at);
	free(queues);
}

static int compare_inodes(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left;
	uint32_t b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* A socket that there is no memory for is not seen. */
static void add_inode(struct inodes *inodes, uint32_t inode)
{
	if (array_reserve(&inodes->at, inodes->n, &inodes->size, 64) == 0)
		inodes->at[inodes->n++] = inode;
}

/* The inode of a descriptor that is a socket; 0: it is another kind. */
static uint32_t inode_of(int dir_fd, const char *name)
{
	static const char start[] = "socket:[";
	const size_t len = sizeof(start) - 1;
	char link[64];
	ssize_t n = readlinkat(dir_fd, name, link, sizeof(link) - 1);

	if (n <= (ssize_t)len || memcmp(link, start, len) != 0)
		return 0;
	link[n] = '\0';
	return (uint32_t)strtoul(link + len, NULL, 10);
}

/* What was found is what there is, from now on. */
static void finish_listing(struct sock_queues *queues)
{
	struct inodes done = queues->found;
	size_t n = 0;

	if (done.n > 1)
		qsort(done.at, done.n, sizeof(*done.at), compare_inodes);
	for (size_t i = 0; i < done.n; i++)
		if (i == 0 || done.at[i] != done.at[i - 1])
			done.at[n++] = done.at[i];
	done.n = n;
	queues->found = queues->listed;
	queues->found.n = 0;
	queues->listed = done;
	queues->n_seen = 0;
	rewinddir(queues->fds);
}

static void list_some(struct sock_queues *queues)
{
	const struct dirent *entry = NULL;

	for (size_t i = 0; i < STEP_FDS; i++) {
		uint32_t inode;

		entry = queues->n_seen < MOST_FDS ? readdir(queues->fds) : NULL;
		if (!entry)
			break;
		queues->n_seen++;
		inode = entry->d_name[0] == '.' ? 0 : inode_of(dirfd(queues->fds), entry->d_name);
		if (inode)
			add_inode(&queues->found, inode);
	}
	if (!entry)
		finish_listing(queues);
}

struct sock_bytes sock_queues_read(struct sock_queues *queues, uint64_t now_ns)
{
	uint64_t begun_ns;

	if (now_ns < queues->next_ns)
		return queues->sum;
	sock_table_refresh(queues->table, now_ns);
	begun_ns = io_thread_ns();
	list_some(queues);
	queues->sum = (struct sock_bytes){0};
	for (size_t i = 0; i < queues->listed.n; i++)
		sock_table_add(queues->table, queues->listed.at[i], &queues->sum);
	/* All processes together take a SOCK_PART-th of a processor, and the table another. */
	queues->next_ns = now_ns + (io_thread_ns() - begun_ns) * SOCK_PART * queues->table->n_users;
	return queues->sum;
}

/* sock_queues.c - the bytes that wait in a process's sockets */
#include "sampler/collector/metrics/sock_queues.h"

#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STEP_FDS = 512,   /* descriptors that are looked at in one go: less than a millisecond */
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
	if (inodes->n == inodes->size) {
		size_t size = inodes->size ? inodes->size * 2 : 64;
		uint32_t *at = realloc(inodes->at, size * sizeof(*at));

		if (!at)
			return;
		inodes->at = at;
		inodes->size = size;
	}
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

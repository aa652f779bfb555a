/*
 * sock_queues.h - the bytes that wait in a process's sockets
 *
 * Links of /proc/PID/fd are read, never followed; no descriptor of the process is opened or
 * duplicated, since the program could notice (docs/decisions/0030).
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef METRICS_SOCK_QUEUES_H
#define METRICS_SOCK_QUEUES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SOCK_MOST = 1 << 18, /* sockets of the machine; further ones are not seen */
	SOCK_PART = 200,     /* the table may take this part of a processor, the lists another */
	SOCK_LONGEST_NS = 20000000, /* of CPU, while no ring is drained */
};

/* Of a socket, or of several added up: received and not yet read, written and not yet gone. */
struct sock_bytes {
	int64_t in;
	int64_t out;
};

struct sock_entry {
	uint32_t inode; /* 0: free */
	uint32_t in;
	uint32_t out;
};

struct sock_table {
	int fd;
	uint64_t next_ns;           /* when it may be read again; UINT64_MAX: never */
	uint32_t refused;           /* kinds of sockets that the kernel does not list, as bits */
	uint32_t n_users;           /* processes whose sockets are searched */
	struct sock_entry *entries; /* SIZE of them, a power of two, by inode */
	size_t size;
	size_t n;
};

/**
 * sock_table_init - without sockets yet, and without a descriptor before it is first read
 *
 * Owns:    the caller, to sock_table_release().
 * Context: main thread, before the drain thread runs.
 */
void sock_table_init(struct sock_table *table);

/**
 * sock_table_release - forget it
 *
 * Context: main thread.
 */
void sock_table_release(struct sock_table *table);

/**
 * sock_table_refresh - read it anew, unless it is too soon
 *
 * Where the kernel has no sock_diag, or has so many sockets that to read them takes longer than
 * SOCK_LONGEST_NS, it stays empty.
 */
void sock_table_refresh(struct sock_table *table, uint64_t now_ns);

/**
 * sock_table_add - add a socket's bytes to SUM, if it is there
 * @inode: as in the link of its descriptor, "socket:[INODE]"
 */
void sock_table_add(const struct sock_table *table, uint32_t inode, struct sock_bytes *sum);

/**
 * sock_table_take - put an answer of the kernel's into the table
 * @answer: LEN bytes of netlink messages
 *
 * Return:  0: more is to come; 1: that was the last; -errno, as the kernel said; -EBADMSG: what
 *          stands there is no answer; -ENOSPC: SOCK_MOST; -ENOMEM.
 * Context: any thread.
 */
int sock_table_take(struct sock_table *table, const void *answer, size_t len);

struct sock_queues;

/**
 * sock_queues_new - begin with a process
 * @table: counts this process as a user until sock_queues_free()
 *
 * Return:  0; -EACCES, -ENOENT: its descriptors cannot be listed; -ENOMEM.
 * Owns:    the caller, to sock_queues_free(); the table has to outlive it.
 */
int sock_queues_new(struct sock_queues **ret_queues, struct sock_table *table, pid_t pid);

/** sock_queues_free - forget it; NULL is fine */
void sock_queues_free(struct sock_queues *queues);

/**
 * sock_queues_read - what waits in all of its sockets, each counted once
 *
 * Descriptors are listed in steps, so that a process with many costs no more: see SOCK_PART.
 *
 * Return:  the sums; zeros until all descriptors have been listed once.
 */
struct sock_bytes sock_queues_read(struct sock_queues *queues, uint64_t now_ns);

#endif

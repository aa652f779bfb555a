/* directory.c - the directory in which agents find us */
#include "sampler/collector/launch/directory.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/xattr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>

#define AGENT_LINK    "libwick-agent.so"
#define HOOKS_LINK    "libwick-hooks.so"
#define SOCKET_NAME   "socket"
#define SOCKET_UNBORN "socket.new"
#define PREFIX        "wick-"

enum { BACKLOG = 4096, NAME_LENGTH = sizeof(PREFIX) - 1 + 6 };

/* DIRECTORY/NAME; false when it does not fit. */
static bool join(char *to, const char *directory, const char *name)
{
	int n = snprintf(to, DIRECTORY_PATH_BYTES, "%s/%s", directory, name);

	return n > 0 && n < DIRECTORY_PATH_BYTES;
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return address;
}

/* A socket without a listener. */
static bool refuses(const char *socket_path)
{
	struct sockaddr_un address = address_of(socket_path);
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 &&
	       errno == ECONNREFUSED;
}

/* A socket gets its name only once it listens: one that refuses is dead, not being born. */
static void sweep_one(const char *base, const char *name)
{
	char path[DIRECTORY_PATH_BYTES];
	char file[DIRECTORY_PATH_BYTES];
	struct stat stat;

	if (strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0 || strlen(name) != NAME_LENGTH)
		return;
	if (!join(path, base, name) || lstat(path, &stat) < 0 || !S_ISDIR(stat.st_mode) ||
	    stat.st_uid != geteuid())
		return;
	if (!join(file, path, SOCKET_NAME) || !refuses(file))
		return;
	(void)unlink(file);
	if (join(file, path, AGENT_LINK))
		(void)unlink(file);
	if (join(file, path, HOOKS_LINK))
		(void)unlink(file);
	(void)rmdir(path);
}

static void sweep(const char *base)
{
	const struct dirent *entry;
	DIR *entries = opendir(base);

	if (!entries)
		return;
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(entries))) /* NOLINT(concurrency-mt-unsafe) */
		sweep_one(base, entry->d_name);
	(void)closedir(entries);
}

/* The loader splits LD_PRELOAD at blanks and colons, and expands '$'. */
static bool fits(const char *base)
{
	struct stat at;

	if (!base || base[0] != '/' || strpbrk(base, " \t\n:$"))
		return false;
	if (strlen(base) + NAME_LENGTH + sizeof(AGENT_LINK) + 2 > DIRECTORY_PATH_BYTES)
		return false;
	if (stat(base, &at) < 0 || !S_ISDIR(at.st_mode) || access(base, W_OK | X_OK) < 0)
		return false;
	/* Where others could rename ours away they could give the programs an agent of theirs. */
	if ((at.st_mode & (S_IWGRP | S_IWOTH)) && !(at.st_mode & S_ISVTX))
		return false;
	if (at.st_uid != 0 && at.st_uid != geteuid())
		return false;
	/* Children of root can become anybody, and have to reach us then. */
	return geteuid() != 0 || (at.st_mode & S_IXOTH);
}

static int make_directory(struct directory *directory, struct err *err)
{
	/* Before any thread of ours runs; the environment does not change. */
	const char *bases[] = {getenv("XDG_RUNTIME_DIR"), /* NOLINT(concurrency-mt-unsafe) */
			       getenv("TMPDIR"), "/tmp"}; /* NOLINT(concurrency-mt-unsafe) */

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (!fits(bases[i]))
			continue;
		sweep(bases[i]);
		(void)join(directory->path, bases[i], PREFIX "XXXXXX");
		if (mkdtemp(directory->path))
			return 0;
		directory->path[0] = '\0';
	}
	(void)err_set(err, EACCES, "make a directory in $XDG_RUNTIME_DIR, $TMPDIR or /tmp");
	err_hint(err, "TMPDIR=/a/directory/that/can/be/written, without blanks and colons");
	return -EACCES;
}

static int start_listening(struct directory *directory)
{
	char unborn[DIRECTORY_PATH_BYTES];
	struct sockaddr_un address;

	if (!join(directory->socket, directory->path, SOCKET_NAME) ||
	    !join(unborn, directory->path, SOCKET_UNBORN))
		return -ENAMETOOLONG;
	directory->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (directory->listen_fd < 0)
		return -errno;
	address = address_of(unborn);
	if (bind(directory->listen_fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	/* Children of root that have changed their user must reach it; the handshake checks the
	 * user. */
	if (chmod(unborn, geteuid() == 0 ? 0777 : 0700) < 0 ||
	    listen(directory->listen_fd, BACKLOG) < 0 || rename(unborn, directory->socket) < 0) {
		int r = -errno;

		(void)unlink(unborn);
		return r;
	}
	return 0;
}

/* An entry of an access control list as the kernel takes it: linux/posix_acl_xattr.h. */
struct acl_entry {
	uint16_t tag;
	uint16_t permissions;
	uint32_t id;
};

#define NO_ID ((uint32_t)ACL_UNDEFINED_ID)

enum { ACL_ALL = ACL_READ | ACL_WRITE | ACL_EXECUTE };

static int by_number(const void *a, const void *b)
{
	const uid_t left = *(const uid_t *)a;
	const uid_t right = *(const uid_t *)b;

	return (left > right) - (left < right);
}

/* Entries are sorted by tag and id; those for which no id counts have none. */
static size_t make_list(struct acl_entry *to, const uid_t *uids, size_t n)
{
	uid_t sorted[DIRECTORY_MOST_CLOSED];
	struct acl_entry *at = to;

	memcpy(sorted, uids, n * sizeof(*uids));
	qsort(sorted, n, sizeof(*sorted), by_number);
	*at++ = (struct acl_entry){ACL_USER_OBJ, ACL_ALL, NO_ID};
	for (size_t i = 0; i < n; i++)
		*at++ = (struct acl_entry){ACL_USER, 0, sorted[i]};
	*at++ = (struct acl_entry){ACL_GROUP_OBJ, ACL_ALL, NO_ID};
	*at++ = (struct acl_entry){ACL_MASK, ACL_ALL, NO_ID};
	*at++ = (struct acl_entry){ACL_OTHER, ACL_ALL, NO_ID};
	return (size_t)(at - to);
}

void directory_close_to(const struct directory *directory, const uid_t *uids, size_t n)
{
	struct acl_entry entries[DIRECTORY_MOST_CLOSED + 4];
	unsigned char bytes[sizeof(uint32_t) + sizeof(entries)];
	const uint32_t version = POSIX_ACL_XATTR_VERSION;
	size_t len;

	if (n == 0) {
		(void)removexattr(directory->socket, XATTR_NAME_POSIX_ACL_ACCESS);
		(void)chmod(directory->socket, 0777);
		return;
	}
	if (n <= DIRECTORY_MOST_CLOSED) {
		len = make_list(entries, uids, n) * sizeof(entries[0]);
		memcpy(bytes, &version, sizeof(version));
		memcpy(bytes + sizeof(version), entries, len);
		if (setxattr(directory->socket, XATTR_NAME_POSIX_ACL_ACCESS, bytes,
			     sizeof(version) + len, 0) == 0)
			return;
	}
	(void)chmod(directory->socket, 0700);
}

int directory_init(struct directory *ret_directory, const char *agent_path, struct err *err)
{
	struct directory directory = {.listen_fd = -1};
	int r = make_directory(&directory, err);

	if (r < 0)
		return r;
	r = geteuid() == 0 && chmod(directory.path, 0711) < 0 ? -errno
							      : start_listening(&directory);
	if (r == 0 && !join(directory.agent, directory.path, AGENT_LINK))
		r = -ENAMETOOLONG;
	if (r == 0 && symlink(agent_path, directory.agent) < 0)
		r = -errno;
	if (r < 0) {
		(void)err_set(err, -r, "make a socket in '%s'", directory.path);
		directory_release(&directory);
		return r;
	}
	(void)snprintf(directory.preload, sizeof(directory.preload), "%s", directory.agent);
	*ret_directory = directory;
	return 0;
}

int directory_add_hooks(struct directory *directory, const char *agent_path, struct err *err)
{
	const char *slash = strrchr(agent_path, '/');
	_cleanup_free_ char *hooks = NULL;

	if (asprintf(&hooks, "%.*s%s", slash ? (int)(slash + 1 - agent_path) : 0, agent_path,
		     HOOKS_LINK) < 0) {
		hooks = NULL;
		return err_set(err, ENOMEM, "start the collector");
	}
	if (access(hooks, R_OK) < 0)
		return err_set(err, errno, "read the hooks '%s'", hooks);
	if (!join(directory->hooks, directory->path, HOOKS_LINK) ||
	    symlink(hooks, directory->hooks) < 0) {
		directory->hooks[0] = '\0';
		return err_set(err, errno, "make a link in '%s'", directory->path);
	}
	/* The agent knows the two as one: they are hidden and put back together. */
	(void)snprintf(directory->preload, sizeof(directory->preload), "%s:%s", directory->agent,
		       directory->hooks);
	return 0;
}

void directory_release(struct directory *directory)
{
	if (!directory->path[0])
		return;
	if (directory->listen_fd >= 0)
		(void)close(directory->listen_fd);
	if (directory->agent[0])
		(void)unlink(directory->agent);
	if (directory->hooks[0])
		(void)unlink(directory->hooks);
	if (directory->socket[0])
		(void)unlink(directory->socket);
	(void)rmdir(directory->path);
	*directory = (struct directory){.listen_fd = -1};
}

/* beneath.c - openat2(2) where the kernel has it, else a step at a time */
#include "flamescope/serve/beneath.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

static bool is_plain(const char *name)
{
	const char *at = name;

	if (!*name || strlen(name) >= PATH_MAX)
		return false;
	for (;;) {
		const char *end = strchrnul(at, '/');

		/* No "." and "..", and no hidden file either. */
		if (end == at || *at == '.')
			return false;
		if (!*end)
			return true;
		at = end + 1;
	}
}

/* The same without openat2 (Linux before 5.6, or a filter of system calls). */
static int open_by_steps(int folder, const char *name, int flags)
{
	_cleanup_fd_ int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	char step[NAME_MAX + 1];

	for (;;) {
		const char *end = strchrnul(name, '/');
		const size_t len = (size_t)(end - name);
		int next;

		if (at < 0)
			return -errno;
		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(step, name, len);
		step[len] = '\0';
		next = openat(at, step,
			      *end ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
				   : flags | O_NOFOLLOW);
		if (next < 0)
			return -errno;
		if (!*end)
			return next;
		(void)close(at);
		at = next;
		name = end + 1;
	}
}

int beneath_open(int folder, const char *name, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC |
					      (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY)),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long r;

	if (!is_plain(name))
		return -EACCES;
	r = syscall(SYS_openat2, folder, name, &how, sizeof(how));
	if (r >= 0)
		return (int)r;
	if (errno == ENOSYS || errno == EPERM)
		return open_by_steps(folder, name, (int)how.flags);
	return errno == ELOOP || errno == EXDEV ? -EACCES : -errno;
}

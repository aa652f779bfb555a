/* image.c - copies the agent into a sealed memfd, for processes that cannot open its path */
#include "sampler/attach/image.h"

#include "base/cleanup.h"
#include "sampler/attach/target_elf.h"
#include "sampler/wire/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3: it may be executed, whatever the default is */
#endif

enum { MAX_BYTES = 16 << 20 };

static int make_file(void)
{
	int fd = memfd_create(IMAGE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(IMAGE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd < 0 ? -errno : fd;
}

static int copy(int from, int to)
{
	struct stat stat;
	ssize_t n = 1;

	if (fstat(from, &stat) < 0)
		return -errno;
	if (stat.st_size <= 0 || stat.st_size > MAX_BYTES)
		return -EFBIG;
	for (off_t done = 0; done < stat.st_size && n > 0;) {
		n = sendfile(to, from, &done, (size_t)(stat.st_size - done));
		if (n < 0)
			return -errno;
	}
	return n == 0 ? -EIO : 0;
}

/* The first segment, which contains the note, has the same layout in file and memory. */
static int find_attach_offset(int fd, uint64_t *ret_attach_offset)
{
	uint32_t version = 0;
	uint32_t signal;
	struct stat stat;
	void *at;

	if (fstat(fd, &stat) < 0)
		return -errno;
	at = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*ret_attach_offset = target_attach_note(getpid(), (uintptr_t)at, &version, &signal);
	(void)munmap(at, (size_t)stat.st_size);
	if (!*ret_attach_offset || version != WIRE_VERSION)
		return -ELIBBAD;
	*ret_attach_offset -= (uintptr_t)at;
	return 0;
}

int image_open(const char *agent_path, uint64_t *ret_attach_offset, struct err *err)
{
	const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	_cleanup_fd_ int from = open(agent_path, O_RDONLY | O_CLOEXEC);
	_cleanup_fd_ int to = -1;
	int r;

	if (from < 0)
		return err_set(err, errno, "read the agent '%s'", agent_path);
	to = make_file();
	r = to < 0 ? to : copy(from, to);
	if (r == 0 && fcntl(to, F_ADD_SEALS, seals) < 0)
		r = -errno;
	if (r == 0)
		r = find_attach_offset(to, ret_attach_offset);
	if (r < 0)
		return err_set(err, -r, "copy the agent '%s'", agent_path);
	return steal_fd(&to);
}

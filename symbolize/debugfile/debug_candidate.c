/* debug_candidate.c - a debug file that is not provably the module's would give wrong names */
#include "symbolize/debugfile/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/mapped_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <zlib.h>

/* A second or two, for a link that is a file's name and nothing more. */
static const uint64_t MAX_CRC_BYTES = UINT64_C(4) << 30;

/*
 * Links that are absolute in the process's root have to stay there.  Kernels before 5.6 follow
 * them in ours; what they lead to has to prove itself like any other file.
 */
static int open_in_root(pid_t pid, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	_cleanup_fd_ int root = -1;
	char name[64];
	long fd;

	(void)snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(root, path + strspn(path, "/"), O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* Where a file that was opened in another root can be found again from here. */
static char *path_here(pid_t pid, const char *path)
{
	char full[PATH_MAX + 32];

	if (pid <= 0)
		return strdup(path);
	(void)snprintf(full, sizeof(full), "/proc/%d/root%s", (int)pid, path);
	return strdup(full);
}

int debug_open(pid_t pid, const char *path, char **ret_path)
{
	_cleanup_fd_ int place = -1;
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (path[0] != '/' || strlen(path) >= PATH_MAX)
		return -ENOENT;
	place = pid > 0 ? open_in_root(pid, path) : open(path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -ENOENT;
	fd = regular_file_reopen(place);
	if (fd < 0)
		return fd == -EISDIR || fd == -ENODEV ? -ENOENT : fd;
	if (fstat(fd, &st) < 0 || st.st_size == 0)
		return -ENOENT;
	if (ret_path) {
		*ret_path = path_here(pid, path);
		if (!*ret_path)
			return -ENOMEM;
	}
	return steal_fd(&fd);
}

size_t debug_build_id(int fd, uint8_t id[BUILD_ID_MAX])
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const void *bytes = NULL;
	ssize_t len = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;

	if (len > 0 && len <= BUILD_ID_MAX)
		memcpy(id, bytes, (size_t)len);
	else
		len = 0;
	if (elf)
		(void)elf_end(elf);
	return (size_t)len;
}

static bool same_crc(int fd, uint64_t size, uint32_t wanted)
{
	uint8_t bytes[64 * 1024];
	uLong crc = crc32(0, NULL, 0);
	uint64_t at = 0;
	ssize_t n;

	if (size > MAX_CRC_BYTES)
		return false;
	/* One that grows meanwhile is not the one. */
	while (at <= size && !loader_is_stopping()) {
		n = io_pread(fd, bytes, sizeof(bytes), at);
		if (n <= 0)
			break;
		crc = crc32(crc, bytes, (uInt)n);
		at += (uint64_t)n;
	}
	return at == size && crc == wanted;
}

/* A build-id that is set by hand can be that of two builds: then their code differs. */
static bool same_code(const struct debug_match *match, int fd)
{
	struct elf_head head;

	if (!match->code || elf_head_read(&(struct elf_source){.fd = fd}, &head) < 0)
		return true;
	return elf_head_same_code(match->code, &head);
}

static bool belongs(const struct debug_match *match, int fd)
{
	uint8_t id[BUILD_ID_MAX];
	struct stat st;

	if (fstat(fd, &st) < 0 || mapped_file_is_sparse(fd))
		return false;
	if (match->inode && st.st_dev == match->dev && st.st_ino == match->inode)
		return false;
	if (match->build_id_len)
		return debug_build_id(fd, id) == match->build_id_len &&
		       memcmp(id, match->build_id, match->build_id_len) == 0 &&
		       same_code(match, fd);
	return match->has_crc && same_crc(fd, (uint64_t)st.st_size, match->crc);
}

/* Return: as elf_contents().  A stripped copy of the module has its build-id and nothing to add. */
static int contents_of(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	int contents = elf ? elf_contents(elf) : 0;

	if (elf)
		(void)elf_end(elf);
	return contents;
}

bool debug_match_take(struct debug_match *match, int fd, char *path, enum debug_found found)
{
	_cleanup_free_ char *owned = path;
	_cleanup_fd_ int file = fd;
	int contents = 0;

	if (file >= 0 && owned && belongs(match, file))
		contents = contents_of(file);
	if (!contents || (!(contents & ELF_DWARF) && match->file.fd >= 0))
		return false;
	debug_match_release(match);
	match->file = (struct debug_file){
		.fd = steal_fd(&file), .path = steal_pointer(&owned), .found = found};
	return contents & ELF_DWARF;
}

bool debug_match_try(struct debug_match *match, pid_t pid, const char *path, enum debug_found found)
{
	char *here = NULL;
	int fd = debug_open(pid, path, &here);

	/* Taken, and freed by _cleanup_free_. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return fd >= 0 && debug_match_take(match, fd, here, found);
}

void debug_match_release(struct debug_match *match)
{
	if (match->file.fd >= 0)
		(void)close(match->file.fd);
	free(match->file.path);
	match->file = (struct debug_file){.fd = -1};
}

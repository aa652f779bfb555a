/* debug_file.c - finding debug files, and proving that they belong */
#include "symbolize/debug_file.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "symbolize/module.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* What the file has to match. */
struct wanted {
	const struct module *module;
	GElf_Word crc; /* of the link; only where there is no build-id */
	char prefix[64];
};

static bool same_build_id(int fd, const struct elf_head *head)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const void *id = NULL;
	ssize_t len = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	bool same = len > 0 && (size_t)len == head->build_id_len &&
		    memcmp(id, head->build_id, (size_t)len) == 0;

	if (elf)
		(void)elf_end(elf);
	return same;
}

static bool same_crc(int fd, GElf_Word wanted)
{
	uint8_t bytes[64 * 1024];
	uLong crc = crc32(0, NULL, 0);
	uint64_t at = 0;
	ssize_t n;

	while ((n = io_pread(fd, bytes, sizeof(bytes), at)) > 0) {
		crc = crc32(crc, bytes, (uInt)n);
		at += (uint64_t)n;
	}
	return n == 0 && crc == wanted;
}

/* Open PATH if it belongs to the module and is not the module itself. */
static int try_open(const struct wanted *wanted, const char *path, char **ret_path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const struct module *module = wanted->module;
	struct stat st;
	char *copy;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -ENOENT;
	if (st.st_dev == module->id.dev && st.st_ino == module->id.inode)
		return -ENOENT;
	if (module->head.build_id_len ? !same_build_id(fd, &module->head)
				      : !same_crc(fd, wanted->crc))
		return -ENOENT;
	copy = strdup(path);
	if (!copy)
		return -ENOENT;
	*ret_path = copy;
	return steal_fd(&fd);
}

static int try_build_id(const struct wanted *wanted, char **ret_path)
{
	const char *id = wanted->module->build_id;
	char path[PATH_MAX];
	int len;

	if (wanted->module->head.build_id_len < 2)
		return -ENOENT;
	len = snprintf(path, sizeof(path), "%s%s/.build-id/%.2s/%s.debug", wanted->prefix,
		       wanted->module->debug_root, id, id + 2);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENOENT;
	return try_open(wanted, path, ret_path);
}

/* The link is a bare file name; anything else would lead out of the folder. */
static int try_link(const struct wanted *wanted, const char *link, char **ret_path)
{
	const char *roots[] = {"", "", wanted->module->debug_root};
	const char *folders[] = {"", "/.debug", ""};
	const char *path = wanted->module->path;
	const char *slash = strrchr(path, '/');
	int fd = -ENOENT;

	if (path[0] != '/' || strchr(link, '/') || !*link)
		return -ENOENT;
	for (int i = 0; i < 3 && fd < 0; i++) {
		char full[PATH_MAX];
		int len = snprintf(full, sizeof(full), "%s%s%.*s%s/%s", wanted->prefix, roots[i],
				   (int)(slash - path), path, folders[i], link);

		if (len > 0 && (size_t)len < sizeof(full))
			fd = try_open(wanted, full, ret_path);
	}
	return fd;
}

int debug_file_open(const struct module *module, Elf *elf, char **ret_path)
{
	struct wanted wanted = {.module = module};
	const char *link = dwelf_elf_gnu_debuglink(elf, &wanted.crc);
	int fd = -ENOENT;

	for (int outside = 0; outside < 2 && fd < 0; outside++) {
		if (!outside && module->pid > 0)
			(void)snprintf(wanted.prefix, sizeof(wanted.prefix), "/proc/%d/root",
				       (int)module->pid);
		else
			wanted.prefix[0] = '\0';
		fd = try_build_id(&wanted, ret_path);
		if (fd < 0 && link)
			fd = try_link(&wanted, link, ret_path);
	}
	return fd;
}

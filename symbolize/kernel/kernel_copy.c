/* kernel_copy.c - FOLDER/kallsyms-BOOT: "wick-kallsyms 1 STEXT", then lines relative to STEXT */
#include "symbolize/kernel/kernel_copy.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char PREFIX[] = "kallsyms-";
static const char MAGIC[] = "wick-kallsyms 1 ";

enum { MAX_BYTES = 256 * 1024 * 1024, BOOT_ID_LEN = 36 };

static bool copy_name(char name[64])
{
	struct buf boot;
	bool good;

	buf_init(&boot, 4096);
	good = io_read_file("/proc/sys/kernel/random/boot_id", &boot, NULL) == 0 &&
	       boot.len >= BOOT_ID_LEN &&
	       strspn(buf_text(&boot), "0123456789abcdef-") == BOOT_ID_LEN;
	if (good)
		(void)snprintf(name, 64, "%s%.*s", PREFIX, BOOT_ID_LEN, buf_text(&boot));
	buf_release(&boot);
	return good;
}

/* The lines of code, each address minus STEXT, all else as it is. */
static void add_lines(struct buf *to, const struct buf *kallsyms, uint64_t stext)
{
	const char *end = kallsyms->data + kallsyms->len;
	const char *at = kallsyms->data;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		char *rest = NULL;
		uint64_t addr;

		if (!newline)
			break; /* strtoull() needs an end */
		addr = strtoull(at, &rest, 16);
		if (rest && rest + 2 < line_end && rest[0] == ' ' && strchr("tTwW", rest[1])) {
			buf_add_hex(to, addr - stext, 0);
			(void)buf_append(to, rest, (size_t)(line_end - rest));
			buf_add_char(to, '\n');
		}
		at = line_end + 1;
	}
}

static void remove_others(int folder, const char *keep)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!entries) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((entry = readdir(entries)))
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    strcmp(entry->d_name, keep) != 0)
			(void)unlinkat(folder, entry->d_name, 0);
	(void)closedir(entries);
}

void kernel_copy_write(const char *folder, const struct buf *kallsyms, uint64_t stext)
{
	_cleanup_fd_ int at = -1;
	_cleanup_fd_ int fd = -1;
	char name[64];
	char made[96];
	struct buf text;
	int r;

	if (!folder || !stext || !copy_name(name))
		return;
	(void)mkdir(folder, 0700);
	at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(made, sizeof(made), "%s.%d", name, (int)getpid());
	fd = at >= 0 ? openat(at, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	buf_init(&text, MAX_BYTES);
	buf_printf(&text, "%s%" PRIx64 "\n", MAGIC, stext);
	add_lines(&text, kallsyms, stext);
	r = text.failed ? -EFBIG : io_write_all(fd, text.data, text.len, NULL);
	buf_release(&text);
	if (r < 0 || renameat(at, made, at, name) < 0)
		(void)unlinkat(at, made, 0);
	else
		remove_others(at, name);
}

/* Lines with addresses as they are in this boot. */
static int restore(const struct buf *copy, struct buf *ret_text)
{
	const char *end = copy->data + copy->len;
	const char *at = copy->data + strlen(MAGIC);
	uint64_t stext;
	char *rest = NULL;

	if (copy->len < strlen(MAGIC) + 2 || memcmp(copy->data, MAGIC, strlen(MAGIC)) != 0 ||
	    end[-1] != '\n')
		return -EBADMSG;
	stext = strtoull(at, &rest, 16);
	if (*rest != '\n')
		return -EBADMSG;
	buf_clear(ret_text);
	for (at = rest + 1; at < end;) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		uint64_t addr = strtoull(at, &rest, 16);

		if (rest > line_end)
			return -EBADMSG;
		buf_add_hex(ret_text, addr + stext, 16);
		(void)buf_append(ret_text, rest, (size_t)(line_end + 1 - rest));
		at = line_end + 1;
	}
	return ret_text->failed ? -EFBIG : 0;
}

int kernel_copy_read(const char *folder, struct buf *ret_text)
{
	char path[PATH_MAX];
	_cleanup_fd_ int fd = -1;
	struct stat st;
	struct buf copy;
	char name[64];
	int r;

	if (!folder || !copy_name(name))
		return -ENOENT;
	r = snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (r < 0 || (size_t)r >= sizeof(path))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022))
		return -EPERM;
	buf_init(&copy, MAX_BYTES);
	r = io_read_fd(fd, &copy);
	if (r == 0)
		r = restore(&copy, ret_text);
	buf_release(&copy);
	return r;
}

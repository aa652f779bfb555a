/* folder_fixture.c - folders and files of tests */
#include "folder_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void name_temporary(char *path, size_t size)
{
	const char *folder = getenv("TMPDIR");
	int n = snprintf(path, size, "%s/wick-unit-XXXXXX", folder ? folder : "/tmp");

	assert_true(n > 0 && (size_t)n < size);
}

void folder_make(char path[FOLDER_BYTES])
{
	name_temporary(path, FOLDER_BYTES);
	assert_non_null(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

void folder_remove(const char *path)
{
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	assert_int_not_equal(access(path, F_OK), 0);
}

size_t folder_count(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	if (dir)
		(void)closedir(dir);
	return n;
}

char *folder_path(const char *path, const char *name)
{
	char *whole;

	assert_true(asprintf(&whole, "%s/%s", path, name) > 0);
	return whole;
}

static void write_all(int fd, const char *bytes, size_t len)
{
	assert_true(fd >= 0);
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		assert_true(n > 0);
		bytes += n;
		len -= (size_t)n;
	}
}

void file_write(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	write_all(fd, bytes, len);
	(void)close(fd);
}

void folder_put(const char *path, const char *name, const char *text)
{
	char *whole = folder_path(path, name);

	file_write(whole, text, strlen(text));
	free(whole);
}

char *file_make(const void *bytes, size_t len)
{
	char path[FOLDER_BYTES];
	int fd;

	name_temporary(path, sizeof(path));
	fd = mkostemp(path, O_CLOEXEC);
	write_all(fd, bytes, len);
	(void)close(fd);
	return strdup(path);
}

void file_remove(char *path)
{
	(void)unlink(path);
	free(path);
}

char *file_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t size = 0;
	size_t len = 0;
	ssize_t n = 0;

	do {
		len += (size_t)n;
		if (len + 1 >= size) {
			char *more;

			size = size ? 2 * size : 4096;
			more = realloc(text, size);
			assert_non_null(more);
			text = more;
		}
		n = fd < 0 ? 0 : read(fd, text + len, size - len - 1);
		assert_true(n >= 0);
	} while (n > 0);
	if (fd >= 0)
		(void)close(fd);
	text[len] = '\0';
	return text;
}

int file_in_memory(const void *bytes, size_t len)
{
	int fd = memfd_create("unit", MFD_CLOEXEC);

	write_all(fd, bytes, len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

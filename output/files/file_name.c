/* file_name.c - templates of file names */
#include "output/files/internal.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Letters, digits, and beyond the first also dots and dashes: never a slash, a hidden file, or what
 * a command would take for an option.
 */
static void add_kept(struct buf *buf, const char *text)
{
	size_t start = buf->len;

	for (; *text; text++) {
		bool plain = (*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z') ||
			     (*text >= '0' && *text <= '9') || *text == '_';

		if (plain || ((*text == '.' || *text == '-') && buf->len > start))
			buf_add_char(buf, *text);
	}
	if (buf->len == start)
		buf_add(buf, "unnamed");
}

static void add_host(struct buf *buf, const char *host)
{
	char name[HOST_NAME_MAX + 1] = "";

	if (!host && gethostname(name, sizeof(name)) == 0)
		name[sizeof(name) - 1] = '\0';
	add_kept(buf, host ? host : name);
}

static void add_time(struct buf *buf, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000U);
	struct tm utc;
	char text[32] = "";

	if (gmtime_r(&seconds, &utc))
		(void)strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &utc);
	buf_add(buf, text);
}

static int add_letter(struct buf *buf, const struct file_name *name, char letter, struct err *err)
{
	switch (letter) {
	case 'p':
		buf_add_dec(buf, (uint32_t)name->pid, 0, ' ');
		return 0;
	case 'c':
		add_kept(buf, name->comm ? name->comm : "");
		return 0;
	case 'h':
		add_host(buf, name->host);
		return 0;
	case 't':
		add_time(buf, name->time_ns);
		return 0;
	case 'n':
		buf_add_dec(buf, name->number ? name->number : 1, 4, '0');
		return 0;
	case '%':
		buf_add_char(buf, '%');
		return 0;
	case '\0':
		(void)err_set(err, 0, "file name '%s' ends in a single %%", name->pattern);
		break;
	default:
		(void)err_set(err, 0, "file name '%s' has an unknown %%%c", name->pattern, letter);
		break;
	}
	err_hint(err, "%%p %%c %%h %%t %%n, or %%%% for a percent sign");
	return -EINVAL;
}

static bool has_number(const char *pattern)
{
	for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%')) {
		if (at[1] == 'n')
			return true;
	}
	return false;
}

/* Put the copy's and the segment's number before the ending of the last part of the path. */
static int add_numbers(const struct file_name *name, const char *text, char path[static PATH_MAX])
{
	const char *slash = strrchr(text, '/');
	const char *base = slash ? slash + 1 : text;
	const char *dot = strrchr(base, '.');
	char copy[16] = "";
	char number[16] = "";
	int n;

	if (!dot || dot == base)
		dot = text + strlen(text);
	if (name->copy)
		(void)snprintf(copy, sizeof(copy), "-%u", name->copy);
	if (name->number && !has_number(name->pattern))
		(void)snprintf(number, sizeof(number), ".%04u", name->number);
	n = snprintf(path, PATH_MAX, "%.*s%s%s%s", (int)(dot - text), text, copy, number, dot);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int expand(const struct file_name *name, struct buf *buf, char path[static PATH_MAX],
		  struct err *err)
{
	for (const char *at = name->pattern; *at; at++) {
		if (*at != '%') {
			buf_add_char(buf, *at);
			continue;
		}
		if (add_letter(buf, name, *++at, err) < 0)
			return -EINVAL;
	}
	if (!*name->pattern)
		return err_set(err, ENOENT, "file name ''");
	if (buf->failed || add_numbers(name, buf_text(buf), path) < 0)
		return err_set(err, ENAMETOOLONG, "file name '%.64s...'", name->pattern);
	return 0;
}

int file_name_make(const struct file_name *name, char path[static PATH_MAX], struct err *err)
{
	struct buf buf;
	int r;

	buf_init(&buf, PATH_MAX - 1);
	r = expand(name, &buf, path, err);
	buf_release(&buf);
	return r;
}

/* page_text.c - lines of the page: OpenMetrics 1.0, or the text format 0.0.4 of Prometheus */
#include "tools/export/export.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

/* OpenMetrics 1.0, "Escaping": backslash, quote and line feed. */
void page_label(struct buf *buf, const char *name, const char *value)
{
	if (buf->len)
		buf_add_char(buf, ',');
	buf_printf(buf, "%s=\"", name);
	while (*value) {
		uint32_t code;
		size_t len = utf8_next(value, strnlen(value, UTF8_MAX_BYTES), &code);

		if (len == 0)
			buf_add(buf, UTF8_REPLACEMENT);
		else if (*value == '\n')
			buf_add(buf, "\\n");
		else if (*value == '"' || *value == '\\')
			buf_printf(buf, "\\%c", *value);
		else
			(void)buf_append(buf, value, len);
		value += len ? len : 1;
	}
	buf_add_char(buf, '"');
}

/* In 0.0.4 the name of a counter's family is that of its series. */
void page_family(struct page_text *text, const char *name, const char *type, const char *unit,
		 const char *help)
{
	const char *end = !text->open_metrics && strcmp(type, "counter") == 0 ? "_total" : "";

	buf_printf(text->buf, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end, type);
	if (unit && text->open_metrics)
		buf_printf(text->buf, "# UNIT %s %s\n", name, unit);
}

static void begin(struct page_text *text, const char *name, const char *labels)
{
	buf_add(text->buf, name);
	if (*labels)
		buf_printf(text->buf, "{%s}", labels);
	buf_add_char(text->buf, ' ');
	text->n_series++;
}

static void add_seconds(struct buf *buf, uint64_t ns)
{
	buf_printf(buf, "%llu.%09llu", (unsigned long long)(ns / NS_PER_S),
		   (unsigned long long)(ns % NS_PER_S));
}

void page_seconds(struct page_text *text, const char *name, const char *labels, uint64_t ns)
{
	begin(text, name, labels);
	add_seconds(text->buf, ns);
	buf_add_char(text->buf, '\n');
}

void page_count(struct page_text *text, const char *name, const char *labels, uint64_t count)
{
	begin(text, name, labels);
	buf_printf(text->buf, "%llu\n", (unsigned long long)count);
}

static uint64_t end_ns(size_t bucket)
{
	return UINT64_C(1) << (PAGE_FIRST_OCTAVE + bucket);
}

static void add_exemplar(struct buf *buf, const struct page_exemplar *exemplar)
{
	buf_add(buf, " # {trace_id=\"");
	for (size_t i = 0; i < TOTALS_TRACE_BYTES; i++)
		buf_printf(buf, "%02x", exemplar->trace[i]);
	buf_add(buf, "\"} ");
	add_seconds(buf, exemplar->ns);
	buf_add_char(buf, ' ');
	buf_printf(buf, "%llu.%03llu", (unsigned long long)(exemplar->time_ns / NS_PER_S),
		   (unsigned long long)(exemplar->time_ns % NS_PER_S / 1000000));
}

/* A duration stands in the first bucket that is longer. */
static size_t bucket_of(uint64_t ns)
{
	size_t bucket = 0;

	while (bucket < PAGE_BUCKETS && ns >= end_ns(bucket))
		bucket++;
	return bucket;
}

void page_histogram(struct page_text *text, const char *name, const char *labels,
		    const uint64_t counts[static PAGE_BUCKETS + 1], uint64_t sum_ns,
		    const struct page_exemplar *exemplar)
{
	struct buf *buf = text->buf;
	const char *comma = *labels ? "," : "";
	char all[64];

	for (size_t i = 0; i <= PAGE_BUCKETS; i++) {
		if (i < PAGE_BUCKETS)
			buf_printf(buf, "%s_bucket{%s%sle=\"%.10g\"} ", name, labels, comma,
				   (double)end_ns(i) / 1e9);
		else
			buf_printf(buf, "%s_bucket{%s%sle=\"+Inf\"} ", name, labels, comma);
		buf_printf(buf, "%llu", (unsigned long long)counts[i]);
		if (text->open_metrics && exemplar && bucket_of(exemplar->ns) == i)
			add_exemplar(buf, exemplar);
		buf_add_char(buf, '\n');
		text->n_series++;
	}
	(void)snprintf(all, sizeof(all), "%s_sum", name);
	page_seconds(text, all, labels, sum_ns);
	(void)snprintf(all, sizeof(all), "%s_count", name);
	page_count(text, all, labels, counts[PAGE_BUCKETS]);
}

static int write_beside(const char *path, const struct buf *page)
{
	_cleanup_fd_ int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);

	return fd < 0 ? -errno : io_write_all(fd, page->data, page->len, NULL);
}

/* That a page can be written there, before anything is recorded. */
static int check_folder(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	(void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		       slash ? path : ".");
	if (access(folder, W_OK | X_OK) == 0)
		return 0;
	(void)err_set(err, errno, "write '%s'", path);
	err_hint(err, "a FILE in a folder that you can write to");
	return -err->code;
}

int page_check_file(const char *path, struct err *err)
{
	static const char first[] = "# HELP wick_";
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[sizeof(first)] = "";
	struct stat stat;

	if (fd < 0 && errno == ENOENT)
		return check_folder(path, err);
	if ((fd < 0 && errno != ELOOP) || (fd >= 0 && fstat(fd, &stat) < 0))
		return err_set(err, errno, "write '%s'", path);
	if (fd >= 0 && S_ISREG(stat.st_mode) &&
	    io_pread(fd, text, sizeof(first) - 1, 0) == (ssize_t)sizeof(first) - 1 &&
	    strcmp(text, first) == 0)
		return 0;
	(void)err_set(err, EEXIST, "write '%s', which is no page of wick", path);
	err_hint(err, "another FILE");
	return -EEXIST;
}

int page_write_file(const char *path, const struct buf *page, struct err *err)
{
	_cleanup_free_ char *beside = NULL;
	int r = page_check_file(path, err); /* another file may be there by now */

	if (r < 0)
		return r;
	/* node_exporter reads *.prom alone */
	if (asprintf(&beside, "%s.%d.new", path, (int)getpid()) < 0) {
		beside = NULL;
		return err_set(err, ENOMEM, "write '%s'", path);
	}
	(void)unlink(beside);
	r = write_beside(beside, page);
	if (r == 0 && rename(beside, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(beside);
	return r < 0 ? err_set(err, -r, "write '%s'", path) : 0;
}

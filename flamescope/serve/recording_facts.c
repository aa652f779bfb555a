/* recording_facts.c - "# hostname", the clock's offset, the first and the last sample's time */
#include "flamescope/serve/catalog.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/words.h"
#include "flamescope/text/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEAD_BYTES = 1024 * 1024,
	PIECE_BYTES = 64 * 1024, /* of it at once: most headers are shorter */
	TAIL_BYTES = 64 * 1024,
	PATH_BYTES = 64,
	HOST_BYTES = 4096, /* of what the file says; what does not fit is none */
};

struct head {
	bool has_sample;
	uint64_t first_ns; /* of the file's own clock */
	bool has_offset;
	int64_t offset_ns;
};

/* "NAME : VALUE" after "# "; NULL: another name. */
static const char *value_of(const char *text, const char *name)
{
	const size_t len = strlen(name);

	if (strncmp(text, "# ", 2) != 0 || strncmp(text + 2, name, len) != 0)
		return NULL;
	text += 2 + len;
	text += strspn(text, " ");
	if (*text != ':')
		return NULL;
	text++;
	return text + strspn(text, " ");
}

static void take_json(const char *json, struct head *head)
{
	struct json_scan scan = {.at = json};
	struct json_pair pair;

	while (json_scan_next(&scan, &pair)) {
		uint64_t number;

		if (pair.depth == 1 && json_scan_is(&pair, "epoch_offset_ns") &&
		    json_scan_number(&pair, &number) && number < INT64_MAX) {
			head->has_offset = true;
			head->offset_ns = (int64_t)number;
		}
	}
}

/* What can be shown, requested and compared: whole characters of UTF-8, and no controls. */
static void take_host(const char *value, struct recording_facts *facts)
{
	struct buf name;
	size_t len;

	buf_init(&name, HOST_BYTES);
	words_plain(&name, value);
	len = strlen(buf_text(&name));
	if (len >= sizeof(facts->host)) {
		len = sizeof(facts->host) - 1;
		while (len && ((unsigned char)name.data[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(facts->host, buf_text(&name), len);
	facts->host[len] = '\0';
	buf_release(&name);
}

static void take_comment(const char *text, struct head *head, struct recording_facts *facts)
{
	const char *value = value_of(text, "hostname");

	if (value)
		take_host(value, facts);
	value = value_of(text, "wick");
	if (value)
		take_json(value, head);
}

static void take_line(char *line, struct head *head, struct recording_facts *facts)
{
	struct perf_head perf;

	if (*line == '#') {
		take_comment(line, head, facts);
	} else if (perf_line_head(line, &perf)) {
		head->has_sample = true;
		head->first_ns = perf.time_ns;
	}
}

/* The whole lines of [TEXT, END) up to the first sample; where the rest begins. */
static char *take_lines(char *text, const char *end, struct head *head,
			struct recording_facts *facts)
{
	while (!head->has_sample) {
		char *newline = memchr(text, '\n', (size_t)(end - text));

		if (!newline)
			break;
		*newline = '\0';
		take_line(text, head, facts);
		text = newline + 1;
	}
	return text;
}

/*
 * Of what is compressed no more is inflated than is read: a line of some gigabytes fits into
 * a file of a megabyte, and a request for the list would wait for its end.
 */
static void read_head(const char *path, struct head *head, struct recording_facts *facts)
{
	_cleanup_free_ char *text = malloc(HEAD_BYTES);
	struct source *source = NULL;
	char *at = text;
	size_t len = 0;

	if (!text || source_open(path, &source, NULL) < 0)
		return; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
	while (!head->has_sample && len < HEAD_BYTES) {
		const size_t left = HEAD_BYTES - len;
		const ssize_t n = source_read(source, text + len,
					      left < PIECE_BYTES ? left : PIECE_BYTES, NULL);

		if (n <= 0)
			break;
		len += (size_t)n;
		at = take_lines(at, text + len, head, facts);
	}
	source_close(source);
}

/* The last sample's time in the last lines of plain text. */
static bool read_tail(int fd, uint64_t bytes, uint64_t *ret_last_ns)
{
	_cleanup_free_ char *tail = malloc(TAIL_BYTES + 1);
	const uint64_t from = bytes > TAIL_BYTES ? bytes - TAIL_BYTES : 0;
	bool found = false;
	char *at;
	ssize_t n;

	n = tail ? io_pread(fd, tail, TAIL_BYTES, from) : -1;
	if (n <= 0)
		return false;
	tail[n] = '\0';
	at = from ? strchr(tail, '\n') : tail;
	while (at) {
		char *end = strchr(at, '\n');
		struct perf_head perf;

		if (end)
			*end++ = '\0';
		/* The last line may be half written: only whole ones count. */
		if (end && *at != '#' && *at != '\t' && *at && perf_line_head(at, &perf)) {
			*ret_last_ns = perf.time_ns;
			found = true;
		}
		at = end;
	}
	return found;
}

/*
 * A clock with an offset says it all.  One without (perf's own files) says how long it took, and
 * the file's time when it was: its last byte was written with its last sample.
 */
void recording_facts_read(int fd, uint64_t bytes, int64_t mtime_ns,
			  struct recording_facts *ret_facts)
{
	struct head head = {0};
	uint64_t last_ns = 0;
	char path[PATH_BYTES];
	bool has_last;

	*ret_facts = (struct recording_facts){0};
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_head(path, &head, ret_facts);
	if (!head.has_sample || head.first_ns > INT64_MAX / 4)
		return;
	has_last = read_tail(fd, bytes, &last_ns) && last_ns >= head.first_ns &&
		   last_ns < INT64_MAX / 4;
	ret_facts->to_ns = mtime_ns;
	if (head.has_offset && head.offset_ns < INT64_MAX / 2) {
		ret_facts->from_ns = (int64_t)head.first_ns + head.offset_ns;
		if (has_last)
			ret_facts->to_ns = (int64_t)last_ns + head.offset_ns;
	} else if (has_last && (int64_t)(last_ns - head.first_ns) < mtime_ns) {
		ret_facts->from_ns = mtime_ns - (int64_t)(last_ns - head.first_ns);
	}
	if (ret_facts->to_ns < ret_facts->from_ns)
		ret_facts->to_ns = ret_facts->from_ns;
}

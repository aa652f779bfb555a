/* perf_pmu.c - events that the kernel lists itself: tracepoints, and those of its PMUs in /sys */
#include "sampler/collector/perf/perf_pmu.h"

#include "base/buf.h"
#include "base/io.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_BYTES = 4096, PATH_BYTES = 256 };

/* A name that goes into a path: no way out of its folder. */
static bool is_plain(const char *name, size_t len)
{
	return len > 0 && len < PERF_NAME_BYTES && name[0] != '.' && strcspn(name, "/") >= len;
}

static int read_small(const char *path, char *to, size_t size)
{
	struct buf text;
	int r;

	buf_init(&text, FILE_MAX_BYTES);
	r = io_read_file(path, &text, NULL);
	if (r == 0)
		(void)snprintf(to, size, "%.*s", (int)strcspn(buf_text(&text), "\n"),
			       buf_text(&text));
	buf_release(&text);
	return r;
}

static int tracepoint(const char *text, const char *colon, struct perf_name *ret)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	size_t len = (size_t)(colon - text);
	char path[PATH_BYTES];
	char number[32];

	if (!is_plain(text, len) || !is_plain(colon + 1, strlen(colon + 1)))
		return -ENOENT;
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", roots[i], (int)len, text,
			       colon + 1);
		if (read_small(path, number, sizeof(number)) < 0)
			continue;
		ret->type = PERF_TYPE_TRACEPOINT;
		ret->config = strtoull(number, NULL, 10);
		return 0;
	}
	return -ENOENT;
}

/* Spreads a value over bits LO to HI of a config. */
static void set_bits(uint64_t *config, uint64_t *value, unsigned lo, unsigned hi)
{
	unsigned n = hi - lo + 1;
	uint64_t mask = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;

	*config |= (*value & mask) << lo;
	*value = n >= 64 ? 0 : *value >> n;
}

/* "config:0-7,32-35": where the bits of a term go. */
static int place(const char *format, uint64_t value, struct perf_name *ret)
{
	uint64_t *config = strncmp(format, "config1:", 8) == 0   ? &ret->config1
			   : strncmp(format, "config2:", 8) == 0 ? &ret->config2
			   : strncmp(format, "config:", 7) == 0  ? &ret->config
								 : NULL;
	const char *at = strchr(format, ':');

	if (!config || !at)
		return -ENOENT;
	do {
		char *end;
		unsigned long lo = strtoul(at + 1, &end, 10);
		unsigned long hi = *end == '-' ? strtoul(end + 1, &end, 10) : lo;

		if (lo > 63 || hi > 63 || hi < lo)
			return -ENOENT;
		set_bits(config, &value, (unsigned)lo, (unsigned)hi);
		at = end;
	} while (*at == ',');
	return value ? -ENOENT : 0;
}

/* "umask=0x1", "inv".  Return: -ENOENT: the PMU has no such word. */
static int format_term(const char *pmu, const char *word, const char *value, struct perf_name *ret)
{
	char path[PATH_BYTES];
	char text[PERF_NAME_BYTES * 2];

	if (!is_plain(word, strlen(word)))
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/%s", pmu, word);
	if (read_small(path, text, sizeof(text)) < 0)
		return -ENOENT;
	return place(text, value ? strtoull(value, NULL, 0) : 1, ret);
}

static char *cut_value(char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	return value;
}

/* The name of an event of the PMU: a list of terms. */
static int named_event(const char *pmu, const char *name, struct perf_name *ret)
{
	char path[PATH_BYTES];
	char text[PERF_NAME_BYTES * 2];
	char *rest = text;
	char *word;
	int r = 0;

	if (!is_plain(name, strlen(name)))
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", pmu, name);
	if (read_small(path, text, sizeof(text)) < 0)
		return -ENOENT;
	while (r == 0 && (word = strsep(&rest, ","))) {
		const char *value = cut_value(word);

		r = format_term(pmu, word, value, ret);
	}
	return r;
}

static int terms(const char *pmu, char *list, struct perf_name *ret)
{
	char *rest = list;
	char *word;
	int r = 0;

	while (r == 0 && (word = strsep(&rest, ","))) {
		const char *value = cut_value(word);

		r = format_term(pmu, word, value, ret);
		if (r < 0 && !value)
			r = named_event(pmu, word, ret);
	}
	return r;
}

static int of_pmu(const char *text, const char *slash, struct perf_name *ret)
{
	size_t len = strlen(slash + 1);
	char pmu[PERF_NAME_BYTES];
	char list[PERF_NAME_BYTES];
	char path[PATH_BYTES];
	char number[32];

	if (!is_plain(text, (size_t)(slash - text)) || len < 2 || slash[len] != '/')
		return -ENOENT;
	(void)snprintf(pmu, sizeof(pmu), "%.*s", (int)(slash - text), text);
	(void)snprintf(list, sizeof(list), "%.*s", (int)(len - 1), slash + 1);
	(void)snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	if (read_small(path, number, sizeof(number)) < 0)
		return -ENOENT;
	ret->type = (uint32_t)strtoul(number, NULL, 10);
	return terms(pmu, list, ret);
}

int perf_pmu_find(const char *text, struct perf_name *ret_name)
{
	const char *slash = strchr(text, '/');
	const char *colon = strchr(text, ':');

	if (slash)
		return of_pmu(text, slash, ret_name);
	return colon ? tracepoint(text, colon, ret_name) : -ENOENT;
}

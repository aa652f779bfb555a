/* folded.c - folded stacks to samples of one moment */
#include "flamescope/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_LINES = 32, HEAD_BYTES = 64 * 1024, THOUSAND = 1000 };

static const char blanks[] = " \t\r";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* SUM * 10 + DIGIT, or all allocated. */
static uint64_t add_digit(uint64_t sum, char digit)
{
	if (__builtin_mul_overflow(sum, 10, &sum) ||
	    __builtin_add_overflow(sum, (uint64_t)(digit - '0'), &sum))
		return UINT64_MAX;
	return sum;
}

/* `12` or `12.5`, multiplied and rounded. */
static uint64_t count_of(const char *at, const char *end, uint32_t scale)
{
	uint64_t count = 0;

	for (; at < end && is_digit(*at); at++)
		count = add_digit(count, *at);
	at += at < end;
	for (uint32_t left = scale; left > 1; left /= 10) {
		count = add_digit(count, *(at < end ? at++ : "0"));
	}
	return count + (at < end && *at >= '5' && count < UINT64_MAX);
}

/* One of zeros is none. */
static bool has_fraction(const char *at, const char *end)
{
	const char *dot = memchr(at, '.', (size_t)(end - at));

	return dot && dot + 1 + strspn(dot + 1, "0") < end;
}

/* The number at the end of a line, after a blank; where the stack ends, or NULL. */
static char *find_count(char *text, const char **ret_at, const char **ret_end)
{
	char *end = text + strlen(text);
	const char *dot;
	char *at;

	while (end > text && strchr(blanks, end[-1]))
		end--;
	for (at = end; at > text && (is_digit(at[-1]) || at[-1] == '.');)
		at--;
	dot = memchr(at, '.', (size_t)(end - at));
	if (at == text || at == end || !is_digit(*at) || !strchr(blanks, at[-1]) ||
	    (dot && memchr(dot + 1, '.', (size_t)(end - dot - 1))))
		return NULL;
	*ret_at = at;
	*ret_end = end;
	while (at > text && strchr(blanks, at[-1]))
		at--;
	return at > text ? at : NULL;
}

bool folded_is_aside(const char *text)
{
	return text[0] == '#' || text[strspn(text, blanks)] == '\0';
}

/* A stack with a count that cannot be one: `main;work -3`. */
static bool is_bad_count(const char *text)
{
	const char *blank = strrchr(text, ' ');

	return blank && strchr(text, ';') && (blank[1] == '-' || is_digit(blank[1]));
}

/* What is known of the lines at the beginning. */
struct line_counts {
	int folded;
	int others;
	bool perf; /* a sample begins */
	bool fractions;
};

static void count_text(struct line_counts *counts, char *text)
{
	struct perf_frame frame;
	struct perf_head head;
	const char *at, *end;

	if (folded_is_aside(text))
		return;
	if (find_count(text, &at, &end) && !perf_line_frame(text, &frame)) {
		counts->fractions |= has_fraction(at, end);
		counts->folded++;
	} else {
		counts->others += !is_bad_count(text);
	}
	counts->perf |= perf_line_head(text, &head);
}

static void count_line(struct line_counts *counts, const char *line, size_t len)
{
	char *text = strndup(line, len);

	if (text)
		count_text(counts, text);
	free(text);
}

uint32_t folded_scale(const char *text, size_t len)
{
	const char *end = text + len;
	struct line_counts counts = {0};

	for (int i = 0; text < end && i < HEAD_LINES; i++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		/* the last one may be cut */
		if (newline || !counts.folded)
			count_line(&counts, text, (size_t)((newline ? newline : end) - text));
		text = newline ? newline + 1 : end;
	}
	if (counts.perf || counts.folded <= counts.others)
		return 0;
	return counts.fractions ? THOUSAND : 1;
}

static int source_scale(struct source *source, struct err *err)
{
	char *bytes = malloc(HEAD_BYTES);
	size_t have = 0;
	ssize_t n = 1;
	int r;

	if (!bytes)
		return -ENOMEM;
	while (n > 0 && have < HEAD_BYTES) {
		n = source_read(source, bytes + have, HEAD_BYTES - have, err);
		have += n > 0 ? (size_t)n : 0;
	}
	r = n < 0 && have == 0 ? (int)n : (int)folded_scale(bytes, have);
	free(bytes);
	return r;
}

int folded_file_scale(const char *path, struct err *err)
{
	struct source *source = NULL;
	struct stat st;
	int r;

	if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
		return 0;
	r = source_open(path, &source, err);
	if (r == 0)
		r = source_scale(source, err);
	source_close(source);
	return r;
}

bool folded_line(char *text, uint32_t scale, struct perf_frame *frames,
		 struct perf_text_sample *ret_sample)
{
	const char *count, *count_end;
	char *end = find_count(text, &count, &count_end);
	size_t n = 0;

	if (!end)
		return false;
	memset(ret_sample, 0, sizeof(*ret_sample));
	ret_sample->head = (struct perf_head){
		.comm = "",
		.pid = -1,
		.tid = -1,
		.cpu = -1,
		.period = count_of(count, count_end, scale),
		.event = scale == THOUSAND ? FOLDED_THOUSANDTHS : "samples",
		.rest = end,
	};
	while (end > text && n < PERF_TEXT_MAX_FRAMES) {
		char *semicolon = memrchr(text, ';', (size_t)(end - text));

		*end = '\0';
		frames[n] =
			(struct perf_frame){.name = semicolon ? semicolon + 1 : text, .module = ""};
		n += *frames[n].name != '\0';
		end = semicolon ? semicolon : text;
	}
	ret_sample->cut = end > text;
	ret_sample->frames = frames;
	ret_sample->n_frames = n;
	return true;
}

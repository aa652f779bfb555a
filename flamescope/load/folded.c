/* folded.c - folded stacks to samples of one moment */
#include "flamescope/load/folded.h"

#include "flamescope/load/perf_text.h"

#include <ctype.h>

enum { LOOK_AT_LINES = 32 };

/* The number at the end of a line, behind a blank; where that is, or NULL. */
static char *find_count(char *text, uint64_t *ret_count)
{
	char *end = text + strlen(text);
	uint64_t count = 0;
	uint64_t scale = 1;
	char *at;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (at = end; at > text && at[-1] >= '0' && at[-1] <= '9' && end - at < 18; at--) {
		count += (uint64_t)(at[-1] - '0') * scale;
		scale *= 10;
	}
	if (at == end || at - text < 2 || at[-1] != ' ')
		return NULL;
	*ret_count = count;
	return at - 1;
}

/* -1: says nothing; 0: it is perf's; 1: it is folded */
static int judge(const char *line, size_t len)
{
	char *text = strndup(line, len);
	int is_folded = -1;
	struct perf_head head;
	uint64_t count;

	if (text && text[0] != '#' && text[strspn(text, " \t\r")] != '\0')
		is_folded = find_count(text, &count) && !perf_line_head(text, &head);
	free(text);
	return is_folded;
}

bool folded_is(const char *text, size_t len)
{
	const char *end = text + len;
	bool is = false;

	for (int i = 0; text < end && i < LOOK_AT_LINES; i++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		int is_folded = judge(text, (size_t)((newline ? newline : end) - text));

		/* the last one may be cut */
		if (is_folded == 0 && (newline || !is))
			return false;
		is |= is_folded == 1;
		text = newline ? newline + 1 : end;
	}
	return is;
}

bool folded_line(struct builder *builder, char *text, uint64_t at)
{
	static const struct perf_facts no_facts;
	uint32_t frames[PERF_TEXT_MAX_FRAMES];
	struct perf_head head = {.comm = "", .pid = -1, .tid = -1, .cpu = -1, .event = "samples"};
	struct builder_sample sample = {.head = &head, .facts = &no_facts, .at = at};
	char *end;
	size_t n = 0;

	if (text[0] == '#' || text[strspn(text, " \t\r")] == '\0')
		return true;
	end = find_count(text, &head.period);
	if (!end)
		return false;
	while (end > text && n < PERF_TEXT_MAX_FRAMES) {
		struct perf_frame frame = {.module = ""};
		char *semicolon = memrchr(text, ';', (size_t)(end - text));

		*end = '\0';
		frame.name = semicolon ? semicolon + 1 : text;
		if (*frame.name)
			frames[n++] = builder_frame(builder, &frame, at);
		end = semicolon ? semicolon : text;
	}
	builder->facts.cut |= end > text;
	sample.stack = builder_stack(builder, 0, frames, n);
	builder_add(builder, &sample);
	return true;
}

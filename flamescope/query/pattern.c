/* pattern.c - a regular expression of the user's, which may not take for ever */
#include "flamescope/query/pattern.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
	MAX_PATTERN = 64 * 1024,
	MATCH_LIMIT = 200 * 1000, /* steps; what people write takes some hundreds */
	HEAP_LIMIT_KIB = 16 * 1024,
	MAX_SECONDS = 5, /* in all matches: of 100,000 names most patterns take a tenth of one */
	SHOWN = 60,      /* bytes of a text in a message */
};

struct pattern {
	char *text;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
	int64_t used_ns;
};

static int compile(struct pattern *pattern, const char *text, struct err *err)
{
	PCRE2_UCHAR message[128];
	PCRE2_SIZE at = 0;
	int code = 0;

	if (strlen(text) > MAX_PATTERN)
		return err_set(err, EINVAL, "a pattern of more than %d bytes", MAX_PATTERN);
	pattern->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
				      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
				      &code, &at, NULL);
	if (pattern->code)
		return 0;
	if (pcre2_get_error_message(code, message, sizeof(message)) < 0)
		message[0] = '\0';
	(void)err_set(err, 0, "pattern '%.*s' at byte %zu: %s", SHOWN, text, (size_t)at,
		      (const char *)message);
	return -EINVAL;
}

int pattern_new(const char *text, struct pattern **ret_pattern, struct err *err)
{
	struct pattern *pattern = calloc(1, sizeof(*pattern));
	int r;

	if (!pattern)
		return err_set(err, ENOMEM, "a pattern");
	r = compile(pattern, text, err);
	if (r == 0) {
		pattern->text = strdup(text);
		pattern->data = pcre2_match_data_create(1, NULL);
		pattern->limits = pcre2_match_context_create(NULL);
		if (!pattern->text || !pattern->data || !pattern->limits)
			r = err_set(err, ENOMEM, "a pattern");
	}
	if (r < 0) {
		pattern_free(pattern);
		return r;
	}
	(void)pcre2_set_match_limit(pattern->limits, MATCH_LIMIT);
	(void)pcre2_set_heap_limit(pattern->limits, HEAP_LIMIT_KIB);
	*ret_pattern = pattern;
	return 0;
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_context_free(pattern->limits);
	pcre2_match_data_free(pattern->data);
	pcre2_code_free(pattern->code);
	free(pattern->text);
	free(pattern);
}

static int too_long(const struct pattern *pattern, const char *text, struct err *err)
{
	(void)err_set(err, 0, "pattern '%.*s' takes too long on '%.*s'", SHOWN, pattern->text,
		      SHOWN, text);
	err_hint(err, "a pattern without a repetition in a repetition");
	return -E2BIG;
}

static int64_t now_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int pattern_matches(struct pattern *pattern, const char *text, struct err *err)
{
	/* Not the thread's CPU clock: asking it takes longer than most matches. */
	int64_t before = now_ns();
	int r = pcre2_match(pattern->code, (PCRE2_SPTR)text, strlen(text), 0, 0, pattern->data,
			    pattern->limits);

	pattern->used_ns += now_ns() - before;
	if (pattern->used_ns > (int64_t)MAX_SECONDS * 1000000000)
		return too_long(pattern, text, err);
	if (r >= 0)
		return 1;
	return r == PCRE2_ERROR_NOMATCH ? 0 : too_long(pattern, text, err);
}

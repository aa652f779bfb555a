/* matcher.c - a regular expression of the user's, which may not take for ever */
#include "flamescope/query/internal.h"

#include "base/io.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
	MAX_PATTERN = 64 * 1024,
	MATCH_LIMIT = 200 * 1000, /* steps; what people write takes some hundreds */
	HEAP_LIMIT_KIB = 16 * 1024,
	MAX_SECONDS = 5, /* in all matches: of 100,000 names most patterns take a tenth of one */
	SHOWN = 60,      /* bytes of a text in a message */
};

struct matcher {
	char *text;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
	uint64_t used_ns;
};

static int compile(struct matcher *matcher, const char *text, struct err *err)
{
	PCRE2_UCHAR message[128];
	PCRE2_SIZE at = 0;
	int code = 0;

	if (strlen(text) > MAX_PATTERN)
		return err_set(err, 0, "a pattern of more than %d bytes", MAX_PATTERN);
	matcher->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
				      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
				      &code, &at, NULL);
	if (matcher->code)
		return 0;
	if (pcre2_get_error_message(code, message, sizeof(message)) < 0)
		message[0] = '\0';
	(void)err_set(err, 0, "pattern '%.*s' is not a regular expression: %s, at character %zu",
		      SHOWN, text, (const char *)message, (size_t)at + 1);
	err_hint(err, "put \\ before a character to match it literally");
	return -EINVAL;
}

int matcher_new(const char *text, struct matcher **ret_matcher, struct err *err)
{
	struct matcher *matcher = calloc(1, sizeof(*matcher));
	int r;

	if (!matcher)
		return err_set(err, ENOMEM, "a pattern");
	r = compile(matcher, text, err);
	if (r == 0) {
		matcher->text = strdup(text);
		matcher->data = pcre2_match_data_create(1, NULL);
		matcher->limits = pcre2_match_context_create(NULL);
		if (!matcher->text || !matcher->data || !matcher->limits)
			r = err_set(err, ENOMEM, "a pattern");
	}
	if (r < 0) {
		matcher_free(matcher);
		return r;
	}
	(void)pcre2_set_match_limit(matcher->limits, MATCH_LIMIT);
	(void)pcre2_set_heap_limit(matcher->limits, HEAP_LIMIT_KIB);
	*ret_matcher = matcher;
	return 0;
}

void matcher_free(struct matcher *matcher)
{
	if (!matcher)
		return;
	pcre2_match_context_free(matcher->limits);
	pcre2_match_data_free(matcher->data);
	pcre2_code_free(matcher->code);
	free(matcher->text);
	free(matcher);
}

static int too_long(const struct matcher *matcher, const char *text, struct err *err)
{
	(void)err_set(err, 0, "pattern '%.*s' takes too long on '%.*s'", SHOWN, matcher->text,
		      SHOWN, text);
	err_hint(err, "a pattern without a repetition in a repetition");
	return -E2BIG;
}

int matcher_matches(struct matcher *matcher, const char *text, struct err *err)
{
	/* Not the thread's CPU clock: reading it takes longer than most matches. */
	uint64_t before = io_now_ns();
	int r = pcre2_match(matcher->code, (PCRE2_SPTR)text, strlen(text), 0, 0, matcher->data,
			    matcher->limits);

	matcher->used_ns += io_now_ns() - before;
	if (matcher->used_ns > (uint64_t)MAX_SECONDS * 1000000000)
		return too_long(matcher, text, err);
	if (r >= 0)
		return 1;
	return r == PCRE2_ERROR_NOMATCH ? 0 : too_long(matcher, text, err);
}

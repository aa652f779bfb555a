/* pattern.c - a regular expression (PCRE2 underneath) */
#include "tools/cli/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum { MATCH_STEPS = 100000, REASON_BYTES = 128 };

struct pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

int pattern_new(const char *text, struct pattern **ret_pattern, struct err *err)
{
	struct pattern *pattern = calloc(1, sizeof(*pattern));
	PCRE2_UCHAR reason[REASON_BYTES] = "";
	PCRE2_SIZE at = 0;
	int code = 0;

	if (!pattern)
		return err_set(err, ENOMEM, "read '%s'", text);
	pattern->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
				      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NO_AUTO_CAPTURE,
				      &code, &at, NULL);
	if (!pattern->code) {
		pattern_free(pattern);
		(void)pcre2_get_error_message(code, reason, sizeof(reason));
		(void)err_set(err, 0, "'%s' is not a regular expression: %s, at character %zu",
			      text, (const char *)reason, at + 1);
		err_hint(err, "put \\ before a character to match it literally");
		return -EINVAL;
	}
	pattern->data = pcre2_match_data_create(1, NULL);
	pattern->limits = pcre2_match_context_create(NULL);
	if (!pattern->data || !pattern->limits) {
		pattern_free(pattern);
		return err_set(err, ENOMEM, "read '%s'", text);
	}
	(void)pcre2_set_match_limit(pattern->limits, MATCH_STEPS);
	*ret_pattern = pattern;
	return 0;
}

bool pattern_matches(void *pattern, const char *text, size_t len)
{
	const struct pattern *it = pattern;

	return pcre2_match(it->code, (PCRE2_SPTR)text, len, 0, 0, it->data, it->limits) >= 0;
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_data_free(pattern->data);
	pcre2_match_context_free(pattern->limits);
	pcre2_code_free(pattern->code);
	free(pattern);
}

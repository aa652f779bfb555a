/* fuzz_query.c - any text as a range of time, a part of a period, a metric, a rule, a file of rules
 */
#include "base/io.h"
#include "flamescope/diff/diff.h"
#include "flamescope/query/internal.h"
#include "flamescope/query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void must_fit(const struct query_every *every)
{
	must(every->every_ns == 0 ||
	     (every->from_ns < every->to_ns && every->to_ns <= every->every_ns));
}

static void try_range(const char *text)
{
	struct query query = {0};

	if (query_parse_range(&query, text, NULL) < 0) {
		must(query.n_ranges == 0);
		return;
	}
	must(query.n_ranges == 1 && query.ranges[0].from_ns < query.ranges[0].to_ns);
	must_fit(&query.ranges[0].every);
}

static void try_every(const char *text)
{
	struct query query = {0};

	if (query_parse_every(&query, text, NULL) == 0)
		must(query.every.every_ns > 0);
	must_fit(&query.every);
}

/* TEXT is cut. */
static void try_measure(char *text)
{
	struct query query = {0};

	if (query_parse_measure(&query, text, NULL) == 0)
		must(query.has_measure &&
		     (!query.metric || (*query.metric && strlen(query.metric) <= strlen(text))));
}

static void try_rule(const char *text)
{
	struct diff_rule rule = {0};

	if (diff_rule_parse(text, &rule, NULL) < 0)
		return;
	must(rule.n_function > 0 && rule.function > text &&
	     rule.function + rule.n_function < text + strlen(text));
	must(rule.limit >= -1 && rule.limit <= 1);
}

/* Rules that are accepted are a pattern that is one, and that ends. */
static void try_rules(const char *bytes, size_t size)
{
	int fd = memfd_create("rules", MFD_CLOEXEC);
	struct matcher *matcher = NULL;
	char *pattern = NULL;
	char path[64];

	must(fd >= 0 && io_write_all(fd, bytes, size, NULL) == 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (elide_rules_read(path, &pattern, NULL) == 0) {
		must(matcher_new(pattern, &matcher, NULL) == 0);
		(void)matcher_matches(matcher, "std::function<void ()>::operator()", NULL);
		(void)matcher_matches(matcher, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", NULL);
	}
	matcher_free(matcher);
	free(pattern);
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size == 0)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	must(text != NULL);
	switch (*data) {
	case 't':
		try_range(text);
		break;
	case 'e':
		try_every(text);
		break;
	case 'm':
		try_measure(text);
		break;
	case 'd':
		try_rule(text);
		break;
	case 'r':
		try_rules((const char *)data + 1, size - 1);
		break;
	default:
		break;
	}
	free(text);
	return 0;
}

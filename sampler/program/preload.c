/* preload.c - builds and splits the value of LD_PRELOAD that loads the agent */
#include "sampler/program/preload.h"

#include <stdbool.h>

static size_t length(const char *text)
{
	size_t n = 0;

	while (text && text[n])
		n++;
	return n;
}

static char *append(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

static bool same(const char *a, const char *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static bool contains(const char *text, const char *word)
{
	size_t len = length(word);
	size_t size = length(text);

	for (size_t at = 0; at + len <= size; at++)
		if (same(text + at, word, len))
			return true;
	return false;
}

static bool has_asan(const struct preload *preload)
{
	return preload->asan && preload->asan[0];
}

static bool user_has_asan(const struct preload *preload)
{
	return has_asan(preload) && preload->user && contains(preload->user, preload->asan);
}

size_t preload_length(const struct preload *preload)
{
	/* Three colons at most, and the NUL. */
	return length(preload->agent) + length(preload->user) + length(preload->asan) + 4;
}

void preload_build(const struct preload *preload, char *to)
{
	if (user_has_asan(preload)) {
		to = append(to, preload->user);
		to = append(to, ":");
		to = append(to, preload->agent);
		*to = '\0';
		return;
	}
	if (has_asan(preload)) {
		to = append(to, preload->asan);
		to = append(to, ":");
	}
	to = append(to, preload->agent);
	if (has_asan(preload))
		to = append(to, ":");
	if (preload->user) {
		to = append(to, ":");
		to = append(to, preload->user);
	}
	*to = '\0';
}

/* Return: where the component AGENT starts in VALUE, or NULL. */
static const char *find_agent(const char *value, const char *agent)
{
	size_t len = length(agent);
	size_t size = length(value);

	for (size_t at = 0; at + len <= size; at++)
		if ((at == 0 || value[at - 1] == ':') && same(value + at, agent, len) &&
		    (value[at + len] == ':' || value[at + len] == '\0'))
			return value + at;
	return NULL;
}

int preload_split(const char *value, const char *agent, const char **ret_start, size_t *ret_len)
{
	const char *found = find_agent(value, agent);
	const char *after;

	if (!found || !agent[0])
		return -1;
	after = found + length(agent);
	*ret_start = value;
	*ret_len = 0;
	if (*after == '\0') {
		if (found == value)
			return 0;
		*ret_len = (size_t)(found - value) - 1;
		return 1;
	}
	after++; /* the colon */
	if (found != value) {
		/* wick added ASan's runtime: a second colon tells whether the user had a value. */
		if (*after == '\0')
			return 0;
		after++;
	}
	*ret_start = after;
	*ret_len = length(after);
	return 1;
}

/* readings_parse.c - numbers out of what /proc says */
#include "sampler/collector/metrics/readings.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Digits that fit; *TEXT moves past them and the blanks before. */
static int take_number(const char **text, int64_t *ret_value)
{
	const char *at = *text + strspn(*text, " \t");
	int64_t value = 0;

	if (!isdigit((unsigned char)*at))
		return -EBADMSG;
	for (; isdigit((unsigned char)*at); at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *at - '0', &value))
			return -EBADMSG;
	*text = at;
	*ret_value = value;
	return 0;
}

int readings_parse_statm(const char *text, uint64_t page_bytes, int64_t ret_kib[3])
{
	int64_t page_kib = (int64_t)(page_bytes / 1024);
	int64_t size;
	int64_t resident;
	int64_t shared;
	int r = take_number(&text, &size);

	if (r == 0)
		r = take_number(&text, &resident);
	if (r == 0)
		r = take_number(&text, &shared);
	if (r != 0)
		return r;
	/* Three counters read one after the other: the parts may exceed the whole by a moment. */
	if (shared > resident)
		shared = resident;
	if (page_kib == 0 || resident > INT64_MAX / page_kib)
		return -EBADMSG;
	ret_kib[0] = resident * page_kib;
	ret_kib[1] = (resident - shared) * page_kib;
	ret_kib[2] = shared * page_kib;
	return 0;
}

int readings_parse_line(const char *text, const char *name, int64_t *ret_value)
{
	size_t len = strlen(name);

	while (text) {
		if (strncmp(text, name, len) == 0 && text[len] == ':') {
			text += len + 1;
			return take_number(&text, ret_value);
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return -ENOENT;
}

int readings_parse_schedstat(const char *text, int64_t *ret_ns)
{
	int64_t run_ns;
	int64_t delay_ns;
	int r = take_number(&text, &run_ns);

	if (r == 0)
		r = take_number(&text, &delay_ns);
	if (r == 0)
		*ret_ns = delay_ns;
	return r;
}

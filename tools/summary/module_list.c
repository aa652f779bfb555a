/* module_list.c - modules to JSON, and their strings back */
#include "tools/summary/module_list.h"

#include "base/buf.h"
#include "base/words.h"
#include "symbolize/symbolize.h"
#include "tools/cli/terminal.h"

#include <stdlib.h>
#include <string.h>

void servers_print(const struct symbolize_servers *servers, struct buf *buf)
{
	text_of(buf, servers->n_asked, "module");
	buf_add(buf, " asked for, ");
	words_count(buf, servers->n_found);
	buf_add(buf, " found in ");
	text_seconds(buf, servers->spent_ns);
	if (servers->n_late) {
		buf_add(buf, ", ");
		words_count(buf, servers->n_late);
		buf_add(buf, " without an answer in time");
	}
	buf_printf(buf, "%s%s\n", *servers->why ? "; " : "", servers->why);
}

void module_list_set(struct module_list *list, const struct symbolize_module *from, size_t n)
{
	if (n > list->room) {
		struct perf_script_module *grown = realloc(list->at, n * sizeof(*grown));

		if (!grown)
			return;
		list->at = grown;
		list->room = n;
	}
	for (size_t i = 0; i < n; i++)
		list->at[i] = (struct perf_script_module){
			.path = from[i].path,
			.build_id = from[i].build_id,
			.names = from[i].source,
			.missing = from[i].missing,
			.try = from[i].try,
		};
	list->modules = (struct perf_script_modules){list->at, n};
}

void module_list_release(struct module_list *list)
{
	free(list->at);
	*list = (struct module_list){0};
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \u00XX; the writer makes no others. */
static int escaped(const char *at, size_t left)
{
	int high = left >= 6 ? hex_digit(at[4]) : -1;
	int low = high >= 0 ? hex_digit(at[5]) : -1;

	return low >= 0 && memcmp(at, "\\u00", 4) == 0 ? high * 16 + low : -1;
}

void module_list_text(const struct json_pair *pair, char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < pair->value_len && n + 1 < size; i++) {
		const char *at = pair->value + i;
		int code = *at == '\\' ? escaped(at, pair->value_len - i) : -1;

		if (code >= 0) {
			to[n++] = (char)code;
			i += 5;
		} else if (*at == '\\' && i + 1 < pair->value_len) {
			to[n++] = at[1];
			i++;
		} else {
			to[n++] = *at;
		}
	}
	to[n] = '\0';
}

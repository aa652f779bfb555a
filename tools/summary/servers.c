/* servers.c - what came of asking debuginfod servers */
#include "tools/summary/servers.h"

#include "base/words.h"
#include "tools/cli/text.h"

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

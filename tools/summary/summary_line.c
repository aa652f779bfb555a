/* summary_line.c - a line of the summary: two blanks, the topic to a fixed column, the fact */
#include "tools/summary/summary_line.h"

#include "base/words.h"

void summary_topic(struct buf *buf, const char *topic)
{
	buf_printf(buf, "  %-11s ", topic);
}

void summary_cause(struct buf *buf, uint64_t value, const char *cause, bool *first)
{
	if (value == 0)
		return;
	buf_add(buf, *first ? "" : ", ");
	*first = false;
	words_count(buf, value);
	buf_printf(buf, " %s", cause);
}

/* svg_parts.c - how a picture begins and ends */
#include "flamescope/draw/internal.h"

#include "base/words.h"

static const char common_style[] =
	"svg{color-scheme:light dark;--paper:#fff;--ink:#1b1b1b;--soft:#5a5a5a;--line:#8a8a8a;"
	"--mark:#c000c0}"
	"@media(prefers-color-scheme:dark){svg{--paper:#15171a;--ink:#ececec;--soft:#a9afb6;"
	"--line:#7b828a;--mark:#ff7bff}}"
	"text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink)}"
	".paper{fill:var(--paper)}.title{font-size:16px;font-weight:bold}.soft{fill:var(--soft)}"
	".button{cursor:pointer}.button rect{fill:var(--paper);stroke:var(--line)}"
	".button:focus rect,.button:hover rect{stroke:var(--ink);stroke-width:2}"
	".button[aria-pressed=true] rect{fill:var(--line)}"
	":focus{outline:none}";

void svg_open(struct buf *buf, const struct svg_head *head)
{
	buf_printf(buf,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		   "viewBox=\"0 0 %u %u\" role=\"group\" aria-labelledby=\"title about\">\n",
		   head->width, head->height, head->width, head->height);
	buf_add(buf, "<title id=\"title\">");
	words_xml(buf, head->title);
	buf_add(buf, "</title>\n<desc id=\"about\">");
	words_xml(buf, head->about);
	buf_printf(buf, "</desc>\n<style>%s%s</style>\n", common_style, head->style);
	buf_printf(buf,
		   "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
		   "<text class=\"title\" x=\"%d\" y=\"24\">",
		   SVG_MARGIN);
	words_xml_cut(buf, head->title, head->width / 10);
	buf_printf(
		buf,
		"</text>\n<text class=\"soft\" id=\"line\" aria-live=\"polite\" x=\"%d\" y=\"44\">",
		SVG_MARGIN);
	words_xml_cut(buf, head->line, head->width / 8);
	buf_add(buf, "</text>\n");
}

void svg_close(struct buf *buf, const char *script)
{
	buf_add(buf, "<script><![CDATA[");
	buf_add(buf, script);
	buf_add(buf, "]]></script>\n</svg>\n");
}

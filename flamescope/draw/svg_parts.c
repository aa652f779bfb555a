/* svg_parts.c - how a picture begins and ends, and the style and script of heatmaps */
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

/* --- heatmaps --- */

/* What does not go by the palette; svg_heat_colours() writes the rest. */
const char svg_heat_style[] = "#at{fill:none;stroke:var(--mark);stroke-width:.25}";

static void add_theme(struct buf *buf, unsigned n, bool has_below, enum colour_theme theme)
{
	buf_printf(buf, ".x0{fill:#%06x}", colour_no_sample(theme));
	for (unsigned i = 0; i <= n; i++)
		buf_printf(buf, ".p%u{fill:#%06x}", i,
			   colour_of_heat(i * COLOUR_HEAT_STEPS / n, false, theme));
	for (unsigned i = 1; has_below && i <= n; i++)
		buf_printf(buf, ".n%u{fill:#%06x}", i,
			   colour_of_heat(i * COLOUR_HEAT_STEPS / n, true, theme));
	/* below zero is ringed, so that the colour is not all that tells */
	if (has_below)
		buf_printf(buf, "path[class^=n]{stroke:#%06x;stroke-width:.12}",
			   colour_of_heat(COLOUR_HEAT_STEPS, true, theme));
}

void svg_heat_colours(struct buf *buf, unsigned n_levels, bool has_below)
{
	buf_add(buf, "<style>");
	add_theme(buf, n_levels, has_below, COLOUR_LIGHT);
	buf_add(buf, "@media(prefers-color-scheme:dark){");
	add_theme(buf, n_levels, has_below, COLOUR_DARK);
	buf_add(buf, "}</style>\n");
}

const char svg_heat_script[] =
	"\n'use strict';\n"
	"(() => {\n"
	"const cells = document.getElementById('cells'), line = document.getElementById('line');\n"
	"const mark = document.getElementById('at'), rows = "
	"document.querySelectorAll('text.row');\n"
	"const said = line.textContent, d = cells.dataset, nColumns = +d.columns, nRows = "
	"+d.rows;\n"
	"const values = d.values === undefined ? null : d.values.split(' '), up = d.up === '1';\n"
	"let at = null;\n"
	"\n"
	"function tell(column, row) {\n"
	"  const from = Number(d.start) / 1e9 + column * d.column / 1e9;\n"
	"  const height = d.column / 1e9 / nRows;\n"
	"  const when = up ? (from + row * height).toFixed(3) + ' to ' + (from + (row + 1) * "
	"height).toFixed(3) + ' s' :\n"
	"    from.toFixed(3) + ' to ' + (from + d.column / 1e9).toFixed(3) + ' s, ' + "
	"rows[row].textContent;\n"
	"  const value = values ? values[column * nRows + row] : undefined;\n"
	"  line.textContent = when + (value === undefined ? '' : value === '' ? ': no sample' :\n"
	"    ': ' + Number(value).toLocaleString('en') + ' ' + d.unit);\n"
	"  mark.setAttribute('x', column);\n"
	"  mark.setAttribute('y', up ? nRows - 1 - row : row);\n"
	"  mark.setAttribute('display', 'inline');\n"
	"  at = [column, row];\n"
	"}\n"
	"\n"
	"function leave() { line.textContent = said; mark.setAttribute('display', 'none'); }\n"
	"\n"
	"cells.addEventListener('mousemove', e => {\n"
	"  const p = new DOMPoint(e.clientX, "
	"e.clientY).matrixTransform(cells.getScreenCTM().inverse());\n"
	"  const column = Math.floor(p.x), y = Math.floor(p.y);\n"
	"  if (column >= 0 && column < nColumns && y >= 0 && y < nRows) tell(column, up ? nRows - "
	"1 - y "
	": y);\n"
	"});\n"
	"cells.addEventListener('mouseleave', leave);\n"
	"cells.addEventListener('blur', leave);\n"
	"cells.addEventListener('focus', () => tell(...(at || [0, 0])));\n"
	"cells.addEventListener('keydown', e => {\n"
	"  const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, up ? 1 : -1], "
	"ArrowDown: "
	"[0, up ? -1 : 1]}[e.key];\n"
	"  if (!move || !at) return;\n"
	"  e.preventDefault();\n"
	"  tell(Math.min(Math.max(at[0] + move[0], 0), nColumns - 1), Math.min(Math.max(at[1] + "
	"move[1], "
	"0), nRows - 1));\n"
	"});\n"
	"})();\n";

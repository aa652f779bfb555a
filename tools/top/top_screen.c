/* top_screen.c - lines and half-block cells on a terminal */
#include "tools/top/internal.h"

#include "tools/cli/terminal.h"

#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LEVELS = 8, /* of a cell; 0 is empty */
	TEXT_BYTES = 64 * 1024,
	AXIS = 8,       /* characters left of the heatmap */
	FEW_LINES = 16, /* with fewer there is no heatmap */
	MANY_LINES = 40,
	ESCAPE_MS = 25,
	ESCAPE = 27,
};

struct top_screen {
	SCREEN *terminal;
	FILE *keys;
	bool colour;
	uint8_t *cells;
	size_t n_cells;
};

/* Weak to strong, on 256 colours and on 8. */
static const short many_colours[LEVELS] = {-1, 217, 210, 203, 196, 160, 124, 88};
static const short few_colours[LEVELS] = {-1,           COLOR_BLUE,    COLOR_CYAN, COLOR_GREEN,
					  COLOR_YELLOW, COLOR_MAGENTA, COLOR_RED,  COLOR_WHITE};
static const char marks[LEVELS + 1] = " .:-=+*#";

/* Foreground 1 to LEVELS - 1, background 0 to LEVELS - 1. */
static short pair_of(unsigned over, unsigned under)
{
	return (short)(1 + (over - 1) * LEVELS + under);
}

static bool begin_colours(void)
{
	const short *colours = COLORS >= 256 ? many_colours : few_colours;

	if (!terminal_has_colours() || !has_colors() || start_color() == ERR ||
	    use_default_colors() == ERR || COLOR_PAIRS < LEVELS * LEVELS)
		return false;
	for (unsigned over = 1; over < LEVELS; over++)
		for (unsigned under = 0; under < LEVELS; under++)
			(void)init_pair(pair_of(over, under), colours[over], colours[under]);
	return true;
}

/* Lines are put where they belong: one that only writes on (dumb) cannot show them. */
static bool moves_the_cursor(void)
{
	const char *way = tigetstr("cup");

	return way && way != (const char *)-1;
}

int top_screen_open(struct top_screen **ret_screen, struct err *err)
{
	struct top_screen *screen;

	if (isatty(STDOUT_FILENO) != 1) {
		(void)err_set(err, 0, "standard output is not a terminal");
		err_hint(err, "wick top --once, which prints text");
		return -ENOTTY;
	}
	screen = calloc(1, sizeof(*screen));
	if (!screen)
		return err_set(err, ENOMEM, "draw");
	screen->keys = fopen("/dev/tty", "re");
	/* half blocks and names are what the user's locale says; no other thread runs yet */
	(void)setlocale(LC_CTYPE, ""); /* NOLINT(concurrency-mt-unsafe) */
	if (screen->keys)
		screen->terminal = newterm(NULL, stdout, screen->keys);
	if (!screen->terminal || !moves_the_cursor()) {
		const char *why = screen->keys ? "cannot draw on this terminal (is $TERM right?)"
					       : "there is no terminal to read keys from";

		top_screen_close(screen);
		(void)err_set(err, 0, "%s", why);
		err_hint(err, "wick top --once, which prints text");
		return -ENOTTY;
	}
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)curs_set(0);
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_MS);
	screen->colour = begin_colours();
	*ret_screen = screen;
	return 0;
}

int top_screen_key(struct top_screen *screen)
{
	int key = wgetch(stdscr);

	(void)screen;
	switch (key) {
	case ERR:
		return 0;
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case KEY_HOME:
		return TOP_KEY_HOME;
	case KEY_END:
		return TOP_KEY_END;
	case KEY_ENTER:
		return TOP_KEY_ENTER;
	case KEY_BACKSPACE:
		return TOP_KEY_BACKSPACE;
	case KEY_RESIZE:
		return TOP_KEY_RESIZE;
	case ESCAPE:
		return TOP_KEY_ESCAPE;
	default:
		return key > 0 && key < 0x100 ? key : ' ' - 1;
	}
}

void top_screen_wait(const struct top_screen *screen, int ms)
{
	struct pollfd keys = {.fd = fileno(screen->keys), .events = POLLIN};

	(void)poll(&keys, 1, ms);
}

bool top_screen_is_gone(const struct top_screen *screen)
{
	struct pollfd keys = {.fd = fileno(screen->keys)};

	return poll(&keys, 1, 0) > 0;
}

static int heat_lines(const struct top_keys *keys)
{
	if (keys->no_heat || LINES < FEW_LINES)
		return 0;
	return LINES < MANY_LINES ? 6 : 10;
}

/* Head, heatmap and its axis, titles, rows, foot. */
static int table_line(const struct top_keys *keys)
{
	int heat = heat_lines(keys);

	return TOP_HEAD_LINES + heat + (heat > 0) + 1;
}

size_t top_screen_page(const struct top_screen *screen, const struct top_keys *keys)
{
	int rows = LINES - table_line(keys) - 1;

	(void)screen;
	return rows > 1 ? (size_t)rows : 1;
}

/* The lines of TEXT, from line AT on. */
static void put_lines(int at, struct buf *text, attr_t how)
{
	const char *line = buf_text(text);

	(void)attrset(how);
	while (*line && at < LINES) {
		size_t len = strcspn(line, "\n");

		(void)mvaddnstr(at++, 0, line, (int)len);
		line += len + (line[len] == '\n');
	}
	(void)attrset(A_NORMAL);
	buf_clear(text);
}

/* Two rows of the heatmap in one character. */
static void put_cell(unsigned upper, unsigned lower)
{
	if (upper == 0 && lower == 0) {
		(void)addch(' ');
		return;
	}
	(void)attron(COLOR_PAIR(upper ? pair_of(upper, lower) : pair_of(lower, 0)));
	(void)addstr(upper ? "\xe2\x96\x80" : "\xe2\x96\x84");
	(void)attrset(A_NORMAL);
}

static bool make_room(struct top_screen *screen, size_t n)
{
	uint8_t *cells = n > screen->n_cells ? realloc(screen->cells, n) : screen->cells;

	if (!cells)
		return false;
	screen->n_cells = n > screen->n_cells ? n : screen->n_cells;
	screen->cells = cells;
	return true;
}

static void draw_heat(struct top_screen *screen, const struct top_view *view, int lines)
{
	uint32_t columns = COLS > AXIS + 1 ? (uint32_t)(COLS - AXIS - 1) : 1;
	uint32_t rows = (uint32_t)lines * (screen->colour ? 2 : 1);

	columns = columns < TOP_SECONDS ? columns : TOP_SECONDS;
	if (!make_room(screen, (size_t)rows * columns))
		return;
	top_view_heat(view, rows, columns, LEVELS, screen->cells);
	for (int line = 0; line < lines; line++) {
		(void)mvprintw(TOP_HEAD_LINES + line, 0, line == 0 ? " 1000ms " : "        ");
		for (uint32_t i = 0; i < columns; i++) {
			const uint8_t *cell = screen->cells +
					      (size_t)line * (screen->colour ? 2 : 1) * columns + i;

			if (screen->colour)
				put_cell(cell[0], cell[columns]);
			else
				(void)addch((chtype)marks[cell[0]]);
		}
	}
	(void)mvprintw(TOP_HEAD_LINES + lines - 1, 0, "    0ms ");
	(void)mvprintw(TOP_HEAD_LINES + lines, 0, "%*s", AXIS, "");
	for (uint32_t i = 0; i < columns; i++)
		(void)addch((chtype)((columns - 1 - i) % 10 ? '-' : '+'));
	(void)mvprintw(TOP_HEAD_LINES + lines, 0, "s ago ");
}

static void draw_table(const struct top_view *view, struct top_keys *keys, size_t page)
{
	int at = table_line(keys);
	size_t most = view->n_shown > page ? view->n_shown - page : 0;
	struct buf text;

	keys->scroll = keys->scroll < most ? keys->scroll : most;
	buf_init(&text, TEXT_BYTES);
	top_lines_titles(&text, keys, (uint32_t)COLS);
	(void)move(at - 1, 0);
	put_lines(at - 1, &text, A_REVERSE);
	for (size_t i = 0; i < page && keys->scroll + i < view->n_shown; i++)
		top_lines_row(&text, view, keys, keys->scroll + i, (uint32_t)COLS);
	put_lines(at, &text, A_NORMAL);
	buf_release(&text);
}

void top_screen_draw(struct top_screen *screen, const struct top_facts *facts,
		     const struct top_view *view, struct top_keys *keys)
{
	int heat = heat_lines(keys);
	struct buf text;

	buf_init(&text, TEXT_BYTES);
	(void)erase();
	top_lines_head(&text, facts, view, keys, (uint32_t)COLS);
	put_lines(0, &text, A_BOLD);
	if (keys->help) {
		top_lines_help(&text, (uint32_t)COLS);
		put_lines(TOP_HEAD_LINES + 1, &text, A_NORMAL);
	} else {
		if (heat > 0)
			draw_heat(screen, view, heat);
		draw_table(view, keys, top_screen_page(screen, keys));
	}
	top_lines_foot(&text, facts, keys, (uint32_t)COLS > 1 ? (uint32_t)COLS - 1 : 1);
	put_lines(LINES - 1, &text, keys->typing || keys->leaving ? A_BOLD : A_NORMAL);
	(void)refresh();
	buf_release(&text);
}

void top_screen_close(struct top_screen *screen)
{
	if (!screen)
		return;
	if (screen->terminal) {
		(void)endwin();
		delscreen(screen->terminal);
	}
	if (screen->keys)
		(void)fclose(screen->keys);
	free(screen->cells);
	free(screen);
}

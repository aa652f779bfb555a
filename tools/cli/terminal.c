/* terminal.c - messages, results, numbers as text, and what stdout can show */
#include "tools/cli/terminal.h"

#include "base/io.h"
#include "base/utf8.h"
#include "base/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MAX_MESSAGE = 2048 };

static struct {
	char prefix[64];
	char about[512]; /* "WHERE: ", or nothing */
	bool quiet;
	bool shown; /* a live line stands at the bottom */
} voice = {.prefix = "wick"};

void say_init(const char *command)
{
	(void)snprintf(voice.prefix, sizeof(voice.prefix), "wick%s%s", command ? " " : "",
		       command ? command : "");
}

void say_about(const char *where)
{
	voice.about[0] = '\0';
	if (where)
		(void)snprintf(voice.about, sizeof(voice.about), "%s: ", where);
}

void say_quiet(void)
{
	voice.quiet = true;
}

/* One write a message, so that lines of several threads do not mix; a caller without interest does
 * not get it. */
static void write_message(const char *text, size_t len)
{
	(void)io_write_all(STDERR_FILENO, text, len, NULL);
}

static void say(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

static void say(const char *format, va_list args)
{
	char text[MAX_MESSAGE];
	const char *clear = voice.shown ? "\r\033[K" : "";
	size_t len;
	int n;

	n = snprintf(text, sizeof(text), "%s%s: %s", clear, voice.prefix, voice.about);
	(void)vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, args);
	text_defuse(text + n); /* it may have the name of a file in it */
	len = strlen(text);
	text[len++] = '\n';
	write_message(text, len);
}

void say_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void say_note(const char *format, ...)
{
	va_list args;

	if (voice.quiet)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void say_text(struct buf *text)
{
	if (voice.quiet)
		return;
	say_live("");
	write_message(buf_text(text), text->len);
}

bool say_is_live(void)
{
	return !voice.quiet && isatty(STDERR_FILENO) == 1;
}

void say_live(const char *text)
{
	char line[MAX_MESSAGE];
	int n;

	if (!say_is_live() || (!*text && !voice.shown))
		return;
	n = snprintf(line, sizeof(line), "\r\033[K%s", text);
	if (n >= (int)sizeof(line))
		n = sizeof(line) - 1;
	write_message(line, (size_t)n);
	voice.shown = *text != '\0';
}

int say_result(struct buf *text)
{
	int r;

	if (text->failed)
		return -ENOMEM;
	r = io_write_all(STDOUT_FILENO, buf_text(text), text->len, NULL);
	if (r < 0 && r != -EPIPE)
		say_error("write to stdout: %s", strerrordesc_np(-r));
	return r;
}

#define NS_PER_S 1000000000.0

void text_of(struct buf *buf, uint64_t value, const char *noun)
{
	size_t len = strlen(noun);

	words_count(buf, value);
	buf_printf(buf, " %s", noun);
	if (value != 1)
		buf_add(buf, len && noun[len - 1] == 's' ? "es" : "s");
}

void text_seconds(struct buf *buf, uint64_t ns)
{
	double s = (double)ns / NS_PER_S;

	if (s < 10)
		buf_printf(buf, "%.2f s", s);
	else if (s < 120)
		buf_printf(buf, "%.1f s", s);
	else if (s < 7200)
		buf_printf(buf, "%u min %u s", (unsigned)s / 60, (unsigned)s % 60);
	else
		buf_printf(buf, "%u h %u min", (unsigned)s / 3600, (unsigned)s / 60 % 60);
}

void text_sampled(struct buf *buf, uint64_t ns, uint64_t cpu_ns)
{
	words_amount(buf, ns, "ns");
	if (cpu_ns == ns) {
		buf_add(buf, " of CPU");
		return;
	}
	buf_add(buf, " of wall time, ");
	if (cpu_ns)
		words_amount(buf, cpu_ns, "ns");
	else
		buf_add(buf, "none");
	buf_add(buf, " of it CPU");
}

void text_share(struct buf *buf, double part, double whole)
{
	double pct = whole > 0 ? 100 * part / whole : 0;

	if (pct > 0 && pct < 1)
		buf_printf(buf, "%.2f %%", pct);
	else
		buf_printf(buf, "%.1f %%", pct);
}

/* In place, and without memory to be had: what is wrong with memory is said this way, too. */
void text_rate(struct buf *buf, uint32_t effective_hz, uint32_t hz)
{
	if (effective_hz >= hz)
		buf_printf(buf, "%u Hz", (unsigned)hz);
	else
		buf_printf(buf, "%u Hz effective of %u asked", (unsigned)effective_hz,
			   (unsigned)hz);
}

void text_defuse(char *text)
{
	while (*text) {
		uint32_t code = 0;
		size_t len = utf8_next(text, strnlen(text, UTF8_MAX_BYTES), &code);

		if (len == 0 || !utf8_is_shown(code))
			memset(text, '?', len ? len : 1);
		text += len ? len : 1;
	}
}

uint32_t terminal_columns(void)
{
	struct winsize size = {0};

	if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

/* The main thread alone reads the environment, and no thread writes it. */
static const char *variable(const char *name)
{
	const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe) */

	return value ? value : "";
}

static bool speaks_utf8(void)
{
	const char *locale = variable("LC_ALL");

	locale = *locale ? locale : variable("LC_CTYPE");
	locale = *locale ? locale : variable("LANG");
	return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

bool terminal_has_true_colours(void)
{
	const char *depth = variable("COLORTERM");

	return strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0;
}

bool terminal_is_light(void)
{
	const char *background = strrchr(variable("COLORFGBG"), ';');

	return background && (strcmp(background, ";7") == 0 || strcmp(background, ";15") == 0);
}

bool terminal_has_colours(void)
{
	return isatty(STDOUT_FILENO) == 1 && !*variable("NO_COLOR") &&
	       strcmp(variable("TERM"), "dumb") != 0 && *variable("TERM") && speaks_utf8();
}

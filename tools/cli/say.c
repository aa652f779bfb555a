/* say.c - messages on stderr, results on stdout */
#include "tools/cli/terminal.h"

#include "base/io.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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

/* One write a message, so that lines of several threads do not mix; who does not want it, does
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

/* terminal.c - what stdout can show */
#include "tools/cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

uint32_t terminal_columns(void)
{
	struct winsize size = {0};

	if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

/* The main thread alone reads the environment, and nobody writes it. */
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

bool terminal_has_colours(void)
{
	return isatty(STDOUT_FILENO) == 1 && !*variable("NO_COLOR") &&
	       strcmp(variable("TERM"), "dumb") != 0 && *variable("TERM") && speaks_utf8();
}

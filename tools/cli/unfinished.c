/* unfinished.c - unlink() is all that a handler needs, as long as the name stays where it is */
#include "tools/cli/unfinished.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char unfinished[PATH_MAX]; /* changes only while THERE is 0 */
static volatile sig_atomic_t there;

/* SA_RESETHAND has put the default back: the signal ends wick as it would have. */
static void on_signal(int number)
{
	if (there)
		(void)unlink(unfinished);
	(void)raise(number);
}

static void catch_ends(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	struct sigaction old;

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &action, NULL);
}

void unfinished_begin(const char *path)
{
	size_t len = strlen(path);

	there = 0;
	if (len >= sizeof(unfinished))
		return;
	memcpy(unfinished, path, len + 1);
	there = 1;
	catch_ends();
}

void unfinished_end(void)
{
	there = 0;
}

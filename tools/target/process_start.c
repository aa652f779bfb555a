/* process_start.c - safe descriptors and signals for wick itself */
#include "tools/target/target.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static bool ends_ignored;

static void on_failed_write(int signo)
{
	(void)signo; /* write(2) says EPIPE or EFBIG */
}

static void survive(int signo)
{
	struct sigaction old;
	struct sigaction action = {.sa_handler = on_failed_write, .sa_flags = SA_RESTART};

	if (sigaction(signo, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)sigaction(signo, &action, NULL);
}

static void see_ends(void)
{
	struct sigaction old;

	ends_ignored = sigaction(SIGCHLD, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
	if (ends_ignored)
		(void)signal(SIGCHLD, SIG_DFL);
}

void process_start(void)
{
	int fd;

	do /* open(2) gives the lowest free number */
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
	survive(SIGPIPE);
	survive(SIGXFSZ);
	see_ends();
}

void process_signals(struct collector_signals *ret_signals)
{
	(void)pthread_sigmask(SIG_SETMASK, NULL, &ret_signals->mask);
	ret_signals->ends_ignored = ends_ignored;
}

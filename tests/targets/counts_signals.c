/*
 * counts_signals.c - works until SIGTERM, then says how many signals of each kind it was given
 *
 * Those of SIGRTMIN are queued: each is worth one.  Built static, too.
 */
#include "burn.h"

#include <signal.h>
#include <stdio.h>

BURN_FUNCTION(burn_between_signals)

static volatile sig_atomic_t n_queued;
static volatile sig_atomic_t n_child;
static volatile sig_atomic_t ended;

static void on_signal(int signo)
{
	if (signo == SIGTERM)
		ended = 1;
	else if (signo == SIGCHLD)
		n_child++;
	else
		n_queued++;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	(void)sigaction(SIGRTMIN, &action, NULL);
	(void)sigaction(SIGCHLD, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)puts("ready");
	(void)fflush(stdout);
	while (!ended)
		burn_between_signals(20000);
	(void)printf("%d %d\n", (int)n_queued, (int)n_child);
	return 0;
}

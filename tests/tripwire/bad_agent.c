/* bad_agent.c - a handler that does what none may: the tripwire must see it
 * BAD_AGENT=malloc, or anything else for 4 KiB of stack */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static int allocates;

static void on_sigprof(int sig, siginfo_t *info, void *uc)
{
	volatile char big[4096];

	(void)sig;
	(void)info;
	(void)uc;
	if (allocates) {
		char *volatile leak = malloc(16);

		free(leak);
		return;
	}
	for (unsigned int i = 0; i < sizeof(big); i++)
		big[i] = (char)i;
}

static void __attribute__((constructor)) bad_agent_start(void)
{
	const struct itimerval often = {{0, 10000}, {0, 10000}};
	struct sigaction action = {.sa_sigaction = on_sigprof, .sa_flags = SA_SIGINFO | SA_RESTART};
	const char *how = getenv("BAD_AGENT");

	allocates = how && !strcmp(how, "malloc");
	(void)sigaction(SIGPROF, &action, NULL);
	(void)setitimer(ITIMER_PROF, &often, NULL);
}

/* fork.c - continues sampling in children of fork(), on rings of their own */
#include "sampler/agent/start.h"

extern int weak_register(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			 void *dso) __asm__("__register_atfork") __attribute__((weak));
extern int weak_pthread_atfork(void (*prepare)(void), void (*parent)(void),
			       void (*child)(void)) __asm__("pthread_atfork") __attribute__((weak));

void fork_start(void)
{
	/* glibc has the first, musl the second; without either, children after fork are not
	 * sampled. */
	if (weak_register)
		(void)weak_register(NULL, NULL, start_in_child, NULL);
	else if (weak_pthread_atfork)
		(void)weak_pthread_atfork(NULL, NULL, start_in_child);
}

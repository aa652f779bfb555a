/* altstack.c - a 2 KiB sigaltstack and a handler that runs on it, under load
 * usage: altstack SECONDS */
#include "burn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

BURN_FUNCTION(burn_altstack)

/* A page that must stay untouched lies under the stack, to see an overflow. */
static unsigned char memory[4096 + 2048] __attribute__((aligned(4096)));
static volatile sig_atomic_t n_handled;

static void on_usr1(int number)
{
	(void)number;
	n_handled++;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	stack_t stack = {.ss_sp = memory + 4096, .ss_size = 2048};
	struct sigaction action = {.sa_handler = on_usr1};
	stack_t old;

	if (sigaltstack(&stack, NULL))
		printf("refused\n");
	(void)sigaltstack(NULL, &old);
	printf("size %zu flags %d\n", old.ss_size, old.ss_flags);
	(void)sigaction(SIGUSR1, &action, NULL);
	while (thread_seconds() < seconds) {
		burn_altstack(1000000);
		(void)raise(SIGUSR1);
	}
	for (size_t i = 0; i < 4096; i++) {
		if (memory[i]) {
			printf("overflow\n");
			return 1;
		}
	}
	printf("handled %s\n", n_handled > 0 ? "some" : "none");
	return 0;
}

/* signal_cost.c - measures the round trip of a signal */
#include "tools/signal_cost.h"

#include "sampler/collector/spending.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { N_ROUNDS = 101 };

static void on_round(int signo)
{
	(void)signo;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

uint64_t signal_cost_ns(void)
{
	struct sigaction action = {.sa_handler = on_round};
	struct sigaction old;
	uint64_t rounds[N_ROUNDS];
	pid_t pid = getpid();

	if (sigaction(SIGURG, &action, &old) < 0)
		return 0;
	for (int i = 0; i < N_ROUNDS; i++) {
		uint64_t start = spending_thread_ns();

		(void)syscall(SYS_tgkill, pid, pid, SIGURG);
		rounds[i] = spending_thread_ns() - start;
	}
	(void)sigaction(SIGURG, &old, NULL);
	qsort(rounds, N_ROUNDS, sizeof(rounds[0]), compare);
	return rounds[N_ROUNDS / 2];
}

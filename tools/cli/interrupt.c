/* interrupt.c - the first Ctrl-C is CMD's, the second is ours */
#include "tools/cli/terminal.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static struct {
	_Atomic(struct collector *) collector;
	atomic_int n_interrupts;
	atomic_int ended_by;
	atomic_bool no_cmd;
} state;

static void on_signal(int signo)
{
	struct collector *collector;

	if (signo == SIGQUIT && !atomic_load(&state.no_cmd)) /* Ctrl-\ is CMD's alone */
		return;
	if (signo == SIGINT && atomic_fetch_add(&state.n_interrupts, 1) == 0 &&
	    !atomic_load(&state.no_cmd))
		return;
	atomic_store(&state.ended_by, signo);
	collector = atomic_load(&state.collector);
	if (collector)
		collector_detach(collector);
}

void interrupt_no_cmd(void)
{
	atomic_store(&state.no_cmd, true);
}

void interrupt_catch(void)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction action = {.sa_handler = on_signal};
		struct sigaction old;

		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &action, NULL);
	}
}

void interrupt_detaches(struct collector *collector)
{
	atomic_store(&state.collector, collector);
	if (collector && interrupt_signal())
		collector_detach(collector);
}

int interrupt_signal(void)
{
	return atomic_load(&state.ended_by);
}

int interrupt_count(void)
{
	return atomic_load(&state.n_interrupts);
}

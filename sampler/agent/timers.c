/* timers.c - the first timers of a process */
#include "sampler/agent/start.h"
#include "sampler/handler/timer.h"

static int arm_self(struct process *p)
{
	uint32_t tid = (uint32_t)sys0(__NR_gettid);
	struct slot slot;
	int r;

	if (slot_claim(p, tid, &slot) < 0)
		return -1;
	r = timer_arm(p, &slot, tid, p->period_ns);
	slot_leave(&slot);
	return r;
}

void timers_start(struct process *p)
{
	int own;
	int found = -1;

	/* Sampling before the first timer: its signal may come at once. */
	process_set_state(p, AGENT_SAMPLING);
	own = arm_self(p);
	if (p->discovery == DISCOVERY_TIMER)
		found = timer_arm_process(p);
	if (own < 0 && found < 0)
		process_set_state(p, AGENT_NO_TIMER);
}

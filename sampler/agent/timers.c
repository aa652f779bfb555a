/* timers.c - arms the first timers of a process */
#include "sampler/agent/start.h"
#include "sampler/handler/nearly_idle.h"
#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"

enum { MAX_RESIDUAL_PERIODS = 1000 };

/* A process shorter than a period is sampled only if it starts in the middle of one. */
static uint64_t first_ns(struct process *p)
{
	uint64_t period_ns = process_period_ns(p);

	return period_ns - p->header->start_offset_ns % period_ns;
}

static int arm_self(struct process *p)
{
	uint32_t residual = p->header->residual_periods;
	uint32_t tid = (uint32_t)sys0(__NR_gettid);
	struct slot slot;
	int r;

	if (slot_claim(p, tid, &slot) < 0)
		return -1;
	slot.own->extra = residual < MAX_RESIDUAL_PERIODS ? residual : MAX_RESIDUAL_PERIODS;
	r = timer_arm(p, &slot, tid, first_ns(p));
	slot_leave(&slot);
	return r;
}

void timers_start(struct process *p)
{
	int own;
	int found = -1;

	p->account_since_ns = clock_process_cpu_ns();
	/* The first sample of the main thread will include them. */
	nearly_idle_add_cpu(p, p->header->residual_periods * process_period_ns(p));
	/* Set the state before the first timer, whose signal may come at once. */
	process_set_state(p, AGENT_SAMPLING);
	if (p->header->hooks & RING_NO_TIMERS)
		return;
	own = arm_self(p);
	if (p->discovery == DISCOVERY_TIMER)
		found = timer_arm_process(p, first_ns(p));
	if (own < 0 && found < 0)
		process_set_state(p, AGENT_NO_TIMER);
}

/* wall_account.c - the wall time of one thread, by state, in whole periods */
#include "sampler/collector/process/wall_account.h"

enum { IDLE_PART = 4 };

void wall_account_begin(struct wall_account *account, uint64_t period_ns, uint64_t since_ns,
			const struct schedstat *then)
{
	*account = (struct wall_account){
		.period_ns = period_ns, .updated_ns = since_ns, .seen = *then};
}

/* Counters do not fall; one that does has not moved. */
static int64_t advance(uint64_t *seen, uint64_t now)
{
	uint64_t moved = now > *seen ? now - *seen : 0;

	*seen += moved;
	return moved > INT64_MAX / 4 ? 0 : (int64_t)moved;
}

/* It was switched: of DELAY_NS, which it waited for that, some was given already. */
static void take_back(struct wall_account *account, int64_t delay_ns)
{
	int64_t part = account->early_ns < delay_ns ? account->early_ns : delay_ns;

	account->residual_ns[STATE_RUNNABLE] -= part;
	account->rest_ns += part;
	account->early_ns = 0;
	account->on_ns = 0;
}

void wall_account_update(struct wall_account *account, uint64_t now_ns, const struct schedstat *now)
{
	int64_t passed = advance(&account->updated_ns, now_ns);
	int64_t run = advance(&account->seen.run_ns, now->run_ns);
	int64_t delay = advance(&account->seen.delay_ns, now->delay_ns);
	int64_t rest = passed - run - delay;

	account->residual_ns[STATE_RUNNING] += run;
	account->residual_ns[STATE_RUNNABLE] += delay;
	account->rest_ns += rest;
	account->on_ns += rest;
	if (now->slices != account->seen.slices)
		take_back(account, delay);
	account->seen.slices = now->slices;
}

void wall_account_settle(struct wall_account *account, enum sample_state state, int64_t parts)
{
	int64_t part = parts == 1 ? account->rest_ns : account->rest_ns / parts;

	account->on_ns = 0;
	if (account->rest_ns <= 0)
		return;
	account->residual_ns[state] += part;
	account->rest_ns -= part;
}

void wall_account_stay(struct wall_account *account, uint64_t most_ns)
{
	int64_t part = account->on_ns - (int64_t)most_ns;

	if (part > account->rest_ns)
		part = account->rest_ns;
	if (part <= 0)
		return;
	account->residual_ns[STATE_RUNNABLE] += part;
	account->early_ns += part;
	account->rest_ns -= part;
	account->on_ns -= part;
}

void wall_account_hold(struct wall_account *account)
{
	account->on_ns = 0;
	account->held_ns = account->rest_ns > 0 ? account->rest_ns : 0;
}

void wall_account_release(struct wall_account *account, enum sample_state state)
{
	int64_t part = account->held_ns < account->rest_ns ? account->held_ns : account->rest_ns;

	account->held_ns = 0;
	if (part <= 0)
		return;
	account->residual_ns[state] += part;
	account->rest_ns -= part;
}

void wall_account_run(struct wall_account *account, uint64_t most_ns)
{
	int64_t most = most_ns > INT64_MAX ? INT64_MAX : (int64_t)most_ns;
	int64_t part = account->rest_ns < most ? account->rest_ns : most;

	if (account->rest_ns <= 0)
		return;
	account->residual_ns[STATE_RUNNING] += part;
	account->residual_ns[STATE_RUNNABLE] += account->rest_ns - part;
	account->rest_ns = 0;
}

uint64_t wall_account_take(struct wall_account *account, enum sample_state state)
{
	int64_t period = (int64_t)account->period_ns;
	int64_t kept = state == STATE_RUNNABLE && account->rest_ns < 0 ? -account->rest_ns : 0;
	int64_t n;

	if (account->residual_ns[state] - kept < period)
		return 0;
	n = (account->residual_ns[state] - kept) / period;
	account->residual_ns[state] -= n * period;
	return (uint64_t)n;
}

static enum sample_state most_residual(const struct wall_account *account)
{
	enum sample_state most = STATE_RUNNING;

	for (int state = 1; state < WALL_STATES; state++)
		if (account->residual_ns[state] > account->residual_ns[most])
			most = (enum sample_state)state;
	return most;
}

void wall_account_end(struct wall_account *account, enum sample_state rest_in, int64_t *residual_ns,
		      uint64_t ret_weights[WALL_STATES])
{
	int64_t period = (int64_t)account->period_ns;
	int64_t total = *residual_ns;
	int64_t n;

	if (account->rest_ns < 0)
		rest_in = most_residual(account);
	account->residual_ns[rest_in] += account->rest_ns;
	account->rest_ns = 0;
	for (int state = 0; state < WALL_STATES; state++) {
		total += account->residual_ns[state];
		ret_weights[state] = 0;
	}
	*residual_ns = total;
	n = total / period;
	for (; n > 0; n--) {
		enum sample_state state = most_residual(account);

		account->residual_ns[state] -= period;
		ret_weights[state]++;
		*residual_ns -= period;
	}
}

uint32_t wall_account_wait(uint64_t idle_ticks, uint32_t most, uint64_t random)
{
	uint64_t wait = 1;

	while (wait < most && wait * 2 * IDLE_PART <= idle_ticks)
		wait *= 2;
	if (wait == 1)
		return 1;
	wait = wait / 2 + random % (wait + 1);
	return (uint32_t)(wait < most ? wait : most);
}

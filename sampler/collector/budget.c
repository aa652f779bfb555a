/* budget.c - how far the rate is lowered so that sampling costs no more than it may */
#include "sampler/collector/budget.h"

#include "sampler/collector/limits.h"

enum {
	WARM_MS = 1500,
	WINDOW_MS = 1000,
	SETTLE_MS = 250,   /* after a change: threads take the new rate with their next signal */
	LEAST_CPU_MS = 50, /* in a window, before it says anything */
	LONGEST_MS = 5000, /* but no window is longer */
	MOST_HALVINGS = 13,
	STEP_HALVINGS = 6, /* at once */
	PATIENCE = 3,
	PERSISTS = 3, /* windows that are not far above the limit before they count */
	MOST_PATIENCE = 60,
	PROVEN_MS = 20000, /* a rate that was raised so long ago was right */
	VAIN_MS = 10000,   /* after a halving that saved nothing; twice as long after the next */
	MOST_VAIN = 5,
	PASSES_PART = 4, /* of the budget, for looking at the rings */
};

#define IDLE_SHARE  0.05        /* of a processor: no program is taken to use less */
#define FAR         2.0         /* times the limit */
#define SAVING      0.5         /* of the limit, while more was spent than allowed */
#define DEBT_NS     (0.5 * 1e9) /* CPU of the target whose budget may be owed before it matters */
#define MOST_DEBT_S 20.0
#define FIXED_PART  0.25 /* of the limit is left to samples, whatever else costs */
#define FADES       0.9  /* what is believed to be fixed, in a window that is over the limit */
#define SAVES       0.1  /* of the cost, or a halving was in vain */

static uint32_t halvings_of(uint32_t hz)
{
	uint32_t n = 0;

	while (hz >> (n + 1) && n < MOST_HALVINGS)
		n++;
	return n;
}

static double limit_of(const struct budget *budget)
{
	return (double)budget->limit_ppm / 1e6;
}

void budget_init(struct budget *budget, uint32_t limit_ppm, uint32_t hz, uint64_t now_ns)
{
	*budget = (struct budget){.limit_ppm = limit_ppm,
				  .hz = hz,
				  .most = halvings_of(hz),
				  .start_ns = now_ns,
				  .window.now_ns = now_ns,
				  .told.now_ns = now_ns,
				  .patience = PATIENCE};
}

void budget_restart(struct budget *budget, uint32_t hz, uint64_t now_ns)
{
	budget->hz = hz;
	budget->most = halvings_of(hz);
	budget->level = 0;
	budget->fixed = 0;
	budget->before = 0;
	budget->calm = 0;
	budget->patience = PATIENCE;
	budget->raised_ns = 0;
	budget->vain_ns = 0;
	budget->vain = 0;
	budget->settle_ns = now_ns + SETTLE_MS * NS_PER_MS;
}

/* What is sampled used this much since; never nothing, so that a share of it can be allowed. */
static double cpu_since(const struct budget_sums *since, const struct budget_sums *sums)
{
	double least = IDLE_SHARE * (double)(sums->now_ns - since->now_ns);
	double cpu = sums->cpu_ns > since->cpu_ns ? (double)(sums->cpu_ns - since->cpu_ns) : 0;

	return cpu > least ? cpu : least;
}

static double more(uint64_t now, uint64_t then)
{
	return now > then ? (double)(now - then) : 0;
}

static void add_debt(struct budget *budget, const struct budget_sums *sums)
{
	double cpu = cpu_since(&budget->told, sums);
	double wall = (double)(sums->now_ns - budget->start_ns);
	double rate =
		wall > 0 ? cpu_since(&(struct budget_sums){.now_ns = budget->start_ns}, sums) / wall
			 : 0;
	double most = limit_of(budget) * rate * MOST_DEBT_S * 1e9;

	budget->debt_ns += more(sums->cost_ns, budget->told.cost_ns) - limit_of(budget) * cpu;
	if (budget->debt_ns < 0)
		budget->debt_ns = 0;
	if (budget->debt_ns > most)
		budget->debt_ns = most;
	budget->told = *sums;
}

static bool in_debt(const struct budget *budget)
{
	return budget->debt_ns > limit_of(budget) * DEBT_NS;
}

bool budget_is_warming(const struct budget *budget, uint64_t now_ns)
{
	return now_ns - budget->start_ns < WARM_MS * NS_PER_MS;
}

/* The window is long enough to judge by. */
static bool is_whole(const struct budget *budget, const struct budget_sums *sums)
{
	uint64_t ns = sums->now_ns - budget->window.now_ns;

	if (ns < WINDOW_MS * NS_PER_MS)
		return false;
	return ns >= LONGEST_MS * NS_PER_MS ||
	       sums->cpu_ns >= budget->window.cpu_ns + LEAST_CPU_MS * NS_PER_MS;
}

static bool set_level(struct budget *budget, uint32_t level, uint64_t now_ns)
{
	if (level == budget->level)
		return false;
	budget->level = level;
	budget->calm = 0;
	budget->settle_ns = now_ns + SETTLE_MS * NS_PER_MS;
	return true;
}

/* Shares of the window that ends here; the next one begins. */
static void judge(struct budget *budget, const struct budget_sums *sums)
{
	double cpu = cpu_since(&budget->window, sums);

	budget->share = more(sums->cost_ns, budget->window.cost_ns) / cpu;
	budget->falls = more(sums->falls_ns, budget->window.falls_ns) / cpu;
	budget->window = *sums;
}

/* Of a cost F + V that became F + V / 2^n, F.  Return: whether the halvings were worth it. */
static bool learn_fixed(struct budget *budget)
{
	double times = (double)(UINT32_C(1) << budget->halved);
	double fixed = (budget->share * times - budget->before) / (times - 1);
	bool worth = budget->share < budget->before * (1 - SAVES);

	budget->fixed = fixed < 0 ? 0 : fixed < budget->share ? fixed : budget->share;
	budget->before = 0;
	return worth;
}

static bool undo(struct budget *budget, uint64_t now_ns)
{
	budget->vain_ns = now_ns + (VAIN_MS * NS_PER_MS << budget->vain);
	if (budget->vain < MOST_VAIN)
		budget->vain++;
	return set_level(budget, budget->level - budget->halved, now_ns);
}

/* A rate that had just been raised was too high: the next try comes later. */
static void doubt(struct budget *budget, uint64_t now_ns)
{
	if (!budget->raised_ns)
		return;
	budget->patience = now_ns - budget->raised_ns < PROVEN_MS * NS_PER_MS ? budget->patience * 2
									      : PATIENCE;
	if (budget->patience > MOST_PATIENCE)
		budget->patience = MOST_PATIENCE;
	budget->raised_ns = 0;
}

/* Halvings until what falls with the rate is no more than what the rest leaves of AIM. */
static bool lower(struct budget *budget, double aim, uint64_t now_ns)
{
	double learnt = budget->fixed < budget->share ? budget->share - budget->fixed : 0;
	double falls = budget->falls < learnt ? budget->falls : learnt;
	double rest = aim - (budget->share - falls);
	double least = limit_of(budget) * FIXED_PART;
	double room = rest > least ? rest : least;
	uint32_t n = 0;

	while (falls > room && n < STEP_HALVINGS && budget->level + n < budget->most) {
		falls /= 2;
		n++;
	}
	budget->calm = 0;
	if (n == 0)
		budget->fixed *= FADES;
	if (n == 0 || now_ns < budget->vain_ns)
		return false;
	doubt(budget, now_ns);
	budget->over = 0;
	budget->before = budget->share;
	budget->halved = n;
	return set_level(budget, budget->level + n, now_ns);
}

static bool raise(struct budget *budget, uint64_t now_ns)
{
	if (++budget->calm < budget->patience || budget->level == 0)
		return false;
	budget->raised_ns = now_ns;
	budget->before = 0;
	return set_level(budget, budget->level - 1, now_ns);
}

/* A little too much may be the machine's doing, and pass. */
static bool persists(struct budget *budget, double limit)
{
	budget->over++;
	return budget->over >= PERSISTS || budget->share > limit * FAR;
}

bool budget_step(struct budget *budget, const struct budget_sums *sums)
{
	double limit = limit_of(budget);
	double aim;
	bool owes;

	if (!budget->limit_ppm)
		return false;
	add_debt(budget, sums);
	if (budget_is_warming(budget, sums->now_ns))
		budget->window = *sums;
	if (budget->settle_ns) {
		if (sums->now_ns < budget->settle_ns)
			return false;
		budget->settle_ns = 0;
		budget->window = *sums;
	}
	if (!is_whole(budget, sums))
		return false;
	judge(budget, sums);
	if (budget->before > 0 && !learn_fixed(budget))
		return undo(budget, sums->now_ns);
	owes = in_debt(budget);
	aim = owes ? limit * SAVING : limit;
	if (budget->share > aim)
		return persists(budget, limit) && lower(budget, aim, sums->now_ns);
	budget->over = 0;
	if (budget->share < limit / 2 && !owes)
		return raise(budget, sums->now_ns);
	budget->vain = budget->share > limit ? budget->vain : 0;
	budget->calm = 0;
	return false;
}

void budget_skip(struct budget *budget, const struct budget_sums *sums)
{
	budget->told = *sums;
	budget->window = *sums;
}

uint32_t budget_pass_ms(const struct budget *budget, uint64_t pass_ns, double cpu_share,
			uint32_t least_ms, uint32_t most_ms)
{
	double busy = cpu_share > IDLE_SHARE ? cpu_share : IDLE_SHARE;
	double ms;

	if (!budget->limit_ppm || most_ms < least_ms)
		return least_ms;
	ms = (double)pass_ns / 1e6 * PASSES_PART / (limit_of(budget) * busy);
	if (ms <= (double)least_ms)
		return least_ms;
	return ms < (double)most_ms ? (uint32_t)ms : most_ms;
}

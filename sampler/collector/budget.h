/* budget.h - how far the rate is lowered so that sampling costs no more than it may */
#ifndef COLLECTOR_BUDGET_H
#define COLLECTOR_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A model without a clock or a system call of its own: it is given sums, and says how often the
 * rate is to be halved.  A window is a second and more.  Above the limit the rate is halved,
 * several times at once when it is far above; below half of it one halving is taken back, once a
 * few windows in a row allow it, and later each time that this proved wrong.  What was spent too
 * much (the first two seconds, in which nothing is judged, among it) is saved again: until then the
 * aim is lower.
 *
 * Not all of the cost falls with the rate.  How much at most is known beforehand, what a halving
 * left standing is learnt from it, a halving that saved nothing is undone, and it takes a while
 * until the next one is tried.
 */
struct budget_sums {
	uint64_t now_ns;
	uint64_t cost_ns;  /* CPU of the agent and the collector, since the start */
	uint64_t falls_ns; /* of it, what may fall with the rate: no less than what does */
	uint64_t cpu_ns;   /* CPU of what is sampled, since the start */
};

struct budget {
	uint32_t limit_ppm; /* 0: nothing is limited */
	uint32_t hz;
	uint32_t most;  /* halvings */
	uint32_t level; /* halvings in force */
	uint64_t start_ns;
	uint64_t settle_ns;        /* until then signals of the last rate come in */
	struct budget_sums window; /* where the window that is open began */
	struct budget_sums told;   /* what the debt has seen */
	double debt_ns;            /* spent beyond the limit, not yet saved again */
	double share;              /* cost over CPU in the last whole window */
	double falls;              /* of it, what may fall with the rate */
	double fixed;              /* of it, what halving did not lower; 0: not known */
	double before;             /* the share that the last halvings were to lower; 0: judged */
	uint32_t halved;           /* by how many */
	uint64_t vain_ns;          /* halving was in vain: not before this time again, */
	uint32_t vain;             /* and how often that was so, in a row */
	uint32_t over;             /* windows in a row above the limit */
	uint32_t calm;             /* and below half of it */
	uint32_t patience;         /* how many are needed */
	uint64_t raised_ns;        /* when a halving was last taken back */
};

/**
 * budget_init - nothing lowered yet
 * @limit_ppm: the cost that is allowed, in millionths of the CPU of what is sampled; 0: any
 * @hz:        the rate that is asked for: it is not lowered below 1
 *
 * Context: any thread.  One user a budget, as in all that follows.
 */
void budget_init(struct budget *budget, uint32_t limit_ppm, uint32_t hz, uint64_t now_ns);

/**
 * budget_step - judge what was spent since the last step
 *
 * Return:  true when budget->level is another now.
 * Context: any thread.
 */
bool budget_step(struct budget *budget, const struct budget_sums *sums);

/**
 * budget_restart - another rate was asked for: nothing is lowered, and judged anew
 *
 * Context: any thread.
 */
void budget_restart(struct budget *budget, uint32_t hz, uint64_t now_ns);

/**
 * budget_skip - leave out what was spent since the last step: nothing was sampled
 *
 * Context: any thread.
 */
void budget_skip(struct budget *budget, const struct budget_sums *sums);

/**
 * budget_is_warming - too early to judge
 *
 * Context: any thread.
 */
bool budget_is_warming(const struct budget *budget, uint64_t now_ns);

/**
 * budget_pass_ms - how long to leave the rings alone, when looking is what costs
 * @pass_ns:    CPU of one look
 * @cpu_share:  processors that what is sampled keeps busy
 * @least_ms:   what it would be without a budget
 * @most_ms:    what the rings bear
 *
 * Looks may take a quarter of the budget.  A program that hardly runs is taken for one that uses a
 * twentieth of a processor, here and in budget_step().
 *
 * Return:  LEAST_MS to MOST_MS.
 * Context: any thread.
 */
uint32_t budget_pass_ms(const struct budget *budget, uint64_t pass_ns, double cpu_share,
			uint32_t least_ms, uint32_t most_ms);

#endif

/*
 * diff.h - two recordings against each other: what changed, the verdict, and as text or picture
 *
 * Context: any thread, unless a function says another.
 */
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

#include "base/buf.h"
#include "flamescope/flame/flame.h"
#include "flamescope/query/query.h"

enum {
	DIFF_BASE = 0, /* the side that changes are counted from */
	DIFF_NEW = 1,
	DIFF_SIDES = 2,
	DIFF_MAX_BLOCKS = 64, /* of time, on both sides together */
	DIFF_MAX_PERMUTATIONS = 4999,
	DIFF_MAX_RECORDINGS = 256,  /* of a side */
	DIFF_ENOUGH_RECORDINGS = 5, /* of each side, to be the blocks: 252 ways to deal them out */
};

/* One side: the selections of its recordings, one each. */
struct diff_side {
	size_t n;
	const struct selection *const *recordings;
};

/* Shares are of the side's whole: 0.05 is 5 % of it; negative where a metric shrank. */
struct diff_function {
	const char *name; /* "[unknown] (libc.so.6)" where there is none */
	double self[DIFF_SIDES];
	double total[DIFF_SIDES]; /* a sample counts once, however often the function is in it */
	double self_change;       /* of the share: NEW - BASE */
	double total_change;
	double self_p; /* how often chance alone changes any function as clearly; 1: unknown */
	double total_p;
};

/* One tree of the stacks of both sides; siblings are in the order of name. */
struct diff_node {
	uint32_t function; /* of diff->functions; UINT32_MAX: the root */
	uint32_t parent;
	uint32_t first_child; /* 0: none */
	uint32_t next;        /* 0: none */
	uint32_t depth;
	double self[DIFF_SIDES]; /* shares, as above */
	double total[DIFF_SIDES];
	double self_width; /* mean of the sides' shares without regard to sign */
	double width;      /* of it and all below: 1 at the root */
};

struct diff {
	struct diff_side sides[DIFF_SIDES];
	double least; /* a change of the share below it is not tested for significance */
	const char *unit;
	size_t n_samples[DIFF_SIDES];
	double whole[DIFF_SIDES]; /* sum of what the samples count, without regard to sign */
	size_t n_blocks[DIFF_SIDES];
	uint64_t block_ns; /* a second, more where DIFF_MAX_BLOCKS would not do; 0: recordings */
	uint32_t n_permutations; /* that were tried, the one seen included; 0: no significance */
	const char *no_chance;   /* why there is none; NULL */
	double smallest_p;       /* that so few blocks can show; 1 without significance */
	size_t n_functions;      /* the greatest change of total or self first */
	struct diff_function *functions;
	size_t n_nodes; /* 0 is the root; parents come before their children */
	struct diff_node *nodes;
	struct diff_memory *memory;
};

/**
 * diff_make - compare two sides
 * @least: the smallest change of a share that matters: 0.01 is a point of the whole
 *
 * The significance is that of a permutation test: blocks of whole seconds change sides, not single
 * samples, since samples of one moment are alike; and each function's change is held against the
 * greatest change of any function, which corrects for how many there are (Westfall and Young, 1993:
 * "Resampling-Based Multiple Testing", single-step maxT).  Runs of a program differ by more than
 * their seconds do: with DIFF_ENOUGH_RECORDINGS on each side whole recordings change sides.
 * Functions too small to change by LEAST are not among those that are held against each other.
 * The same input gives the same result.
 *
 * Return:  0; -EINVAL: measured differently, by a mean, which has no whole, or empty; -ENOMEM.
 * Owns:    the caller, to diff_free(); the selections and their arrays have to outlive it.
 */
int diff_make(const struct diff_side sides[DIFF_SIDES], double least, struct diff **ret_diff,
	      struct err *err);

/**
 * diff_begin - the same without the test: every p is 1 until diff_test() has ended
 *
 * Return, owns: as diff_make().
 */
int diff_begin(const struct diff_side sides[DIFF_SIDES], double least, struct diff **ret_diff,
	       struct err *err);

/**
 * diff_test - test N permutations more
 * @ret_part: of all that are to be tested; 1: it has ended, and each p is there
 *
 * Return:  0; -ENOMEM.
 */
int diff_test(struct diff *diff, uint32_t n, double *ret_part);

/** diff_significant - whether a share changed by LEAST and more, and P is below LEVEL */
bool diff_significant(const struct diff *diff, double change, double p, double level);

/**
 * diff_reverse - the tree with the innermost functions at the root
 *
 * A node's self is of the stacks that end there: with their outermost function.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller: free(*ret_nodes).
 */
int diff_reverse(const struct diff *diff, struct diff_node **ret_nodes, size_t *ret_n);

/**
 * diff_free - free it
 *
 * Context: any thread.  NULL is fine.
 */
void diff_free(struct diff *diff);

/* diff_rule: what must not happen: `total(f)>+3%` */

/* A limit on the change of one function's share, in points of the whole. */
struct diff_rule {
	const char *text;     /* as given */
	const char *function; /* not terminated; "*": any */
	size_t n_function;
	bool of_total; /* else of self */
	double limit;  /* 0.03; below zero: the rule is met by a change below it */
};

/**
 * diff_rule_parse - `total(NAME)>+3%`, `self(NAME)<-2.5%`; NAME as in the table or
 *                   of a copy of that function, or `*` for any
 *
 * Return:  0; -EINVAL and what is wrong.
 * Owns:    the rule points into TEXT.
 */
int diff_rule_parse(const char *text, struct diff_rule *ret_rule, struct err *err);

/* What has become of a rule. */
struct diff_verdict {
	bool known;                           /* the function is on one side or the other */
	bool met;                             /* its share changed by more than the limit */
	bool significant;                     /* and by more than chance */
	const struct diff_function *function; /* of what was found; NULL: not known */
	double change;
	double p;
};

/**
 * diff_rule_judge - whether a comparison meets a rule
 * @level: significant is a p below it
 *
 * Of several functions (`*`) the one with the clearest change past the limit, else with the
 * greatest change, stands for all.
 */
struct diff_verdict diff_rule_judge(const struct diff_rule *rule, const struct diff *diff,
				    double level);

/* diff_table: a comparison as a table: for a terminal, a pull request, a spreadsheet, a script */

/* A p below it is significant, unless somebody says another. */
#define DIFF_LEVEL 0.01

struct diff_table {
	const struct diff *diff;
	const char *names[DIFF_SIDES]; /* of the sides, for people */
	size_t top;                    /* functions shown, those that changed most; 0: all */
	double level;                  /* a p below it is significant */
};

/** diff_function_flagged - whether self or total of a function changed by more than chance */
bool diff_function_flagged(const struct diff_table *table, const struct diff_function *function);

/** diff_table_text - columns that stand under each other */
void diff_table_text(const struct diff_table *table, struct buf *buf);

/** diff_table_markdown - a table of GitHub's kind */
void diff_table_markdown(const struct diff_table *table, struct buf *buf);

/** diff_table_csv - one line a function, numbers as shares (0.05, not 5 %) */
void diff_table_csv(const struct diff_table *table, struct buf *buf);

/** diff_table_json - one object; all that is known */
void diff_table_json(const struct diff_table *table, struct buf *buf);

/* diff_picture: a comparison as flame graphs that draw/ can draw */

/* Widths are the mean of both sides' shares in this part of the whole. */
enum { DIFF_PICTURE_WHOLE = 1000000000 };

struct diff_picture {
	struct flame calls;
	struct flame reverse;
	double *change; /* of the share, NEW - BASE, by node of calls */
	double *reverse_change;
	struct diff_picture_memory *memory;
};

/**
 * diff_picture_make - both flame graphs of a comparison
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to diff_picture_release(), also after a failure; the comparison has to
 *          outlive it.
 */
int diff_picture_make(const struct diff *diff, struct diff_picture *picture);

/** diff_picture_release - free it */
void diff_picture_release(struct diff_picture *picture);

#endif

/* groups.h - outermost frames that are made up, so that any consumer groups stacks by them */
#ifndef TEXT_GROUPS_H
#define TEXT_GROUPS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/sample.h"

#include <stddef.h>
#include <stdint.h>

enum {
	GROUPS_MAX = 8,
	GROUPS_CLASSES = 64, /* more than there are of any unit */
};

enum group_kind {
	GROUP_STATE,   /* running, sleeping */
	GROUP_WAIT,    /* futex, epoll; the state of what does not wait */
	GROUP_OBJECT,  /* pipe:[7]; - when there is none */
	GROUP_THREAD,  /* worker/4001 */
	GROUP_COMM,    /* worker */
	GROUP_PROCESS, /* process 4000 */
	GROUP_CPU,     /* cpu 3 */
	GROUP_METRIC,  /* 100s MiB */
	GROUP_GIVEN,   /* as its maker says */
};

struct group {
	enum group_kind kind;
	size_t metric;    /* GROUP_METRIC: which of the recording's */
	const char *name; /* GROUP_GIVEN: what it is called */
	const char *text; /* GROUP_GIVEN: the word of the sample that is written next */
};

/* In the order of --group: the first is outermost, and so the root of a flame graph. */
struct groups {
	size_t n;
	struct group at[GROUPS_MAX];
};

/**
 * groups_parse - a list of what to group by
 * @text: words with commas: state, wait, object, thread, comm, process, cpu, names of metrics
 *        (rss stands for rss_kib)
 *
 * Return:  0; -EINVAL and the reason, with the words there are.
 * Context: any thread.
 */
int groups_parse(const char *text, const struct metric *metrics, size_t n_metrics,
		 struct groups *ret_groups, struct err *err);

/**
 * groups_limit - leave out groups by metrics that a file does not have
 * @mask: bit i: it has metric i
 *
 * Context: any thread.
 */
void groups_limit(struct groups *groups, uint32_t mask);

/**
 * groups_name - what a group is called, in the parentheses of its frames and in the head
 *
 * Owns:    static, or the metric's.
 * Context: any thread.
 */
const char *groups_name(const struct group *group, const struct metric *metrics);

/**
 * groups_add - the frames of all groups of a sample, the first group last
 * @metrics: the columns of the sample's metrics
 *
 * Context: any thread.
 */
void groups_add(struct buf *buf, const struct groups *groups, const struct metric *metrics,
		const struct sample *sample);

/**
 * groups_state_word - the word for a state
 *
 * Owns:    static.
 * Context: any thread.
 */
const char *groups_state_word(enum sample_state state);

/**
 * groups_size_class - the power of ten that a value lies in, as a number
 * @unit: of the value: "B", "KiB", "ns", anything else counts
 *
 * Return:  below GROUPS_CLASSES; 0 for the value 0.
 * Context: any thread.
 */
unsigned groups_size_class(int64_t value, const char *unit);

/**
 * groups_class_word - a size class in words: 1s KiB, 10s MiB, -100s B, 0
 * @class: of a value of this UNIT
 *
 * Context: any thread.
 */
void groups_class_word(struct buf *buf, unsigned class, const char *unit);

#endif

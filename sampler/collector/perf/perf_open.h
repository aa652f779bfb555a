/*
 * perf_open.h - perf events: by the names that perf gives them, and one of one thread, whose
 * overflows send that thread a signal
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef PERF_PERF_OPEN_H
#define PERF_PERF_OPEN_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PERF_NAME_BYTES = 64 };

/* What perf_event_open(2) calls type and config. */
struct perf_name {
	char text[PERF_NAME_BYTES];  /* as given, without its period */
	char shown[PERF_NAME_BYTES]; /* in files, where a name has no colon */
	uint32_t type;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	bool is_cpu;    /* a clock: its unit is a nanosecond of CPU */
	bool inside;    /* it only ever happens in the kernel: switches, migrations */
	bool user_only; /* ":u": what happens in the kernel does not count */
	bool kernel_only;
};

/* What this user may have of an event on this machine. */
struct perf_permit {
	bool works;
	bool in_kernel; /* also while the kernel works for the thread */
	int code;       /* !works: positive errno */
	char why[192];  /* !works, or !in_kernel: what would lift it */
};

/* How events are opened; constant once the collector runs. */
struct perf_how {
	struct perf_name name;
	bool in_kernel;
	bool frames;     /* the kernel's part of the stack is wanted */
	uint64_t period; /* of a counted event: each Nth; 0: as many as give the rate */
	int signal;      /* that overflows send */
	int base;        /* descriptors of events are numbered from here */
};

/** perf_permit - what may be had of an event, found by opening one on ourselves */
void perf_permit(const struct perf_name *name, struct perf_permit *ret_permit);

/**
 * perf_base - where the numbers of events' descriptors begin, under the limit of this process
 *
 * High, so that in a program that requests SIGPROF by F_SETSIG itself they are not its own.
 */
int perf_base(void);

/**
 * perf_open - an event of a thread, not enabled yet
 * @period: ns of CPU, or events
 *
 * Overflows send how->signal to the thread with si_code > 0 and the descriptor in si_fd.  The
 * kernel ends the event when the thread execs (Linux 5.13 and later).  The caller has to prove that
 * TID is still the thread it meant before it enables the event.
 *
 * Return:  the descriptor (close-on-exec); -errno.
 * Context: collector thread.
 */
int perf_open(const struct perf_how *how, pid_t tid, uint64_t period);

/**
 * perf_enable - let it count, or not
 *
 * Context: collector thread.
 */
void perf_enable(int fd, bool on);

/**
 * perf_set_period - count on with another period
 *
 * Context: collector thread.
 */
void perf_set_period(int fd, uint64_t period);

/**
 * perf_count - how often it has happened, scaled up where the event had to share its counter
 *
 * Return:  0, or -errno.
 * Context: collector thread.
 */
int perf_count(int fd, uint64_t *ret_count);

/**
 * perf_name_parse - "page-faults", "LLC-load-misses", "cycles:u", "sched:sched_switch", "r01c2",
 *                   "cpu/event=0x3c,umask=0x1/"
 *
 * Whether the machine has such an event is only known when one is opened.
 *
 * Return:  0; -EINVAL and the reason.
 */
int perf_name_parse(const char *text, struct perf_name *ret_name, struct err *err);

/** perf_name_cpu - the event that engine perf samples CPU by */
void perf_name_cpu(struct perf_name *ret_name);

#endif

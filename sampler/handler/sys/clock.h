/*
 * clock.h - time and processor number without a system call, through the vDSO
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef SYS_CLOCK_H
#define SYS_CLOCK_H

#include <stdint.h>

/**
 * clock_start - find the vDSO's functions
 * @vdso: AT_SYSINFO_EHDR; 0: every reading is a system call
 *
 * Context: agent.  The constructor; kept by fork.
 */
void clock_start(uint64_t vdso);

/** clock_needs_no_syscall - whether clock_now_ns() works without a system call */
int clock_needs_no_syscall(void);

/** clock_now_ns - CLOCK_MONOTONIC */
uint64_t clock_now_ns(void);

/**
 * clock_cpu - the processor this runs on
 *
 * Return:  0 when it is unknown without a system call.
 */
uint32_t clock_cpu(void);

/**
 * clock_thread_cpu_ns - CPU time of the calling thread; a system call
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
uint64_t clock_thread_cpu_ns(void);

/* CPU time by kernel ticks: each tick counts whole, as user or as kernel time. */
struct clock_ticks {
	uint64_t user_ns;
	uint64_t kernel_ns;
};

/**
 * clock_thread_ticks - ticks in the calling thread; two system calls
 *
 * CPUCLOCK_VIRT and CPUCLOCK_PROF of the thread (linux/posix-timers_types.h) are the raw ticks;
 * getrusage() scales both to the scheduler's sum. A kernel with precise accounting (nohz_full)
 * returns the time in each instead.
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
struct clock_ticks clock_thread_ticks(void);

/**
 * clock_process_cpu_ns - CPU time of the process; a system call
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
uint64_t clock_process_cpu_ns(void);

#endif

/* bpf.h - the result of a seccomp filter for one system call */
#ifndef INTERPOSE_BPF_H
#define INTERPOSE_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/**
 * bpf_run - run a classic BPF program over seccomp's view of a system call
 *
 * The filter is the program's own and may be invalid: whatever the kernel would refuse ends the
 * run.
 *
 * Return:  the filter's value (SECCOMP_RET_*); SECCOMP_RET_KILL_PROCESS for a program that leaves
 *          its bounds, divides by zero or has an instruction that seccomp does not know.
 * Context: agent.  Any thread.
 */
uint32_t bpf_run(const struct sock_filter *program, size_t len, const struct seccomp_data *data);

#endif

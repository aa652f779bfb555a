/*
 * exec_watch.c - a program that has joined executes another, or has its signals for itself, and no
 * hook of ours says so
 */
#include "sampler/collector/drain/exec_watch.h"

#include "base/units.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/drain_external.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_status.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	EXEC_WATCH_MS = 100, /* between two looks for another image of an attached process */
	LISTEN_MS = 200,     /* between two checks that it still takes the sampling signal */
	MUTE_MS = 500,       /* one signal arrives in this much CPU */
	MUTE_PERIODS = 20,   /* and this many periods besides */
};

/* Where the loader put an image's stack; 0: it cannot be told. */
static bool is_replaced(const struct process *process)
{
	uint64_t now = proc_stack_start(process->pid);

	return now && process->stack_start && now != process->stack_start;
}

static void read_path(pid_t pid, char path[WIRE_PATH_BYTES])
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, WIRE_PATH_BYTES - 1);
	path[n > 0 ? n : 0] = '\0';
}

static void replace(struct collector *collector, struct process *process)
{
	pid_t pid = process->pid;
	char path[WIRE_PATH_BYTES];

	if (collector->options.follows && process->child_cpu.place == CHILD_CPU_CHILD) {
		drain_let_go(collector, process);
		return;
	}
	read_path(pid, path);
	if (drain_external_follow(collector, process, path) < 0 &&
	    map_get(&collector->drain.by_pid, (uint64_t)pid) == process)
		drain_let_go(collector, process);
}

static bool takes_signal(const struct process *process)
{
	struct proc_status status;
	bool takes = true;

	if (proc_status_read(&status, process->pid, 0) == 0 &&
	    !strchr("ZX", *proc_status_word(&status, "State")))
		takes = proc_status_number(&status, "SigCgt", 16) >> (process->signal - 1) & 1;
	proc_status_release(&status);
	return takes;
}

/* Signals that arrive nowhere have another handler, or every thread blocks them. */
static bool is_mute(struct process *process)
{
	uint64_t period_ns = process->live_ns ? process->live_ns : process->period_ns;

	if (process->paused || process->perf.counted ||
	    (process->ring.header->hooks & RING_NO_TIMERS))
		process->heard_ns = process->charged_ns;
	return process->charged_ns > process->heard_ns &&
	       process->charged_ns - process->heard_ns >
		       MUTE_MS * NS_PER_MS + MUTE_PERIODS * period_ns;
}

/* It may only have been in the kernel for long. */
static void tell_mute(struct drain *drain, struct process *process, bool mute)
{
	if (mute == process->mute)
		return;
	process->mute = mute;
	drain->stats.mute += mute ? 1 : UINT64_MAX;
	drain->stats.deaf_signal = process->signal;
}

/* Its timers go on, and what they send is ignored; events are ours to end. */
static void listen(struct drain *drain, struct process *process, uint64_t now_ns)
{
	uint32_t state = atomic_load_explicit(&process->ring.header->state, memory_order_acquire);

	if (process->deaf || now_ns < process->listen_ns || state != AGENT_SAMPLING)
		return;
	process->listen_ns = now_ns + LISTEN_MS * NS_PER_MS;
	if (takes_signal(process)) {
		tell_mute(drain, process, is_mute(process));
		return;
	}
	tell_mute(drain, process, false);
	process->deaf = true;
	perf_threads_off(process);
	drain->stats.deaf++;
	drain->stats.deaf_signal = process->signal;
}

void exec_watch_check(struct collector *collector, uint64_t now_ns)
{
	struct drain *drain = &collector->drain;
	struct process *next;

	if (now_ns < drain->replaced_ns)
		return;
	drain->replaced_ns = now_ns + EXEC_WATCH_MS * NS_PER_MS;
	for (struct process *process = drain->processes; process; process = next) {
		next = process->next;
		if (!process->unhooked || !process->alive || process->external)
			continue;
		child_cpu_read(process);
		if (is_replaced(process))
			replace(collector, process);
		else
			listen(drain, process, now_ns);
	}
}

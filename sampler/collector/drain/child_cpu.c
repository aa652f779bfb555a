/* child_cpu.c - of processes that have joined and their children: what nobody saw of them */
#include "sampler/collector/drain/child_cpu.h"

#include "base/units.h"
#include "sampler/collector/drain/state.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_stat.h"

#include <time.h>
#include <unistd.h>

/* Those of the kernel's files: 1/100 s everywhere. */
static uint64_t ticks_ns(uint64_t ticks)
{
	return ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t child_cpu_now_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t children_ns(const struct proc_stat *stat)
{
	return ticks_ns(stat->at[STAT_CHILDREN_USER] + stat->at[STAT_CHILDREN_SYSTEM]);
}

/* What a child of this number used when it was let go; that counts once. */
static uint64_t take_let_go(struct child_cpu_totals *all, pid_t pid)
{
	for (uint32_t i = 0; i < CHILD_CPU_DETACHED; i++) {
		struct child_cpu_detached *let_go = &all->let_go[i];

		if (let_go->pid != pid)
			continue;
		let_go->pid = 0;
		all->seen_ns -= let_go->used_ns;
		return let_go->used_ns;
	}
	return 0;
}

static void remember(struct child_cpu_totals *all, const struct process *process)
{
	struct child_cpu_detached *let_go = &all->let_go[all->n_let_go++ % CHILD_CPU_DETACHED];

	*let_go = (struct child_cpu_detached){.pid = process->pid, .used_ns = process->charged_ns};
}

static void add_up(struct drain *drain)
{
	const struct child_cpu_totals *all = &drain->child_cpu;
	uint64_t unseen_ns = all->ended_ns > all->seen_ns ? all->ended_ns - all->seen_ns : 0;

	drain->stats.children_missed_ns = all->left_out ? 0 : all->missed_ns + unseen_ns;
}

static void joined_as_child(struct drain *drain, struct process *process, uint64_t started_ns)
{
	uint64_t known_ns = take_let_go(&drain->child_cpu, process->pid);

	process->child_cpu.place = CHILD_CPU_CHILD;
	/* A start is told in whole ticks. */
	if (started_ns + ticks_ns(1) > drain->child_cpu.began_ns && process->base_cpu_ns > known_ns)
		process->child_cpu.missed_ns = process->base_cpu_ns - known_ns;
	drain->child_cpu.missed_ns += process->child_cpu.missed_ns;
	add_up(drain);
}

void child_cpu_attached(struct drain *drain, struct process *process, bool followed)
{
	struct child_cpu *family = &process->child_cpu;
	struct proc_stat stat;

	*family = (struct child_cpu){.place = CHILD_CPU_ROOT, .followed = followed};
	if (!followed)
		drain->n_attached++;
	else
		drain->stats.followed++;
	if (proc_stat_of(process->pid, STAT_START, &stat) < 0)
		return;
	family->base_ns = family->ended_ns = children_ns(&stat);
	if (followed || map_get(&drain->by_pid, stat.at[STAT_PARENT]))
		joined_as_child(drain, process, ticks_ns(stat.at[STAT_START]));
}

void child_cpu_forget(struct drain *drain, const struct process *process)
{
	if (process->child_cpu.followed)
		drain->stats.followed--;
	else
		drain->n_attached--;
	drain->child_cpu.missed_ns -= process->child_cpu.missed_ns;
	add_up(drain);
}

void child_cpu_read(struct process *process)
{
	struct child_cpu *family = &process->child_cpu;
	struct proc_stat stat;

	if (family->place == CHILD_CPU_ROOT &&
	    proc_stat_of(process->pid, STAT_CHILDREN_SYSTEM, &stat) == 0 &&
	    children_ns(&stat) > family->ended_ns)
		family->ended_ns = children_ns(&stat);
}

void child_cpu_end(struct drain *drain, struct process *process)
{
	const struct child_cpu *family = &process->child_cpu;
	struct child_cpu_totals *all = &drain->child_cpu;

	child_cpu_read(process);
	if (family->place == CHILD_CPU_ROOT)
		all->ended_ns += family->ended_ns - family->base_ns;
	if (family->place == CHILD_CPU_CHILD)
		all->seen_ns += process->charged_ns;
	if (family->place == CHILD_CPU_CHILD && process->alive)
		remember(all, process);
	add_up(drain);
}

/* What a child has used is no ended child's. */
void child_cpu_outlives(struct drain *drain, struct process *process)
{
	if (process->child_cpu.place == CHILD_CPU_ROOT)
		child_cpu_end(drain, process);
}

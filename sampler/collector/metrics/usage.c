/* usage.c - what all processes of a recording use together */
#include "sampler/collector/metrics/usage.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/metrics/readings.h"
#include "sampler/procfs/proc_stat.h"
#include "sampler/procfs/task.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BIT(of) (UINT32_C(1) << (of))

enum { TEXT_BYTES = 1024, SPARE_FDS = 256 };

void usage_init(struct usage *usage, uint32_t wanted)
{
	static const char *const paths[COLLECTOR_PSI_FILES] = {
		"/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io"};

	*usage = (struct usage){.wanted = wanted};
	for (size_t i = 0; i < COLLECTOR_PSI_FILES; i++)
		usage->psi_fds[i] =
			wanted & BIT(USAGE_PSI_CPU + i) ? open(paths[i], O_RDONLY | O_CLOEXEC) : -1;
}

void usage_release(struct usage *usage)
{
	for (size_t i = 0; i < COLLECTOR_PSI_FILES; i++)
		if (usage->wanted & BIT(USAGE_PSI_CPU + i))
			cleanup_fd(&usage->psi_fds[i]);
	usage->wanted = 0;
}

void usage_process_release(struct process_usage *process)
{
	if (process->stat_fd)
		(void)close(process->stat_fd - 1);
	process->stat_fd = 0;
}

int usage_parse_psi(const char *text, const char *word, uint32_t *ret_avg10)
{
	static const char key[] = " avg10=";
	const char *at = text;
	uint64_t whole;
	char *end;

	while (at && strncmp(at, word, strlen(word)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return -ENOENT;
	at += strlen(word);
	if (strncmp(at, key, sizeof(key) - 1) != 0)
		return -EBADMSG;
	whole = strtoull(at + sizeof(key) - 1, &end, 10);
	if (whole > 100 || *end != '.' || !isdigit((unsigned char)end[1]) ||
	    !isdigit((unsigned char)end[2]))
		return -EBADMSG;
	*ret_avg10 =
		(uint32_t)whole * 100 + (uint32_t)(end[1] - '0') * 10 + (uint32_t)(end[2] - '0');
	return 0;
}

/* Kept open where that leaves descriptors for what matters more. */
static int read_stat(struct process_usage *usage, pid_t pid, struct proc_stat *ret_stat)
{
	struct rlimit limit;
	char path[32];
	int fd;
	int r;

	if (usage->stat_fd)
		return proc_stat_read(usage->stat_fd - 1, STAT_MAJFLT, ret_stat);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = proc_stat_read(fd, STAT_MAJFLT, ret_stat);
	if (r == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    (rlim_t)fd + SPARE_FDS < limit.rlim_cur)
		usage->stat_fd = fd + 1;
	else
		cleanup_fd(&fd);
	return r;
}

/* How much a counter of a process has grown; it begins where it is first seen. */
static uint64_t advance(const struct process_usage *process, uint64_t *seen, uint64_t now)
{
	uint64_t grown = process->seen && now > *seen ? now - *seen : 0;

	*seen = now;
	return grown;
}

static void add_faults(struct usage *usage, struct process_usage *own, pid_t pid)
{
	struct proc_stat stat;

	if (read_stat(own, pid, &stat) < 0)
		return;
	usage->now.faults +=
		advance(own, &own->faults, stat.at[STAT_MINFLT] + stat.at[STAT_MAJFLT]);
	usage->now.majfaults += advance(own, &own->majfaults, stat.at[STAT_MAJFLT]);
}

void usage_add(struct usage *usage, struct process_usage *own, struct readings *readings)
{
	if (usage->wanted & (BIT(USAGE_RSS) | BIT(USAGE_GAUGES)))
		readings_refresh(readings, usage->now.time_ns);
	usage->now.rss_kib += (uint64_t)readings->values[METRIC_RSS_KIB];
	for (size_t i = 0; i < readings->n_gauges; i++) {
		int64_t value = readings->values[METRIC_BUILTIN + i];
		bool first = !(usage->now.gauges_known >> i & 1U);

		if (!(readings->gauges_found >> i & 1U))
			continue;
		usage->now.gauges_known |= BIT(i);
		if (first || value > usage->now.gauges[i])
			usage->now.gauges[i] = value;
	}
	if (usage->wanted & BIT(USAGE_FAULTS))
		add_faults(usage, own, readings->pid);
	if (usage->wanted & BIT(USAGE_RUN_DELAY))
		usage->now.run_delay_ns += advance(
			own, &own->run_delay_ns, task_sum_run_delay(task_open_all(readings->pid)));
	own->seen = true;
}

static void read_psi(struct usage *usage, size_t i)
{
	struct collector_usage *now = &usage->now;
	char text[TEXT_BYTES];

	if (io_read_text(usage->psi_fds[i], text, sizeof(text)) < 0 ||
	    usage_parse_psi(text, "some", &now->psi[i][COLLECTOR_PSI_SOME]) < 0)
		return;
	/* Before Linux 5.13 there was no "full" of CPUs. */
	if (usage_parse_psi(text, "full", &now->psi[i][COLLECTOR_PSI_FULL]) < 0)
		now->psi[i][COLLECTOR_PSI_FULL] = 0;
	now->known |= BIT(USAGE_PSI_CPU + i);
}

uint64_t usage_due_ns(const struct usage *usage)
{
	return usage->wanted ? usage->next_ns : UINT64_MAX;
}

bool usage_begin(struct usage *usage, uint64_t cpu_ns, uint64_t now_ns)
{
	const uint32_t of_processes = BIT(USAGE_CPU) | BIT(USAGE_RSS) | BIT(USAGE_FAULTS) |
				      BIT(USAGE_RUN_DELAY) | BIT(USAGE_GAUGES);

	if (!usage->wanted || now_ns < usage->next_ns)
		return false;
	usage->begun_ns = io_thread_ns();
	usage->now.time_ns = now_ns;
	usage->now.cpu_ns = cpu_ns > usage->now.cpu_ns ? cpu_ns : usage->now.cpu_ns;
	usage->now.rss_kib = 0;
	usage->now.gauges_known = 0;
	usage->now.known = usage->wanted & of_processes;
	return true;
}

void usage_end(struct usage *usage)
{
	uint64_t pause_ns;

	for (size_t i = 0; i < COLLECTOR_PSI_FILES; i++)
		if (usage->wanted & BIT(USAGE_PSI_CPU + i))
			read_psi(usage, i);
	/* By CPU time: a preemption during the reading must not delay the next one by a second. */
	pause_ns = (io_thread_ns() - usage->begun_ns) * USAGE_PART;
	usage->next_ns = usage->now.time_ns +
			 (pause_ns > USAGE_MS * NS_PER_MS ? pause_ns : USAGE_MS * NS_PER_MS);
}

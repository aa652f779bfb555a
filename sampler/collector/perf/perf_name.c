/* perf_name.c - the kernel's events by the names that perf gives them */
#include "sampler/collector/perf/perf_name.h"

#include "base/io.h"
#include "sampler/collector/perf/perf_pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static const struct known known[] = {
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
};

static const struct known caches[] = {
	{"L1-dcache", 0, PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", 0, PERF_COUNT_HW_CACHE_L1I},
	{"LLC", 0, PERF_COUNT_HW_CACHE_LL},        {"dTLB", 0, PERF_COUNT_HW_CACHE_DTLB},
	{"iTLB", 0, PERF_COUNT_HW_CACHE_ITLB},     {"branch", 0, PERF_COUNT_HW_CACHE_BPU},
	{"node", 0, PERF_COUNT_HW_CACHE_NODE},
};

/* Operation in bits 8 and up, result in bits 16 and up, as the kernel has them. */
#define CACHE(op, result) ((uint64_t)(op) << 8 | (uint64_t)(result) << 16)

static const struct known cache_calls[] = {
	{"-loads", 0, CACHE(PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
	{"-load-misses", 0, CACHE(PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
	{"-stores", 0, CACHE(PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
	{"-store-misses", 0, CACHE(PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS)},
	{"-prefetches", 0,
	 CACHE(PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
	{"-prefetch-misses", 0,
	 CACHE(PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_MISS)},
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const struct known *find(const struct known *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static bool take_known(const char *name, struct perf_name *ret)
{
	const struct known *it = find(known, N(known), name);

	if (!it)
		return false;
	ret->type = it->type;
	ret->config = it->config;
	ret->is_cpu = it->type == PERF_TYPE_SOFTWARE && it->config <= PERF_COUNT_SW_TASK_CLOCK;
	ret->inside =
		it->type == PERF_TYPE_SOFTWARE && (it->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						   it->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
						   it->config == PERF_COUNT_SW_CGROUP_SWITCHES);
	return true;
}

static bool take_cache(const char *name, struct perf_name *ret)
{
	for (size_t i = 0; i < N(caches); i++) {
		size_t len = strlen(caches[i].name);
		const struct known *call;

		if (strncmp(name, caches[i].name, len) != 0)
			continue;
		call = find(cache_calls, N(cache_calls), name + len);
		if (!call)
			continue;
		ret->type = PERF_TYPE_HW_CACHE;
		ret->config = caches[i].config | call->config;
		return true;
	}
	return false;
}

/* "r1a8": the processor's own number for it. */
static bool take_raw(const char *name, struct perf_name *ret)
{
	char *end;

	if (name[0] != 'r' || !name[1] || strlen(name) > 17 ||
	    strspn(name + 1, "0123456789abcdefABCDEF") != strlen(name + 1))
		return false;
	ret->type = PERF_TYPE_RAW;
	ret->config = strtoull(name + 1, &end, 16);
	return true;
}

/* ":u" and ":k" behind a name that has no slash after them. */
static void take_modifier(char *name, struct perf_name *ret)
{
	size_t len = strlen(name);

	if (len < 3 || name[len - 2] != ':' || !strchr("uk", name[len - 1]))
		return;
	ret->user_only = name[len - 1] == 'u';
	ret->kernel_only = name[len - 1] == 'k';
	name[len - 2] = '\0';
}

int perf_name_parse(const char *text, struct perf_name *ret_name, struct err *err)
{
	struct perf_name name = {0};
	char word[PERF_NAME_BYTES];

	if (!*text || strlen(text) >= sizeof(word) || strpbrk(text, " \t\n"))
		return err_set(err, EINVAL, "'%.80s' is no event", text);
	memcpy(name.text, text, strlen(text) + 1);
	memcpy(word, text, strlen(text) + 1);
	take_modifier(word, &name);
	if (!take_known(word, &name) && !take_cache(word, &name) && !take_raw(word, &name) &&
	    perf_pmu_find(word, &name) < 0)
		return err_set(err, EINVAL, "'%s' is no event that this kernel knows", text);
	memcpy(name.shown, word, strlen(word) + 1);
	for (char *at = strchr(name.shown, ':'); at; at = strchr(at, ':'))
		*at = '.';
	*ret_name = name;
	return 0;
}

void perf_name_cpu(struct perf_name *ret_name)
{
	*ret_name = (struct perf_name){
		.text = "task-clock",
		.shown = "task-clock",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.is_cpu = true,
	};
}

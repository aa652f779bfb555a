/* perf_open.c - perf events: by the names that perf gives them, and one of one thread, whose
 * overflows send that thread a signal */
#include "sampler/collector/perf/perf_open.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PERF_FD_BASE = 4096, /* the least descriptor number of a perf event */
};

enum { SYSCTL_BYTES = 64 };

/* Since Linux 5.13; older headers do not name its bit, which follows the others. */
static void ask_remove_on_exec(struct perf_event_attr *attr, bool on)
{
#ifdef PERF_ATTR_SIZE_VER7
	attr->remove_on_exec = on;
#else
	(void)attr;
	(void)on;
#endif
}

static struct perf_event_attr attr_of(const struct perf_how *how, uint64_t period)
{
	const struct perf_name *name = &how->name;
	struct perf_event_attr attr = {
		.type = name->type,
		.size = sizeof(attr),
		.config = name->config,
		.config1 = name->config1,
		.config2 = name->config2,
		.disabled = 1,
		.exclude_kernel = !how->in_kernel || name->user_only,
		.exclude_user = name->kernel_only,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.sample_period = period,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.wakeup_events = 1,
	};

	ask_remove_on_exec(&attr, true);
	if (how->frames) {
		attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
		attr.exclude_callchain_user = 1;
		attr.use_clockid = 1;
		attr.clockid = CLOCK_MONOTONIC;
	}
	return attr;
}

static int call(struct perf_event_attr *attr, pid_t tid)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && (errno == EINVAL || errno == E2BIG)) {
		ask_remove_on_exec(attr, false);
		fd = (int)syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

static int try_on_self(const struct perf_name *name, bool in_kernel)
{
	struct perf_how how = {.name = *name, .in_kernel = in_kernel};
	struct perf_event_attr attr = attr_of(&how, NS_PER_MS);
	int fd = call(&attr, 0);

	if (fd < 0)
		return fd;
	(void)close(fd);
	return 0;
}

static long paranoid(void)
{
	struct buf text;
	long value = -1;

	buf_init(&text, SYSCTL_BYTES);
	if (io_read_file("/proc/sys/kernel/perf_event_paranoid", &text, NULL) == 0)
		value = strtol(buf_text(&text), NULL, 10);
	buf_release(&text);
	return value;
}

/* What a refusal comes from.  Without the sysctl's file the kernel has no events at all. */
static void explain(const struct perf_name *name, int code, long level, char *why, size_t size)
{
	if (code == ENOSYS || level == -1)
		(void)snprintf(why, size, "this kernel has no perf events");
	else if (code == ENOENT || code == EOPNOTSUPP || code == ENODEV)
		(void)snprintf(why, size, "this machine does not count '%s'", name->text);
	else if (code == EMFILE || code == ENFILE)
		(void)snprintf(why, size, "no descriptor is left, try: ulimit -n 65536");
	else if (level > 2)
		(void)snprintf(why, size,
			       "kernel.perf_event_paranoid is %ld, try: sysctl "
			       "kernel.perf_event_paranoid=2, or CAP_PERFMON",
			       level);
	else if (code == EACCES || code == EPERM)
		(void)snprintf(why, size,
			       "perf_event_open is refused (%s), try: CAP_PERFMON, or a seccomp "
			       "profile of the container that allows it",
			       strerrorname_np(code));
	else
		(void)snprintf(why, size, "perf_event_open: %s", strerrordesc_np(code));
}

void perf_permit(const struct perf_name *name, struct perf_permit *ret_permit)
{
	struct perf_permit permit = {.works = true, .in_kernel = !name->user_only};
	long level = paranoid();
	int r = try_on_self(name, permit.in_kernel);

	if ((r == -EACCES || r == -EPERM) && permit.in_kernel && !name->kernel_only) {
		permit.in_kernel = false;
		(void)snprintf(permit.why, sizeof(permit.why),
			       "kernel.perf_event_paranoid is %ld, try: sysctl "
			       "kernel.perf_event_paranoid=1, or CAP_PERFMON",
			       level);
		r = try_on_self(name, false);
	}
	if (r < 0) {
		permit = (struct perf_permit){.code = -r};
		explain(name, -r, level, permit.why, sizeof(permit.why));
	}
	*ret_permit = permit;
}

int perf_base(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 2 * PERF_FD_BASE)
		return PERF_FD_BASE;
	return (int)(limit.rlim_cur / 2);
}

/* The signal carries the number that the descriptor has when O_ASYNC is set. */
static int send_signals(int fd, pid_t tid, int signal)
{
	const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};

	if (fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, signal) < 0 ||
	    fcntl(fd, F_SETFL, O_RDWR | O_ASYNC) < 0)
		return -errno;
	return 0;
}

int perf_open(const struct perf_how *how, pid_t tid, uint64_t period)
{
	struct perf_event_attr attr = attr_of(how, period);
	_cleanup_fd_ int low = call(&attr, tid);
	_cleanup_fd_ int fd = -1;
	int r;

	if (low < 0)
		return low;
	fd = fcntl(low, F_DUPFD_CLOEXEC, how->base);
	if (fd < 0)
		return -errno;
	r = send_signals(fd, tid, how->signal);
	return r < 0 ? r : steal_fd(&fd);
}

void perf_enable(int fd, bool on)
{
	(void)ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void perf_set_period(int fd, uint64_t period)
{
	(void)ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
}

int perf_count(int fd, uint64_t *ret_count)
{
	struct {
		uint64_t value;
		uint64_t enabled_ns;
		uint64_t running_ns;
	} now;
	ssize_t n = read(fd, &now, sizeof(now));

	if (n != (ssize_t)sizeof(now))
		return n < 0 ? -errno : -EIO;
	*ret_count = now.value;
	if (now.running_ns && now.running_ns < now.enabled_ns)
		*ret_count = (uint64_t)((double)now.value * (double)now.enabled_ns /
					(double)now.running_ns);
	return 0;
}

enum { FILE_MAX_BYTES = 4096, PATH_BYTES = 256 };

/* A name that goes into a path: no way out of its folder. */
static bool is_plain(const char *name, size_t len)
{
	return len > 0 && len < PERF_NAME_BYTES && name[0] != '.' && strcspn(name, "/") >= len;
}

static int read_small(const char *path, char *to, size_t size)
{
	struct buf text;
	int r;

	buf_init(&text, FILE_MAX_BYTES);
	r = io_read_file(path, &text, NULL);
	if (r == 0)
		(void)snprintf(to, size, "%.*s", (int)strcspn(buf_text(&text), "\n"),
			       buf_text(&text));
	buf_release(&text);
	return r;
}

static int tracepoint(const char *text, const char *colon, struct perf_name *ret)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	size_t len = (size_t)(colon - text);
	char path[PATH_BYTES];
	char number[32];

	if (!is_plain(text, len) || !is_plain(colon + 1, strlen(colon + 1)))
		return -ENOENT;
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", roots[i], (int)len, text,
			       colon + 1);
		if (read_small(path, number, sizeof(number)) < 0)
			continue;
		ret->type = PERF_TYPE_TRACEPOINT;
		ret->config = strtoull(number, NULL, 10);
		return 0;
	}
	return -ENOENT;
}

/* Spreads a value over bits LO to HI of a config. */
static void set_bits(uint64_t *config, uint64_t *value, unsigned lo, unsigned hi)
{
	unsigned n = hi - lo + 1;
	uint64_t mask = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;

	*config |= (*value & mask) << lo;
	*value = n >= 64 ? 0 : *value >> n;
}

/* "config:0-7,32-35": where the bits of a term go. */
static int place(const char *format, uint64_t value, struct perf_name *ret)
{
	uint64_t *config = strncmp(format, "config1:", 8) == 0   ? &ret->config1
			   : strncmp(format, "config2:", 8) == 0 ? &ret->config2
			   : strncmp(format, "config:", 7) == 0  ? &ret->config
								 : NULL;
	const char *at = strchr(format, ':');

	if (!config || !at)
		return -ENOENT;
	do {
		char *end;
		unsigned long lo = strtoul(at + 1, &end, 10);
		unsigned long hi = *end == '-' ? strtoul(end + 1, &end, 10) : lo;

		if (lo > 63 || hi > 63 || hi < lo)
			return -ENOENT;
		set_bits(config, &value, (unsigned)lo, (unsigned)hi);
		at = end;
	} while (*at == ',');
	return value ? -ENOENT : 0;
}

/* "umask=0x1", "inv".  Return: -ENOENT: the PMU has no such word. */
static int format_term(const char *pmu, const char *word, const char *value, struct perf_name *ret)
{
	char path[PATH_BYTES];
	char text[PERF_NAME_BYTES * 2];

	if (!is_plain(word, strlen(word)))
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/%s", pmu, word);
	if (read_small(path, text, sizeof(text)) < 0)
		return -ENOENT;
	return place(text, value ? strtoull(value, NULL, 0) : 1, ret);
}

static char *cut_value(char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	return value;
}

/* The name of an event of the PMU: a list of terms. */
static int named_event(const char *pmu, const char *name, struct perf_name *ret)
{
	char path[PATH_BYTES];
	char text[PERF_NAME_BYTES * 2];
	char *rest = text;
	char *word;
	int r = 0;

	if (!is_plain(name, strlen(name)))
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", pmu, name);
	if (read_small(path, text, sizeof(text)) < 0)
		return -ENOENT;
	while (r == 0 && (word = strsep(&rest, ","))) {
		const char *value = cut_value(word);

		r = format_term(pmu, word, value, ret);
	}
	return r;
}

static int terms(const char *pmu, char *list, struct perf_name *ret)
{
	char *rest = list;
	char *word;
	int r = 0;

	while (r == 0 && (word = strsep(&rest, ","))) {
		const char *value = cut_value(word);

		r = format_term(pmu, word, value, ret);
		if (r < 0 && !value)
			r = named_event(pmu, word, ret);
	}
	return r;
}

static int of_pmu(const char *text, const char *slash, struct perf_name *ret)
{
	size_t len = strlen(slash + 1);
	char pmu[PERF_NAME_BYTES];
	char list[PERF_NAME_BYTES];
	char path[PATH_BYTES];
	char number[32];

	if (!is_plain(text, (size_t)(slash - text)) || len < 2 || slash[len] != '/')
		return -ENOENT;
	(void)snprintf(pmu, sizeof(pmu), "%.*s", (int)(slash - text), text);
	(void)snprintf(list, sizeof(list), "%.*s", (int)(len - 1), slash + 1);
	(void)snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	if (read_small(path, number, sizeof(number)) < 0)
		return -ENOENT;
	ret->type = (uint32_t)strtoul(number, NULL, 10);
	return terms(pmu, list, ret);
}

static int perf_pmu_find(const char *text, struct perf_name *ret_name)
{
	const char *slash = strchr(text, '/');
	const char *colon = strchr(text, ':');

	if (slash)
		return of_pmu(text, slash, ret_name);
	return colon ? tracepoint(text, colon, ret_name) : -ENOENT;
}

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

/* ":u" and ":k" after a name that has no slash after them. */
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

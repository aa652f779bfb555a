/* doctor_checks.c - the machine and programs: what a recording needs of them */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/words.h"
#include "sampler/collector/collector.h"
#include "tools/doctor/doctor.h"
#include "tools/record/output_check.h"
#include "tools/target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_HZ = 99, LOW_SIGPENDING = 1024, PROC_BYTES = 4096, NO_PTRACE = 3 };
#define LOW_DISK_BYTES (UINT64_C(64) << 20)

static void check_kernel(struct doctor *doctor)
{
	struct utsname name;

	if (uname(&name) < 0)
		return;
	if (collector_auto_discovery() == DISCOVERY_TIMER)
		doctor_ok(doctor, "kernel", "%s: the process timer finds threads", name.release);
	else
		doctor_note(doctor, "kernel",
			    "%s: threads are found by hooks (the process timer needs Linux 6.4)",
			    name.release);
}

static struct perf_permit ask_perf(void)
{
	struct perf_permit permit;
	struct perf_name cpu;

	perf_name_cpu(&cpu);
	perf_permit(&cpu, &permit);
	return permit;
}

static void check_rate(struct doctor *doctor, uint32_t hz)
{
	uint32_t kernel_hz = collector_kernel_hz();
	char fix[64];

	if (hz <= kernel_hz) {
		doctor_ok(doctor, "rate", "%u Hz fits the kernel's %u Hz tick",
			  (unsigned)(hz ? hz : DEFAULT_HZ), (unsigned)kernel_hz);
		return;
	}
	if (ask_perf().works) {
		doctor_ok(doctor, "rate",
			  "%u Hz is above the kernel's %u Hz tick: engine perf is used",
			  (unsigned)hz, (unsigned)kernel_hz);
		return;
	}
	(void)snprintf(fix, sizeof(fix), "-F %u or less", (unsigned)kernel_hz - 1);
	doctor_fix(doctor, "rate", fix,
		   "%u Hz is above the kernel's %u Hz tick: samples come at the tick, each for "
		   "more time",
		   (unsigned)hz, (unsigned)kernel_hz);
}

/* A whole number from a file of /proc/sys; false when there is none. */
static bool read_number(const char *path, long *ret_value)
{
	struct buf text;
	char *end;
	bool ok = false;

	buf_init(&text, PROC_BYTES);
	if (io_read_file(path, &text, NULL) == 0) {
		*ret_value = strtol(buf_text(&text), &end, 10);
		ok = end != buf_text(&text);
	}
	buf_release(&text);
	return ok;
}

/* Programs that wick starts need none of it. */
static void check_sysctls(struct doctor *doctor)
{
	long value;

	if (!read_number("/proc/sys/kernel/yama/ptrace_scope", &value))
		doctor_ok(doctor, "ptrace", "no Yama: -p can attach to processes of the same user");
	else if (value == 0 || (value < NO_PTRACE && geteuid() == 0))
		doctor_ok(doctor, "ptrace", "kernel.yama.ptrace_scope=%ld: -p can attach", value);
	else
		doctor_note(doctor, "ptrace",
			    "kernel.yama.ptrace_scope=%ld: %s can attach (-p) to processes that "
			    "wick has not started, until %s",
			    value, value < NO_PTRACE ? "only root" : "nobody",
			    value < NO_PTRACE ? "sysctl kernel.yama.ptrace_scope=0" : "a reboot");
}

/* What --engine perf, -e EVENT and --kernel have here. */
static void check_perf(struct doctor *doctor)
{
	struct perf_permit permit = ask_perf();

	if (!permit.works)
		doctor_note(doctor, "perf", "--engine perf and perf events are not available: %s",
			    permit.why);
	else if (!permit.in_kernel)
		doctor_note(doctor, "perf", "--engine perf works, but without kernel frames: %s",
			    permit.why);
	else
		doctor_ok(doctor, "perf", "--engine perf, events and --kernel work");
}

/* Run a program with the agent preloaded; what it and the loader say goes to TO. */
static int run_with_agent(const char *agent, char *to, size_t size)
{
	char *argv[] = {(char *)(uintptr_t) "true", NULL};
	char preload[PATH_MAX + 16];
	char *environment[] = {preload, NULL};
	posix_spawn_file_actions_t actions;
	int pipes[2];
	int status = -1;
	ssize_t n;
	pid_t pid;
	int r;

	(void)snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", agent);
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	_cleanup_fd_ int reader = pipes[0];
	_cleanup_fd_ int writer = pipes[1];

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_adddup2(&actions, writer, STDERR_FILENO);
	r = posix_spawnp(&pid, "true", &actions, NULL, argv, environment);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (r != 0)
		return -r;
	(void)close(steal_fd(&writer));
	n = read(reader, to, size - 1);
	to[n > 0 ? n : 0] = '\0';
	to[strcspn(to, "\n")] = '\0';
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void check_agent(struct doctor *doctor)
{
	_cleanup_free_ char *path = NULL;
	struct err err = {0};
	char said[512] = "";
	int r;

	if (agent_path_find(&path, &err) < 0) {
		doctor_fix(doctor, "agent", "install all of wick, or set WICK_AGENT", "%s",
			   err.text);
		return;
	}
	r = run_with_agent(path, said, sizeof(said));
	if (r < 0)
		doctor_note(doctor, "agent", "%s, not tried: %s", path, strerrordesc_np(-r));
	else if (r != 0 || said[0])
		doctor_fix(doctor, "agent", "build wick for this machine, in a path without blanks",
			   "%s does not load: %s", path, said[0] ? said : "the program failed");
	else
		doctor_ok(doctor, "agent", "%s loads", path);
}

static void check_collector(struct doctor *doctor)
{
	_cleanup_free_ char *path = NULL;
	struct collector_options options = {.hz = DEFAULT_HZ,
					    .discovery = collector_auto_discovery()};
	struct collector *collector = NULL;
	struct err err = {0};

	if (agent_path_find(&path, &err) < 0)
		return; /* said before */
	options.agent_path = path;
	if (collector_new(&options, &collector, &err) < 0)
		doctor_fix(doctor, "temporary", "TMPDIR=/a/directory/of/yours", "%s", err.text);
	else
		doctor_ok(doctor, "temporary", "a directory for the agents' socket can be made");
	collector_free(collector);
}

static void check_disk(struct doctor *doctor)
{
	struct statvfs fs;
	struct err err = {0};
	struct buf text;
	uint64_t bytes;

	if (output_check(NULL, false, false, &err) < 0) {
		doctor_fix(doctor, "disk", "wick record -o /another/place/x.perf", "%s", err.text);
		return;
	}
	if (statvfs(".", &fs) < 0)
		return;
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	buf_init(&text, 64);
	words_bytes(&text, bytes);
	if (bytes < LOW_DISK_BYTES)
		doctor_fix(doctor, "disk",
			   "free space, or -o on another disk, or --rotate and --keep",
			   "%s free in this directory", buf_text(&text));
	else
		doctor_ok(doctor, "disk", "%s free in this directory", buf_text(&text));
	buf_release(&text);
}

/* A timer a thread, and a queued signal a timer. */
static void check_signals(struct doctor *doctor)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_SIGPENDING, &limit) < 0)
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		doctor_ok(doctor, "timers", "no limit (RLIMIT_SIGPENDING)");
	else if (limit.rlim_cur < LOW_SIGPENDING)
		doctor_fix(doctor, "timers", "ulimit -i 4096, or LimitSIGPENDING= of the service",
			   "RLIMIT_SIGPENDING is %llu: no more threads than that get a timer",
			   (unsigned long long)limit.rlim_cur);
	else
		doctor_ok(doctor, "timers", "for %llu threads (RLIMIT_SIGPENDING)",
			  (unsigned long long)limit.rlim_cur);
}

void doctor_check_machine(struct doctor *doctor, uint32_t hz)
{
	check_kernel(doctor);
	check_rate(doctor, hz);
	check_sysctls(doctor);
	check_perf(doctor);
	check_agent(doctor);
	check_collector(doctor);
	check_disk(doctor);
	check_signals(doctor);
}

static const char *fix_of(const char *why)
{
	if (strcmp(why, "setuid") == 0)
		return "wick as root, or a copy without the set-ID bits or capabilities";
	if (strcmp(why, "missing") == 0 || strcmp(why, "no program") == 0)
		return "the right path of a program";
	return "a 64-bit build of it";
}

/* A running process can be read by those who may trace it. */
static bool is_looked_at(const char *why)
{
	return strcmp(why, "static") == 0 || strcmp(why, "32-bit") == 0 ||
	       (strcmp(why, "setuid") == 0 && geteuid() == 0);
}

void doctor_check_program(struct doctor *doctor, const char *command)
{
	struct collector_program program;
	struct err err = {0};

	if (collector_examine(command, &program, &err) < 0) {
		doctor_fix(doctor, "program", "the right path of an executable program", "%s",
			   err.text);
		return;
	}
	if (program.interpreter[0])
		doctor_note(doctor, "script", "'%s' is run by '%s'", program.path,
			    program.interpreter);
	if (program.interpreter[0] && access(program.interpreter, X_OK) < 0)
		doctor_fix(doctor, "program",
			   "install its interpreter, or correct the first line of the script",
			   "'%s': %s", program.interpreter, strerrordesc_np(errno));
	else if (program.why && is_looked_at(program.why))
		doctor_note(doctor, "program",
			    "'%s' cannot load the agent (%s): engine ptrace samples it",
			    program.interpreter[0] ? program.interpreter : program.path,
			    program.why);
	else if (program.why)
		doctor_fix(doctor, "program", fix_of(program.why), "'%s' cannot load the agent: %s",
			   program.interpreter[0] ? program.interpreter : program.path,
			   program.why);
	else
		doctor_ok(doctor, "program", "'%s' can be sampled", program.path);
}

/* agent_target.c - what the agent's tests run: burns CPU in ways that matter to it
 * usage: agent_target deep DEPTH SECONDS (or -BURSTS of signals) | fds | fork SECONDS |
 *        vfork SECONDS | rawfork SECONDS | threads N SECONDS | clones N SECONDS |
 *        plugin FILE ROUNDS | quiet SECONDS | naps SECONDS |
 *        offset (of its struct otel_record's pointer from the thread pointer) */
#include "sampler/wire/ring.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLUGIN_ROUNDS = 100000000 };

static volatile unsigned long sink;
static _Thread_local struct otel_record *volatile context;

/* Whose work it is: ids and 41 bytes of attributes. */
static void publish(void)
{
	static struct otel_record record = {
		.trace_id = {1}, .span_id = {1}, .valid = 1, .attrs_bytes = 41, .attrs = {0, 39}};

	context = &record;
}

static double cpu_seconds(clockid_t clock)
{
	struct timespec at;

	(void)clock_gettime(clock, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static __attribute__((noinline)) void burn(double seconds)
{
	double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 200000; i++)
			sink += (unsigned long)i;
}

/* Seldom busy: a fifth of the time, for so long by the clock. */
static int naps(double seconds)
{
	double end = cpu_seconds(CLOCK_MONOTONIC) + seconds;

	while (cpu_seconds(CLOCK_MONOTONIC) < end) {
		burn(0.01);
		(void)usleep(40000);
	}
	return 0;
}

/* The si_value of this thread's own timer, as /proc shows it; 0: none. */
static unsigned long own_timer_value(void)
{
	FILE *file = fopen("/proc/self/timers", "r");
	unsigned long value = 0;
	unsigned long found = 0;
	char line[128];
	int tid;

	while (file && fgets(line, sizeof(line), file)) {
		(void)sscanf(line, "signal: 27/%lx", &value);
		if (sscanf(line, "notify: signal/tid.%d", &tid) == 1 && tid == gettid())
			found = value;
	}
	if (file)
		(void)fclose(file);
	return found;
}

/* Where the rings are mapped: this program looks at what the agent wrote about it. */
static struct ring_header *find_rings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start = 0;
	char line[256];

	while (file && !start && fgets(line, sizeof(line), file))
		if (strstr(line, "memfd:"))
			start = strtoul(line, NULL, 16);
	if (file)
		(void)fclose(file);
	return (struct ring_header *)start;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_price(const char *what, uint64_t *ns, size_t n)
{
	qsort(ns, n, sizeof(*ns), by_value);
	if (n)
		printf("%s: p10 %lu p50 %lu p90 %lu ns of %zu\n", what, ns[n / 10], ns[n / 2],
		       ns[n * 9 / 10], n);
}

/* The handler without the tick around it: signals that look like our timer's, in bursts.  Every
 * 8th moves the timer. */
static __attribute__((noinline)) void warm(int bursts)
{
	static uint64_t ns[2][1 << 16];
	siginfo_t info = {.si_signo = SIGPROF, .si_code = SI_TIMER};
	const struct timespec pause = {.tv_nsec = 30000000};
	struct ring_header *rings = find_rings();
	struct ring_slot *slot =
		rings ? (void *)((unsigned char *)rings + RING_HEADER_BYTES) : NULL;
	size_t n[2] = {0};

	info.si_value.sival_ptr = (void *)own_timer_value();
	for (int i = 0; slot && info.si_value.sival_ptr && i < bursts; i++) {
		for (int k = 0; k < 40; k++) {
			uint64_t before = slot->handler_ns;
			int jittered = slot->n_samples % 8 == 7;

			(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGPROF, &info);
			ns[jittered][n[jittered]++ % (1 << 16)] = slot->handler_ns - before;
		}
		(void)nanosleep(&pause, NULL);
	}
	print_price("plain", ns[0], n[0]);
	print_price("jittered", ns[1], n[1]);
}

static __attribute__((noinline)) int deep(int depth, double seconds)
{
	int r;

	if (depth <= 0) {
		if (seconds < 0)
			warm((int)-seconds);
		else
			burn(seconds);
		return 1;
	}
	r = deep(depth - 1, seconds);
	sink++; /* no tail call */
	return r + 1;
}

/* Sockets and memfds above the standard three. */
static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[300];
	char link[64] = "";
	int n = 0;

	while ((entry = readdir(dir))) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		(void)memset(link, 0, sizeof(link));
		if (strtol(entry->d_name, NULL, 10) > 2 &&
		    readlink(path, link, sizeof(link) - 1) > 0)
			n += strstr(link, "socket:") || strstr(link, "memfd:");
	}
	(void)closedir(dir);
	return n;
}

static void *run_thread(void *seconds)
{
	burn(*(double *)seconds);
	return NULL;
}

static int threads(int n, double seconds)
{
	pthread_attr_t attr;
	pthread_t *all = calloc((size_t)n, sizeof(*all));
	int made = 0;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 64 * 1024);
	while (made < n && !pthread_create(&all[made], &attr, run_thread, &seconds))
		made++;
	for (int i = 0; i < made; i++)
		(void)pthread_join(all[i], NULL);
	printf("%d\n", made);
	free(all);
	return made != n;
}

/* Threads that no pthread_create made. */
static int run_clone(void *seconds)
{
	/* Its own TLS it has not: nothing of libc that needs one may be called. */
	double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + *(double *)seconds;

	while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 200000; i++)
			sink += (unsigned long)i;
	return 0;
}

static int clones(int n, double seconds)
{
	enum { STACK = 64 * 1024 };
	static _Atomic int alive[8];
	static char stacks[8][STACK] __attribute__((aligned(4096)));

	for (int i = 0; i < n && i < 8; i++) {
		alive[i] = 1;
		if (clone(run_clone, stacks[i] + STACK - 64,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				  CLONE_SYSVSEM | CLONE_CHILD_CLEARTID,
			  &seconds, NULL, NULL, &alive[i]) < 0)
			return 1;
	}
	for (int i = 0; i < n && i < 8; i++)
		while (alive[i])
			burn(0.02);
	return 0;
}

/* One call kills us from here on: the handler may make none but rt_sigreturn. */
static int quiet(double seconds)
{
	static const int allowed[] = {SYS_rt_sigreturn, SYS_exit_group, SYS_write,
				      SYS_clock_gettime};
	struct sock_filter code[2 + 2 * 4 + 1] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog program = {.filter = code};
	unsigned short n = 1;

	for (int i = 0; i < 4; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned int)allowed[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	burn(seconds);
	_exit(0);
}

static int forked(const char *how, double seconds)
{
	int status = -1;
	long child = !strcmp(how, "fork")    ? fork()
		     : !strcmp(how, "vfork") ? vfork()
					     : syscall(SYS_fork);

	if (child == 0) {
		if (strcmp(how, "vfork") != 0)
			burn(seconds);
		_exit(7);
	}
	burn(seconds);
	(void)waitpid((pid_t)child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

static int plugin(const char *path, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		void *handle = dlopen(path, RTLD_NOW);
		void (*run)(unsigned long) = NULL;

		if (handle)
			*(void **)&run = dlsym(handle, "burn_plugin_a");
		if (!run)
			return 1;
		run(PLUGIN_ROUNDS);
		(void)dlclose(handle);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	double third = argc > 3 ? strtod(argv[3], NULL) : 1;
	double second = argc > 2 ? strtod(argv[2], NULL) : 1;

	errno = 0;
	publish();
	if (!strcmp(mode, "offset"))
		return printf("%ld\n",
			      (long)((char *)&context - (char *)__builtin_thread_pointer())) < 0;
	if (!strcmp(mode, "deep"))
		(void)deep((int)second, third);
	else if (!strcmp(mode, "naps"))
		return naps(second);
	else if (!strcmp(mode, "fds"))
		return count_fds();
	else if (strstr(mode, "fork"))
		return forked(mode, second);
	else if (!strcmp(mode, "threads"))
		return threads((int)second, third);
	else if (!strcmp(mode, "plugin"))
		return plugin(argv[2], (int)third);
	else if (!strcmp(mode, "clones"))
		return clones((int)second, third);
	else if (!strcmp(mode, "quiet"))
		return quiet(second);
	else
		return 2;
	return errno;
}

/* hooks_signals.c - prints everything a program can see of SIGPROF; the same with a profiler
 * usage: hooks_signals | hooks_signals die | hooks_signals inherit | hooks_signals storm */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static volatile sig_atomic_t n_handled;
static volatile sig_atomic_t depth, deepest;
static siginfo_t seen_info;
static sigset_t seen_mask;

static void on_plain(int sig)
{
	(void)sig;
	n_handled++;
}

static void on_info(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	n_handled++;
	seen_info = *info;
	pthread_sigmask(SIG_BLOCK, NULL, &seen_mask);
	depth++;
	if (depth > deepest)
		deepest = depth;
	if (depth == 1 && info->si_code == SI_QUEUE && info->si_value.sival_int == 77)
		raise(SIGPROF);
	depth--;
}

static const char *name_of(const struct sigaction *action)
{
	if (action->sa_flags & SA_SIGINFO)
		return action->sa_sigaction == on_info ? "on_info" : "strange";
	if (action->sa_handler == SIG_DFL)
		return "default";
	if (action->sa_handler == SIG_IGN)
		return "ignore";
	return action->sa_handler == on_plain ? "on_plain" : "strange";
}

static void show_action(const char *when)
{
	struct sigaction action;
	int r = sigaction(SIGPROF, NULL, &action);

	printf("%s: r %d %s flags %x mask %016lx\n", when, r, name_of(&action),
	       (unsigned int)action.sa_flags, action.sa_mask.__val[0]);
}

static void show_mask(const char *when)
{
	sigset_t mask, pending;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	printf("%s: blocked %016lx pending %d handled %d\n", when, mask.__val[0],
	       sigismember(&pending, SIGPROF), (int)n_handled);
}

/* A hook that looks for libc's function must not lose what the program looked for in vain. */
static void last_error(void)
{
	(void)dlsym(RTLD_DEFAULT, "there_is_no_such_function");
	signal(SIGUSR2, SIG_IGN);
	printf("dlerror: %d\n", dlerror() != NULL);
}

static void actions(void)
{
	struct sigaction action = {.sa_flags = SA_RESTART | SA_NODEFER};
	struct sigaction old;

	show_action("start");
	printf("signal: %d\n", signal(SIGPROF, SIG_IGN) == SIG_DFL);
	show_action("ignored");
	raise(SIGPROF);
	printf("signal: %d\n", signal(SIGPROF, on_plain) == SIG_IGN);
	show_action("plain");
	raise(SIGPROF);
	sigfillset(&action.sa_mask);
	action.sa_handler = on_plain;
	sigaction(SIGPROF, &action, &old);
	printf("sigaction: %s\n", name_of(&old));
	show_action("full mask");
	siginterrupt(SIGPROF, 1);
	show_action("interrupts");
	signal(SIGPROF, on_plain);
	show_action("signal after siginterrupt");
	siginterrupt(SIGPROF, 0);
	show_action("restarts");
	printf("sysv: %d\n", sysv_signal(SIGPROF, on_plain) == on_plain);
	show_action("sysv");
	raise(SIGPROF);
	show_action("after one");
	printf("sigset: %d\n", sigset(SIGPROF, on_plain) == SIG_DFL);
	show_action("sigset");
	printf("sigset hold: %d\n", sigset(SIGPROF, SIG_HOLD) == on_plain);
	show_mask("held");
	printf("sigset back: %d\n", sigset(SIGPROF, on_plain) == SIG_HOLD);
	show_mask("open");
	sigignore(SIGPROF);
	show_action("sigignore");
	printf("bad: %d %d\n", signal(SIGPROF, SIG_ERR) == SIG_ERR, errno);
	printf("bad: %d\n", sigaction(-1, NULL, &old));
	signal(SIGPROF, SIG_DFL);
	show_action("end");
	printf("handled %d\n", (int)n_handled);
}

static void masks(void)
{
	sigset_t prof, all, old;

	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	sigfillset(&all);
	show_mask("nothing");
	sigprocmask(SIG_BLOCK, &prof, NULL);
	show_mask("blocked");
	raise(SIGPROF);
	show_mask("raised");
	kill(getpid(), SIGPROF);
	show_mask("killed");
	signal(SIGPROF, SIG_IGN);
	show_mask("ignored");
	sigprocmask(SIG_UNBLOCK, &prof, &old);
	printf("old: %d\n", sigismember(&old, SIGPROF));
	show_mask("unblocked");
	pthread_sigmask(SIG_SETMASK, &all, &old);
	show_mask("all");
	pthread_sigmask(SIG_SETMASK, &old, &all);
	printf("old: %d\n", sigismember(&all, SIGPROF));
	sighold(SIGPROF);
	show_mask("hold");
	sigrelse(SIGPROF);
	show_mask("release");
	printf("sigblock %x\n", (unsigned int)sigblock(1 << (SIGPROF - 1)));
	printf("sigsetmask %x\n", (unsigned int)sigsetmask(0));
	show_mask("empty");
	printf("bad: %d %d\n", sigprocmask(77, &prof, NULL), errno);
	printf("bad: %d\n", pthread_sigmask(77, &prof, NULL));
	show_mask("still");
}

/* Blocked first, then a handler: what waited arrives when it is let in. */
static void postponed(void)
{
	sigset_t prof, old;

	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	sigprocmask(SIG_BLOCK, &prof, &old);
	signal(SIGPROF, on_plain);
	show_mask("closed");
	raise(SIGPROF);
	show_mask("waits");
	sigprocmask(SIG_SETMASK, &old, NULL);
	show_mask("arrived");
	signal(SIGPROF, SIG_DFL);
}

static void show_seen(const char *when)
{
	printf("%s: handled %d code %d value %d pid %d deepest %d mask %016lx\n", when,
	       (int)n_handled, seen_info.si_code, seen_info.si_value.sival_int,
	       seen_info.si_pid == getpid(), (int)deepest, seen_mask.__val[0]);
	deepest = 0;
}

static void handlers(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};
	union sigval value = {.sival_int = 77};

	action.sa_sigaction = on_info;
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGPROF, &action, NULL);
	sigqueue(getpid(), SIGPROF, value);
	show_seen("deferred");
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigaction(SIGPROF, &action, NULL);
	sigqueue(getpid(), SIGPROF, value);
	show_seen("nested");
	action.sa_flags = SA_SIGINFO | (int)SA_RESETHAND;
	sigaction(SIGPROF, &action, NULL);
	value.sival_int = 5;
	sigqueue(getpid(), SIGPROF, value);
	show_seen("once");
	show_action("reset");
	show_mask("after handlers");
}

struct kernel_action {
	void (*handler)(int sig);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static void numbers(void)
{
	struct kernel_action ignore = {.handler = SIG_IGN, .mask = 3};
	struct kernel_action old = {.flags = 1};
	uint64_t prof = UINT64_C(1) << (SIGPROF - 1);
	uint64_t was = 1;

	printf("%ld\n", syscall(SYS_rt_sigaction, SIGPROF, &ignore, &old, 8));
	printf("old %d %lx %lx\n", old.handler == SIG_DFL, old.flags & ~0x04000000UL, old.mask);
	printf("%ld\n", syscall(SYS_rt_sigaction, SIGPROF, NULL, &old, 8));
	printf("now %d %lx %lx\n", old.handler == SIG_IGN, old.flags, old.mask);
	show_action("by number");
	printf("%ld\n", syscall(SYS_rt_sigprocmask, SIG_BLOCK, &prof, &was, 8));
	printf("was %lx\n", was);
	printf("%ld\n", syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &prof, &was, 8));
	printf("was %lx\n", was);
	printf("%ld %d\n", syscall(SYS_rt_sigprocmask, SIG_BLOCK, &prof, &was, 4), errno);
	printf("%ld %d\n", syscall(SYS_rt_sigaction, 1000, NULL, &old, 8), errno);
	printf("%d\n", syscall(SYS_getppid) == getppid());
	signal(SIGPROF, SIG_DFL);
}

static void *thread_main(void *arg)
{
	(void)arg;
	show_mask("thread");
	return NULL;
}

static void threads(void)
{
	pthread_t thread;
	sigset_t all, old;

	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
}

static void in_children(void)
{
	sigset_t prof, old;
	pid_t pid;

	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	sigprocmask(SIG_BLOCK, &prof, &old);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		show_mask("fork child");
		sigprocmask(SIG_UNBLOCK, &prof, NULL);
		show_mask("fork child, open");
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	show_mask("parent");
	pid = vfork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		execl("/proc/self/exe", "hooks_signals", "inherit", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	show_mask("parent");
	fflush(stdout);
	signal(SIGPROF, SIG_IGN);
	pid = vfork();
	if (pid == 0) {
		execl("/proc/self/exe", "hooks_signals", "inherit", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	show_mask("end");
	signal(SIGPROF, SIG_DFL);
}

enum { N_TIMERS = 64 };

/* Timers queue a signal each: all of them arrive at once, on a stack where a few frames fit. */
static int storm(void)
{
	static unsigned char bytes[32 * 1024];
	struct sigaction action = {.sa_flags = SA_RESTART | SA_ONSTACK};
	stack_t stack = {.ss_sp = bytes, .ss_size = sizeof(bytes)};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
	timer_t timers[N_TIMERS];
	sigset_t prof;

	action.sa_handler = on_plain;
	sigaltstack(&stack, NULL);
	sigaction(SIGPROF, &action, NULL);
	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	sigprocmask(SIG_BLOCK, &prof, NULL);
	for (int i = 0; i < N_TIMERS; i++)
		if (timer_create(CLOCK_MONOTONIC, &event, &timers[i]) != 0 ||
		    timer_settime(timers[i], 0, &soon, NULL) != 0)
			return 1;
	usleep(20000);
	sigprocmask(SIG_UNBLOCK, &prof, NULL);
	printf("storm: %d handled\n", (int)n_handled);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "storm") == 0)
		return storm();
	if (argc > 1 && strcmp(argv[1], "inherit") == 0) {
		show_action("inherited");
		show_mask("inherited");
		return 0;
	}
	if (argc > 1) {
		raise(SIGPROF);
		puts("not dead");
		return 1;
	}
	last_error();
	actions();
	masks();
	postponed();
	handlers();
	numbers();
	threads();
	in_children();
	return 0;
}

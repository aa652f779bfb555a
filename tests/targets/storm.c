/* storm.c - many of something, as fast as it goes; prints how many were done
 * usage: storm fork|vfork|spawn|exec|raced|cancel|threads|malloc N */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

BURN_FUNCTION(burn_storm)

static char *true_arguments[] = {(char *)"true", NULL};

/* Its execs fail, whatever else the process is about to do. */
static _Noreturn void *fail_to_exec(void *argument)
{
	(void)argument;
	for (;;)
		(void)execv("/nonexistent/true", true_arguments);
}

static _Noreturn void exec_beside_others(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		(void)pthread_create(&thread, NULL, fail_to_exec, NULL);
	for (double end = thread_seconds() + 0.002; thread_seconds() < end;)
		burn_storm(1000);
	(void)execv("/bin/true", true_arguments);
	_exit(127);
}

enum { COMMAND_SECONDS = 60 };

static void *run_command(void *argument)
{
	return (void *)(long)system(argument);
}

/* A thread that waits for a command is cancelled: the command ends with it. */
static int cancel_one(void)
{
	char command[32];
	double end = clock_seconds(CLOCK_MONOTONIC) + COMMAND_SECONDS;
	struct sigaction interrupt;
	pthread_t thread;
	void *value = NULL;

	(void)snprintf(command, sizeof(command), "exec sleep %d", COMMAND_SECONDS);
	if (pthread_create(&thread, NULL, run_command, command))
		return 1;
	(void)usleep(20000);
	(void)pthread_cancel(thread);
	(void)pthread_join(thread, &value);
	(void)sigaction(SIGINT, NULL, &interrupt);
	return value != PTHREAD_CANCELED || clock_seconds(CLOCK_MONOTONIC) >= end ||
	       waitpid(-1, NULL, WNOHANG) != -1 || interrupt.sa_handler != SIG_DFL;
}

static int one_child(const char *kind)
{
	int status = 1;
	pid_t pid;

	if (!strcmp(kind, "cancel"))
		return cancel_one();
	if (!strcmp(kind, "spawn")) {
		if (posix_spawn(&pid, "/bin/true", NULL, NULL, true_arguments, environ))
			return 1;
	} else if (!strcmp(kind, "vfork")) {
		pid = vfork();
		if (pid == 0) {
			(void)execve("/bin/true", true_arguments, environ);
			_exit(127);
		}
	} else {
		pid = fork();
		if (pid == 0 && !strcmp(kind, "exec")) {
			(void)execvp("true", true_arguments);
			_exit(127);
		}
		if (pid == 0 && !strcmp(kind, "raced"))
			exec_beside_others();
		if (pid == 0) {
			burn_storm(1000000);
			_exit(0);
		}
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static void *thread_body(void *argument)
{
	(void)argument;
	burn_storm(500000);
	usleep(300000);
	burn_storm(500000);
	return NULL;
}

static long threads(long n)
{
	pthread_t *all = calloc((size_t)n, sizeof(*all));
	pthread_attr_t attributes;
	long started = 0;

	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, (size_t)64 * 1024);
	for (; all && started < n; started++) {
		if (pthread_create(&all[started], &attributes, thread_body, NULL))
			break;
	}
	for (long i = 0; i < started; i++)
		(void)pthread_join(all[i], NULL);
	free(all);
	return started;
}

static void *malloc_body(void *argument)
{
	long n = *(long *)argument;
	uint32_t state = 88172645;
	void *kept[64] = {NULL};

	for (long i = 0; i < n; i++) {
		uint32_t at = next_random(&state) % 64;

		free(kept[at]);
		kept[at] = malloc(next_random(&state) % 4096 + 1);
		memset(kept[at], 1, 1);
	}
	for (int i = 0; i < 64; i++)
		free(kept[i]);
	return NULL;
}

static long mallocs(long n)
{
	pthread_t all[4];

	for (int i = 0; i < 4; i++) {
		if (pthread_create(&all[i], NULL, malloc_body, &n))
			return 0;
	}
	for (int i = 0; i < 4; i++)
		(void)pthread_join(all[i], NULL);
	return n;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "fork";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
	long done = 0;

	if (!strcmp(kind, "threads"))
		done = threads(n);
	else if (!strcmp(kind, "malloc"))
		done = mallocs(n);
	else
		while (done < n && one_child(kind) == 0)
			done++;
	printf("%ld\n", done);
	return done != n;
}

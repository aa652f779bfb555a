/* child_fixture.c - processes of tests */
#include "child_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

pid_t child_start(void (*run)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		/* A test that fails does not come to its child_end(). */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(0);
	}
	return pid;
}

static void wait_for_signals(void)
{
	for (;;)
		(void)pause();
}

pid_t child_start_paused(void)
{
	return child_start(wait_for_signals);
}

pid_t child_start_prepared(bool (*prepare)(void), bool *ret_able)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = prepare() ? 1 : 0;
		(void)!write(ready[1], &byte, 1);
		wait_for_signals();
	}
	(void)!read(ready[0], &byte, 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	*ret_able = byte == 1;
	return pid;
}

void *child_shared(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(shared != MAP_FAILED);
	return shared;
}

void child_rest(void)
{
	(void)usleep(1000);
}

void child_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)child_status(pid);
}

int child_status(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

void child_await_zombie(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

char thread_letter(pid_t pid, pid_t tid)
{
	char text[256] = "";
	char path[64];
	const char *at;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (!file)
		return '?';
	(void)!fgets(text, sizeof(text), file);
	(void)fclose(file);
	at = strrchr(text, ')'); /* a name may have some, too */
	if (!at || at[1] != ' ')
		return '?';
	return at[2];
}

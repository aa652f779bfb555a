/* top_page.c - `wick top --page`: a recording that goes on, and the page of it */
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/top/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 20 };

static const char *const record_words[] = {"record", "-q",      "--rotate", "600s", "--keep",
					   "6",      "--flush", "250ms",    "-o"};

static void for_each_file(const char *folder, void (*act)(int fd, const char *name, void *context),
			  void *context)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)) != NULL) /* one thread reads it */
		if (entry->d_name[0] != '.')
			act(dirfd(directory), entry->d_name, context);
	if (directory)
		(void)closedir(directory);
}

static void remove_file(int fd, const char *name, void *context)
{
	(void)context;
	(void)unlinkat(fd, name, 0);
}

static void see_file(int fd, const char *name, void *context)
{
	bool *seen = context;

	(void)fd;
	(void)name;
	*seen = true;
}

static pid_t start(char **argv)
{
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(program_exec("wick", argv));
	return pid;
}

/* Return: its exit status. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return WICK_IO;
	return cmd_exit_of_wait(status);
}

/* The page needs a recording.  Return: false: the recorder has ended before there is one. */
static bool wait_for_recording(pid_t recorder, const char *folder)
{
	const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
	bool seen = false;

	for (;;) {
		siginfo_t info = {0};

		for_each_file(folder, see_file, &seen);
		if (seen)
			return true;
		if (waitid(P_PID, (id_t)recorder, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid != 0)
			return false;
		(void)nanosleep(&look, NULL);
	}
}

/* Owns: the caller; NULL: no memory. */
static char **record_argv(const char *path, char *const *argv)
{
	const size_t n_words = sizeof(record_words) / sizeof(record_words[0]);
	size_t n = 0;
	char **whole;

	while (argv[n])
		n++;
	whole = calloc(n_words + n + 2, sizeof(*whole));
	if (!whole)
		return NULL;
	memcpy(whole, record_words, sizeof(record_words));
	whole[n_words] = (char *)path;
	memcpy(whole + n_words + 1, argv, n * sizeof(*argv));
	return whole;
}

static int serve(pid_t recorder, char *folder)
{
	char verb[] = "serve";
	char *words[] = {verb, folder, NULL};
	pid_t server = start(words);

	if (server < 0) {
		(void)kill(recorder, SIGINT);
		return WICK_IO;
	}
	/* Ctrl-C is for both of them. */
	(void)signal(SIGINT, SIG_IGN);
	return wait_for(server);
}

int top_page_run(char *const *argv)
{
	const char *place =
		getenv("TMPDIR"); /* No thread changes it. NOLINT(concurrency-mt-unsafe) */
	char folder[PATH_MAX];
	char path[PATH_MAX + 16];
	char **words;
	pid_t recorder;
	int status = WICK_IO;

	(void)snprintf(folder, sizeof(folder), "%s/wick-top.XXXXXX",
		       place && *place ? place : "/tmp");
	if (!mkdtemp(folder)) {
		say_error("cannot make '%s': %s, try: another TMPDIR", folder,
			  strerrordesc_np(errno));
		return WICK_IO;
	}
	(void)snprintf(path, sizeof(path), "%s/top.perf", folder);
	words = record_argv(path, argv);
	recorder = words ? start(words) : -1;
	free(words);
	if (recorder < 0) {
		say_error("cannot start a recording: %s", strerrordesc_np(errno));
	} else if (wait_for_recording(recorder, folder)) {
		status = serve(recorder, folder);
		(void)kill(recorder, SIGINT);
		(void)wait_for(recorder);
	} else {
		status = wait_for(recorder); /* it has said why */
	}
	for_each_file(folder, remove_file, NULL);
	(void)rmdir(folder);
	return status;
}

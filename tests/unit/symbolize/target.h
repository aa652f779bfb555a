/* target.h - a live process for the symbolizer's tests, and its mappings */
#ifndef TESTS_UNIT_SYMBOLIZE_TARGET_H
#define TESTS_UNIT_SYMBOLIZE_TARGET_H

#include "symbolize/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that waits, and where it says its functions are. */
struct target {
	pid_t pid;
	int in;
	uint64_t exported;
	uint64_t hidden;
	uint64_t library;
};

static inline bool target_start(struct target *target, const char *path)
{
	void *at[3] = {NULL, NULL, NULL};
	int in[2];
	int out[2];
	FILE *text;
	int n;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return false;
	target->pid = fork();
	if (target->pid == 0) {
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		(void)execl(path, path, (char *)NULL);
		_exit(127);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	target->in = in[1];
	text = fdopen(out[0], "r");
	n = fscanf(text, "%p %p %p", &at[0], &at[1], &at[2]);
	(void)fclose(text);
	target->exported = (uint64_t)(uintptr_t)at[0];
	target->hidden = (uint64_t)(uintptr_t)at[1];
	target->library = (uint64_t)(uintptr_t)at[2];
	return n == 3;
}

static inline void target_stop(struct target *target)
{
	(void)close(target->in);
	(void)waitpid(target->pid, NULL, 0);
}

/* What a mapping leaves out. */
enum target_hide {
	HIDE_NOTHING,
	HIDE_INODES, /* as an agent that knows only paths */
};

/* Tell the symbolizer the executable lines of /proc/PID/maps, as process 1 from TIME_NS on. */
static inline void target_add_maps(struct symbolizer *symbolizer, pid_t pid, uint64_t time_ns,
				   enum target_hide hide)
{
	char path[64];
	char *line = NULL;
	size_t size = 0;
	FILE *maps;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && getline(&line, &size, maps) > 0) {
		struct mapping mapping = {.process = 1, .pid = pid, .time_ns = time_ns};
		unsigned major_no;
		unsigned minor_no;
		char mode[8];
		char *deleted;
		int at = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &mapping.start, &mapping.end, mode, &mapping.pgoff, &major_no, &minor_no,
			   &mapping.inode, &at) < 7 ||
		    mode[2] != 'x')
			continue;
		line[strcspn(line, "\n")] = '\0';
		deleted = strstr(line + at, " (deleted)");
		if (deleted)
			*deleted = '\0';
		mapping.deleted = deleted != NULL;
		mapping.path = line + at;
		mapping.dev = makedev(major_no, minor_no);
		if (hide == HIDE_INODES)
			mapping.dev = mapping.inode = 0;
		symbolizer_add(symbolizer, &mapping);
	}
	free(line);
	if (maps)
		(void)fclose(maps);
}

/* Resolve one exact address: the function itself. */
static inline struct frame target_lookup(struct symbolizer *symbolizer, pid_t pid, uint64_t addr,
					 uint64_t time_ns)
{
	struct frame frame = {.addr = addr, .exact = true};
	struct sample sample = {
		.process = 1, .pid = pid, .time_ns = time_ns, .n_frames = 1, .frames = &frame};

	(void)symbolizer_resolve(symbolizer, &sample, true);
	return sample.frames[sample.n_frames - 1];
}

#endif

/* record_attach.c - `wick record -p`: running processes instead of a command */
#include "tools/record_attach.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/record_choose.h"
#include "tools/record_outside.h"
#include "tools/recorder.h"
#include "tools/say.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { COMM_BYTES = 64 };

/* The recording is called after the first that has joined. */
static int name_recording(struct recorder *recorder, pid_t pid)
{
	char comm[COMM_BYTES] = "";
	char path[64];
	_cleanup_fd_ int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : io_pread(fd, comm, sizeof(comm) - 1, 0);
	comm[n > 0 ? n : 0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	free(recorder->comm);
	recorder->comm = strdup(comm[0] ? comm : "process");
	recorder->pid = pid;
	return recorder->comm ? 0 : -ENOMEM;
}

static void tell_joined(pid_t pid, const struct collector_attached *attached)
{
	say_note("joined process %d; a thread of it stood for %u.%02u ms%s", (int)pid,
		 (unsigned)(attached->stopped_ns / 1000000),
		 (unsigned)(attached->stopped_ns / 10000 % 100),
		 attached->again ? " (the agent was there)" : "");
}

/* Return: 0; -errno, and the reason in ERR. */
static int join_one(struct recorder *recorder, pid_t pid, struct err *err)
{
	struct collector_attached attached;
	int r;

	if (record_outside_only(recorder->options))
		return record_outside_join(recorder, pid, 0, err);
	r = collector_attach(recorder->collector, pid, &attached, err);
	if (r == 0 && attached.why.text[0])
		say_note("%s", attached.why.text);
	if (r == 0 && recorder->options->verbose)
		tell_joined(pid, &attached);
	if (r == 0 && !recorder->inner_pid)
		recorder->inner_pid = attached.inner_pid;
	return r < 0 ? record_outside_join(recorder, pid, r, err) : r;
}

/* With one process its trouble is the recording's; of several, each has a line of its own. */
static int join_all(struct recorder *recorder, const pid_t *pids, size_t n, struct err *err)
{
	size_t n_joined = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		struct err why = {0};
		int one = join_one(recorder, pids[i], &why);

		if (one == 0 && n_joined++ == 0 && name_recording(recorder, pids[i]) < 0)
			return err_set(err, ENOMEM, "start");
		if (one == 0)
			continue;
		if (r < 0)
			say_error("%s", err->text);
		*err = why;
		r = one;
	}
	if (n_joined == 0)
		return r;
	if (r < 0)
		say_error("%s", err->text);
	return 0;
}

static int start_with_named(struct recorder *recorder, struct err *err)
{
	_cleanup_free_ pid_t *pids = calloc(ATTACH_MAX_PIDS, sizeof(*pids));
	size_t n = 0;
	int r;

	if (!pids)
		return err_set(err, ENOMEM, "start");
	r = attach_options_find(&recorder->options->attach, pids, &n, err);
	if (r == 0)
		r = collector_begin(recorder->collector, err);
	return r == 0 ? join_all(recorder, pids, n, err) : r;
}

int record_attach_start(struct recorder *recorder, struct err *err)
{
	return recorder->options->attach.all ? record_choose_start(recorder, err)
					     : start_with_named(recorder, err);
}

/* attach_options.c - which running processes are to be attached to */
#include "tools/options/options.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/pattern.h"
#include "tools/cli/value.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum { WORD_BYTES = 32 };

static bool holds(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static int add_pid(const char *word, size_t len, struct attach_options *options, struct err *err)
{
	char text[WORD_BYTES];
	pid_t pid = 0;

	(void)snprintf(text, sizeof(text), "%.*s", (int)len, word);
	if (len >= sizeof(text))
		return err_set(err, 0, "'%s...' is not a process id, try: pgrep NAME", text);
	if (value_process(text, &pid, err) < 0)
		return -EINVAL;
	if (holds(options->pids, options->n_pids, pid))
		return 0;
	if (options->n_pids == ATTACH_MAX_PIDS)
		return err_set(err, 0, "more than %d processes", ATTACH_MAX_PIDS);
	options->pids[options->n_pids++] = pid;
	return 0;
}

static int take_pids(const char *list, struct attach_options *options, struct err *err)
{
	int r = 0;

	for (const char *at = list; r == 0;) {
		size_t len = strcspn(at, ",");

		r = add_pid(at, len, options, err);
		if (!at[len])
			break;
		at += len + 1;
	}
	return r < 0 ? r : 1;
}

static int take_comm(const char *text, struct attach_options *options, struct err *err)
{
	struct pattern *pattern = NULL;
	int r = pattern_new(text, &pattern, err);

	pattern_free(pattern);
	options->comm = text;
	return r < 0 ? r : 1;
}

/* By its name, with or without SIG, or by its number. */
static int take_signal(const char *text, struct attach_options *options, struct err *err)
{
	static const int fit[] = {SIGPROF, SIGVTALRM, SIGSTKFLT, SIGPWR,
				  SIGXCPU, SIGURG,    SIGIO,     SIGWINCH};
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;

	for (size_t i = 0; i < sizeof(fit) / sizeof(fit[0]); i++) {
		if (strcmp(name, sigabbrev_np(fit[i])) == 0) {
			options->signal = fit[i];
			return 1;
		}
	}
	return err_set(err, 0,
		       "'%s' is not one of: PROF, VTALRM, STKFLT, PWR, XCPU, URG, IO, WINCH", text);
}

int attach_options_take(int id, const char *value, struct attach_options *options, struct err *err)
{
	switch (id) {
	case 'p':
		return take_pids(value, options, err);
	case OPT_COMM:
		return take_comm(value, options, err);
	case 'a':
		options->all = true;
		return 1;
	case OPT_NO_CHILDREN:
		options->no_children = true;
		return 1;
	case OPT_SIGNAL:
		return take_signal(value, options, err);
	default:
		return 0;
	}
}

bool attach_options_given(const struct attach_options *options)
{
	return options->n_pids > 0 || options->comm || options->all;
}

/* Threads of the kernel have no command line, nor have zombies. */
static bool has_program(pid_t pid)
{
	char path[64];
	char byte;
	_cleanup_fd_ int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && io_pread(fd, &byte, 1, 0) == 1;
}

/* Others' processes are not meant when all that match are requested. */
static bool is_ours(pid_t pid)
{
	char path[64];
	struct stat stat;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return lstat(path, &stat) == 0 && (geteuid() == 0 || stat.st_uid == geteuid());
}

bool attach_options_comm(pid_t pid, char ret_comm[static ATTACH_COMM_BYTES])
{
	char path[64];
	_cleanup_fd_ int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (io_read_text(fd, ret_comm, ATTACH_COMM_BYTES) < 0)
		return false;
	ret_comm[strcspn(ret_comm, "\n")] = '\0';
	return ret_comm[0];
}

static bool is_named(pid_t pid, struct pattern *pattern)
{
	char comm[ATTACH_COMM_BYTES];

	return attach_options_comm(pid, comm) && pattern_matches(pattern, comm, strlen(comm));
}

static int find_by_name(struct pattern *pattern, pid_t *pids, size_t *n, struct err *err)
{
	_cleanup_dir_ DIR *all = opendir("/proc");
	const struct dirent *entry;
	pid_t pid = 0;

	if (!all)
		return err_set(err, errno, "list '/proc'");
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(all))) { /* NOLINT(concurrency-mt-unsafe) */
		if (value_pid(entry->d_name, &pid) < 0 || pid == getpid() || holds(pids, *n, pid) ||
		    !is_ours(pid) || !is_named(pid, pattern) || !has_program(pid))
			continue;
		if (*n == ATTACH_MAX_PIDS)
			return err_set(err, 0, "--comm: more than %d processes", ATTACH_MAX_PIDS);
		pids[(*n)++] = pid;
	}
	return 0;
}

void attach_options_hint(const char *command, struct err *err)
{
	pid_t pids[ATTACH_MAX_PIDS];
	char text[WORD_BYTES + ATTACH_COMM_BYTES];
	struct pattern *pattern = NULL;
	struct err none = {0};
	pid_t pid = 0;
	size_t n = 0;

	if (strstr(err->text, "try:"))
		return;
	if (value_pid(command, &pid) == 0 && has_program(pid)) {
		err_hint(err, "-p %s", command);
		return;
	}
	if (strlen(command) < ATTACH_COMM_BYTES) {
		(void)snprintf(text, sizeof(text), "^\\Q%s\\E$", command);
		if (pattern_new(text, &pattern, &none) == 0)
			(void)find_by_name(pattern, pids, &n, &none);
		pattern_free(pattern);
	}
	if (n > 0)
		err_hint(err, "--comm %s", command);
	else if (strchr(command, '/'))
		err_hint(err, "another path: ls shows what is there");
	else
		err_hint(err, "its path, such as ./%s", command);
}

int attach_options_find(const struct attach_options *options, pid_t *ret_pids, size_t *ret_n,
			struct err *err)
{
	struct pattern *pattern = NULL;
	size_t n = options->n_pids;
	int r = 0;

	memcpy(ret_pids, options->pids, n * sizeof(*ret_pids));
	if (options->comm) {
		r = pattern_new(options->comm, &pattern, err);
		if (r == 0)
			r = find_by_name(pattern, ret_pids, &n, err);
		pattern_free(pattern);
	}
	if (r < 0)
		return r;
	*ret_n = n;
	if (n > 0)
		return 0;
	(void)err_set(err, 0, "no process of yours has a name that matches '%s'", options->comm);
	err_hint(err, "another name, as ps -eo comm prints them");
	return -ESRCH;
}

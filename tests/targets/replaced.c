/* replaced.c - runs code whose file is then replaced, deleted, hidden, or never had a name
 * usage: replaced FOLDER SECONDS SELF OTHER
 *
 * OTHER is renamed over SELF first: the program's own file.  FOLDER holds the parts, each as
 * NAME.so and, with other code and other names, NAME.other.  Each way with each part is a thread
 * of its own, which prints "TID WAY NAME". */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const NAMES[] = {"plain", "stripped", "no_id", "same_id"};

enum { N_NAMES = sizeof(NAMES) / sizeof(NAMES[0]) };

enum way { KEPT, RENAMED, DELETED, MEMFD, MEMFD_CLOSED, N_WAYS, HIDDEN = N_WAYS };

static const char *const WAYS[] = {"kept", "renamed", "deleted", "memfd", "memfd-closed", "hidden"};

struct job {
	const char *name;
	enum way way;
	char path[4096]; /* what is loaded */
	double seconds;
};

static const char *folder;

static void copy(const char *from, int to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	char bytes[4096];
	ssize_t n;

	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			abort();
	if (in < 0 || n < 0)
		abort();
	(void)close(in);
}

static void copy_to(const char *from, const char *to)
{
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	copy(from, out);
	(void)close(out);
}

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		(void)fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	return library;
}

/* A library of the way, of which the file is gone, or another, once this returns. */
static void *prepare(struct job *job)
{
	char source[2048];
	char other[2048];
	void *library;

	(void)snprintf(source, sizeof(source), "%s/%s.so", folder, job->name);
	(void)snprintf(other, sizeof(other), "%s/%s.%s.new", folder, job->name, WAYS[job->way]);
	(void)snprintf(job->path, sizeof(job->path), "%s/%s.%s", folder, job->name, WAYS[job->way]);
	if (job->way == MEMFD || job->way == MEMFD_CLOSED) {
		/* A path of its own: of one that was loaded before the loader takes that. */
		static int number = 100;
		int first = memfd_create(job->name, 0);
		int fd = fcntl(first, F_DUPFD, number++);

		(void)close(first);
		copy(source, fd);
		(void)snprintf(job->path, sizeof(job->path), "/proc/self/fd/%d", fd);
		library = load(job->path);
		if (job->way == MEMFD_CLOSED)
			(void)close(fd);
		return library;
	}
	if (job->way == HIDDEN) {
		(void)snprintf(job->path, sizeof(job->path), "%s/hidden/%s.so", folder, job->name);
		copy_to(source, job->path);
		return load(job->path);
	}
	copy_to(source, job->path);
	library = load(job->path);
	if (job->way == DELETED)
		(void)unlink(job->path);
	(void)snprintf(source, sizeof(source), "%s/%s.other", folder, job->name);
	if (job->way == RENAMED) {
		copy_to(source, other);
		if (rename(other, job->path) < 0)
			abort();
	}
	return library;
}

static void *run(void *context)
{
	struct job *job = context;
	unsigned (*work)(double);

	*(void **)&work = dlsym(prepare(job), "work_of_the_part");
	printf("%ld %s %s\n", (long)syscall(SYS_gettid), WAYS[job->way], job->name);
	(void)fflush(stdout);
	(void)work(job->seconds);
	return NULL;
}

static void run_jobs(enum way first, enum way last, double seconds)
{
	for (int way = (int)first; way <= (int)last; way++) {
		for (int i = 0; i < N_NAMES; i++) {
			struct job job = {
				.name = NAMES[i], .way = (enum way)way, .seconds = seconds};
			pthread_t thread;

			if (pthread_create(&thread, NULL, run, &job) != 0)
				abort();
			(void)pthread_join(thread, NULL);
		}
	}
}

static int write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	if (file >= 0)
		(void)close(file);
	return written ? 0 : -1;
}

/* A mount namespace of one's own; other users than root need a user namespace for that. */
static int enter_namespace(const char *path)
{
	char users[64];
	char groups[64];

	(void)snprintf(users, sizeof(users), "%u %u 1", (unsigned)getuid(), (unsigned)getuid());
	(void)snprintf(groups, sizeof(groups), "%u %u 1", (unsigned)getgid(), (unsigned)getgid());
	if (unshare(CLONE_NEWNS) < 0 &&
	    (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
	     write_text("/proc/self/setgroups", "deny") < 0 ||
	     write_text("/proc/self/uid_map", users) < 0 ||
	     write_text("/proc/self/gid_map", groups) < 0))
		return -1;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	return mount("tmpfs", path, "tmpfs", 0, NULL);
}

/* In a mount namespace where the same paths are other files than outside. */
static void run_hidden(double seconds)
{
	char path[4096];
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/hidden", folder);
	(void)mkdir(path, 0755);
	for (int i = 0; i < N_NAMES; i++) {
		char from[4096];
		char to[4096];

		(void)snprintf(from, sizeof(from), "%s/%s.other", folder, NAMES[i]);
		(void)snprintf(to, sizeof(to), "%s/hidden/%s.so", folder, NAMES[i]);
		copy_to(from, to);
	}
	pid = fork();
	if (pid == 0) {
		if (enter_namespace(path) < 0) {
			printf("0 hidden impossible: %s\n", strerror(errno));
			(void)fflush(stdout);
			_exit(0);
		}
		run_jobs(HIDDEN, HIDDEN, seconds);
		(void)fflush(stdout);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	double seconds;

	if (argc != 5)
		return 2;
	folder = argv[1];
	seconds = strtod(argv[2], NULL);
	if (rename(argv[4], argv[3]) < 0)
		return 1;
	run_jobs(KEPT, MEMFD_CLOSED, seconds);
	run_hidden(seconds);
	return 0;
}

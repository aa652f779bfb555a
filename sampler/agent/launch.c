/* launch.c - examines the target of an exec, chooses its environment and makes the real call */
#define _GNU_SOURCE 1
#include "sampler/agent/launch.h"

#include "sampler/agent/agent.h"
#include "sampler/agent/environment.h"
#include "sampler/agent/signals.h"
#include "sampler/agent/syscall_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* A vfork child must not map memory: after its exec it would stay mapped in the parent. */
	STACK_MAX_IN_CHILD = 64 * 1024,
	STACK_MAX = 4 * 1024,
	NAME_BYTES_MAX = 255,
	PATH_BYTES_MAX = 4096,
};

bool launch_wanted(void)
{
	return agent_present() && !seccomp_entered();
}

static int raw_open(const char *path)
{
	struct stat st = {0};
	long r = sys4(__NR_newfstatat, AT_FDCWD, path, &st, 0);

	if (r < 0)
		return (int)r;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return (int)sys4(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
}

static long raw_pread(int fd, void *to, size_t len, uint64_t offset)
{
	return sys4(__NR_pread64, fd, to, len, offset);
}

static void raw_close(int fd)
{
	sys1(__NR_close, fd);
}

static int raw_stat(int fd, uint32_t *ret_mode, uint32_t *ret_uid, uint32_t *ret_gid,
		    bool *ret_capable)
{
	struct stat st = {0};
	long r = sys2(__NR_fstat, fd, &st);

	if (r < 0)
		return (int)r;
	*ret_mode = st.st_mode;
	*ret_uid = st.st_uid;
	*ret_gid = st.st_gid;
	*ret_capable = sys4(__NR_fgetxattr, fd, "security.capability", NULL, 0) > 0;
	return 0;
}

/* Return:  whether the loader would ignore LD_PRELOAD for any file: real and effective ids differ.
 */
static bool is_secure(const struct program_io *io)
{
	return sys0(__NR_getuid) != (long)io->uid || sys0(__NR_getgid) != (long)io->gid;
}

static void examine(const char *path, struct program *ret_program)
{
	struct program_io io = {
		.open = raw_open,
		.pread = raw_pread,
		.close = raw_close,
		.stat = raw_stat,
		.uid = (uint32_t)sys0(__NR_geteuid),
		.gid = (uint32_t)sys0(__NR_getegid),
	};

	program_examine(&io, path, ret_program);
	if (ret_program->kind == PROGRAM_DYNAMIC && is_secure(&io))
		ret_program->kind = PROGRAM_PRIVILEGED;
}

/*
 * An unreadable file may still be a program; for a file that is not ELF, libc runs a shell or
 * binfmt_misc an interpreter. Both get the agent. Otherwise exec fails.
 */
static bool takes_agent(enum program_kind kind)
{
	return kind == PROGRAM_DYNAMIC || kind == PROGRAM_NOT_ELF || kind == PROGRAM_MISSING;
}

static bool wick_is_there(void)
{
	return sys3(__NR_faccessat, AT_FDCWD, agent.file, R_OK) == 0;
}

static void decide(const struct launch *launch, struct program *program, struct launched *launched)
{
	*launched = (struct launched){.with_agent = false};
	program->asan[0] = '\0';
	/* Another wick that starts a program of its own has already set its environment. */
	if (!launch->path || environment_get(launch->envp, WIRE_ENV_SOCKET) || !wick_is_there())
		return;
	examine(launch->path, program);
	launched->kind = program->kind;
	launched->with_agent = takes_agent(program->kind);
	launched->unfit = !launched->with_agent;
}

static int run_in(const struct launch *launch, const char *asan, void *block)
{
	return launch->run(launch->call, environment_build(launch->envp, asan, block));
}

static int run_mapped(const struct launch *launch, const char *asan, size_t bytes)
{
	long block = sys6(__NR_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (sys_failed(block))
		return launch->run(launch->call, launch->envp);
	r = run_in(launch, asan, (void *)block);
	sys2(__NR_munmap, block, bytes);
	return r;
}

static int run_with_agent(const struct launch *launch, const char *asan)
{
	size_t bytes = environment_bytes(launch->envp, asan);
	bool vforked = !launch->in_child && !agent_is_self();

	if (bytes > (vforked ? STACK_MAX_IN_CHILD : STACK_MAX))
		return run_mapped(launch, asan, bytes);
	return run_in(launch, asan, __builtin_alloca_with_align(bytes, 8 * sizeof(char *)));
}

/* Reports that a program which cannot take the agent is about to replace this one. */
static void report_unsupported(const struct launch *launch, const struct launched *launched)
{
	if (launched->unfit && !launch->in_child)
		handshake_unsupported((int32_t)sys0(__NR_getpid), launched->kind, launch->path);
}

int launch_run(const struct launch *launch, struct launched *ret_launched)
{
	struct signals_saved saved;
	struct program program;
	int r;

	decide(launch, &program, ret_launched);
	report_unsupported(launch, ret_launched);
	signals_prepare_exec(&saved);
	if (ret_launched->with_agent)
		r = run_with_agent(launch, program.asan);
	else
		r = launch->run(launch->call, launch->envp);
	signals_restore(&saved);
	return r;
}

int launch_exec(const struct launch *launch)
{
	struct launched launched;
	int r;

	agent_before_exec();
	r = launch_run(launch, &launched);
	agent_exec_failed();
	return r;
}

bool launch_fits(const char *path, char *const *envp)
{
	struct launch launch = {.path = path, .envp = envp};
	struct launched launched;
	struct program program;

	decide(&launch, &program, &launched);
	return launched.with_agent;
}

static bool is_executable(const char *path)
{
	struct stat st = {0};

	return sys4(__NR_newfstatat, AT_FDCWD, path, &st, 0) == 0 && S_ISREG(st.st_mode) &&
	       sys3(__NR_faccessat, AT_FDCWD, path, X_OK) == 0;
}

static size_t length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

static bool has_slash(const char *text)
{
	for (; *text; text++)
		if (*text == '/')
			return true;
	return false;
}

/* The default of execvp() when PATH is not set. */
static const char *search_list(void)
{
	const char *path = environment_get(environment_current(), "PATH");

	return path ? path : "/bin:/usr/bin";
}

size_t launch_search_bytes(const char *file)
{
	size_t path = length(search_list());

	/* launch_search() writes nothing then, and no stack is needed. */
	if (has_slash(file) || length(file) > NAME_BYTES_MAX)
		return 1;
	return (path < PATH_BYTES_MAX ? path : PATH_BYTES_MAX) + length(file) + 2;
}

/* Writes DIR[0..LEN), a slash and FILE; an empty DIR is the current directory. */
static void join_path(char *to, const char *dir, size_t len, const char *file)
{
	for (size_t i = 0; i < len; i++)
		*to++ = dir[i];
	if (len)
		*to++ = '/';
	while (*file)
		*to++ = *file++;
	*to = '\0';
}

const char *launch_search(const char *file, char *buffer)
{
	const char *dir = search_list();

	if (has_slash(file))
		return file;
	if (!*file || length(file) > NAME_BYTES_MAX)
		return NULL;
	for (;;) {
		size_t len = 0;

		while (dir[len] && dir[len] != ':')
			len++;
		if (len < PATH_BYTES_MAX) {
			join_path(buffer, dir, len, file);
			if (is_executable(buffer))
				return buffer;
		}
		if (!dir[len])
			return NULL;
		dir += len + 1;
	}
}

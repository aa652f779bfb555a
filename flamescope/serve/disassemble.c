/* disassemble.c - objdump, which gets an open file and gives text */
#include "flamescope/serve/code.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PIECE_BYTES = 16 * 1024, POLL_MS = 100, MODULE_FD = 3, CPU_S = 10 };

#define NS_PER_MS    UINT64_C(1000000)
#define MEMORY_BYTES (UINT64_C(2) << 30)

/* A group of its own, which can be killed whole; no signal is blocked or ignored. */
static int spawn(const char *objdump, char *const argv[], int module, int writer, pid_t *ret_pid)
{
	char *environment[] = {(char[]){"LC_ALL=C"}, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	int r;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawn_file_actions_init(&files);
	r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
							  POSIX_SPAWN_SETPGROUP);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(&attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(&attributes, &none);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, writer, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, module, MODULE_FD);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
						     0);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY,
						     0);
	if (r == 0)
		r = posix_spawnp(ret_pid, objdump, &files, &attributes, argv, environment);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

static void limit(pid_t pid)
{
	const struct rlimit memory = {MEMORY_BYTES, MEMORY_BYTES};
	const struct rlimit cpu = {CPU_S, CPU_S};
	const struct rlimit nothing = {0, 0};

	(void)prlimit(pid, RLIMIT_AS, &memory, NULL);
	(void)prlimit(pid, RLIMIT_CPU, &cpu, NULL);
	(void)prlimit(pid, RLIMIT_FSIZE, &nothing, NULL);
	(void)prlimit(pid, RLIMIT_CORE, &nothing, NULL);
}

/* All that it writes. Returns 0; -ETIMEDOUT; -EFBIG: the text has as much as it may. */
static int read_all(int reader, uint64_t until_ns, const _Atomic bool *stop, struct buf *text)
{
	char piece[PIECE_BYTES];

	for (;;) {
		struct pollfd fds = {.fd = reader, .events = POLLIN};
		ssize_t n;

		if (io_now_ns() > until_ns || atomic_load_explicit(stop, memory_order_relaxed))
			return -ETIMEDOUT;
		if (poll(&fds, 1, POLL_MS) <= 0)
			continue;
		n = read(reader, piece, PIECE_BYTES);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0 && buf_append(text, piece, (size_t)n) < 0)
			return -EFBIG;
	}
}

/* "  401136:\tpush   %rbp"; LINE is cut. */
static bool parse(char *line, struct instruction *ret_instruction)
{
	char *end;

	line += strspn(line, " ");
	if (!isxdigit((unsigned char)*line))
		return false;
	ret_instruction->addr = strtoull(line, &end, 16);
	if (end[0] != ':' || end[1] != '\t')
		return false;
	for (char *at = end + 2; *at; at++)
		if (*at == '\t')
			*at = ' ';
	ret_instruction->text = end + 2;
	return true;
}

/* Has it all written, or is at its limit; returns as read_all(). */
static int run(const struct code_options *options, const _Atomic bool *stop,
	       struct disassembly *disassembly)
{
	const unsigned ms = options->disassembly_ms ? options->disassembly_ms : CODE_DISASSEMBLY_MS;
	const char *objdump = options->objdump ? options->objdump : "objdump";
	const uint64_t until_ns = io_now_ns() + ms * NS_PER_MS;
	char start[64], end[64], file[32];
	char *argv[] = {(char[]){"objdump"},
			(char[]){"-dwC"},
			(char[]){"--no-show-raw-insn"},
			start,
			end,
			file,
			NULL};
	_cleanup_fd_ int reader = -1;
	int ends[2];
	pid_t pid = 0;
	int r;

	(void)snprintf(start, sizeof(start), "--start-address=0x%" PRIx64, disassembly->from);
	(void)snprintf(end, sizeof(end), "--stop-address=0x%" PRIx64, disassembly->to);
	(void)snprintf(file, sizeof(file), "/proc/self/fd/%d", MODULE_FD);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	reader = ends[0];
	r = spawn(objdump, argv, disassembly->module, ends[1], &pid);
	(void)close(ends[1]);
	if (r < 0)
		return r;
	limit(pid);
	r = read_all(reader, until_ns, stop, &disassembly->text);
	(void)kill(-pid, SIGKILL); /* it has said all, or too much */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return r;
}

int disassemble(const struct code_options *options, const _Atomic bool *stop,
		struct disassembly *disassembly)
{
	const int r = run(options, stop, disassembly);
	char *rest = NULL;
	size_t n = 0;

	if (r < 0 || !*buf_text(&disassembly->text))
		return r;
	for (char *line = strtok_r(disassembly->text.data, "\n", &rest);
	     line && n < disassembly->max; line = strtok_r(NULL, "\n", &rest))
		n += parse(line, &disassembly->instructions[n]);
	return (int)n;
}

/*
 * fuzz_blocked.c - a blocked process whose module, code and stack are lies
 *
 * What is fuzzed is a child's memory, which is read as every process's: headers, unwind tables,
 * instructions, frames.
 */
#include "sampler/remote/blocked.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
	MAX_PCS = 128,
	HEAD = 8, /* where pc is in the module and sp in the stack, 32 bits each; then the stack */
	STACK_BYTES = 2048,
	STACK_ROOM = 4096,
	MODULE_BYTES = 16384,
};

/* The same in every run, so that what is found is found again. */
#define MODULE UINT64_C(0x200000000000)
#define STACK  UINT64_C(0x210000000000)

/* A word of the stack with these bits points into the module, with those into the stack. */
#define TO_MODULE UINT64_C(0xc0de000000000000)
#define TO_STACK  UINT64_C(0x57ac000000000000)
#define TO_WHERE  UINT64_C(0xffff000000000000)

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static unsigned char *module; /* as it is written */
static uint64_t *stack;
static struct remote *remote;

static void *map_at(uint64_t address, size_t size, int protection, int fd)
{
	void *at = mmap((void *)(uintptr_t)address, size, protection,
			MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0) |
				(address ? MAP_FIXED_NOREPLACE : 0),
			fd, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

static void start_child(void)
{
	int fd = memfd_create("module", MFD_CLOEXEC);
	pid_t parent = getpid();
	pid_t pid;

	if (fd < 0 || ftruncate(fd, MODULE_BYTES) < 0)
		abort();
	module = map_at(0, MODULE_BYTES, PROT_READ | PROT_WRITE, fd);
	(void)map_at(MODULE, MODULE_BYTES, PROT_READ | PROT_EXEC, fd);
	stack = map_at(STACK, STACK_ROOM, PROT_READ | PROT_WRITE, -1);
	(void)close(fd);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			(void)pause();
		_exit(0);
	}
	if (pid < 0 || remote_new(&remote, pid) < 0)
		abort();
}

static uint64_t placed(uint64_t word)
{
	if ((word & TO_WHERE) == TO_MODULE)
		return MODULE + (word & ~TO_WHERE);
	return (word & TO_WHERE) == TO_STACK ? STACK + (word & ~TO_WHERE) : word;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	uint32_t head[HEAD / 4];
	uint64_t pcs[MAX_PCS];
	struct blocked_at at = {0};
	struct unwind_result result = {0};

	if (size < HEAD + STACK_BYTES || size > HEAD + STACK_BYTES + MODULE_BYTES)
		return 0;
	if (!remote)
		start_child();
	memcpy(head, data, sizeof(head));
	memcpy(stack, data + HEAD, STACK_BYTES);
	for (size_t i = 0; i < STACK_BYTES / sizeof(*stack); i++)
		stack[i] = placed(stack[i]);
	size -= HEAD + STACK_BYTES;
	memcpy(module, data + HEAD + STACK_BYTES, size);
	memset(module + size, 0, MODULE_BYTES - size);
	at.pc = MODULE + head[0] % MODULE_BYTES;
	at.sp = STACK + head[1] % STACK_BYTES;
	remote_changed(remote);
	if (blocked_walk(remote, &at, pcs, MAX_PCS, &result) < 0 || result.n_pcs == 0 ||
	    result.n_pcs > MAX_PCS || (unsigned)result.stop >= UNWIND_N_STOPS ||
	    pcs[0] != (at.pc | UNWIND_EXACT))
		abort();
	return 0;
}

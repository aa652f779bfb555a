/* jitdump_writer.c - makes code in memory, in one place after another, and tells a jitdump
 * usage: jitdump_writer FOLDER SECONDS
 *
 * Each phase is a thread of its own, for SECONDS of CPU; prints its tid and what the code that it
 * runs is called. */
#include "burn.h"
#include "jitdump.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, CODE_BYTES = 64 };

/* mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret - after a call's usual beginning, for unwinders. */
static const uint8_t BURN[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf9,
			       0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3};

struct phase {
	const char *name;
	uint8_t *code;
	double seconds;
};

static int file;
static uint64_t number;

static void flush(struct jitdump *dump)
{
	if (write(file, dump->bytes, dump->len) != (ssize_t)dump->len)
		abort();
	dump->len = 0;
}

static void *run(void *context)
{
	const struct phase *phase = context;
	void (*burn)(uint64_t) = (void (*)(uint64_t))(uintptr_t)phase->code;
	uint64_t until_ns = (uint64_t)(phase->seconds * 1e9);

	printf("%ld %s\n", (long)syscall(SYS_gettid), phase->name);
	(void)fflush(stdout);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		burn(1000000);
	return NULL;
}

static void run_phase(const char *name, uint8_t *code, double seconds)
{
	struct phase phase = {.name = name, .code = code, .seconds = seconds};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, &phase) != 0)
		abort();
	(void)pthread_join(thread, NULL);
}

static struct jitdump_load load_of(const char *name, uint8_t *at)
{
	memset(at, 0xcc, CODE_BYTES);
	memcpy(at, BURN, sizeof(BURN));
	number++;
	return (struct jitdump_load){.pid = (uint32_t)getpid(),
				     .time_ns = now_ns(),
				     .addr = (uintptr_t)at,
				     .number = number,
				     .name = name,
				     .code = at,
				     .code_bytes = CODE_BYTES};
}

static void tell(struct jitdump *dump, const char *name, uint8_t *at)
{
	struct jitdump_load load = load_of(name, at);
	const struct jitdump_line lines[] = {{load.addr, 10, "made.up"},
					     {load.addr + 7, 11, "\xff"}};

	jitdump_lines(dump, load.time_ns, load.addr, lines, 2);
	jitdump_load(dump, &load);
	flush(dump);
}

static void move(struct jitdump *dump, const char *name, uint8_t *from, uint8_t *to)
{
	struct jitdump_load load = {.pid = (uint32_t)getpid(),
				    .addr = (uintptr_t)from,
				    .number = number,
				    .name = name,
				    .code_bytes = CODE_BYTES};

	memcpy(to, from, CODE_BYTES);
	memset(from, 0xcc, CODE_BYTES);
	jitdump_move(dump, &load, (uintptr_t)to, now_ns());
	flush(dump);
}

int main(int argc, char **argv)
{
	static struct jitdump dump;
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 0.3;
	char path[4096];
	uint8_t *code;
	void *marker;

	(void)snprintf(path, sizeof(path), "%s/jit-%d.dump", argc > 1 ? argv[1] : ".",
		       (int)getpid());
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0)
		return 1;
	jitdump_header(&dump, (uint32_t)getpid(), now_ns(), 0);
	flush(&dump);
	marker = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (marker == MAP_FAILED || code == MAP_FAILED)
		return 1;
	tell(&dump, "jit_first", code);
	run_phase("jit_first", code, seconds);
	move(&dump, "jit_first", code, code + PAGE);
	run_phase("jit_first", code + PAGE, seconds);
	tell(&dump, "jit_second", code);
	run_phase("jit_second", code, seconds);
	tell(&dump, "jit third, with blanks", code);
	run_phase("jit third, with blanks", code, seconds);
	jitdump_close(&dump, now_ns());
	flush(&dump);
	return 0;
}

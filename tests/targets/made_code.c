/* made_code.c - runs code in memory of no file, and says what it likes about it
 * usage: made_code FOLDER map|map-grow|dump|dump-grow|none COUNT
 *
 * Writes COUNT lines to /tmp/perf-PID.map, or COUNT functions to a jitdump in FOLDER, prints a
 * line, and works until it is killed: half of its CPU in innocent_work, half in the made code.
 * With -grow it goes on writing. */
#include "burn.h"
#include "jitdump.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

BURN_FUNCTION(innocent_work)

enum { PAGE = 4096, PAGES = 64, A_TURN = 1024 };

/* mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret - after a call's usual beginning, for unwinders. */
static const uint8_t BURN[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf9,
			       0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3};

static int file = -1;
static uint8_t *code;
static struct jitdump dump;

static void put(const void *bytes, size_t len)
{
	if (write(file, bytes, len) != (ssize_t)len)
		_exit(1);
}

/* One byte each, so that a page has as many as there can be. */
static void add_to_dump(unsigned long nth)
{
	const struct jitdump_load load = {.pid = (uint32_t)getpid(),
					  .time_ns = now_ns(),
					  .addr = (uintptr_t)code + nth % (PAGES * PAGE),
					  .number = nth,
					  .name = "made",
					  .code = code,
					  .code_bytes = 1};

	jitdump_load(&dump, &load);
}

static void add_to_map(unsigned long nth)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%lx 10 made_%lu\n",
			   (unsigned long)(uintptr_t)code + 16 * nth, nth);

	jitdump_put(&dump, line, (size_t)len);
}

static void add(bool to_dump, unsigned long *nth, unsigned long n)
{
	for (unsigned long end = *nth + n; *nth < end; ++*nth) {
		if (to_dump)
			add_to_dump(*nth);
		else
			add_to_map(*nth);
		if (dump.len < sizeof(dump.bytes) - PAGE)
			continue;
		put(dump.bytes, dump.len);
		dump.len = 0;
	}
}

static void begin(const char *folder, bool to_dump)
{
	char path[4096];

	if (to_dump)
		(void)snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	else
		(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0)
		_exit(1);
	if (!to_dump)
		return;
	jitdump_header(&dump, (uint32_t)getpid(), now_ns(), 0);
	put(dump.bytes, dump.len);
	dump.len = 0;
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
		_exit(1);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[2] : "none";
	bool to_dump = strncmp(mode, "dump", 4) == 0;
	bool grows = strstr(mode, "-grow") != NULL;
	unsigned long nth = 0;
	void (*burn)(uint64_t);

	code = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	memcpy(code, BURN, sizeof(BURN));
	burn = (void (*)(uint64_t))(uintptr_t)code;
	if (strcmp(mode, "none") != 0) {
		begin(argv[1], to_dump);
		add(to_dump, &nth, strtoul(argv[3], NULL, 10));
	}
	printf("%d\n", (int)getpid());
	(void)fflush(stdout);
	for (;;) {
		burn(1000000);
		innocent_work(1000000);
		if (grows)
			add(to_dump, &nth, A_TURN);
	}
}

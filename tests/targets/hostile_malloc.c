/*
 * hostile_malloc.c - becomes another program while its thread runs injected code
 *
 * usage: hostile_malloc
 *
 * It says "ready" and rests.  Only a program that makes it load something calls its allocator then,
 * which calls exec.  The program that it is afterwards says "alive" for each line that it is given.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { ROOM_BYTES = 1 << 22, ALIGN = 16 };

static _Alignas(ALIGN) unsigned char room[ROOM_BYTES];
static _Atomic size_t used;
static _Atomic int at_rest;

static void *take(size_t bytes)
{
	size_t whole = (bytes + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
	size_t at = atomic_fetch_add(&used, whole);

	if (at_rest) {
		static char name[] = "hostile_malloc";
		static char word[] = "again";
		char *again[] = {name, word, NULL};

		at_rest = 0;
		(void)execv("/proc/self/exe", again);
	}
	if (bytes > ROOM_BYTES || at + whole > ROOM_BYTES)
		return NULL;
	memcpy(room + at, &bytes, sizeof(bytes));
	return room + at + ALIGN;
}

EXPORT void *malloc(size_t bytes)
{
	return take(bytes);
}

EXPORT void *calloc(size_t n, size_t bytes)
{
	return n && bytes > SIZE_MAX / n ? NULL : take(n * bytes); /* nothing is used twice */
}

EXPORT void *realloc(void *old, size_t bytes)
{
	void *moved = take(bytes);
	size_t had = 0;

	if (old)
		memcpy(&had, (unsigned char *)old - ALIGN, sizeof(had));
	if (moved && old)
		memcpy(moved, old, had < bytes ? had : bytes);
	return moved;
}

EXPORT void free(void *memory)
{
	(void)memory;
}

static void on_signal(int signo)
{
	(void)signo;
}

/* A tracer that is still there sees a stop, and may take it for the end of what it asked for. */
static void provoke(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigaction(SIGUSR1, &action, NULL);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(SIGUSR1);
}

static int answer(void)
{
	char byte;

	provoke();
	while (read(STDIN_FILENO, &byte, 1) == 1)
		if (byte == '\n' && write(STDOUT_FILENO, "alive\n", 6) != 6)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return answer();
	at_rest = 1;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (;;)
		(void)pause();
}

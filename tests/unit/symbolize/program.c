/* program.c - prints where its functions are, then waits to be read */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))

/* Which of two builds this is: their functions lie at different addresses. */
#ifdef OTHER_BUILD
NOINLINE void padding(void)
{
	__asm__ volatile(".fill 4096, 1, 0x90");
}
#endif

NOINLINE __attribute__((visibility("default"))) int exported_work(int x)
{
	__asm__ volatile("" ::: "memory");
	return x * 3 + 1;
}

static NOINLINE int hidden_work(int x)
{
	__asm__ volatile("" ::: "memory");
	return x * 5 + 2;
}

int main(void)
{
	int (*exported)(int) = exported_work;
	int (*hidden)(int) = hidden_work;
	void *library = (void *)(size_t)strtol;
	char byte;

	printf("%p %p %p\n", (void *)(size_t)exported, (void *)(size_t)hidden, library);
	(void)fflush(stdout);
	return read(0, &byte, 1) < 0 || exported(1) + hidden(1) == 0;
}

/* main.c - the half in C, with code that the linker may throw away */
#include "part.h"

volatile int part_sink;

int thrown_away(int x);

int thrown_away(int x)
{
	for (int i = 0; i < 10; i++)
		x = part_mix(x) + part_mix(i);
	return x;
}

__attribute__((cold, noinline)) void part_cold(int x)
{
	part_sink -= x;
}

static __attribute__((noinline)) int worker(int x)
{
	int y = part_mix(x);

	switch (y & 7) {
	case 0:
		return part_mix(y + 1);
	case 1:
	case 2:
		part_sink = y;
		return part_run(y & 15);
	default:
		return y + part_mix(part_sink);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < argc * 10; i++)
		part_sink += worker(i);
	return part_sink == 12345;
}

/* part.h - what both halves of the program share, with code of its own */
#ifndef PART_H
#define PART_H

#ifdef __cplusplus
extern "C" {
#endif
extern volatile int part_sink;
int part_run(int x);
void part_cold(int x);
#ifdef __cplusplus
}
#endif

static inline int part_mix(int x)
{
	int y = x * 31;

	if (y > part_sink)
		y -= part_sink;
	return y ^ (y >> 3);
}

#endif

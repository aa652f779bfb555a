/* replaced_part.c - a library whose work is a function of a name of its own: NAME and NUMBER */
#include <time.h>

static __attribute__((noinline, noclone)) unsigned NAME(unsigned x)
{
	for (unsigned i = 0; i < 20000; i++) {
		x = x * NUMBER + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

__attribute__((visibility("default"))) unsigned work_of_the_part(double seconds);

unsigned work_of_the_part(double seconds)
{
	struct timespec now;
	double until = 0;
	unsigned x = 1;

	for (;;) {
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		if (until == 0)
			until = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + seconds;
		if ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 > until)
			return x;
		x = NAME(x);
	}
}

/* program_sample.c - the smallest program, to be built in every way that an exec can meet */
#include <stdio.h>

int main(void)
{
	return puts("") < 0;
}

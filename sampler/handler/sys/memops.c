/* memops.c - memcpy() and others, which the compiler may call by itself: the agent has its own,
 * hidden */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);

void *memcpy(void *to, const void *from, size_t len)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	while (len--)
		*t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, size_t len)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (t <= f)
		return memcpy(to, from, len);
	while (len--)
		t[len] = f[len];
	return to;
}

void *memset(void *to, int byte, size_t len)
{
	unsigned char *t = to;

	while (len--)
		*t++ = (unsigned char)byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t len)
{
	const unsigned char *x = a;
	const unsigned char *y = b;

	for (; len--; x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}

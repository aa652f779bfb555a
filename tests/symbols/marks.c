/* marks.c - marked positions in C; the whole is in marks.h */
#include "marks.h"

#include <stdlib.h>

volatile int marks_sink;

void marks_stop(void)
{
	//: stop = marks_stop
	MARK("stop");
	exit(marks_sink & 1);
}

static INLINE int c_mid(int x)
{
	int y = marks_sink;

	return c_leaf(x ^ y) + 1; /*@c-mid*/
}

NOINLINE int c_outer(int x);
NOINLINE int c_outer(int x)
{
	int y = c_mid(x + 2); /*@c-outer*/

	return y * x;
}

struct pair {
	int used;
	int unused;
};

/* Of a static function the compiler keeps only what is needed: .isra, .constprop, .part. */
static NOINLINE int c_static(const struct pair *pair, int factor)
{
	//: c-static = c_static
	MARK("c-static");
	return pair->used * factor + marks_sink;
}

static NOINLINE int c_nested_user(int x)
{
#ifndef __clang__
	int seen = x;

	/* GNU C: a function within a function, which uses its variables. */
	NOINLINE int nested(int y)
	{
		//: c-nested = nested
		MARK("c-nested");
		seen += y;
		return seen + marks_sink;
	}
	return nested(x) + nested(x + 1);
#else
	return x + marks_sink;
#endif
}

/* The start of it goes into its callers, the rest stays: NAME.part.0 (at -O3, all of it). */
#if !defined(__clang__) && !defined(MARKS_O3)
static int c_parted(int x)
{
	if (!marks_sink)
		return x;
	//: c-parted = c_parted
	MARK("c-parted");
	for (int i = 0; i < x; i++)
		marks_sink += i * marks_sink / (x + 1);
	return marks_sink * x;
}
#else
static int c_parted(int x)
{
	return x + marks_sink;
}
#endif

NOINLINE int c_parted_user(int x);
NOINLINE int c_parted_user(int x)
{
	return c_parted(x) * 5;
}

/* A tail call leaves no frame: where it went is itself the outermost. */
static NOINLINE int c_tail_target(int x)
{
	//: c-tail = c_tail_target
	MARK("c-tail");
	return x - marks_sink;
}

NOINLINE int c_tail(int x);
NOINLINE int c_tail(int x)
{
	marks_sink++;
	return c_tail_target(x + 4);
}

/* Two functions of the same bytes: a linker may fold them into one. */
NOINLINE int c_same_one(int x);
NOINLINE int c_same_two(int x);
NOINLINE int c_same_one(int x)
{
	//: c-same-one = c_same_one
	MARK("c-same-one");
	return x * 31 + 5;
}
NOINLINE int c_same_two(int x)
{
	//: c-same-two = c_same_two
	MARK("c-same-two");
	return x * 31 + 5;
}

/* Nobody calls it: --gc-sections throws it away, and its DWARF says that it is at 0. */
int c_dead(int x)
{
	for (int i = 0; i < x; i++) {
		marks_sink += i * x;
		__asm__ volatile(".skip 4096, 0x90");
	}
	return marks_sink;
}

NOINLINE int c_marks(int x)
{
	const struct pair pair = {.used = x, .unused = 2};
	int y = c_outer(x) + c_static(&pair, 7) + c_nested_user(x) + c_tail(x);

	y += c_parted_user(x) + c_parted(x + 2) + asm_add(x) + c_same_one(x) + c_same_two(y);
	//: c-marks = c_marks
	MARK("c-marks");
	return y;
}

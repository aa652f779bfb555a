/* unwind_chain.c - a chain of 64 functions with frames of every kind, to be unwound */
#include "tests/bench/unwind_chain.h"

#include <alloca.h>
#include <stdint.h>
#include <string.h>

typedef void chain_link(unsigned depth, chain_visit *visit, void *context);

static chain_link *const links[];

#define NOINLINE __attribute__((noinline, noclone))
/* What follows a call keeps the frame: without it the compiler would jump. */
#define STAY() __asm__ volatile("" ::: "memory")

static void go_deeper(unsigned depth, chain_visit *visit, void *context)
{
	if (depth == 0)
		visit(context);
	else
		links[depth % 64](depth - 1, visit, context);
	STAY();
}

/* sp only, frames of different sizes */
#define PLAIN(n)                                                                                   \
	NOINLINE static void plain_##n(unsigned depth, chain_visit *visit, void *context)          \
	{                                                                                          \
		volatile char frame[8 + 24 * (n)];                                                 \
                                                                                                   \
		frame[0] = (char)depth;                                                            \
		go_deeper(depth, visit, context);                                                  \
		frame[1] = frame[0];                                                               \
	}

/* callee-saved registers pushed */
#define PUSHES(n)                                                                                  \
	NOINLINE static void pushes_##n(unsigned depth, chain_visit *visit, void *context)         \
	{                                                                                          \
		uint64_t a = depth * 3, b = depth * 5, c = depth * 7 + (n);                        \
                                                                                                   \
		__asm__ volatile("" : "+b"(a), "+r"(b), "+r"(c) : : "r12", "r13", "memory");       \
		go_deeper(depth, visit, context);                                                  \
		__asm__ volatile("" : : "b"(a), "r"(b), "r"(c) : "memory");                        \
	}

/* bp as frame pointer, for the stack grows at run time */
#define GROWS(n)                                                                                   \
	NOINLINE static void grows_##n(unsigned depth, chain_visit *visit, void *context)          \
	{                                                                                          \
		volatile char *room = alloca(16 + (depth & 7) * 16 + (n));                         \
                                                                                                   \
		room[0] = (char)depth;                                                             \
		go_deeper(depth, visit, context);                                                  \
		room[1] = room[0];                                                                 \
	}

/* clang-format off */
#define SIXTEEN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) \
	X(14) X(15)
SIXTEEN(PLAIN)
SIXTEEN(PUSHES)
SIXTEEN(GROWS) // cppcheck-suppress allocaCalled ; frames whose size varies are the point
#define FOUR(n) plain_##n, pushes_##n, grows_##n, pushes_##n,
static chain_link *const links[] = {SIXTEEN(FOUR)};
/* clang-format on */

void chain_call(unsigned depth, chain_visit *visit, void *context)
{
	go_deeper(depth, visit, context);
}

/* marks.cc - marked positions in C++; the whole is in marks.h */
#include "marks.h"

namespace ns
{
static INLINE int mid(int x)
{
	if (marks_sink > 4)
		x++;
	return leaf(x) + 1; /*@mid-leaf*/
}

struct S {
	int member;
	NOINLINE int outer(int x);
	NOINLINE int operator+(int x);
};

int S::outer(int x)
{
	int y = mid(x + member); /*@outer-mid*/

	return y ^ x;
}

int S::operator+(int x)
{
	//: operator = ns::S::operator+
	MARK("operator");
	return member + x;
}

/* Cold code goes to a place of its own. */
__attribute__((cold, noinline)) void cold_sink(int x)
{
	//: cold-function = ns::cold_sink
	MARK("cold-function");
	marks_sink -= x;
}

NOINLINE int chilly(int x)
{
	if (__builtin_expect(x == 12345, 0)) {
		//: cold = ns::chilly
		MARK("cold");
		cold_sink(x);
	}
	return x * 7 + marks_sink;
}

__attribute__((cold, noreturn, noinline)) void cold_end(int x)
{
	marks_sink += x;
	marks_stop();
}

/*
 * What ends the program is split off even more: gcc's NAME.cold, far away, with a range of its own.
 * (No mark: it does not move code with asm in it.)
 */
NOINLINE int frozen(int x)
{
	if (__builtin_expect(x == 54321, 0)) {
		//: cold-end = ns::frozen
		cold_end(x); /*@cold-end*/
	}
	return x * 9 + marks_sink;
}

static INLINE int twist(int x)
{
	//: in-lambda = ns::twist | ns::with_lambda::{lambda}::operator()@twist
	MARK("in-lambda");
	return x * 17;
}

NOINLINE int with_lambda(int x)
{
	auto called = [x](int y) __attribute__((noinline))
	{
		//: lambda = ns::with_lambda::{lambda}::operator()
		MARK("lambda");
		return twist(x) * y + marks_sink; /*@twist*/
	};
	auto inlined = [x](int y) __attribute__((always_inline))
	{
		//: lambda-inlined = ns::with_lambda::{lambda}::operator() |
		//: ns::with_lambda@lambda-call
		MARK("lambda-inlined");
		return x - y;
	};
	int z = called(x + 1);

	return z + inlined(x); /*@lambda-call*/
}

NOINLINE int with_local(int x)
{
	struct Local {
		int kept;
		NOINLINE int method(int y)
		{
			//: local = ns::with_local::Local::method
			MARK("local");
			return kept * y + marks_sink * 3;
		}
		INLINE int inlined(int y)
		{
			//: local-inlined = ns::with_local::Local::inlined |
			//: ns::with_local@local-call
			MARK("local-inlined");
			return kept + y;
		}
	};
	Local local = {x};
	int z = local.method(x);

	return z + local.inlined(z); /*@local-call*/
}

NOINLINE int with_table(int x)
{
#include "marks_table.inc"
	return x + marks_sink;
}

template <typename T, int N> struct Box {
	T kept;
	NOINLINE T get(T x);
};

template <typename T, int N> T Box<T, N>::get(T x)
{
	//: template = ns::Box<long, 3>::get
	MARK("template");
	return kept * x + N;
}

/* Ends in a call: its return address is the first of the next function. */
NOINLINE void ends_in_call(int x);
void ends_in_call(int x)
{
	marks_sink += x;
	//: last-call = ns::ends_in_call
	MARK_LAST_CALL("last-call", marks_stop);
	__builtin_unreachable();
}

NOINLINE int after_it(int x);
int after_it(int x)
{
	//: after = ns::after_it
	MARK("after");
	return x + 2;
}

namespace
{
struct Hidden {
	static INLINE int hop(int x)
	{
		//: hidden = ns::(anonymous namespace)::Hidden::hop |
		//: ns::(anonymous namespace)::hider@hop
		MARK("hidden");
		return x * 11;
	}
};

NOINLINE int hider(int x)
{
	return Hidden::hop(x) + marks_sink; /*@hop*/
}
} // namespace
} // namespace ns

/* More calls in each other than the depth that some readers end at. */
template <int N> static INLINE int deep(int x)
{
	return deep<N - 1>(x + N) + marks_sink; /*@deep*/
}

template <> INLINE int deep<0>(int x)
{
	//: deep = deep<0> | deep<1..80>@deep | dive@dive
	MARK("deep");
	return x;
}

NOINLINE int dive(int x);
int dive(int x)
{
	return deep<80>(x); /*@dive*/
}

int main(int argc, char **)
{
	ns::S s = {argc};
	ns::Box<long, 3> box = {argc};
	int x = s.outer(argc) + (s + argc) + ns::chilly(argc) + ns::frozen(argc) +
		ns::with_lambda(argc);

	x += ns::with_local(argc) + ns::with_table(argc) + (int)box.get(argc) + dive(argc);
	x += ns::hider(argc) + ns::after_it(argc) + c_marks(argc);
	//: main = main
	MARK("main");
	if (x != 0x7fffffff)
		ns::ends_in_call(x);
	return 0;
}

// part.cc - code with something of everything in its debugging information
#include "part.h"

namespace
{
template <int N> struct Step {
	static inline int take(int x)
	{
		return Step<N - 1>::take(x * 3 + N) ^ part_sink;
	}
};

template <> struct Step<0> {
	static inline int take(int x)
	{
		return x;
	}
};
} // namespace

template <typename T> T twice(T x)
{
	return Step<3>::take(static_cast<int>(x)) + x;
}

struct Counter {
	int n;
	Counter() : n(part_sink)
	{
	}
	int add(int x);
};

int Counter::add(int x)
{
	if (__builtin_expect(x == 77, 0))
		part_cold(x);
	n += twice(x);
	return n;
}

extern "C" __attribute__((noinline)) int part_run(int x)
{
	Counter counter;
	int total = 0;

	for (int i = 0; i < x; i++) {
		auto each = [&](int y) { return counter.add(y) + i; };
		total += each(i) + static_cast<int>(twice<long>(total));
	}
	return total;
}

/* program.cc - names as C++ makes them */
#include <cstdio>
#include <functional>
#include <unistd.h>

namespace outer
{
template <typename T> struct Holder {
	__attribute__((noinline, noipa)) T method(int x)
	{
		asm volatile("" ::: "memory");
		return static_cast<T>(x);
	}
};
} // namespace outer

namespace
{
__attribute__((noinline, noipa)) int unnamed(int x)
{
	asm volatile("" ::: "memory");
	return x + 1;
}
} // namespace

int main()
{
	outer::Holder<long> holder;
	auto method = &outer::Holder<long>::method;
	char byte;

	std::printf("%p %p %p\n", reinterpret_cast<void *>(holder.*method),
		    reinterpret_cast<void *>(&unnamed), reinterpret_cast<void *>(&std::printf));
	std::fflush(stdout);
	return read(0, &byte, 1) < 0;
}

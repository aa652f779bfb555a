/*
 * operators.cc - every operator new and delete there is; prints "SUM of bytes asked for"
 *
 * usage: operators ROUNDS
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>

namespace
{

constexpr std::size_t SIZE = 1000;
constexpr std::align_val_t ALIGNMENT{64};

template <typename Take, typename GiveBack> std::size_t pair(Take take, GiveBack give_back)
{
	void *memory = take();

	__asm__ volatile("" : : "r"(memory) : "memory");
	give_back(memory);
	return SIZE;
}

std::size_t all_kinds()
{
	std::size_t sum = 0;

	sum += pair([] { return ::operator new(SIZE); }, [](void *at) { ::operator delete(at); });
	sum += pair([] { return ::operator new[](SIZE); },
		    [](void *at) { ::operator delete[](at); });
	sum += pair([] { return ::operator new(SIZE); },
		    [](void *at) { ::operator delete(at, SIZE); });
	sum += pair([] { return ::operator new[](SIZE); },
		    [](void *at) { ::operator delete[](at, SIZE); });
	sum += pair([] { return ::operator new(SIZE, std::nothrow); },
		    [](void *at) { ::operator delete(at, std::nothrow); });
	sum += pair([] { return ::operator new[](SIZE, std::nothrow); },
		    [](void *at) { ::operator delete[](at, std::nothrow); });
	sum += pair([] { return ::operator new(SIZE, ALIGNMENT); },
		    [](void *at) { ::operator delete(at, ALIGNMENT); });
	sum += pair([] { return ::operator new[](SIZE, ALIGNMENT); },
		    [](void *at) { ::operator delete[](at, SIZE, ALIGNMENT); });
	sum += pair([] { return ::operator new(SIZE, ALIGNMENT, std::nothrow); },
		    [](void *at) { ::operator delete(at, ALIGNMENT, std::nothrow); });
	return sum;
}

} // namespace

int main(int argc, char **argv)
{
	const timespec rest = {0, 1000000};
	std::size_t sum = 0;

	for (int i = 0, n = argc > 1 ? std::atoi(argv[1]) : 1000; i < n; i++) {
		sum += all_kinds();
		if (i % 50 == 49)
			(void)nanosleep(&rest, nullptr);
	}
	std::printf("%zu\n", sum);
	return 0;
}

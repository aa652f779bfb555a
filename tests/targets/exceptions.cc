// exceptions.cc - throws through several frames in several threads; prints what was caught
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

struct Counter {
	uint64_t &n;
	~Counter()
	{
		n++;
	}
};

__attribute__((noinline)) static void thrower(int depth, uint64_t &unwound)
{
	Counter counter{unwound};
	if (depth == 0)
		throw std::runtime_error("end");
	thrower(depth - 1, unwound);
}

static void work(uint64_t rounds, uint64_t *caught, uint64_t *unwound)
{
	for (uint64_t i = 0; i < rounds; i++) {
		try {
			thrower(static_cast<int>(i % 20), *unwound);
		} catch (const std::runtime_error &) {
			++*caught;
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], nullptr, 10) : 100000;
	std::vector<std::thread> threads;
	uint64_t caught[4] = {}, unwound[4] = {};

	for (int i = 0; i < 4; i++)
		threads.emplace_back(work, rounds, &caught[i], &unwound[i]);
	for (auto &thread : threads)
		thread.join();
	for (int i = 0; i < 4; i++)
		std::printf("%lu %lu\n", caught[i], unwound[i]);
	return 0;
}

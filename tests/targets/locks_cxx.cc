// locks_cxx.cc - C++ locks, and a thread cancelled in one of them: what it holds is destroyed
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static std::mutex mutex;
static std::shared_mutex shared;
static std::timed_mutex timed;
static std::recursive_mutex recursive;
static std::condition_variable cond;
static std::condition_variable_any any;
static std::once_flag once;
static long counts[4];

// Each is as heavily fought for as the others.
static void run(int turns)
{
	std::call_once(once, [] { std::printf("once\n"); });
	for (int i = 0; i < turns; i++) {
		{
			std::scoped_lock lock(mutex, timed);
			counts[0]++;
		}
		{
			std::unique_lock lock(shared);
			counts[1]++;
		}
		{
			std::shared_lock lock(shared);
			if (counts[1] < 0)
				std::printf("torn\n");
		}
		{
			std::lock_guard outer(recursive);
			std::lock_guard inner(recursive);
			counts[2]++;
		}
		if (timed.try_lock_for(std::chrono::seconds(10))) {
			counts[3]++;
			timed.unlock();
		}
	}
}

static void hand_over()
{
	int turn = 0;
	auto play = [&](int self) {
		for (int i = 0; i < 100; i++) {
			std::unique_lock lock(mutex);
			cond.wait(lock, [&] { return turn % 2 == self; });
			turn++;
			cond.notify_one();
		}
	};
	std::thread other(play, 1);
	play(0);
	other.join();
	std::unique_lock lock(shared);
	auto r = any.wait_for(lock, 5ms);
	std::printf("turns %d, timed out %d\n", turn, r == std::cv_status::timeout);
}

struct Says {
	const char *name;
	~Says()
	{
		std::printf("destroyed: %s\n", name);
	}
};

static sem_t never;
static sem_t there;

__attribute__((noinline)) static void wait_inside(int depth)
{
	Says says{depth ? "a frame" : "the innermost"};
	if (depth) {
		wait_inside(depth - 1);
		return;
	}
	sem_post(&there);
	sem_wait(&never);
}

static void *be_cancelled(void *)
{
	std::lock_guard lock(timed);
	try {
		wait_inside(3);
	} catch (...) {
		std::printf("caught\n");
		throw;
	}
	return nullptr;
}

static void cancel()
{
	pthread_t thread;
	void *end = nullptr;
	sem_init(&never, 0, 0);
	sem_init(&there, 0, 0);
	pthread_create(&thread, nullptr, be_cancelled, nullptr);
	sem_wait(&there);
	std::this_thread::sleep_for(20ms);
	pthread_cancel(thread);
	pthread_join(thread, &end);
	std::printf("cancelled %d, its lock is free %d\n", end == PTHREAD_CANCELED,
		    timed.try_lock());
}

int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 6; i++)
		threads.emplace_back(run, 4000);
	for (auto &thread : threads)
		thread.join();
	std::printf("counts %ld %ld %ld %ld\n", counts[0], counts[1], counts[2], counts[3]);
	hand_over();
	cancel();
	return 0;
}

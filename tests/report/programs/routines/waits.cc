/* SPDX-License-Identifier: MIT */
/* A thread waits in functions of the C++ library, which call each other. */
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static bool is_ready, is_waiting;

static void await()
{
	std::unique_lock<std::mutex> lock(mutex);

	is_waiting = true;
	changed.notify_all();
	changed.wait(lock, [] { return is_ready; });
}

static void serve()
{
	await();
}

int main()
{
	std::thread thread(serve);
	{
		std::unique_lock<std::mutex> lock(mutex);

		changed.wait(lock, [] { return is_waiting; });
		is_ready = true;
	}
	changed.notify_all();
	thread.join();
	return 0;
}

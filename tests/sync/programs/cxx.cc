// SPDX-License-Identifier: MIT
// The C++ library's threads, mutexes and condition variables; exceptions and cancellation through
// them. With "throw", a thread's function throws, and std::terminate() is called.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable condition;
static bool ready;
static int destroyed;

struct Witness {
	~Witness()
	{
		destroyed++;
	}
};

static thread_local Witness *unused;

static void *cancelled(void *arg)
{
	Witness witness;
	sem_t *sem = static_cast<sem_t *>(arg);

	sem_post(sem);
	for (;;)
		sem_wait(sem + 1);
}

static void *cancelled_in_condition(void *arg)
{
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	struct Unlock {
		~Unlock()
		{
			pthread_mutex_unlock(&own);
			destroyed++;
		}
	};

	pthread_mutex_lock(&own);
	Unlock unlock;
	sem_post(static_cast<sem_t *>(arg));
	for (;;)
		pthread_cond_wait(&never, &own);
}

static void *exits(void *arg)
{
	Witness witness;

	pthread_exit(arg);
}

static void cancel(void *(*routine)(void *))
{
	sem_t sems[2];
	pthread_t thread;
	void *value;

	sem_init(&sems[0], 0, 0);
	sem_init(&sems[1], 0, 0);
	pthread_create(&thread, nullptr, routine, sems);
	sem_wait(&sems[0]);
	pthread_cancel(thread);
	pthread_join(thread, &value);
	printf("cancelled %d, destroyed %d\n", value == PTHREAD_CANCELED, destroyed);
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	long sum = 0;

	if (argc > 1 && !strcmp(argv[1], "throw")) {
		std::thread([] { throw std::runtime_error("on purpose"); }).join();
		return 1;
	}
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] {
			std::unique_lock<std::mutex> lock(mutex);
			condition.wait(lock, [] { return ready; });
			lock.unlock();
			for (int j = 0; j < 500; j++) {
				std::lock_guard<std::mutex> guard(mutex);
				sum++;
			}
		});
	{
		std::lock_guard<std::mutex> guard(mutex);
		ready = true;
	}
	condition.notify_all();
	for (auto &thread : threads)
		thread.join();
	{
		std::unique_lock<std::mutex> lock(mutex);
		bool woken =
		    condition.wait_for(lock, std::chrono::milliseconds(1), [] { return false; });
		printf("woken %d\n", woken);
	}
	std::timed_mutex timed;
	printf("timed %d\n", timed.try_lock_for(std::chrono::seconds(1)));
	timed.unlock();
	cancel(cancelled);
	cancel(cancelled_in_condition);
	pthread_t thread;
	pthread_create(&thread, nullptr, exits, nullptr);
	pthread_join(thread, nullptr);
	printf("sum %ld, destroyed %d\nmutex %p\n", sum, destroyed,
	       static_cast<void *>(mutex.native_handle()));
	return unused != nullptr;
}

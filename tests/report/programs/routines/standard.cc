/* SPDX-License-Identifier: MIT */
/* std::thread with a function, a member function, a lambda and a function object. */
#include <mutex>
#include <string>
#include <thread>

static std::mutex mutex;
static volatile int sum;

/* A destructor of the program that the library's code calls in each thread. */
struct Argument {
	std::string text = "of the thread";
	~Argument()
	{
		sum += (int)text.size();
	}
};

__attribute__((noinline)) static void add(int n)
{
	std::lock_guard<std::mutex> guard(mutex);
	sum += n;
}

static void serve(int n, Argument)
{
	add(n);
}

struct Pool {
	void run()
	{
		add(2);
	}
};

struct Task {
	void operator()() const
	{
		add(4);
	}
};

int main()
{
	Pool pool;

	std::thread(serve, 1, Argument()).join();
	std::thread(&Pool::run, &pool).join();
	std::thread([] { add(3); }).join();
	std::thread(Task()).join();
	return 0;
}

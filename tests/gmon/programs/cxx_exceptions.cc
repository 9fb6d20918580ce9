/* SPDX-License-Identifier: MIT */
/* C++ exceptions, thrown and rethrown through profiled functions with local objects. */
#include <stdexcept>
#include <thread>

#define NOINLINE __attribute__((noinline, noipa))

extern "C" NOINLINE void leaf()
{
	__asm__ volatile("");
}

struct counted {
	NOINLINE counted()
	{
		leaf();
	}
	NOINLINE ~counted()
	{
		leaf();
	}
};

static counted before_main;

extern "C" NOINLINE void thrower(int depth)
{
	counted here;

	if (depth == 0)
		throw std::runtime_error("out");
	thrower(depth - 1);
	leaf(); /* never called */
}

extern "C" NOINLINE void rethrower()
{
	try {
		thrower(3);
	} catch (const std::exception &) {
		leaf();
		throw;
	}
}

extern "C" NOINLINE void ten()
{
	static thread_local counted of_thread;

	(void)of_thread;
	for (int i = 0; i < 10; i++) {
		try {
			rethrower();
		} catch (...) {
			leaf();
		}
	}
}

int main()
{
	ten();
	std::thread(ten).join();
	return 0;
}

// SPDX-License-Identifier: MIT
// A thread waits by std::atomic::wait(), which makes the system call futex() through syscall().
#include <atomic>
#include <cstdio>
#include <thread>

#include "../../sync/programs/wait_blocked.h"

std::atomic<int> value{0};
std::atomic<int> tid{0};

int main()
{
	std::thread waiter([] {
		tid.store(gettid());
		value.wait(0);
	});

	while (tid.load() == 0)
		usleep(50);
	until_asleep(tid.load());
	usleep(1000);
	value = 1;
	value.notify_all();
	waiter.join();
	std::printf("%p\n", static_cast<void *>(&value));
}

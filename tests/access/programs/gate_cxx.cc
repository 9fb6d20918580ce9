/* SPDX-License-Identifier: MIT */
/* As gate.c, in C++: sections that begin or end while an exception is on its way. */
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>

#define NOINLINE __attribute__((noinline, noclone))
#define ROUNDS	 10

struct cell {
	alignas(64) long in;
	alignas(64) long out;
};

static cell cells[16];
static std::mutex mutex;

struct unlock_at_end {
	~unlock_at_end()
	{
		mutex.unlock();
	}
};

static NOINLINE void lock_and_throw(bool does_throw)
{
	mutex.lock();
	if (does_throw)
		throw std::runtime_error("locked");
}

static NOINLINE void guarded(cell &cell)
{
	cell.out++;
	{
		std::lock_guard<std::mutex> guard(mutex);

		cell.in++;
	}
	cell.out++;
}

static NOINLINE void in_handler(cell &cell)
{
	try {
		cell.out++;
		lock_and_throw(true);
	} catch (const std::runtime_error &) {
		cell.in++;
		mutex.unlock();
	}
	cell.out++;
}

static NOINLINE void unlocked_by_destructor(cell &cell)
{
	try {
		mutex.lock();
		unlock_at_end end;

		cell.in++;
		throw std::string("unlocked");
	} catch (const std::string &) {
		cell.out++;
	}
}

static NOINLINE void may_throw(cell &cell)
{
	lock_and_throw(false);
	cell.in++;
	mutex.unlock();
	cell.out++;
}

int main()
{
	long sum = 0;
	int n = 0;

	for (int i = 0; i < ROUNDS; i++) {
		n = 0;
		guarded(cells[n++]);
		in_handler(cells[n++]);
		unlocked_by_destructor(cells[n++]);
		may_throw(cells[n++]);
	}
	for (int i = 0; i < 16; i++)
		sum += cells[i].in * 1000 + cells[i].out;
	fprintf(stderr, "%ld\n", sum);
	printf("%lu %d %d\n", reinterpret_cast<unsigned long>(cells), n, ROUNDS);
	return 0;
}

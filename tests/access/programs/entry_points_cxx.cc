// SPDX-License-Identifier: MIT
// What compilers instrument in C++: pointers to virtual functions, std::atomic, static variables,
// copies of objects, exceptions, containers. Prints the results.
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

struct base {
	virtual ~base()
	{
		count--;
	}
	virtual int value() const
	{
		return 1;
	}
	static int count;
	base()
	{
		count++;
	}
	base(const base &)
	{
		count++;
	}
};
int base::count;

struct derived : base {
	int value() const override
	{
		return 2 + n;
	}
	int n = 40;
};

static std::mutex mutex;
static std::atomic<long> sum;
static std::atomic<bool> flag;
static std::atomic<double> real;

static const std::string &once()
{
	static const std::string text = "made once, and longer than a small string";
	return text;
}

static void all()
{
	std::vector<std::unique_ptr<base>> objects;
	std::map<std::string, int> map;
	auto shared = std::make_shared<derived>();

	for (int i = 0; i < 5; i++) {
		if (i % 2)
			objects.push_back(std::make_unique<derived>(*shared));
		else
			objects.push_back(std::make_unique<base>());
		map[once() + std::to_string(i)] += i;
	}
	for (const auto &object : objects)
		sum += object->value();
	for (const auto &[key, value] : map)
		sum.fetch_add(value + (long)key.size(), std::memory_order_relaxed);
	flag.store(!flag.load());
	double before = real.load();
	while (!real.compare_exchange_weak(before, before + 1.5))
		;
	try {
		(void)map.at("none");
	} catch (const std::out_of_range &) {
		sum++;
	}
	std::printf("%ld %d %g %d %zu\n", sum.load(), flag.load(), real.load(), base::count,
		    map.size());
}

int main()
{
	all();
	std::lock_guard<std::mutex> guard(mutex);
	all();
}

/* SPDX-License-Identifier: MIT */
/* Exceptions through destructors, virtual calls, containers and recursion of different depths. */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape()
	{
	}
	virtual int measure(int x) = 0;
};

struct thrower : shape {
	int measure(int x) override
	{
		if (x % 7 == 0)
			throw std::runtime_error("seven");
		return x * 2;
	}
};

struct counter : shape {
	std::map<std::string, int> sums;

	int measure(int x) override
	{
		std::string name = std::to_string(x % 1000);

		sums[name] += x;
		return (int)name.size();
	}
};

static int n_left;

static int deeper(shape &of, int n, int x)
{
	struct guard {
		~guard()
		{
			n_left++;
		}
	} left;

	return n > 0 ? deeper(of, n - 1, x) + 1 : of.measure(x);
}

int main(int argc, char **argv)
{
	std::vector<std::unique_ptr<shape>> shapes;
	int rounds = argc > 1 ? std::atoi(argv[1]) : 1, n_caught = 0;
	long sum = 0;

	shapes.emplace_back(new thrower);
	shapes.emplace_back(new counter);
	for (int i = 0; i < rounds; i++)
		try {
			sum += deeper(*shapes[i & 1], i % 40, i);
		} catch (const std::exception &) {
			n_caught++;
		}
	std::printf("%ld %d %d\n", sum, n_caught, n_left);
	return 0;
}

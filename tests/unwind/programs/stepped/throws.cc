/* SPDX-License-Identifier: MIT */
/* Exceptions through destructors, virtual calls, handlers that throw again, for stepper. */
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "stepped.h"

#define APART __attribute__((noinline))

static volatile int n_left, n_caught;

struct guard {
	APART ~guard()
	{
		n_left = n_left + 1;
	}
};

struct shape {
	virtual ~shape()
	{
	}
	APART virtual int measure(int x) = 0;
};

struct thrower : shape {
	APART int measure(int x) override
	{
		guard left;

		if (x % 2 == 1)
			throw std::runtime_error("odd");
		return x;
	}
};

APART static int deeper(shape &of, int n, int x)
{
	guard left;

	return n > 0 ? deeper(of, n - 1, x) + 1 : of.measure(x);
}

APART static int again(shape &of, int x)
{
	try {
		return deeper(of, 3, x);
	} catch (const std::logic_error &) {
		return -1;
	} catch (const std::exception &) {
		n_caught = n_caught + 1;
		throw;
	}
}

APART static int caught(shape &of, int x)
{
	try {
		return again(of, x);
	} catch (...) {
		n_caught = n_caught + 1;
		return 0;
	}
}

/* Without optimization this takes most of the instructions, and they are of few kinds. */
APART static int sorted()
{
#ifdef __OPTIMIZE__
	std::vector<std::string> words = {"c", "a", "b"};
	std::function<bool(const std::string &, const std::string &)> less =
	    [](const std::string &a, const std::string &b) { return a < b; };

	std::sort(words.begin(), words.end(), less);
	return words[0][0];
#else
	return 'a';
#endif
}

void stepped(void)
{
	thrower odd;

	handle_signals();
	if (caught(odd, 2) != 5 || caught(odd, 3) != 0 || n_caught != 2 || n_left != 10 ||
	    sorted() != 'a')
		std::abort();
}

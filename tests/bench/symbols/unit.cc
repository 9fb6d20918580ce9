/* SPDX-License-Identifier: MIT */
/*
 * One of the many units of a program with much debug information: namespace UNIT has PER_UNIT
 * functions, each with inlined code of the standard library and a mutex that it locks; run_UNIT()
 * calls them all.
 */
#include <algorithm>
#include <map>
#include <mutex>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

namespace UNIT
{
static std::mutex mutex;

template <int N> struct item {
	int value[N % 7 + 1];
	bool operator<(const item &other) const
	{
		return value[0] < other.value[0];
	}
};

template <int N> __attribute__((noinline)) long step(long n)
{
	std::lock_guard<std::mutex> held(mutex);
	std::map<int, item<N>> map;
	std::vector<item<N>> list(3);

	map[(int)n].value[0] = N;
	list[1].value[0] = (int)n;
	std::sort(list.begin(), list.end());
	return n + map.size() + list[2].value[0];
}

template <int N> struct all {
	static long run(long n)
	{
		return all<N - 1>::run(step<N>(n));
	}
};
template <> struct all<0> {
	static long run(long n)
	{
		return n;
	}
};
} // namespace UNIT

long JOIN(run_, UNIT)(long n)
{
	return UNIT::all<PER_UNIT>::run(n);
}

// SPDX-License-Identifier: MIT
// std::map and std::set: insertions, look-ups, ranges, moved nodes.
#include "access/exact/heap.h"

#include <map>
#include <set>

struct value {
	long sum = 0;
	short hits = 0;
	char tag = 'n';
};

static std::map<unsigned, value> *all;
static std::set<long> *numbers;

static NOINLINE void insertions()
{
	all = keep(new std::map<unsigned, value>);
	for (unsigned i = 0; i < 60; i++)
		(*all)[i * 29 % 61].sum += i;
}

static NOINLINE void look_ups()
{
	for (unsigned i = 0; i < 90; i += 4) {
		auto found = all->find(i);

		if (found != all->end())
			found->second.hits++;
	}
}

static NOINLINE void ranges()
{
	long sum = 0;

	for (auto at = all->lower_bound(10); at != all->upper_bound(30); ++at)
		sum += at->second.sum;
	all->begin()->second.sum = sum;
}

static NOINLINE void nodes()
{
	numbers = keep(new std::set<long>);
	for (unsigned i = 5; i < 15; i++) {
		auto node = all->extract(i);

		numbers->insert(node.mapped().sum);
		node.key() += 1000;
		all->insert(std::move(node));
	}
}

static NOINLINE void deletions()
{
	for (auto at = all->begin(); at != all->end();)
		at = at->second.hits ? all->erase(at) : std::next(at);
	numbers->erase(numbers->begin(), numbers->find(*numbers->rbegin()));
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(insertions);
		SECTION(look_ups);
		SECTION(ranges);
		SECTION(nodes);
		SECTION(deletions);
		release_all();
	}
	return finish(argc, argv);
}

// SPDX-License-Identifier: MIT
// std::unordered_map and std::unordered_set: growth, chains, values that are structures.
#include "access/exact/heap.h"

#include <array>
#include <unordered_map>
#include <unordered_set>

static std::unordered_map<int, std::array<char, 11>> *all;
static std::unordered_set<unsigned long> *seen;

static NOINLINE void growth()
{
	all = keep(new std::unordered_map<int, std::array<char, 11>>);
	for (int i = 0; i < 100; i++)
		(*all)[i * i][i % 11] = static_cast<char>(i);
}

// All in one chain: the number of buckets divides them.
static NOINLINE void chains()
{
	seen = keep(new std::unordered_set<unsigned long>);
	seen->reserve(20);
	for (unsigned long i = 0; i < 15; i++)
		seen->insert(i * seen->bucket_count());
	for (unsigned long i = 0; i < 30; i++)
		if (seen->count(i))
			seen->erase(i);
}

static NOINLINE void updates()
{
	for (auto &entry : *all)
		if (entry.first % 3 == 0)
			entry.second[10]++;
}

static NOINLINE void deletions()
{
	for (int i = 0; i < 50; i++)
		all->erase(i * i);
	seen->clear();
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(growth);
		SECTION(chains);
		SECTION(updates);
		SECTION(deletions);
		release_all();
	}
	return finish(argc, argv);
}

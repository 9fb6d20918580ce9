// SPDX-License-Identifier: MIT
// Containers of the C++ library together, virtual functions, shared pointers.
#include "access/exact/heap.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual int area() const
	{
		return side;
	}
	int side = 1;
};

struct square : shape {
	int area() const override
	{
		return side * side + more;
	}
	short more = 3;
};

static NOINLINE void vectors()
{
	auto *vector = keep(new std::vector<int>);

	for (int i = 0; i < 100; i++)
		vector->push_back(i * 7 % 31);
	std::sort(vector->begin(), vector->end());
	vector->erase(vector->begin() + 5, vector->begin() + 20);
	vector->insert(vector->begin() + 3, 9, 42);
}

static NOINLINE void maps()
{
	auto *map = keep(new std::map<int, std::string>);

	for (int i = 0; i < 40; i++)
		(*map)[i * 13 % 41] = std::string(i, 'x');
	map->erase(map->find(13));
	map->at(26) += "more than fits into the first place";
}

static NOINLINE void hashes()
{
	auto *map = keep(new std::unordered_map<std::string, long>);

	for (int i = 0; i < 30; i++)
		(*map)["key " + std::to_string(i)] += i;
	map->erase("key 7");
}

static NOINLINE void queues()
{
	auto *deque = keep(new std::deque<char>);
	auto *list = keep(new std::list<double>);

	for (int i = 0; i < 700; i++) {
		deque->push_back((char)i);
		if (i % 3 == 0)
			deque->pop_front();
		list->push_front(i);
		if (i > 10)
			list->pop_back();
	}
}

static NOINLINE void objects()
{
	auto *shapes = keep(new std::vector<std::unique_ptr<shape>>);
	auto shared = std::make_shared<square>();
	auto *other = keep(new std::shared_ptr<square>(shared));
	auto *sum = keep(new std::atomic<long>);

	for (int i = 0; i < 10; i++)
		shapes->push_back(i % 2 ? std::make_unique<shape>() : std::make_unique<square>());
	for (const auto &one : *shapes)
		*sum += one->area();
	shapes->clear();
	other->reset();
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(vectors);
		SECTION(maps);
		SECTION(hashes);
		SECTION(queues);
		SECTION(objects);
		release_all();
	}
	return finish(argc, argv);
}

// SPDX-License-Identifier: MIT
// std::vector as it grows, of objects that are moved or copied; std::deque; bits; heaps.
#include "access/exact/heap.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <queue>
#include <vector>

// Not moved as a block of bytes.
struct counted {
	counted(int number) : number(number)
	{
	}
	counted(const counted &other) : number(other.number), copies(other.copies + 1)
	{
	}
	counted &operator=(const counted &other)
	{
		number = other.number;
		return *this;
	}
	int number;
	short copies = 0;
	char more[5] = {};
};

static NOINLINE void vector_growth()
{
	auto *numbers = keep(new std::vector<long>);
	auto *objects = keep(new std::vector<counted>);

	for (int i = 0; i < 70; i++) {
		numbers->push_back(i);
		objects->emplace_back(i);
	}
	numbers->shrink_to_fit();
	objects->erase(objects->begin() + 3, objects->begin() + 9);
}

static NOINLINE void bits()
{
	auto *bits = keep(new std::vector<bool>(200));

	for (unsigned i = 0; i < 200; i += 7)
		(*bits)[i] = true;
	bits->insert(bits->begin() + 20, 30, true);
}

static NOINLINE void queues()
{
	auto *queue = keep(new std::priority_queue<int>);
	auto *deque = keep(new std::deque<std::pair<char, double>>);

	for (int i = 0; i < 50; i++) {
		queue->push(i * 13 % 37);
		deque->emplace_front(static_cast<char>(i), i);
		if (i % 4 == 3) {
			queue->pop();
			deque->pop_back();
		}
	}
}

static NOINLINE void algorithms()
{
	auto *numbers = keep(new std::vector<short>(90));

	std::iota(numbers->rbegin(), numbers->rend(), short{0});
	std::rotate(numbers->begin(), numbers->begin() + 11, numbers->end());
	std::sort(numbers->begin() + 1, numbers->end() - 1);
	std::reverse(numbers->begin(), numbers->begin() + 33);
	std::fill_n(numbers->begin() + 50, 9, short{-1});
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(vector_growth);
		SECTION(bits);
		SECTION(queues);
		SECTION(algorithms);
		release_all();
	}
	return finish(argc, argv);
}

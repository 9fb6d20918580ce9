// SPDX-License-Identifier: MIT
// Blocks of operator new and of containers, as lives.c.
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

static std::mutex mutex;
static char *volatile made;
static volatile size_t huge = ~size_t(0) / 2 - 1;

struct pair {
	long first, second;
};

struct alignas(256) wide {
	char bytes[256];
};

static __attribute__((noinline)) void touch(void *at)
{
	std::lock_guard<std::mutex> guard(mutex);
	*static_cast<volatile char *>(at) = 1;
}

static void use(void *at, size_t n_bytes, int line)
{
	touch(at);
	std::printf("block %zu %zu %d\n", reinterpret_cast<size_t>(at), n_bytes, line);
}

template <typename T> static void freed(T *at, size_t n_bytes)
{
	std::printf("freed %zu %zu\n", reinterpret_cast<size_t>(at), n_bytes);
}

int main()
{
	setvbuf(stdout, nullptr, _IOLBF, 0);
	auto *one = new pair;
	use(one, sizeof(pair), __LINE__ - 1);
	delete one, freed(one, sizeof(pair));
	auto *many = new pair[10];
	use(many, 10 * sizeof(pair), __LINE__ - 1);
	delete[] many, freed(many, 10 * sizeof(pair));
	one = new (std::nothrow) pair;
	use(one, sizeof(pair), __LINE__ - 1);
	delete one, freed(one, sizeof(pair));
	auto *aligned = new wide;
	use(aligned, sizeof(wide), __LINE__ - 1);
	delete aligned, freed(aligned, sizeof(wide));
	auto *two = new wide[2];
	use(two, 2 * sizeof(wide), __LINE__ - 1);
	delete[] two, freed(two, 2 * sizeof(wide));
	{
		// Line 0: in a header, inlined or not.
		std::vector<long> numbers(100);
		use(numbers.data(), 800, 0);
		std::map<int, long> tree;
		use(&tree[5], 48, 0);
		std::string text(200, 'x');
		use(&text[0], 201, 0);
		std::deque<long> queue(3);
		use(&queue[0], 512, 0);
	}
	try {
		made = new char[huge];
	} catch (std::bad_alloc &) {
		std::puts("no memory");
	}
	made = new (std::nothrow) char[huge];
	if (made == nullptr)
		std::puts("no memory");
}

// SPDX-License-Identifier: MIT
// std::string, short and long, in templates of the program and in libstdc++.
#include "access/exact/heap.h"

#include <list>
#include <string>
#include <string_view>

static std::list<std::string> *lines;

static NOINLINE void appends()
{
	auto *text = keep(new std::string);

	lines = keep(new std::list<std::string>);
	for (int i = 0; i < 30; i++) {
		*text += static_cast<char>('a' + i % 26);
		text->append(i % 5, '-');
		if (i % 6 == 0)
			lines->push_back(*text);
	}
}

static NOINLINE void edits()
{
	for (auto &line : *lines) {
		line.insert(line.size() / 2, "middle");
		line.replace(0, 1, "first");
		line[2] = 'X';
		if (line.size() > 20)
			line.resize(17);
	}
}

static NOINLINE void cuts()
{
	std::string *text = keep(new std::string("one,two,,a longer field that is on the heap,5"));
	std::string_view rest = *text;
	size_t at;

	while ((at = rest.find(',')) != rest.npos) {
		lines->emplace_front(rest.substr(0, at));
		rest.remove_prefix(at + 1);
	}
}

static NOINLINE void comparisons()
{
	lines->sort();
	lines->unique();
	lines->remove("two");
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(appends);
		SECTION(edits);
		SECTION(cuts);
		SECTION(comparisons);
		release_all();
	}
	return finish(argc, argv);
}

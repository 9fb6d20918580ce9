/* SPDX-License-Identifier: MIT */
/* Ways in which C++ programs keep the objects that they allocate. */
#include "take.h"

#include <list>
#include <set>

namespace space
{
struct base {
	long size = 1;
};
class derived : public base
{
      public:
	explicit derived(long x) : next(nullptr), value(x)
	{
	}
	derived *next;
	long value;
};
struct plain : base {
	long more, rest;
};
template <class T> struct holder {
	T *item;
	long n;
	holder() : item(nullptr), n(0)
	{
	}
};
} // namespace space

space::base *kept, *other;
static volatile int choice;

static __attribute__((noinline)) space::derived *in_variable()
{
	space::derived *object = new space::derived(choice);
	return object;
}

/* The constructor tells the class, the variable only its base. */
static __attribute__((noinline)) void in_base()
{
	kept = new space::derived(choice + 1);
}

/* A base class whose size divides that of the object. */
static __attribute__((noinline)) void in_base_only()
{
	space::plain *object = new space::plain;
	other = object;
}

static __attribute__((noinline)) space::derived *in_result()
{
	return new space::derived(choice + 2);
}

static __attribute__((noinline)) int *in_array(int n)
{
	int *numbers = new int[n];
	numbers[0] = choice;
	return numbers;
}

static __attribute__((noinline)) space::holder<int> *in_template()
{
	auto *made = new space::holder<int>;
	made->n = choice;
	return made;
}

int main()
{
	std::list<int> numbers;
	std::set<int> sorted;

	in_variable();
	expect("space::derived.next", 8);
	expect("space::derived.size", 0);
	in_base();
	expect("space::derived.value", 16);
	in_base_only();
	expect("space::plain.rest", 16);
	in_result();
	expect("space::derived.value", 16);
	in_array(choice + 5);
	expect("int[3]", 12);
	in_template();
	expect("space::holder<int>.n", 8);
	numbers.push_back(1);
	expect("std::_List_node<int>", 0);
	sorted.insert(1);
	expect("std::_Rb_tree_node<int>", 0);
}

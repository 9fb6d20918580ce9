/* SPDX-License-Identifier: MIT */
/* Functions of libc that call the program back, and sorts of the program's own. */
#include "access/exact/region.h"

#include <stdlib.h>

struct person {
	char name[13];
	uint8_t age;
	uint16_t room;
	uint32_t salary;
};

#define people	AT(struct person, 64)
#define numbers AT(int, 8192)
#define calls	AT(uint64_t, 20480)

static int by_salary(const void *a, const void *b)
{
	const struct person *x = a, *y = b;

	calls[0]++;
	return (x->salary > y->salary) - (x->salary < y->salary);
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	calls[8]++;
	return (*x > *y) - (*x < *y);
}

static NOINLINE void sort_by_libc(void)
{
	for (uint32_t i = 0; i < 50; i++) {
		people[i].salary = i * 7919 % 1009;
		people[i].age = (uint8_t)i;
	}
	qsort(people, 50, sizeof(*people), by_salary);
}

static NOINLINE void search_by_libc(void)
{
	for (uint32_t salary = 0; salary < 1000; salary += 97) {
		struct person key = {.salary = salary};
		struct person *found = bsearch(&key, people, 50, sizeof(key), by_salary);

		if (found)
			found->room++;
	}
}

static void sift_down(int *heap, unsigned at, unsigned n)
{
	while (2 * at + 1 < n) {
		unsigned child = 2 * at + 1;
		int kept = heap[at];

		if (child + 1 < n && by_number(&heap[child + 1], &heap[child]) > 0)
			child++;
		if (heap[child] <= kept)
			return;
		heap[at] = heap[child];
		heap[child] = kept;
		at = child;
	}
}

static NOINLINE void heap_sort(void)
{
	for (unsigned i = 0; i < 80; i++)
		numbers[i] = (int)(i * 31 % 83);
	for (unsigned i = 40; i-- > 0;)
		sift_down(numbers, i, 80);
	for (unsigned n = 80; n-- > 1;) {
		int kept = numbers[0];

		numbers[0] = numbers[n];
		numbers[n] = kept;
		sift_down(numbers, 0, n);
	}
}

static NOINLINE void insertion_sort(void)
{
	int *at = AT(int, 16384);

	for (int i = 0; i < 40; i++) {
		int k = i, number = i * 17 % 41;

		for (; k && at[k - 1] > number; k--)
			at[k] = at[k - 1];
		at[k] = number;
	}
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(sort_by_libc);
		SECTION(search_by_libc);
		SECTION(heap_sort);
		SECTION(insertion_sort);
	}
	return finish(argc, argv);
}

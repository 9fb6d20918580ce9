/* SPDX-License-Identifier: MIT */
/* Each kind of access in C. */
#include "access/exact/region.h"

struct __attribute__((packed)) odd {
	char first;
	uint16_t two;
	uint32_t four;
	uint64_t eight;
	double real;
	char last;
};

struct bits {
	unsigned a : 3, b : 13, c : 16, d : 1;
	int : 0;
	uint64_t e : 40, f : 7;
	unsigned char g : 2;
};

struct large {
	int numbers[19];
	char bytes[13];
};

struct node {
	struct node *next;
	int key;
	char name[20];
};

static NOINLINE void scalars(void)
{
	volatile int n = 5;

	*AT(char, 3) = *AT(char, 5);
	*AT(short, 10) += 2;
	*AT(int, 20) = n + *AT(int, 40);
	*AT(long, 64) -= n;
	*AT(float, 88) = (float)*AT(int, 92) * 1.5f;
	*AT(double, 96) = *AT(double, 104) + n;
	*AT(long double, 112) = *AT(double, 96);
	*AT(__int128, 160) += n;
	if (*AT(int, 200) == 0)
		*AT(int, 204) = 1;
}

static NOINLINE void unaligned(void)
{
	struct odd *odd = AT(struct odd, 300), *over = AT(struct odd, 1024 + 60);

	odd->two++;
	odd->four = odd->two;
	odd->eight += 3;
	odd->real = odd->real + (double)odd->eight;
	over->eight = 5; /* in two lines */
	over->last = over->first;
	over->four++;
}

static NOINLINE void bit_fields(void)
{
	struct bits *bits = AT(struct bits, 512);

	bits->a = 3;
	bits->b += 100;
	bits->c = (unsigned)bits->b * 3 & 0xffff;
	bits->d ^= 1;
	bits->e += (uint64_t)1 << 35;
	bits->f = bits->a + 1;
	bits->g++;
}

static NOINLINE void volatiles(void)
{
	volatile uint8_t *one = AT(volatile uint8_t, 600);
	volatile uint64_t *eight = AT(volatile uint64_t, 608);

	*one = 1;
	*eight = *one + *eight;
	(*AT(volatile uint32_t, 616))++;
}

#define ATOMICS(type, offset)                                                                      \
	do {                                                                                       \
		type *at = AT(type, offset), expected = 3;                                         \
                                                                                                   \
		__atomic_fetch_add(at, 5, __ATOMIC_RELAXED);                                       \
		__atomic_store_n(at + 1, 7, __ATOMIC_SEQ_CST);                                     \
		(void)__atomic_load_n(at + 2, __ATOMIC_ACQUIRE);                                   \
		__atomic_compare_exchange_n(at + 3, &expected, 5, 0, __ATOMIC_SEQ_CST,             \
					    __ATOMIC_SEQ_CST);                                     \
		__atomic_exchange_n(at + 4, 1, __ATOMIC_ACQ_REL);                                  \
		__atomic_fetch_or(at + 6, 8, __ATOMIC_RELEASE);                                    \
	} while (0)

static NOINLINE void atomics(void)
{
	ATOMICS(uint8_t, 1100);
	ATOMICS(uint16_t, 1120);
	ATOMICS(uint32_t, 1160);
	ATOMICS(uint64_t, 1224);
}

static NOINLINE void structures(void)
{
	struct large *large = AT(struct large, 2000);
	int sum = 0;

	large[1] = large[0];
	for (int i = 0; i < 19; i += 2)
		sum += large[1].numbers[i];
	large[2].numbers[3] = sum;
	memcpy(&large[3].numbers[2], &large[2].numbers[3], sizeof(int));
}

static volatile size_t lengths[] = {0,	1,  2,	3,  5,	7,  8,	13,  15,  16,  17,
				    31, 32, 33, 37, 63, 64, 65, 100, 129, 257, 1001};
#define N_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static NOINLINE void copies(void)
{
	for (unsigned i = 0; i < N_LENGTHS; i++) {
		char *to = region.bytes + 8192 + 8192 * i + 3 * i, *from = to + 2100 + i;

		memcpy(to, from, lengths[i]);
		memmove(to + 4200, to + 4203, lengths[i]);
		memset(from + 4300, 5, lengths[i]);
	}
}

static NOINLINE void texts(void)
{
	char *text = region.bytes + 4096, *copy = region.bytes + 5000 + 7;

	for (unsigned i = 0; i < 40; i += 3) {
		memset(text, 'a', i);
		text[i] = '\0';
		strcpy(copy, text);
		*AT(size_t, 6400) += strlen(copy);
		strcat(copy, text);
		strncpy(copy + 300, text, 11);
		*AT(int, 6408) +=
		    strcmp(copy, text) + strncmp(copy, text, i) + memcmp(copy, text, i);
		*AT(int, 6412) += strchr(copy, 'b') == NULL;
		*AT(int, 6416) += strrchr(copy, 'a') == NULL;
		*AT(int, 6420) += memchr(text, 'b', i) == NULL;
		*AT(int, 6424) += strstr(text, "aaab") == NULL;
		text += 64;
	}
}

static NOINLINE int walk(struct node *node, int depth)
{
	if (!node || depth > 100)
		return 0;
	node->key += depth;
	return node->key + walk(node->next, depth + 1);
}

static NOINLINE void lists(void)
{
	struct node *first = NULL;

	for (unsigned i = 0; i < 30; i++) {
		struct node *node = AT(struct node, 224000 + 56 * i);

		node->next = first;
		node->name[i % 20] = (char)i;
		first = node;
	}
	*AT(int, 223992) = walk(first, 0);
}

static NOINLINE void arrays(void)
{
	double *matrix = AT(double, 230000);

	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 16; k++)
			matrix[16 * i + k] += matrix[256 + 16 * k + i] * 2;
	for (int i = 0; i < 100; i++)
		AT(short, 240000)[i] = (short)(AT(short, 240300)[99 - i] + 1);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(scalars);
		SECTION(unaligned);
		SECTION(bit_fields);
		SECTION(volatiles);
		SECTION(atomics);
		SECTION(structures);
		SECTION(copies);
		SECTION(texts);
		SECTION(lists);
		SECTION(arrays);
	}
	return finish(argc, argv);
}

/* SPDX-License-Identifier: MIT */
/* Copies of odd lengths at odd addresses, with and without overlap, and strings in parsers. */
#include "access/exact/region.h"

static volatile size_t lengths[] = {0,	1,  3,	7,   9,	  15,  17,  31,
				    33, 63, 65, 127, 129, 255, 511, 1023};
#define N_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

#define BLOCK 4096

/* The bytes that the result depends on are in blocks of their own. */
static NOINLINE void apart(void)
{
	for (unsigned i = 0; i < N_LENGTHS; i++) {
		char *to = region.bytes + i * BLOCK + i % 13;

		memcpy(to, to + 1500 + i % 7, lengths[i]);
		mempcpy(to + 2700, to + 1500, lengths[i] / 3);
	}
}

static NOINLINE void overlapping(void)
{
	for (unsigned i = 0; i < N_LENGTHS; i++) {
		char *at = region.bytes + 65536 + i * BLOCK + i % 11;

		memmove(at, at + 1 + i, lengths[i]);
		memmove(at + 2000 + 2 * i, at + 2000, lengths[i]);
	}
}

static NOINLINE void fills(void)
{
	for (unsigned i = 0; i < N_LENGTHS; i++) {
		char *at = region.bytes + 131072 + i * 2048 + i % 5;

		memset(at, (int)i, lengths[i]);
		at[lengths[i]] = 1;
		if (memcmp(at, at + 1, lengths[i] / 2) > 0)
			at[lengths[i] + 1]++;
	}
}

/* Joins words to a line, and cuts the line at its blanks. */
static NOINLINE void words(void)
{
	static const char *const list[] = {"mutex", "a", "", "condition variable", "rwlock"};
	char *line = region.bytes + 180001, *end = line, *word;
	unsigned n = 0;

	for (unsigned i = 0; i < 20; i++) {
		end = stpcpy(end, list[i % 5]);
		*end++ = ' ';
		*end = '\0';
	}
	while ((word = strchr(line, ' '))) {
		char *to = region.bytes + 190000 + 64 * (size_t)(n++ % 40);

		strncpy(to, line, (size_t)(word - line));
		to[word - line] = '\0';
		*AT(size_t, 200000) += strlen(to);
		line = word + 1;
	}
}

static NOINLINE void searches(void)
{
	char *text = region.bytes + 204803;

	strcpy(text, "key=value;other=1;last=");
	strcat(text, "some more of it");
	*AT(char *, 210000) = strstr(text, "other");
	*AT(char *, 210008) = strrchr(text, ';');
	*AT(char *, 210016) = memchr(text, '=', 20);
	*AT(int, 210024) = strncmp(text, text + 4, 3) + strcmp(text + 1, text + 2);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(apart);
		SECTION(overlapping);
		SECTION(fills);
		SECTION(words);
		SECTION(searches);
	}
	return finish(argc, argv);
}

/* SPDX-License-Identifier: MIT */
/*
 * Sections with sets of lines that hardly ever repeat, while most of their lines do; some sections
 * have more lines than readers remember of all before. test_known_lines.sh computes the same sets.
 * Prints the address of the bytes.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define SECTIONS 8000
#define MOST	 12
#define CHOICES	 100
#define LINES	 (MOST * CHOICES)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned char bytes[64 * LINES] __attribute__((aligned(64)));

static uint32_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

int main(void)
{
	uint64_t state = 1;

	printf("%zu\n", (size_t)bytes);
	for (unsigned i = 0; i < SECTIONS; i++) {
		unsigned is_large = i % 200 == 199;
		unsigned n = is_large ? 700 : 1 + next(&state) % MOST;

		pthread_mutex_lock(&mutex);
		for (unsigned k = 0; k < n; k++) {
			unsigned line =
			    is_large ? next(&state) % LINES : k * CHOICES + next(&state) % CHOICES;

			bytes[64 * line + line % 64]++;
		}
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Arrays of one and more dimensions, on the stack and in structures; vectors, complex numbers. */
#include "access/exact/region.h"

#include <complex.h>

typedef int four_ints __attribute__((vector_size(16)));
typedef float eight_floats __attribute__((vector_size(32)));

static volatile int rows = 7, columns = 11;

/* Variable-length arrays, on the stack and in the region. */
static NOINLINE void variable_lengths(void)
{
	int n = rows, m = columns;
	short on_stack[n][m];
	short(*matrix)[m] = (void *)AT(short, 66);

	for (int i = 0; i < n; i++)
		for (int k = 0; k < m; k++)
			on_stack[i][k] = matrix[i][k];
	for (int i = 0; i < n; i++)
		for (int k = i; k < m - 1; k++)
			matrix[i][k + 1] = (short)(on_stack[n - 1 - i][m - 1 - k] + i);
}

struct flexible {
	uint32_t n;
	uint8_t kind;
	uint16_t values[];
};

static NOINLINE void flexible_arrays(void)
{
	struct flexible *all = AT(struct flexible, 1024);

	all->n = 0;
	for (uint16_t i = 0; i < 50; i++)
		all->values[all->n++] = i;
	all->kind += (uint8_t)all->values[20];
}

static NOINLINE void vectors(void)
{
	four_ints *ints = AT(four_ints, 2048);
	eight_floats *floats = AT(eight_floats, 4096);

	for (int i = 0; i < 9; i++)
		ints[i] = ints[i + 20] + 3;
	floats[0] += floats[5];
	floats[2][3] = floats[1][0] + 1;
}

static NOINLINE void numbers(void)
{
	double complex *a = AT(double complex, 6144);
	float complex *b = AT(float complex, 6656);

	for (int i = 0; i < 6; i++) {
		a[i] += a[i + 8];
		b[i] = (float complex)a[i];
	}
	__imag__ b[10] = 3;
}

static NOINLINE void products(void)
{
	double *a = AT(double, 8192), *b = a + 100, *c = b + 100;

	for (int i = 0; i < rows; i++)
		for (int k = 0; k < rows; k++) {
			double sum = 0;

			for (int j = 0; j < rows; j++)
				sum += a[rows * i + j] * b[rows * j + k];
			c[rows * i + k] = sum;
		}
}

union word {
	uint64_t all;
	uint8_t bytes[8];
	struct {
		uint16_t low, middle;
		float high;
	};
};

static NOINLINE void unions(void)
{
	union word *word = AT(union word, 12288);

	for (unsigned i = 0; i < 8; i++) {
		word[i].bytes[i] = 5;
		word[i + 9].middle = word[i].low;
		word[i + 20].all += (uint64_t)word[i + 30].high;
	}
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(variable_lengths);
		SECTION(flexible_arrays);
		SECTION(vectors);
		SECTION(numbers);
		SECTION(products);
		SECTION(unions);
	}
	return finish(argc, argv);
}

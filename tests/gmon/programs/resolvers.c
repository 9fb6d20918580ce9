/* SPDX-License-Identifier: MIT */
/*
 * Functions with several versions: gcc's resolvers call mcount before the library is initialized.
 * `cloned` and `chosen` are called 10 times each.
 */
__attribute__((target_clones("avx2", "default"))) int cloned(int x)
{
	return x * 3;
}

__attribute__((noipa)) static int one_of_two(int x)
{
	return x + 1;
}

static int (*resolve(void))(int)
{
	return one_of_two;
}

int chosen(int x) __attribute__((ifunc("resolve")));

int main(void)
{
	int x = 1;

	for (int i = 0; i < 10; i++)
		x = chosen(cloned(x));
	return x == 0;
}

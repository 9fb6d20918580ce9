/* SPDX-License-Identifier: MIT */
/* An object that `sampled` loads. */
unsigned long compute(unsigned long n);

__attribute__((noinline)) unsigned long compute(unsigned long n)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i;
	return sum;
}

/* SPDX-License-Identifier: MIT */
/* A library with functions whose names are those of blocking calls; built with -fno-builtin. */
double send(double a, double b, long c, long d, long e, long f, long g, long h, long i, long j);
double send(double a, double b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	return a + b + (double)(c + 2 * d + 3 * e + 4 * f + 5 * g + 6 * h + 7 * i + 8 * j);
}

struct large {
	long part[5];
};
struct large accept(long a);
struct large accept(long a)
{
	return (struct large){{a, a + 1, a + 2, a + 3, a + 4}};
}

/* SPDX-License-Identifier: MIT */
/* See take.h. The replaced operator new calls it with its own caller. */
#include "take.h"

#include <stdio.h>
#include <stdlib.h>

static void *site;
static size_t size;

void *take(size_t n_bytes)
{
	site = __builtin_return_address(0);
	size = n_bytes;
	return calloc(1, n_bytes);
}

/* operator new(unsigned long) and operator new[](unsigned long) */
void *_Znwm(size_t n_bytes)
{
	site = __builtin_return_address(0);
	size = n_bytes;
	return calloc(1, n_bytes);
}

void *_Znam(size_t n_bytes)
{
	site = __builtin_return_address(0);
	size = n_bytes;
	return calloc(1, n_bytes);
}

void expect(const char *name, size_t offset)
{
	printf("%s|%lx|%lx|%lx\n", name, (unsigned long)site, (unsigned long)size,
	       (unsigned long)offset);
}

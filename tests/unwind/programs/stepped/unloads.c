/* SPDX-License-Identifier: MIT */
/*
 * Unloads a library and loads another one, whose frames are larger, for stepper: the loader maps it
 * at the same addresses.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "stepped.h"

static volatile int n_called;

static void called(void)
{
	n_called++;
}

static const char *path;
static void *module;
static void (*frame)(void (*)(void));

static void load(void)
{
	module = dlopen(path, RTLD_NOW);
	if (module == NULL)
		abort();
	*(void **)&frame = dlsym(module, "frame");
}

__attribute__((noinline)) static void *use(const char *name)
{
	path = name;
	step_skip(load);
	frame(called);
	dlclose(module);
	return *(void **)&frame;
}

void stepped(void)
{
	const void *small;

	handle_signals();
	small = use("./small.so");
	if (use("./large.so") != small || n_called != 2)
		abort();
}

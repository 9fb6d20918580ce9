/* SPDX-License-Identifier: MIT */
/*
 * many_plugins N: loads ./0.so to ./N-1.so; calls `called` of each 10 times and unloads it before
 * the next. As a library (-DNAME=one): `called` calls NAME.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NAME
void NAME(void);
void called(void);

__attribute__((noinline, noipa)) void NAME(void)
{
}

void called(void)
{
	NAME();
}
#else

int main(int argc, char **argv)
{
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 0); i++) {
		char path[32];
		void *plugin;
		void (*called)(void);

		snprintf(path, sizeof(path), "./%d.so", i);
		plugin = dlopen(path, RTLD_NOW);
		if (plugin == NULL)
			return 1;
		*(void **)&called = dlsym(plugin, "called");
		for (int n = 0; n < 10; n++)
			called();
		dlclose(plugin);
	}
	return 0;
}
#endif

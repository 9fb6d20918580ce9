/* SPDX-License-Identifier: MIT */
/*
 * Loads each plugin given, calls its `library_outer` 10 times and unloads it (unless $KEEP is set);
 * all of this twice.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int x = 1;

	for (int i = 1; i < 2 * argc - 1; i++) {
		void *plugin = dlopen(argv[(i - 1) % (argc - 1) + 1], RTLD_NOW);
		int (*outer)(int);

		if (plugin == NULL) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		outer = (int (*)(int))dlsym(plugin, "library_outer");
		for (int j = 0; j < 10; j++)
			x = outer(x);
		if (getenv("KEEP") == NULL)
			dlclose(plugin);
	}
	return x == 0;
}

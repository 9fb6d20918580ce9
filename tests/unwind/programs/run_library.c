/* SPDX-License-Identifier: MIT */
/* run_library LIBRARY: calls its library_main(). */
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*function)(int, char **) = NULL;

	if (library != NULL)
		*(void **)&function = dlsym(library, "library_main");
	return function != NULL ? function(1, argv) : 2;
}

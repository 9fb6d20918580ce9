/* SPDX-License-Identifier: MIT */
/*
 * exceptions: calls ended by exceptions, which other functions catch and rethrow. There is no
 * recursion, since nothing would tell which of two calls ended. Writes log.TID (see sequence.c) and
 * depth.TID: the letter of each call and its depth. With -DEXITS_TOLD, the compiled code also
 * reports functions that an exception leaves.
 */
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((no_instrument_function))

#ifdef EXITS_TOLD
static const bool exits_told = true;
#else
static const bool exits_told = false;
#endif

static thread_local char text[1 << 16], depths[1 << 18];
static thread_local unsigned n_text, n_depths, depth, seed;

UNPROFILED static unsigned chance(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

struct inside {
	char letter;

	UNPROFILED __attribute__((always_inline)) inside(char entry) : letter(entry)
	{
		text[n_text++] = letter;
		n_depths += (unsigned)sprintf(depths + n_depths, "f%c %u\n", letter, depth++);
	}
	UNPROFILED __attribute__((always_inline)) ~inside()
	{
		depth--;
		if (exits_told || std::uncaught_exceptions() == 0)
			text[n_text++] = (char)(letter - 'a' + 'A');
	}
};

extern "C" {
NOINLINE void fe()
{
	inside here('e');
}

NOINLINE void fd()
{
	inside here('d');

	if (chance(3) > 0)
		throw 1;
	fe();
}

NOINLINE void fc()
{
	inside here('c');

	fd();
	fe();
}

NOINLINE void fb()
{
	inside here('b');

	try {
		fc();
	} catch (int) {
		fe();
		if (chance(2) > 0)
			throw;
		fe();
	}
}

NOINLINE void fa()
{
	inside here('a');

	for (unsigned n = chance(4); n > 0; n--) {
		try {
			fb();
		} catch (...) {
			fe();
		}
	}
	if (chance(4) == 0)
		throw 2L;
}
}

UNPROFILED static void write_file(const char *name, const char *bytes, unsigned n)
{
	std::string path = std::string(name) + "." + std::to_string(syscall(SYS_gettid));
	FILE *file = fopen(path.c_str(), "w");

	if (file == NULL || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
		_exit(1);
}

/* Profiled, so that its next call is known to be its own, whatever the exception left behind. */
NOINLINE static void run(unsigned number)
{
	seed = number * 7919 + 1;
	while (n_text < sizeof(text) / 32) {
		try {
			fa();
		} catch (long) {
		}
	}
	write_file("log", text, n_text);
	write_file("depth", depths, n_depths);
}

UNPROFILED int main()
{
	std::thread other([]() UNPROFILED { run(2); });

	run(1);
	other.join();
	return 0;
}

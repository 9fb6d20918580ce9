/* SPDX-License-Identifier: MIT */
/*
 * bench_unwind: prints "NAME NS" lines: the time of a call path of 15 frames, and of each further
 * frame, by gm_unwind(), libunwind's unw_backtrace() and glibc's backtrace(); and of a frame whose
 * rule is not in the cache. Each figure is the least of ROUNDS, as the others have been
 * interrupted.
 *
 * bench_unwind spin N: counts to N, 15 frames deep. bench_unwind wait N: N waits that end at once,
 * 15 frames deep. The code has no frame pointers.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/process/loadmap.h"
#include "runtime/unwind/unwind.h"

#define ROUNDS	   200
#define PER_ROUND  100
#define FRAMES_MAX 128

static void *frames[FRAMES_MAX];
static uint64_t addresses[FRAMES_MAX];
static struct gm_stack stack;
static int (*glibc_backtrace)(void **, int);
static volatile int n_frames, depth;

/* None of this program's objects is unloaded. */
bool gm_module_is_permanent(const struct link_map *module)
{
	return module != NULL;
}

static __attribute__((noinline)) int ours(void)
{
	struct gm_registers here;
	enum gm_unwind_end end;

	gm_registers_here(&here);
	return (int)gm_unwind(&here, &stack, addresses, FRAMES_MAX, &end);
}

static __attribute__((noinline)) int forget(void)
{
	gm_maps_on_leave(0, UINT64_MAX);
	return 0;
}

/* With no rule in the cache. */
static __attribute__((noinline)) int ours_cold(void)
{
	return forget() + ours();
}

static __attribute__((noinline)) int libunwinds(void)
{
	return unw_backtrace(frames, FRAMES_MAX);
}

/* libunwind has a function of the same name. */
static __attribute__((noinline)) int glibcs(void)
{
	return glibc_backtrace(frames, FRAMES_MAX);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Sets n_frames to the last result. */
static double least_ns(int (*walk)(void))
{
	double least = 1e18;

	for (int round = 0; round < ROUNDS; round++) {
		double start = now_ns(), each;

		for (int i = 0; i < PER_ROUND; i++)
			n_frames = walk();
		each = (now_ns() - start) / PER_ROUND;
		least = each < least ? each : least;
	}
	return least;
}

static __attribute__((noinline)) double deeper(int n, int (*walk)(void))
{
	double result = n > 0 ? deeper(n - 1, walk) : least_ns(walk);

	depth++; /* prevents a tail call */
	return result;
}

static unsigned long n_times;

static int spin(void)
{
	for (volatile unsigned long i = 0; i < n_times; i++)
		;
	return 0;
}

static int wait_in_vain(void)
{
	struct timespec past = {1, 0};
	sem_t sem;

	sem_init(&sem, 0, 0);
	for (unsigned long i = 0; i < n_times; i++)
		sem_timedwait(&sem, &past);
	return 0;
}

static __attribute__((noinline)) void call_deeply(int n, int (*function)(void))
{
	if (n > 0)
		call_deeply(n - 1, function);
	else
		function();
	depth++;
}

static int run(const char *what, const char *n)
{
	n_times = strtoul(n, NULL, 10);
	n_frames = ours();
	call_deeply(15 - n_frames, strcmp(what, "spin") == 0 ? spin : wait_in_vain);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*walk)(void);
	} walks[] = {{"ours", ours}, {"libunwind", libunwinds}, {"glibc", glibcs}};
	double warm_ns, cold_ns, forget_ns;
	int n_outer;

	glibc_backtrace = dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "backtrace");
	gm_maps_update();
	stack = gm_stack_around((uint64_t)__builtin_frame_address(0));
	if (argc == 3)
		return run(argv[1], argv[2]);
	warm_ns = deeper(0, ours);
	n_outer = n_frames;
	cold_ns = deeper(0, ours_cold);
	forget_ns = deeper(0, forget);
	/* The frame of ours_cold() itself is in none of the others; it counts as a cold one. */
	printf("ours-cold %.1f\n", (cold_ns - forget_ns - warm_ns) / (n_outer + 1));
	for (unsigned i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
		double short_ns = deeper(15 - n_outer, walks[i].walk);
		double long_ns = deeper(100, walks[i].walk);

		printf("%s-15 %.1f\n", walks[i].name, short_ns);
		printf("%s-frame %.2f\n", walks[i].name,
		       (long_ns - short_ns) / (100 - (15 - n_outer)));
	}
	return 0;
}

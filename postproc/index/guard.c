/* SPDX-License-Identifier: MIT */
#include "index/guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* The signal comes in the midst of the access, so in the thread that has set these. */
static const struct pp_index *volatile guarded;
static volatile sig_atomic_t torn;

static bool is_in(const struct pp_pile *pile, const char *at)
{
	return pile->data && at >= pile->data && at < pile->data + pile->mapped_bytes;
}

/* Signal-safe: mmap() is a system call and no more. */
static void on_missing_page(int number, siginfo_t *info, void *context)
{
	const struct pp_index *index = guarded;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *page = (char *)info->si_addr - (uintptr_t)info->si_addr % page_bytes;

	(void)context;
	for (unsigned i = 0; index && i < PP_N_SECTIONS; i++) {
		if (!is_in(&index->sections[i], info->si_addr))
			continue;
		if (mmap(page, page_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			break;
		torn = true;
		return;
	}
	/* Not ours: the access is made again, and ends the program. */
	signal(number, SIG_DFL);
}

void pp_index_guard(const struct pp_index *index)
{
	struct sigaction action = {.sa_sigaction = on_missing_page, .sa_flags = SA_SIGINFO};

	guarded = index;
	torn = false;
	sigaction(SIGBUS, &action, NULL);
}

void pp_index_unguard(const struct pp_index *index)
{
	if (guarded != index)
		return;
	guarded = NULL;
	signal(SIGBUS, SIG_DFL);
}

bool pp_index_is_torn(void)
{
	return torn;
}

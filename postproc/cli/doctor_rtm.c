/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether transactions of the CPU (RTM), with which critical sections run
 * optimistically, can be used. Microcode may have made each transaction abort, with or without a
 * bit that says so; so a few are tried.
 */
#include "cli/doctor.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>

#define TRIES 1000u

#define LEAF_FEATURES	 7u
#define RTM		 (1u << 11) /* of ebx */
#define RTM_ALWAYS_ABORT (1u << 11) /* of edx */

/* True if one transaction of some succeeds: each may be interrupted. */
__attribute__((target("rtm"))) static bool try_transactions(void)
{
	for (unsigned i = 0; i < TRIES; i++)
		if (_xbegin() == _XBEGIN_STARTED) {
			_xend();
			return true;
		}
	return false;
}

/* Returns the reason why there are no transactions; NULL: there are. */
static const char *why_not(void)
{
	unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

	if (!__get_cpuid_count(LEAF_FEATURES, 0, &eax, &ebx, &ecx, &edx) || !(ebx & RTM))
		return "not in this CPU (no RTM)";
	if (edx & RTM_ALWAYS_ABORT)
		return "switched off: each transaction aborts (RTM_ALWAYS_ABORT)";
	return try_transactions() ? NULL : "each transaction aborts";
}
#else
static const char *why_not(void)
{
	return "not in this CPU";
}
#endif

void pp_doctor_rtm(void)
{
	const char *why = why_not();

	pp_doctor_line(PP_VERDICT_GOOD, "transactional memory",
		       why ?: "usable (RTM); glibc elides locks with glibc.elision.enable=1", NULL);
}

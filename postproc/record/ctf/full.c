/* SPDX-License-Identifier: MIT */
/* The table of kernel events other than the scheduler's, with their fields. */
#include "record/ctf/full.h"

#include <string.h>

/* LTTng's RWBS_FLAG_. */
enum {
	WRITE = 1,
	DISCARD = 2,
	READ = 4,
	AHEAD = 8,
	SYNC = 32,
	META = 64,
	SECURE = 128,
	FLUSH = 256,
	FUA = 512,
	PREFLUSH = 1024,
};

#define ROW(kind) [PP_KEVENT_##kind - PP_KEVENT_FULL]

const struct pp_full_event pp_full_events[PP_N_FULL] = {
    ROW(SYSCALL_ENTRY) = {"raw_syscalls/sys_enter",
			  NULL,
			  "system calls",
			  true,
			  {{"id", NULL, 0, 'i'}, {"args", NULL, 0, 'x'}}},
    ROW(SYSCALL_EXIT) = {"raw_syscalls/sys_exit",
			 NULL,
			 "system calls",
			 true,
			 {{"id", NULL, 0, 'i'}, {"ret", NULL, 0, 'i'}}},
    ROW(FAULT_USER) = {"exceptions/page_fault_user",
		       "x86_exceptions_page_fault_user",
		       "page faults",
		       true,
		       {{"address", "address", 8, 'x'},
			{"ip", "ip", 8, 'x'},
			{"error_code", "error_code", 1, 'x'}}},
    ROW(FAULT_KERNEL) = {"exceptions/page_fault_kernel",
			 "x86_exceptions_page_fault_kernel",
			 "page faults",
			 true,
			 {{"address", "address", 8, 'x'},
			  {"ip", "ip", 8, 'x'},
			  {"error_code", "error_code", 1, 'x'}}},
    ROW(TIMER_START) = {"timer/hrtimer_start",
			"timer_hrtimer_start",
			"timers",
			true,
			{{"hrtimer", "hrtimer", 8, 'x'},
			 {"expires", "expires", 8, 'i'},
			 {"mode", "mode", 1, 'u'}}},
    ROW(TIMER_EXPIRE) = {"timer/hrtimer_expire_entry",
			 "timer_hrtimer_expire_entry",
			 "timers",
			 false,
			 {{"hrtimer", "hrtimer", 8, 'x'},
			  {"now", "now", 8, 'i'},
			  {"function", "function", 8, 'x'}}},
    ROW(SIGNAL_GENERATE) = {"signal/signal_generate",
			    "signal_generate",
			    "signals",
			    true,
			    {{"sig", "sig", 1, 'u'},
			     {"errno", "errno", 4, 'i'},
			     {"code", "code", 4, 'i'},
			     {"pid", "pid", 4, 'i'},
			     {"group", "group", 1, 'u'},
			     {"result", "result", 1, 'u'}}},
    ROW(SIGNAL_DELIVER) = {"signal/signal_deliver",
			   "signal_deliver",
			   "signals",
			   true,
			   {{"sig", "sig", 1, 'u'},
			    {"errno", "errno", 4, 'i'},
			    {"code", "code", 4, 'i'},
			    {"sa_handler", "sa_handler", 8, 'x'},
			    {"sa_flags", "sa_flags", 4, 'x'}}},
    ROW(BLOCK_ISSUE) = {"block/block_rq_issue",
			"block_rq_issue",
			"block I/O",
			true,
			{{"dev", "dev", 4, 'u'},
			 {"sector", "sector", 8, 'u'},
			 {"nr_sector", "nr_sector", 4, 'u'},
			 {"bytes", "bytes", 4, 'u'},
			 {"rwbs", "rwbs", 2, 'r'}}},
    ROW(BLOCK_COMPLETE) = {"block/block_rq_complete",
			   "block_rq_complete",
			   "block I/O",
			   false,
			   {{"dev", "dev", 4, 'u'},
			    {"sector", "sector", 8, 'u'},
			    {"nr_sector", "nr_sector", 4, 'u'},
			    {"error", "error", 4, 'i'},
			    {"rwbs", "rwbs", 2, 'r'}}},
};

/*
 * The letter F means PREFLUSH before the operation's letter, FUA behind it, and a flush operation
 * alone.
 */
static uint64_t flush_bit(const char *rest, unsigned n, uint64_t set)
{
	if (set)
		return FUA;
	return n > 1 && rest[1] && strchr("WDR", rest[1]) ? PREFLUSH : FLUSH;
}

uint64_t pp_full_rwbs(const char *letters, unsigned n)
{
	static const struct {
		char letter;
		uint16_t bit;
	} bits[] = {{'W', WRITE}, {'D', DISCARD}, {'R', READ},	{'A', AHEAD},
		    {'S', SYNC},  {'M', META},	  {'E', SECURE}};
	uint64_t set = 0;

	for (unsigned i = 0; i < n && letters[i]; i++) {
		if (letters[i] == 'F')
			set |= flush_bit(letters + i, n - i, set);
		for (unsigned b = 0; b < sizeof(bits) / sizeof(bits[0]); b++)
			if (bits[b].letter == letters[i])
				set |= bits[b].bit;
	}
	return set;
}

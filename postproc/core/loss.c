/* SPDX-License-Identifier: MIT */
/* Texts for each reason of a loss. */
#include "core/loss.h"

#include "gmon-mt/format.h"
#include "sync-trace/accesses.h"
#include "sync-trace/collector.h"

static const struct {
	unsigned why;
	const char *text;
} reasons[] = {
    {GM_LOSS_DISK, "no room on the disk"},
    {GM_LOSS_FILE_LIMIT, "the limit on the size of files is too low (ulimit -f)"},
    {GM_LOSS_MEMORY, "no memory or address space left"},
    {GM_LOSS_FILE, "a file could not be created, opened or written"},
    {GM_LOSS_TOO_MANY, "more than the format can number, or too deeply nested signal handlers"},
    {GM_LOSS_TOO_EARLY,
     "in code where nothing can be recorded: before relocation (IFUNC resolvers), "
     "in a signal handler that interrupted the library, or under seccomp"},
    {GM_LOSS_NO_FUNCTION, "__cyg_profile_func_enter() was called with a null function"},
    {GM_LOSS_SECOND_COPY, "the program contains libgmon_mt twice; link it once"},
    {PP_LOSS_LEFT, "a signal handler jumped out of the operation, which may have taken effect"},
    {PP_LOSS_OUTPUT_MAX,
     "output.max is reached, or the size of a ring; --set output.max=64G allows more, "
     "--set sync.mode=contended or calls.mode=count needs less"},
    {PP_LOSS_LITTLE, "a child of fork has too few to make files for them"},
    {PP_LOSS_STALLED, "another thread was stopped for seconds while it used shared data"},
};

static unsigned moved(unsigned whys, unsigned from, unsigned to)
{
	return (whys & from) == 0 ? whys : (whys & ~from) | to;
}

unsigned pp_loss_of_events(unsigned whys)
{
	return pp_loss_of_records(moved(whys, GM_LOSS_LEFT, PP_LOSS_LEFT));
}

unsigned pp_loss_of_stacks(unsigned whys)
{
	return pp_loss_of_records(moved(whys, GM_LOSS_LITTLE, PP_LOSS_LITTLE));
}

unsigned pp_loss_of_records(unsigned whys)
{
	return moved(whys, GM_LOSS_OUTPUT_MAX, PP_LOSS_OUTPUT_MAX);
}

char *pp_loss_text(const char *what, unsigned whys)
{
	GString *text = g_string_new(what);
	const char *before = ": ";

	for (guint i = 0; i < G_N_ELEMENTS(reasons); i++) {
		if (!(whys & reasons[i].why))
			continue;
		g_string_append(text, before);
		g_string_append(text, reasons[i].text);
		before = ", ";
	}
	return g_string_free(text, FALSE);
}

char *pp_loss_step_text(unsigned step)
{
	switch (step) {
	case GM_STALLED_MONCONTROL:
		return pp_loss_text("moncontrol() had no effect on other threads", PP_LOSS_STALLED);
	case GM_STALLED_LAST_SAMPLES:
		return pp_loss_text("the last missed samples of a thread are not counted",
				    PP_LOSS_STALLED);
	case GM_STALLED_GMON:
		return pp_loss_text("gmon files not written; gprof-mt export --format gmon makes "
				    "them from the capture",
				    PP_LOSS_STALLED);
	default:
		return NULL;
	}
}

const char *pp_loss_barred_text(unsigned bit)
{
	switch (bit) {
	case ST_STEP_HANDLED:
		return "critical sections not stepped: the program handles SIGTRAP, or ignores it";
	case ST_STEP_BLOCKED:
		return "critical sections not stepped: the program blocks SIGTRAP";
	case ST_STEP_TRACED:
		return "critical sections not stepped: a debugger traces the program";
	case ST_STEP_SEALED:
		return "critical sections not stepped: a filter of system calls is in effect";
	case ST_STEP_STACK:
		return "critical sections not stepped: the thread's stack is too small, or is "
		       "another one";
	default:
		return NULL;
	}
}

const char *pp_loss_abandoned_text(unsigned why)
{
	static const char *const texts[ST_ACCESS_N_WHYS] = {
	    "critical sections given up while they were stepped",
	    [ST_ACCESS_WHY_LENGTH] = "critical sections given up: more instructions than "
				     "access.steps",
	    [ST_ACCESS_WHY_CALL] = "critical sections given up: a system call in them changes "
				   "signals or processes",
	    [ST_ACCESS_WHY_STACK] = "critical sections given up: no room on the stack, or another "
				    "stack",
	    [ST_ACCESS_WHY_INSTRUCTION] = "critical sections given up: an instruction whose "
					  "accesses are not known (a function that was called for "
					  "the first time, too)",
	    [ST_ACCESS_WHY_MEMORY] = "critical sections given up: a fault, or memory that cannot "
				     "be read",
	    [ST_ACCESS_WHY_LEFT] = "critical sections given up: a signal handler jumped out of "
				   "them, or synchronized",
	};

	return texts[why < ST_ACCESS_N_WHYS ? why : 0];
}

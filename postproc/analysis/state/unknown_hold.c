/* SPDX-License-Identifier: MIT */
/* See unknown_hold.h. */
#include "analysis/state/unknown_hold.h"

static const char *const whys[PP_N_HOLD_WHYS] = {
    [PP_HOLD_OTHER_PROCESS] = "a thread of another process",
    [PP_HOLD_NO_THREAD] = "a thread that was not recorded",
    [PP_HOLD_NO_EVENT] = "its acquisition was not recorded",
    [PP_HOLD_BEFORE] = "it was acquired before the time that the ring has",
    [PP_HOLD_LOST] = "events were lost",
    [PP_HOLD_NOT_RECORDED] = "holds were not recorded",
    [PP_HOLD_NO_OWNER] = "not known: no thread of the process held it",
};

const char *pp_hold_why_text(enum pp_hold_why why)
{
	return whys[why];
}

void pp_lost_threads_init(struct pp_lost_threads *lost)
{
	lost->by_serial = g_array_new(FALSE, TRUE, sizeof(bool));
	lost->any = false;
}

void pp_lost_threads_done(struct pp_lost_threads *lost)
{
	g_clear_pointer(&lost->by_serial, g_array_unref);
}

void pp_lost_threads_add(struct pp_lost_threads *lost, const struct pp_thread *thread)
{
	if (thread->serial >= lost->by_serial->len)
		g_array_set_size(lost->by_serial, thread->serial + 1);
	g_array_index(lost->by_serial, bool, thread->serial) = true;
	lost->any = true;
}

static bool has_lost(const struct pp_lost_threads *lost, const struct pp_thread *thread)
{
	return thread->events_lost || (thread->serial < lost->by_serial->len &&
				       g_array_index(lost->by_serial, bool, thread->serial));
}

enum pp_hold_why pp_hold_why(const struct pp_model *model, const struct pp_lost_threads *lost,
			     const struct pp_object *object, uint32_t owner_tid, int64_t begin_ns)
{
	const struct pp_thread *owner =
	    owner_tid ? pp_model_thread_at(model, owner_tid, begin_ns) : NULL;

	if (owner_tid && !owner)
		return PP_HOLD_NO_THREAD;
	if (owner && owner->process != object->process)
		return PP_HOLD_OTHER_PROCESS;
	if (object->process->no_holds)
		return PP_HOLD_NOT_RECORDED;
	if (owner ? has_lost(lost, owner) : lost->any || object->process->events_lost)
		return PP_HOLD_LOST;
	if (owner ? owner->begins_late : pp_model_begins_late(model))
		return PP_HOLD_BEFORE;
	return owner ? PP_HOLD_NO_EVENT : PP_HOLD_NO_OWNER;
}

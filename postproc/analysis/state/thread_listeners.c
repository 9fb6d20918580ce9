/* SPDX-License-Identifier: MIT */
/*
 * See thread_listeners.h.  A callback of which no listener has one is left out, so that what nobody
 * wants to hear costs nothing.
 */
#include "analysis/state/thread_listeners.h"

/* Defines a function that calls this callback of each listener. */
#define CALL_EACH(callback, type)                                                                  \
	static void each_##callback(void *data, type argument)                                     \
	{                                                                                          \
		const GPtrArray *list = data;                                                      \
                                                                                                   \
		for (guint i = 0; i < list->len; i++) {                                            \
			const struct pp_thread_listener *listener = list->pdata[i];                \
                                                                                                   \
			if (listener->callback)                                                    \
				listener->callback(listener->data, argument);                      \
		}                                                                                  \
	}

CALL_EACH(interval, const struct pp_interval *)
CALL_EACH(begin, const struct pp_operation *)
CALL_EACH(operation, const struct pp_operation *)
CALL_EACH(io_begin, const struct pp_io *)
CALL_EACH(io, const struct pp_io *)
CALL_EACH(lost, const struct pp_thread *)
CALL_EACH(waking, const struct pp_event *)
CALL_EACH(started, const struct pp_thread *)
CALL_EACH(ended, const struct pp_thread *)

void pp_thread_listeners_init(struct pp_thread_listeners *listeners)
{
	listeners->list = g_ptr_array_new();
	listeners->all = (struct pp_thread_listener){.data = listeners->list};
}

void pp_thread_listeners_done(struct pp_thread_listeners *listeners)
{
	g_ptr_array_unref(listeners->list);
}

#define USE(callback)                                                                              \
	do {                                                                                       \
		if (listener->callback)                                                            \
			listeners->all.callback = each_##callback;                                 \
	} while (0)

const struct pp_thread_listener *pp_thread_listeners_add(struct pp_thread_listeners *listeners,
							 const struct pp_thread_listener *listener)
{
	g_ptr_array_add(listeners->list, (void *)listener);
	USE(interval);
	USE(begin);
	USE(operation);
	USE(io_begin);
	USE(io);
	USE(lost);
	USE(waking);
	USE(started);
	USE(ended);
	return listeners->list->len == 1 ? listener : &listeners->all;
}

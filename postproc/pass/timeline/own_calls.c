/* SPDX-License-Identifier: MIT */
/* Follows the pairs of rt_sigprocmask() of a thread. */
#include "pass/timeline/own_calls.h"

#include <signal.h>
#include <string.h>

/* The argument with that name, or at that position if the kernel's names are not known. */
static uint64_t argument(const struct pp_event *event, const char *name, unsigned at)
{
	g_autofree char *guessed = g_strdup_printf("arg%u", at);

	for (unsigned i = 0; i < event->syscall.n_values; i++)
		if (strcmp(event->syscall.names[i], name) == 0 ||
		    strcmp(event->syscall.names[i], guessed) == 0)
			return (uint64_t)event->syscall.values[i];
	return 0;
}

static void follow_mask(struct pp_own_calls *own, const struct pp_namer *namer,
			const struct pp_event *event)
{
	int how = (int)argument(event, "how", 0);
	uint64_t set = argument(event, "nset", 1);

	if (how == SIG_BLOCK && set && namer->is_own(namer->data, event->thread->process, set))
		own->depth++;
	else if (how == SIG_SETMASK && own->depth)
		own->depth--;
	else if (!set) /* a handler has jumped out of a pair: the mask is read first */
		own->depth = 0;
}

bool pp_own_calls_enter(struct pp_own_calls *own, const struct pp_namer *namer,
			const struct pp_event *event)
{
	bool was_open = own->depth != 0;

	if (!namer || !namer->is_own)
		return false;
	if (strcmp(event->syscall.name, "rt_sigprocmask") == 0)
		follow_mask(own, namer, event);
	own->is_inside = was_open || own->depth;
	own->n += own->is_inside;
	return own->is_inside;
}

bool pp_own_calls_leave(struct pp_own_calls *own)
{
	bool was_inside = own->is_inside;

	own->is_inside = false;
	return was_inside;
}

void pp_own_calls_forget(struct pp_own_calls *own)
{
	own->depth = 0;
	own->is_inside = false;
}

/* SPDX-License-Identifier: MIT */
/* A small array of open acquisitions per object, searched by thread. */
#include "index/opens.h"

#include "index/index.h"

/* Limit per object.  Deeper acquisitions get no mate: a program may lock without end. */
#define MOST 1024

struct open {
	const struct pp_thread *thread;
	uint32_t operation;
};

void pp_opens_done(struct pp_opens *opens)
{
	g_clear_pointer(&opens->all, g_array_unref);
}

static const struct open *open_at(const struct pp_opens *opens, guint i)
{
	return &g_array_index(opens->all, struct open, i);
}

/* Returns the number of entries of the thread, and the positions of its first and last one. */
static unsigned find(const struct pp_opens *opens, const struct pp_thread *thread, guint *ret_first,
		     guint *ret_last)
{
	unsigned n = 0;

	*ret_first = *ret_last = 0;
	for (guint i = 0; opens->all && i < opens->all->len; i++) {
		if (open_at(opens, i)->thread != thread)
			continue;
		if (!n++)
			*ret_first = i;
		*ret_last = i;
	}
	return n;
}

void pp_opens_add(struct pp_opens *opens, const struct pp_thread *thread, unsigned depth,
		  uint32_t operation)
{
	struct open open = {thread, operation};
	guint first, last;

	if (depth == 1)
		(void)pp_opens_end(opens, thread);
	if (!opens->all)
		opens->all = g_array_new(FALSE, FALSE, sizeof(struct open));
	/* Intermediate acquisitions may be unknown. */
	if (depth == 1 ||
	    (opens->all->len < MOST && find(opens, thread, &first, &last) + 1 == depth))
		g_array_append_val(opens->all, open);
}

uint32_t pp_opens_first(const struct pp_opens *opens, const struct pp_thread *thread)
{
	guint first, last;

	return find(opens, thread, &first, &last) ? open_at(opens, first)->operation
						  : PP_INDEX_NONE;
}

uint32_t pp_opens_end(struct pp_opens *opens, const struct pp_thread *thread)
{
	uint32_t operation = pp_opens_first(opens, thread);

	for (guint i = opens->all ? opens->all->len : 0; i-- > 0;)
		if (open_at(opens, i)->thread == thread)
			g_array_remove_index(opens->all, i);
	return operation;
}

uint32_t pp_opens_undo(struct pp_opens *opens, const struct pp_thread *thread, unsigned depth)
{
	guint first, last;
	uint32_t operation;

	if (find(opens, thread, &first, &last) <= depth)
		return PP_INDEX_NONE;
	operation = open_at(opens, last)->operation;
	g_array_remove_index(opens->all, last);
	return operation;
}

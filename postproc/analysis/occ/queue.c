/* SPDX-License-Identifier: MIT */
/* See queue.h. */
#include "analysis/occ/queue.h"

#include <stdbool.h>

struct thread {
	uint64_t last;	       /* number of its last acquisition; 0: none */
	unsigned newer, older; /* 1 + positions in the list; 0: none */
	bool waits;
	uint64_t begin;	 /* acquisitions by all threads before its wait */
	GArray *holders; /* of unsigned: positions of the holders at that time; NULL: none yet */
};

static struct thread *at(const struct pp_occ_queue *self, unsigned position)
{
	return &g_array_index(self->threads, struct thread, position);
}

static unsigned position_of(struct pp_occ_queue *self, unsigned number)
{
	unsigned position = pp_occ_numbers_get(&self->numbers, number);

	if (!self->threads)
		self->threads = g_array_new(FALSE, TRUE, sizeof(struct thread));
	if (position == self->threads->len)
		g_array_set_size(self->threads, position + 1);
	return position;
}

void pp_occ_queue_done(struct pp_occ_queue *self)
{
	for (guint i = 0; self->threads && i < self->threads->len; i++)
		if (at(self, i)->holders)
			g_array_unref(at(self, i)->holders);
	if (self->threads)
		g_array_unref(self->threads);
	pp_occ_numbers_done(&self->numbers);
	*self = (struct pp_occ_queue){0};
}

void pp_occ_queue_waits(struct pp_occ_queue *self, unsigned number)
{
	struct thread *thread = at(self, position_of(self, number));

	thread->waits = true;
	thread->begin = self->n;
	if (thread->holders)
		g_array_set_size(thread->holders, 0);
}

void pp_occ_queue_holds(struct pp_occ_queue *self, unsigned waiter, unsigned holder)
{
	unsigned position = position_of(self, holder);
	struct thread *thread = at(self, position_of(self, waiter));

	if (!thread->holders)
		thread->holders = g_array_new(FALSE, FALSE, sizeof(unsigned));
	g_array_append_val(thread->holders, position);
}

struct pp_occ_waited pp_occ_queue_ends(struct pp_occ_queue *self, unsigned number)
{
	struct thread *thread = at(self, position_of(self, number));
	struct pp_occ_waited waited = {0, self->n - thread->begin};

	if (!thread->waits)
		return (struct pp_occ_waited){1, 1};
	thread->waits = false;
	for (unsigned i = self->first; i && at(self, i - 1)->last > thread->begin;
	     i = at(self, i - 1)->older)
		waited.n_threads++;
	for (guint i = 0; thread->holders && i < thread->holders->len; i++) {
		unsigned holder = g_array_index(thread->holders, unsigned, i);

		waited.n_holds++;
		waited.n_threads += at(self, holder)->last <= thread->begin;
	}
	waited.n_threads = MAX(waited.n_threads, 1);
	waited.n_holds = MAX(waited.n_holds, 1);
	return waited;
}

static void unlink_thread(struct pp_occ_queue *self, const struct thread *thread)
{
	if (thread->newer)
		at(self, thread->newer - 1)->older = thread->older;
	else
		self->first = thread->older;
	if (thread->older)
		at(self, thread->older - 1)->newer = thread->newer;
}

void pp_occ_queue_acquired(struct pp_occ_queue *self, unsigned number)
{
	unsigned position = position_of(self, number);
	struct thread *thread = at(self, position);

	if (thread->last)
		unlink_thread(self, thread);
	thread->last = ++self->n;
	thread->newer = 0;
	thread->older = self->first;
	if (self->first)
		at(self, self->first - 1)->newer = position + 1;
	self->first = position + 1;
}

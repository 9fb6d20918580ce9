/* SPDX-License-Identifier: MIT */
/*
 * See handover.h.  Each thread's last turn is remembered, with its position in a run of alternating
 * ones; pairs of threads have sums.
 */
#include "analysis/state/handover.h"

#define RUN_LEAST 3u

struct turn {
	const struct pp_thread *giver; /* NULL: not known */
	int64_t given_ns, got_ns;      /* the giver's operation; when the thread went on */
	unsigned run;		       /* its position; 0: there was none yet */
	unsigned n_woken;	       /* threads that its thread has woken since */
};

struct pair {
	struct pp_site_key key;
	int64_t turn_ns, waited_ns;
};

void pp_handovers_init(struct pp_handovers *handovers)
{
	handovers->threads = g_array_new(FALSE, TRUE, sizeof(struct turn));
	handovers->pairs = (struct pp_site_set){0};
}

void pp_handovers_done(struct pp_handovers *handovers)
{
	g_clear_pointer(&handovers->threads, g_array_unref);
	pp_site_set_done(&handovers->pairs);
}

static struct turn *turn_of(struct pp_handovers *handovers, const struct pp_thread *thread)
{
	if (thread->serial >= handovers->threads->len)
		g_array_set_size(handovers->threads, thread->serial + 1);
	return &g_array_index(handovers->threads, struct turn, thread->serial);
}

void pp_handovers_wakes(struct pp_handovers *handovers, const struct pp_thread *thread,
			unsigned n_woken)
{
	turn_of(handovers, thread)->n_woken += n_woken;
}

static struct pp_site_key pair_of(uint32_t thread, uint32_t other)
{
	return (struct pp_site_key){.address = MIN(thread, other), .detail = MAX(thread, other)};
}

/* True if the thread of `own` gave the other one its turn, and now gets it back. */
static bool alternates(const struct turn *own, const struct turn *other,
		       const struct pp_thread *thread, int64_t given_ns)
{
	return other->giver == thread && other->got_ns <= given_ns &&
	       (!own->run || other->given_ns >= own->got_ns) && own->n_woken == 1 &&
	       other->n_woken == 1;
}

static void add_turn(struct pp_handovers *handovers, const struct pp_operation *operation,
		     const struct pp_thread *giver, int64_t begin_ns, int64_t given_ns)
{
	struct pp_site_key key = pair_of(operation->thread->serial, giver->serial);
	struct pair *pair = pp_site_set_get(&handovers->pairs, sizeof(*pair), &key);

	pair->turn_ns += given_ns - begin_ns;
	pair->waited_ns += MAX(given_ns - MAX(operation->begin_ns, begin_ns), 0);
}

void pp_handovers_got(struct pp_handovers *handovers, const struct pp_operation *operation,
		      const struct pp_thread *waker, int64_t waker_ns)
{
	struct turn other = waker ? *turn_of(handovers, waker) : (struct turn){0};
	struct turn *own = turn_of(handovers, operation->thread);
	struct turn now = {
	    .giver = waker, .given_ns = waker_ns, .got_ns = operation->end_ns, .run = 1};

	if (waker && alternates(own, &other, operation->thread, waker_ns))
		now.run = own->giver == waker ? other.run + 1 : 2;
	*own = now;
	if (now.run >= RUN_LEAST)
		add_turn(handovers, operation, waker, other.got_ns, waker_ns);
}

bool pp_handovers_alternate(const struct pp_handovers *handovers,
			    const struct pp_operation *operation)
{
	const struct pp_thread *thread = operation->thread;
	const struct turn *turn =
	    thread->serial < handovers->threads->len
		? &g_array_index(handovers->threads, struct turn, thread->serial)
		: NULL;

	return turn && turn->run >= RUN_LEAST && turn->got_ns == operation->end_ns;
}

bool pp_handovers_has(const struct pp_handovers *handovers, uint32_t thread, uint32_t other)
{
	struct pp_site_key key = pair_of(thread, other);
	const struct pair *pair = pp_site_set_find(&handovers->pairs, sizeof(*pair), &key);

	return pair && 2 * pair->waited_ns >= pair->turn_ns;
}

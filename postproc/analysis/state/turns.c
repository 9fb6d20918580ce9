/* SPDX-License-Identifier: MIT */
/* See turns.h. */
#include "analysis/state/turns.h"

/* The threads that one thread woke at a place. */
struct waker {
	uint64_t mutex, site;
	uint32_t thread;
	GHashTable *woken; /* a set of serial numbers */
};

static guint waker_hash(const void *data)
{
	const struct waker *waker = data;
	uint64_t hash =
	    (waker->mutex ^ waker->site << 20 ^ waker->thread) * UINT64_C(0x9e3779b97f4a7c15);

	return (guint)(hash >> 32);
}

static gboolean waker_equal(const void *a, const void *b)
{
	const struct waker *x = a, *y = b;

	return x->mutex == y->mutex && x->site == y->site && x->thread == y->thread;
}

static void waker_free(void *data)
{
	struct waker *waker = data;

	g_hash_table_unref(waker->woken);
	g_free(waker);
}

void pp_turns_init(struct pp_turns *turns)
{
	turns->wakers = g_hash_table_new_full(waker_hash, waker_equal, waker_free, NULL);
}

void pp_turns_done(struct pp_turns *turns)
{
	g_clear_pointer(&turns->wakers, g_hash_table_unref);
}

/* NULL: it woke none there. */
static struct waker *find(const struct pp_turns *turns, const struct pp_turn *turn, uint32_t thread)
{
	const struct waker key = {.mutex = turn->mutex, .site = turn->site, .thread = thread};

	return g_hash_table_lookup(turns->wakers, &key);
}

void pp_turns_add(struct pp_turns *turns, const struct pp_turn *turn)
{
	struct waker *waker = find(turns, turn, turn->waker);

	if (!waker) {
		waker = g_new0(struct waker, 1);
		waker->mutex = turn->mutex;
		waker->site = turn->site;
		waker->thread = turn->waker;
		waker->woken = g_hash_table_new(NULL, NULL);
		g_hash_table_add(turns->wakers, waker);
	}
	g_hash_table_add(waker->woken, GUINT_TO_POINTER(turn->waiter));
}

/* Adds to `reached` the threads that this one woke; true if the turn's waker is among them. */
static bool follow(const struct pp_turns *turns, const struct pp_turn *turn, uint32_t thread,
		   GHashTable *seen, GArray *reached)
{
	const struct waker *waker = find(turns, turn, thread);
	GHashTableIter iter;
	void *key;

	if (!waker)
		return false;
	g_hash_table_iter_init(&iter, waker->woken);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		uint32_t woken = GPOINTER_TO_UINT(key);

		/* Not directly back: that is two threads. */
		if (woken == turn->waker && thread != turn->waiter)
			return true;
		if (woken != turn->waker && g_hash_table_add(seen, key))
			g_array_append_val(reached, woken);
	}
	return false;
}

bool pp_turns_has(const struct pp_turns *turns, const struct pp_turn *turn)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GArray) reached = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	g_hash_table_add(seen, GUINT_TO_POINTER(turn->waiter));
	g_array_append_val(reached, turn->waiter);
	for (guint i = 0; i < reached->len; i++)
		if (follow(turns, turn, g_array_index(reached, uint32_t, i), seen, reached))
			return true;
	return false;
}

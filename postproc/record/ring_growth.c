/* SPDX-License-Identifier: MIT */
/*
 * Opens a larger ring, moves the events to it in a separate thread, and reads both rings until the
 * old one is empty.
 */
#include "record/ring_growth.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>

#include <glib.h>

#define GROWTH 4

static void *move_events(void *arg)
{
	struct pp_ring *ring = arg;

	for (unsigned i = 0; i < ring->n_fds; i++) {
		/* relaxed: only needs to be seen eventually */
		if (__atomic_load_n(&ring->stop, __ATOMIC_RELAXED))
			return NULL;
		/* This cannot fail; if it did, both rings would continue to be read. */
		if (ioctl(ring->fds[i], PERF_EVENT_IOC_SET_OUTPUT, ring->next.fd))
			return NULL;
	}
	/* release: pairs with the acquire in end_if_moved() */
	__atomic_store_n(&ring->moved, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Returns 0 or -errno.  Signals are blocked: the main thread handles them. */
static int start_mover(struct pp_ring *ring)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = -pthread_create(&ring->mover, NULL, move_events, ring);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static int begin(struct pp_ring *ring, size_t data_bytes)
{
	int rc = pp_ring_buffer_open(&ring->next, ring->cpu, data_bytes);

	if (rc == 0)
		rc = start_mover(ring);
	if (rc)
		pp_ring_buffer_close(&ring->next);
	return rc;
}

/*
 * The last event was moved one grace period after the last recording event, so no writer uses the
 * old ring any more.
 */
static bool has_moved(const struct pp_ring *ring)
{
	/* acquire: pairs with the release in move_events() */
	return ring->next.map && __atomic_load_n(&ring->moved, __ATOMIC_ACQUIRE);
}

static void leave_old(struct pp_ring *ring)
{
	pthread_join(ring->mover, NULL);
	pp_ring_buffer_close(&ring->buffer);
	ring->buffer = ring->next;
	ring->next = (struct pp_ring_buffer){.fd = -1};
	ring->moved = false;
	ring->fill_bytes = 0;
}

void pp_ring_read(struct pp_ring *ring, pp_ring_record *record, void *data)
{
	bool last_of_old = has_moved(ring);

	pp_ring_drain(ring, record, data);
	if (last_of_old)
		leave_old(ring);
}

/* --- sizes ------ */

static size_t bytes_of(const struct pp_ring *rings, unsigned n_rings)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < n_rings; i++)
		bytes += rings[i].buffer.data_bytes + rings[i].next.data_bytes;
	return bytes;
}

/* The collector woke at half and found the ring so full that it may overflow the next time. */
static bool is_small(const struct pp_ring *ring)
{
	return ring->fill_bytes > ring->buffer.data_bytes / 4 * 3;
}

/*
 * The ring overflowed.  It may lose records at each step of growth, so it grows in a single step.
 */
static bool is_full(const struct pp_ring *ring)
{
	return ring->fill_bytes > ring->buffer.data_bytes / 16 * 15;
}

static void grow(struct pp_ring *ring, size_t most_bytes, size_t left_bytes)
{
	size_t wanted = is_full(ring) ? most_bytes : ring->buffer.data_bytes * GROWTH;

	while (wanted > most_bytes || wanted > left_bytes)
		wanted /= 2;
	while (wanted > ring->buffer.data_bytes && begin(ring, wanted)) {
		wanted /= 2;
		ring->refused = true;
	}
}

void pp_rings_adapt(struct pp_ring *rings, unsigned n_rings, size_t most_bytes)
{
	for (unsigned i = 0; i < n_rings; i++) {
		size_t used = bytes_of(rings, n_rings);

		if (!rings[i].next.map && !rings[i].refused && is_small(&rings[i]))
			grow(&rings[i], most_bytes, PP_RINGS_BYTES - MIN(used, PP_RINGS_BYTES));
	}
}

void pp_ring_move_cancel(struct pp_ring *ring)
{
	if (!ring->next.map)
		return;
	/* relaxed: as in pp_ring_stop() */
	__atomic_store_n(&ring->stop, true, __ATOMIC_RELAXED);
	pthread_join(ring->mover, NULL);
}

size_t pp_ring_bytes(const struct pp_ring *ring)
{
	return MAX(ring->buffer.data_bytes, ring->next.data_bytes);
}

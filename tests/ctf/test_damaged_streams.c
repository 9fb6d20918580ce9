/* SPDX-License-Identifier: MIT */
/*
 * Streams cut at every length, or with changed bytes: the reader never crashes and never returns an
 * event that was not written, and it returns the events before the damage.
 */
#include <glib/gstdio.h>

#include "check.h"
#include "fixture.h"
#include "events/events.h"

#ifdef __SANITIZE_ADDRESS__
#define SLOWNESS 7
#else
#define SLOWNESS 1
#endif

#define PID	  500
#define S	  UINT64_C(1000000000)
#define N_EVENTS  12
#define PACKET_AT 5
#define STREAM	  "capture/500/user/stream_0"

static const struct gm_thread_slot slots[] = {
    {.state = GM_THREAD_LIVE, .tid = 500, .parent_index = -1, .start_ns = 1 * S, .name = "main"},
    {.state = GM_THREAD_LIVE, .tid = 501, .start_ns = 1 * S, .name = "other"},
};

static void write_capture(void)
{
	struct fixture_stream *one, *two;

	fixture_capture("capture", 1);
	fixture_process("capture", PID, slots, G_N_ELEMENTS(slots));
	one = fixture_thread_stream("capture", PID, 0, 500, 1 * S);
	two = fixture_thread_stream("capture", PID, 1, 501, 1 * S);
	fixture_site(one, 1 * S, 1, 0x401000);
	for (unsigned i = 0; i < N_EVENTS; i++) {
		if (i == PACKET_AT)
			fixture_packet(one, 2 * S + i, 0);
		fixture_sync(one, 2 * S + i, ST_EVENT_mutex_lock, 0, 1, 0x1000 + i, 0);
		fixture_sync(two, 2 * S + i, ST_EVENT_sem_post, 0, 0, 0x2000, 0);
	}
	fixture_close(one);
	fixture_close(two);
}

struct seen {
	unsigned ours, others;
	bool in_order;
};

static void take(void *data, const struct pp_event *event)
{
	struct seen *seen = data;

	if (event->kind != PP_EVENT_SYNC || !event->thread)
		return;
	if (event->thread->tid == 501) {
		seen->others++;
		return;
	}
	/* The n-th event is the n-th event that was written, with all its fields. */
	if (event->sync.op != ST_EVENT_mutex_lock || event->sync.object != 0x1000 + seen->ours ||
	    event->time_ns != (int64_t)(2 * S + seen->ours))
		seen->in_order = false;
	seen->ours++;
}

/* Returns the events that can be read; *ret_damage: number of damage reports. */
static struct seen read_capture(unsigned *ret_damage)
{
	struct seen seen = {.ours = 0, .others = 0, .in_order = true};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture *capture;

	CHECK_INT(pp_capture_open("capture", &capture, &err), 0);
	CHECK_INT(pp_events_read(capture, ~0u, take, &seen, &err), 0);
	*ret_damage = capture->damage->len;
	pp_capture_free(capture);
	return seen;
}

static void write_part(const char *path, const char *data, gsize len)
{
	/* Without flags glib neither waits for the disk nor truncates a file. */
	g_unlink(path);
	CHECK(g_file_set_contents_full(path, data, (gssize)len, G_FILE_SET_CONTENTS_NONE, 0600,
				       NULL));
}

static void check_cuts(const char *data, gsize len, unsigned step)
{
	unsigned last = 0;

	for (gsize cut = 0; cut <= len; cut = cut < len ? MIN(cut + step, len) : len + 1) {
		unsigned damage;
		struct seen seen;

		write_part(STREAM, data, cut);
		seen = read_capture(&damage);
		CHECK(seen.in_order);
		CHECK_INT(seen.others, N_EVENTS);
		/* A longer prefix of the file never gives fewer events. */
		CHECK(seen.ours >= last);
		last = seen.ours;
		if (cut == len || cut == 0)
			CHECK_INT(damage, 0);
		else if (seen.ours != PACKET_AT)
			CHECK(damage > 0);
	}
	CHECK_INT(last, N_EVENTS);
}

/* Reserved space after the last packet, as a killed program leaves it, is no damage. */
static void check_unused_room(const char *data, gsize len)
{
	g_autofree char *longer = g_malloc0(len + 65536);
	struct seen seen;
	unsigned damage;

	memcpy(longer, data, len);
	write_part(STREAM, longer, len + 65536);
	seen = read_capture(&damage);
	CHECK_INT(seen.ours, N_EVENTS);
	CHECK_INT(damage, 0);
}

/* Any byte changed to any value: no crash, and the other thread's stream is unaffected. */
static void check_changed_bytes(const char *data, gsize len, unsigned n_changes)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	g_autofree char *changed = g_malloc(len);

	for (unsigned i = 0; i < n_changes; i++) {
		struct seen seen;
		unsigned damage;

		memcpy(changed, data, len);
		for (unsigned n = 0; n <= i % 3; n++)
			changed[g_rand_int_range(rand, 0, (gint32)len)] = (char)g_rand_int(rand);
		write_part(STREAM, changed, len);
		seen = read_capture(&damage);
		CHECK_INT(seen.others, N_EVENTS);
	}
}

static void take_in_order(void *data, const struct pp_event *event)
{
	int64_t *last_ns = data;

	CHECK(event->time_ns >= *last_ns);
	*last_ns = event->time_ns;
}

/* A clock set back between two packets: time stands still until the clock has caught up. */
static void check_clock_step(void)
{
	struct fixture_stream *stream = fixture_thread_stream("capture", PID, 0, 500, 5 * S);
	struct pp_error err = PP_ERROR_INIT;
	const struct pp_problem *problem;
	struct pp_capture *capture;
	int64_t last_ns = 0;

	fixture_site(stream, 5 * S, 1, 0x401000);
	for (unsigned i = 0; i < N_EVENTS; i++) {
		uint64_t time_ns = (i < PACKET_AT ? 5 : 3) * S + i;

		if (i == PACKET_AT)
			fixture_packet(stream, time_ns, 0);
		fixture_sync(stream, time_ns, ST_EVENT_mutex_lock, 0, 1, 0x1000 + i, 0);
	}
	fixture_close(stream);
	CHECK_INT(pp_capture_open("capture", &capture, &err), 0);
	CHECK_INT(pp_events_read(capture, ~0u, take_in_order, &last_ns, &err), 0);
	CHECK_INT(last_ns, 5 * S + PACKET_AT - 1);
	CHECK_INT(capture->model->problems->len, 1);
	problem = capture->model->problems->pdata[0];
	CHECK_STR(problem->what, "events with decreasing times");
	CHECK_INT(problem->count, N_EVENTS - PACKET_AT);
	pp_capture_free(capture);
}

static void check_metadata(void)
{
	static const char path[] = "capture/500/user/metadata";
	g_autofree char *text = NULL;
	unsigned damage;
	gsize len;

	CHECK(g_file_get_contents(path, &text, &len, NULL));
	for (gsize cut = 0; cut < len; cut += 97) {
		struct seen seen;

		write_part(path, text, cut);
		seen = read_capture(&damage);
		CHECK(damage > 0 || (seen.ours == N_EVENTS && seen.others == N_EVENTS));
	}
	g_unlink(path);
	read_capture(&damage);
	CHECK(damage > 0);
}

/* slowness: a slow reader gets fewer cases. */
static void check_all(unsigned slowness)
{
	g_autofree char *data = NULL;
	gsize len;

	write_capture();
	CHECK(g_file_get_contents(STREAM, &data, &len, NULL));
	check_cuts(data, len, slowness);
	check_unused_room(data, len);
	check_clock_step();
	check_changed_bytes(data, len, 400 / slowness);
	write_part(STREAM, data, len);
	check_metadata();
}

int main(void)
{
	check_all(SLOWNESS);
	g_setenv("GPROF_MT_READER", "babeltrace", TRUE);
	check_all(5 * SLOWNESS);
	return 0;
}

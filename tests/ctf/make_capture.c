/* SPDX-License-Identifier: MIT */
/*
 * make_capture DIR THREADS EVENTS: writes a capture of one process whose threads lock and unlock
 * one mutex in turn, with the matching switches on one CPU; EVENTS synch-events in all.
 *
 * make_capture DIR THREADS EVENTS waits: uses 64 mutexes; one in ten locks is contended.
 *
 * make_capture DIR THREADS EVENTS SITES: uses one mutex at that many call sites in turn; one in ten
 * locks is contended.
 *
 * make_capture DIR every: writes one of each kind of event.
 *
 * make_capture DIR order: two threads lock a mutex in turn; the third of four acquisitions is
 * stamped before the second.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define PID	      1000
#define START_NS      UINT64_C(5000000000)
#define MUTEX	      0x601040
#define PACKET_EVENTS 2048
#define SITE	      0x401000 /* the first call site */
#define SITE_BYTES    16

static int make_order(const char *dir)
{
	struct gm_thread_slot slots[2] = {
	    {.state = GM_THREAD_LIVE, .tid = PID, .parent_index = -1, .start_ns = START_NS},
	    {.state = GM_THREAD_LIVE, .tid = PID + 1, .parent_index = 0, .start_ns = START_NS}};
	static const uint64_t numbers[] = {2, 4, 3, 5};
	struct fixture_stream *streams[2];
	uint64_t now_ns = START_NS;

	fixture_capture(dir, 1);
	fixture_process(dir, PID, slots, 2);
	for (uint32_t i = 0; i < 2; i++) {
		streams[i] = fixture_thread_stream(dir, PID, i, PID + i, now_ns);
		fixture_site(streams[i], now_ns, 1, SITE);
	}
	for (unsigned i = 0; i < 4; i++) {
		struct fixture_stream *stream = streams[numbers[i] % 2];

		now_ns += 10;
		fixture_order(stream, now_ns, numbers[i]);
		fixture_sync(stream, now_ns, ST_EVENT_mutex_lock, 0, 1, MUTEX, 0);
		fixture_sync(stream, now_ns + 5, ST_EVENT_mutex_unlock, 0, 1, MUTEX, 0);
	}
	fixture_close(streams[0]);
	fixture_close(streams[1]);
	return 0;
}

static int make_every(const char *dir)
{
	struct gm_thread_slot slot = {
	    .state = GM_THREAD_LIVE, .tid = PID, .parent_index = -1, .start_ns = START_NS};
	struct fixture_stream *thread, *cpu;
	uint64_t now_ns = START_NS;

	fixture_capture(dir, 1);
	fixture_process(dir, PID, &slot, 1);
	fixture_kernel(dir, "perf");
	thread = fixture_thread_stream(dir, PID, 0, PID, now_ns);
	cpu = fixture_cpu_stream(dir, 0, now_ns);
	fixture_site(thread, now_ns, 1, 0x401000);
	fixture_path(thread, now_ns, 16, 0, 0x401100);
	fixture_path(thread, now_ns, 17, 16, 0x401000);
	fixture_call_path(thread, now_ns, 17, MUTEX);
	for (enum st_event op = ST_EVENT_site + 1; op < ST_EVENT_call_path; op++)
		for (unsigned n = 0; n <= op % 3; n++)
			fixture_sync(thread, now_ns++, op, 0, 1, MUTEX, 1);
	fixture_tries(thread, now_ns, MUTEX, PID, 1);
	fixture_sync(thread, now_ns++, ST_EVENT_mutex_trylock, 16, 1, MUTEX, 0);
	for (enum st_same_event id = ST_BEFORE_SAME + 1; id < ST_N_CLASSES; id++)
		fixture_same(thread, now_ns++, id, 1);
	fixture_switch(cpu, now_ns++, 0, 0, PID);
	fixture_fork(cpu, now_ns++, PID, PID, PID + 1, PID);
	fixture_waking(cpu, now_ns++, PID + 1, 0, PID, 0);
	fixture_waking(cpu, now_ns++, PID + 1, 0, PID, 0);
	fixture_exec(cpu, now_ns++, PID);
	fixture_exit(cpu, now_ns++, PID);
	fixture_close(thread);
	fixture_close(cpu);
	return 0;
}

/* Ten locks in a row have the same call site. */
static uint64_t mutex_of(uint64_t turn, bool has_waits, unsigned n_sites)
{
	return has_waits && n_sites == 1 ? MUTEX + turn / 10 % 64 * 64 : MUTEX;
}

int main(int argc, char **argv)
{
	bool has_waits = argc == 5;
	unsigned n_threads = argc == 4 || argc == 5 ? (unsigned)atoi(argv[2]) : 0;
	unsigned n_sites = argc == 5 ? (unsigned)atoi(argv[4]) : 1;
	uint64_t n_events = n_threads ? strtoull(argv[3], NULL, 10) : 0;
	struct gm_thread_slot *slots = g_new0(struct gm_thread_slot, n_threads);
	struct fixture_stream **streams = g_new0(struct fixture_stream *, n_threads);
	struct fixture_stream *cpu;
	uint64_t now_ns = START_NS;

	if (argc == 3 && strcmp(argv[2], "every") == 0)
		return make_every(argv[1]);
	if (argc == 3 && strcmp(argv[2], "order") == 0)
		return make_order(argv[1]);
	if (argc == 5 && strcmp(argv[4], "waits") == 0)
		n_sites = 1;
	if (!n_threads || !n_sites || n_sites > UINT16_MAX) {
		fprintf(stderr,
			"usage: make_capture DIR {THREADS EVENTS [waits|SITES]|every|order}\n");
		return 2;
	}
	for (unsigned i = 0; i < n_threads; i++)
		slots[i] = (struct gm_thread_slot){
		    .state = GM_THREAD_ENDED,
		    .tid = PID + i,
		    .parent_index = i ? 0 : -1,
		    .start_ns = START_NS,
		    .end_ns = START_NS + n_events * 1000,
		    .name = "worker",
		};
	fixture_capture(argv[1], 1);
	fixture_process(argv[1], PID, slots, n_threads);
	fixture_kernel(argv[1], "perf");
	cpu = fixture_cpu_stream(argv[1], 0, START_NS);
	for (unsigned i = 0; i < n_threads; i++) {
		streams[i] = fixture_thread_stream(argv[1], PID, i, PID + i, START_NS);
		for (unsigned site = 0; site < n_sites; site++)
			fixture_site(streams[i], START_NS, (uint16_t)(site + 1),
				     SITE + site * SITE_BYTES);
	}
	for (uint64_t n = 0, turn = 0; n + 2 <= n_events; n += 2, turn++, now_ns += 1000) {
		unsigned at = (unsigned)(turn % n_threads);
		unsigned last = (at + n_threads - 1) % n_threads;
		uint64_t mutex = mutex_of(turn, has_waits, n_sites);
		uint16_t site = (uint16_t)(turn % n_sites + 1);

		if (has_waits && turn % 10 == 5 && n_threads > 1 && n + 3 <= n_events) {
			fixture_sync(streams[at], now_ns - 700, ST_EVENT_mutex_lock_begin, 0, site,
				     mutex, PID + last);
			n++;
		}
		fixture_sync(streams[at], now_ns, ST_EVENT_mutex_lock, 0, site, mutex, 0);
		fixture_sync(streams[at], now_ns + 500, ST_EVENT_mutex_unlock, 0, site, mutex, 0);
		if (turn % 100 == 0 && n_threads > 1)
			fixture_switch(cpu, now_ns + 700, (int32_t)(PID + at), 0,
				       (int32_t)(PID + (at + 1) % n_threads));
		if (turn / n_threads % PACKET_EVENTS == PACKET_EVENTS - 1)
			fixture_packet(streams[at], now_ns + 800, 0);
	}
	for (unsigned i = 0; i < n_threads; i++)
		fixture_close(streams[i]);
	fixture_close(cpu);
	g_free(slots);
	g_free(streams);
	return 0;
}

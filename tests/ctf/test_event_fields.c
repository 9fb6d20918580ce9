/* SPDX-License-Identifier: MIT */
/*
 * Streams are decoded to core events with every field, in time order over all streams, and with
 * their threads and call sites.
 */
#include "check.h"
#include "fixture.h"
#include "events/events.h"
#include "capture/traces.h"

#define PID 500
#define S   UINT64_C(1000000000)

/* Tid 502 is used twice: by index 1 until 4 s, by index 2 from 6 s. */
static const struct gm_thread_slot slots[] = {
    {.state = GM_THREAD_LIVE, .tid = 500, .parent_index = -1, .start_ns = 1 * S, .name = "main"},
    {.state = GM_THREAD_ENDED, .tid = 502, .start_ns = 2 * S, .end_ns = 4 * S, .name = "first"},
    {.state = GM_THREAD_ENDED, .tid = 502, .start_ns = 6 * S, .end_ns = 9 * S, .name = "second"},
};

static void write_streams(const char *dir)
{
	struct fixture_stream *one = fixture_thread_stream(dir, PID, 0, 500, 1 * S);
	struct fixture_stream *two = fixture_thread_stream(dir, PID, 2, 502, 6 * S);
	struct fixture_stream *cpu = fixture_cpu_stream(dir, 3, 1 * S);

	/* Files have the numbers 0, 1, 2; the thread wrote nothing to this one. */
	fixture_close(fixture_thread_stream(dir, PID, 1, 502, 2 * S));
	fixture_site(one, 1 * S, 7, 0x401234);
	fixture_sync(one, 1 * S + 10, ST_EVENT_mutex_init, 0, 7, 0xa0, 2);
	fixture_sync(one, 3 * S, ST_EVENT_mutex_lock_begin, 0, 7, 0xa0, 502);
	fixture_path(one, 3 * S + 5, 16, ST_PATH_BAD_TABLE, 0x400800);
	fixture_path(one, 3 * S + 5, 18, 16, 0x401234);
	fixture_path(one, 3 * S + 5, 21, 20, 0x401234);
	fixture_call_path(one, 3 * S + 5, 18, 0xa0);
	fixture_sync(one, 3 * S + 5, ST_EVENT_mutex_lock, 35, 0, 0xa0, 0);
	/* The path of another object, and those with a node that is not defined: no path. */
	fixture_call_path(one, 3 * S + 6, 18, 0xb0);
	fixture_sync(one, 3 * S + 6, ST_EVENT_mutex_unlock, 0, 0, 0xa0, 0);
	fixture_call_path(one, 3 * S + 7, 4, 0xa0);
	fixture_sync(one, 3 * S + 7, ST_EVENT_mutex_lock, 0, 0, 0xa0, 0);
	fixture_call_path(one, 3 * S + 8, 21, 0xa0);
	fixture_same(one, 3 * S + 8, ST_SAME_mutex_unlock, 0);
	fixture_site(one, 3 * S + 8, 8, 0x401300);
	fixture_same(one, 3 * S + 9, ST_SAME_mutex_lock, 8);
	/* They apply to the next event only, and only if it has that object. */
	fixture_tries(one, 3 * S + 10, 0xe0, 502, 41);
	fixture_sync(one, 3 * S + 10, ST_EVENT_mutex_trylock, 16, 7, 0xe0, 0);
	fixture_sync(one, 3 * S + 11, ST_EVENT_mutex_trylock, 16, 7, 0xe0, 0);
	fixture_tries(one, 3 * S + 12, 0xe1, 502, 41);
	fixture_sync(one, 3 * S + 12, ST_EVENT_mutex_trylock, 16, 7, 0xe0, 0);
	/* More than 32 bits of time can represent. */
	fixture_sync(one, 8 * S, ST_EVENT_cond_wait_begin, 0, 9, 0xc0, 0xa0);
	fixture_packet(one, 8 * S + 1, 3);
	/* The packet has no previous event. */
	fixture_same(one, 8 * S + 1, ST_SAME_mutex_lock, 7);
	fixture_sync(one, 8 * S + 2, ST_EVENT_thread_create, 0, 7, 0xd0, 0x400500);
	fixture_sync(two, 6 * S, ST_EVENT_thread_start, 0, 0, 0xd0, 0);
	fixture_sync(two, 7 * S, ST_EVENT_barrier_wait, 255, 0, 0xb0, 0);

	fixture_fork(cpu, 2 * S - 50, 500, PID, 502, PID);
	fixture_switch(cpu, 2 * S, 0, 0, 502);
	fixture_waking(cpu, 3 * S + 3, 500, 1, 502, 0);
	fixture_waking(cpu, 3 * S + 3, 500, 1, 502, 2);
	fixture_switch(cpu, 3 * S + 4, 502, 256, 500);
	fixture_exit(cpu, 4 * S + 20, 502);
	fixture_switch(cpu, 4 * S + 30, 502, 16, 77);
	fixture_fork(cpu, 5 * S, 500, PID, 502, PID);
	fixture_fork(cpu, 5 * S + 1, 500, PID, 900, 900);
	fixture_switch(cpu, 5 * S + 2, 77, 1, 900);
	fixture_exec(cpu, 5 * S + 3, 900);
	fixture_close(one);
	fixture_close(two);
	fixture_close(cpu);
}

static const char *name_of(const struct pp_thread *thread)
{
	return thread ? thread->name : "-";
}

static void append_time(GString *text, int64_t time_ns)
{
	g_string_append_printf(text, "%" PRId64 ".%09" PRId64 " ", time_ns / (int64_t)S,
			       time_ns % (int64_t)S);
}

static void take(void *data, const struct pp_event *event)
{
	GString *text = data;

	append_time(text, event->time_ns);
	switch (event->kind) {
	case PP_EVENT_SYNC:
		g_string_append_printf(
		    text, "%s %s=%u obj=%" PRIx64 " site=%" PRIx64 " holder=%u value=%" PRIx64,
		    name_of(event->thread), pp_sync_name(event->sync.op), event->sync.result,
		    event->sync.object, event->sync.site, event->sync.holder, event->sync.value);
		if (event->sync.more_tries)
			g_string_append_printf(text, " more=%" PRIu64, event->sync.more_tries);
		for (unsigned i = 0; event->sync.path && i < event->sync.path->n; i++)
			g_string_append_printf(text, "%s%" PRIx64,
					       i ? "<" : " path=", event->sync.path->addresses[i]);
		g_string_append_c(text, '\n');
		break;
	case PP_EVENT_SWITCH:
		CHECK(!event->thread);
		g_string_append_printf(text, "cpu%d %s(%d)/%" PRId64 " -> %s(%d)\n", event->cpu,
				       name_of(event->sched_switch.prev),
				       event->sched_switch.prev_tid, event->sched_switch.prev_state,
				       name_of(event->sched_switch.next),
				       event->sched_switch.next_tid);
		break;
	case PP_EVENT_WAKING:
		g_string_append_printf(text, "%s woken by %s for cpu%d\n", name_of(event->thread),
				       name_of(event->waking.waker), event->waking.target_cpu);
		break;
	case PP_EVENT_FORK:
		g_string_append_printf(text, "%s forks %s (%d of %d)\n",
				       name_of(event->fork.parent), name_of(event->thread),
				       event->fork.child_tid, event->fork.child_pid);
		break;
	case PP_EVENT_EXIT:
		g_string_append_printf(text, "%s exits\n", name_of(event->thread));
		break;
	case PP_EVENT_EXEC:
		g_string_append_printf(text, "%s execs\n", name_of(event->thread));
		break;
	case PP_EVENT_UNSEEN:
		g_string_append_printf(text, "cpu%d unseen\n", event->cpu);
		break;
	case PP_EVENT_LOST:
		g_string_append_printf(text, "%s lost %" PRIu64 "\n", name_of(event->thread),
				       event->lost.count);
		break;
	default:
		break;
	}
}

static const char expected[] =
    "1.000000010 main mutex_init=0 obj=a0 site=401234 holder=0 value=2\n"
    "1.999999950 main forks first (502 of 500)\n"
    "2.000000000 cpu3 -(0)/0 -> first(502)\n"
    "3.000000000 main mutex_lock_begin=0 obj=a0 site=401234 holder=502 value=0\n"
    /* A thread that was killed before its name was recorded has the kernel's last name for it. */
    "3.000000003 task woken by first for cpu1\n"
    "3.000000003 task woken by - for cpu1\n"
    "3.000000004 cpu3 first(502)/0 -> task(500)\n"
    "3.000000005 task mutex_lock=35 obj=a0 site=0 holder=0 value=0 path=401234<400800\n"
    "3.000000006 task mutex_unlock=0 obj=a0 site=0 holder=0 value=0\n"
    "3.000000007 task mutex_lock=0 obj=a0 site=0 holder=0 value=0\n"
    "3.000000008 task mutex_unlock=0 obj=a0 site=0 holder=0 value=0\n"
    "3.000000009 task mutex_lock=0 obj=a0 site=401300 holder=0 value=0\n"
    "3.000000010 task mutex_trylock=16 obj=e0 site=401234 holder=502 value=0 more=41\n"
    "3.000000011 task mutex_trylock=16 obj=e0 site=401234 holder=0 value=0\n"
    "3.000000012 task mutex_trylock=16 obj=e0 site=401234 holder=0 value=0\n"
    "4.000000020 first exits\n"
    "4.000000030 cpu3 first(502)/16 -> -(77)\n"
    "5.000000000 task forks second (502 of 500)\n"
    "5.000000001 task forks child (900 of 900)\n"
    "5.000000002 cpu3 -(77)/1 -> task(900)\n"
    "5.000000003 task execs\n"
    "5.000000003 cpu3 unseen\n"
    "6.000000000 second thread_start=0 obj=d0 site=0 holder=0 value=0\n"
    "7.000000000 second barrier_wait=255 obj=b0 site=0 holder=0 value=0\n"
    /* Site 9 is not defined. */
    "8.000000000 task cond_wait_begin=0 obj=c0 site=0 holder=0 value=a0\n"
    "8.000000001 task lost 3\n"
    "8.000000002 task thread_create=0 obj=d0 site=401234 holder=0 value=400500\n";

static void check_model(const struct pp_model *model)
{
	const struct pp_thread *first = model->threads->pdata[1];
	const struct pp_thread *second = model->threads->pdata[2];
	const struct pp_thread *foreign = model->threads->pdata[3];

	CHECK_INT(model->threads->len, 4);
	/* From fork to exit, according to the kernel. */
	CHECK_INT(first->start_ns, 2 * S - 50);
	CHECK_INT(first->end_ns, 4 * S + 20);
	CHECK_INT(second->start_ns, 5 * S);
	CHECK_INT(second->end_ns, 9 * S);
	CHECK(foreign->kernel_only && !first->kernel_only);
	CHECK_INT(foreign->process->pid, 900);
	CHECK(!foreign->process->dir);
	CHECK_INT(model->start_ns, 1 * S);
	CHECK_INT(model->end_ns, 9 * S);
}

static void check_problems(const struct pp_model *model)
{
	const struct pp_problem *undefined_path = model->problems->pdata[0];
	const struct pp_problem *undefined = model->problems->pdata[1];
	const struct pp_problem *no_object = model->problems->pdata[2];
	const struct pp_problem *lost = model->problems->pdata[3];
	const struct pp_process *process = model->processes->pdata[0];

	CHECK_INT(model->problems->len, 4);
	CHECK_HOLDS(no_object->what, "without an object");
	CHECK_INT(no_object->count, 1);
	CHECK_HOLDS(undefined_path->what, "undefined call paths");
	CHECK_INT(undefined_path->count, 2);
	CHECK_INT(process->path_ends[ST_PATH_BAD_TABLE], 2);
	CHECK_INT(process->path_ends[ST_PATH_OUTERMOST], 0);
	CHECK_HOLDS(undefined->what, "undefined call sites");
	CHECK_HOLDS(lost->what, "discarded");
	CHECK_STR(lost->where, "capture/500/user/stream_0");
	CHECK_INT(lost->count, 3);
}

static void check_only_some_kinds(void)
{
	struct pp_capture *capture;
	g_autoptr(GString) text = g_string_new(NULL);

	CHECK_INT(pp_capture_open("capture", &capture, NULL), 0);
	CHECK_INT(pp_events_read(capture, PP_EVENT_MASK(PP_EVENT_EXIT), take, text, NULL), 0);
	CHECK_STR(text->str, "4.000000020 first exits\n");
	pp_capture_free(capture);
}

static void check_abilities(const char *source, bool pairs)
{
	struct pp_kernel_abilities abilities;
	struct pp_capture *capture;

	fixture_kernel("capture", source);
	CHECK_INT(pp_capture_open("capture", &capture, NULL), 0);
	pp_kernel_abilities(capture, &abilities);
	CHECK(abilities.has_events);
	CHECK_INT(abilities.has_switch_pairs, pairs);
	CHECK_INT(abilities.has_wakings, pairs);
	pp_capture_free(capture);
}

int main(void)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_capture *capture;

	fixture_capture("capture", 1);
	fixture_process("capture", PID, slots, G_N_ELEMENTS(slots));
	fixture_kernel("capture", "perf");
	write_streams("capture");
	CHECK_INT(pp_capture_open("capture", &capture, &err), 0);
	CHECK_INT(pp_events_read(capture, ~0u, take, text, &err), 0);
	CHECK_STR(text->str, expected);
	CHECK_INT(capture->damage->len, 0);
	check_model(capture->model);
	check_problems(capture->model);
	pp_capture_free(capture);
	check_only_some_kinds();
	check_abilities("perf", true);
	check_abilities("switches", false);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A thread that starts while states are read may be found in /proc, and its fork is recorded.  The
 * fork precedes the time when it is found, so readers see that both are one thread.
 */
#include "record/attach/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A thread that is not followed yet may start others; a process may do so without end. */
#define MOST_ROUNDS 100

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The bits of prev_state for the kernel's letters. */
static int16_t state_of(char letter)
{
	static const struct {
		char letter;
		int16_t bits;
	} states[] = {{'S', 1},	 {'D', 2},  {'T', 4},  {'t', 8},
		      {'X', 16}, {'Z', 32}, {'P', 64}, {'I', 128}};

	for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
		if (states[i].letter == letter)
			return states[i].bits;
	return 0;
}

/* Reads name and state of a thread; false: it has ended. */
static bool read_thread(pid_t pid, int32_t tid, struct pp_kevent *state)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task/%d/stat", pid, tid);
	g_autofree char *stat = NULL;
	const char *name, *end;

	if (!g_file_get_contents(path, &stat, NULL, NULL))
		return false;
	name = strchr(stat, '(');
	end = strrchr(stat, ')');
	if (!name || !end || end < name || end[1] != ' ')
		return false;
	*state = (struct pp_kevent){
	    .kind = PP_KEVENT_STATE,
	    .time_ns = (uint64_t)now_ns(),
	    .cpu = -1,
	    .tid = tid,
	    .pid = pid,
	    .prev_state = state_of(end[2]),
	};
	g_strlcpy(state->comm, name + 1, MIN(sizeof(state->comm), (size_t)(end - name)));
	return !(state->prev_state & PP_STATE_EXITED);
}

/* Calls `take` for each thread of the process. */
static void for_each(pid_t pid, void (*take)(void *data, int32_t tid), void *data)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", pid);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		int32_t tid = (int32_t)g_ascii_strtoll(name, NULL, 10);

		if (tid > 0)
			take(data, tid);
	}
	if (dir)
		g_dir_close(dir);
}

void pp_target_threads_init(struct pp_target_threads *threads)
{
	*threads = (struct pp_target_threads){
	    .found = g_array_new(FALSE, FALSE, sizeof(struct pp_target_thread)),
	    .followed = g_hash_table_new(NULL, NULL),
	};
}

void pp_target_threads_done(struct pp_target_threads *threads)
{
	g_clear_pointer(&threads->found, g_array_unref);
	g_clear_pointer(&threads->followed, g_hash_table_unref);
}

/* One pass over the threads. */
struct walk {
	struct pp_target_threads *threads;
	struct pp_collector *collector;
	pid_t pid;
	int64_t begin_ns;
	bool has_new;
};

static void follow_thread(void *data, int32_t tid)
{
	struct walk *walk = data;
	int rc;

	if (!g_hash_table_add(walk->threads->followed, GINT_TO_POINTER(tid)))
		return;
	walk->has_new = true;
	rc = pp_collector_follow(walk->collector, tid);
	if (rc && rc != -ESRCH) {
		walk->threads->n_unseen++;
		walk->threads->error = rc;
	}
}

void pp_target_threads_follow(struct pp_target_threads *threads, pid_t pid,
			      struct pp_collector *collector)
{
	struct walk walk = {threads, collector, pid, 0, true};

	for (unsigned i = 0; i < MOST_ROUNDS && walk.has_new; i++) {
		walk.has_new = false;
		for_each(pid, follow_thread, &walk);
	}
}

static void take_thread(void *data, int32_t tid)
{
	const struct walk *walk = data;
	struct pp_target_thread thread = {.tid = tid, .start_ns = walk->begin_ns};
	struct pp_kevent state;

	if (!read_thread(walk->pid, tid, &state))
		return;
	pp_collector_take_state(walk->collector, &state);
	if (!g_hash_table_contains(walk->threads->followed, GINT_TO_POINTER(tid)))
		thread.start_ns = (int64_t)state.time_ns;
	memcpy(thread.name, state.comm, sizeof(thread.name));
	g_array_append_val(walk->threads->found, thread);
}

static int compare_tids(const void *a, const void *b)
{
	const struct pp_target_thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void pp_target_threads_read(struct pp_target_threads *threads, pid_t pid,
			    struct pp_collector *collector, int64_t begin_ns)
{
	struct walk walk = {threads, collector, pid, begin_ns, false};

	for_each(pid, take_thread, &walk);
	g_array_sort(threads->found, compare_tids);
}

/* SPDX-License-Identifier: MIT */
/*
 * A thread that starts while states are read may be found in /proc, and its fork is recorded.  The
 * fork precedes the time when it is found, so readers see that both are one thread.
 */
#include "record/attach/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

/* A thread that is not followed yet may start others; a process may do so without end. */
#define MOST_ROUNDS 100
/* For the folder, info.json, and the files that the end of a recording opens at the same time. */
#define N_SPARE 24

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
	    .time_ns = pp_clock_now_ns(),
	    .cpu = -1,
	    .tid = tid,
	    .pid = pid,
	    .prev_state = state_of(end[2]),
	};
	g_strlcpy(state->comm, name + 1, MIN(sizeof(state->comm), (size_t)(end - name)));
	return !(state->prev_state & PP_STATE_EXITED);
}

void pp_target_thread_name(pid_t pid, int32_t tid, char *name)
{
	struct pp_kevent state = {.comm = ""};

	(void)read_thread(pid, tid, &state);
	memcpy(name, state.comm, PP_COMM_BYTES);
}

/* Returns the tids of the process.  The caller unrefs it. */
static GArray *find_tids(pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", pid);
	GArray *tids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		int32_t tid = (int32_t)g_ascii_strtoll(name, NULL, 10);

		if (tid > 0)
			g_array_append_val(tids, tid);
	}
	if (dir)
		g_dir_close(dir);
	return tids;
}

void pp_target_threads_init(struct pp_target_threads *threads)
{
	*threads = (struct pp_target_threads){
	    .found = g_array_new(FALSE, FALSE, sizeof(struct pp_target_thread)),
	    .followed = g_hash_table_new(NULL, NULL),
	    .unseen = g_hash_table_new(NULL, NULL),
	};
}

void pp_target_threads_done(struct pp_target_threads *threads)
{
	g_clear_pointer(&threads->found, g_array_unref);
	g_clear_pointer(&threads->followed, g_hash_table_unref);
	g_clear_pointer(&threads->unseen, g_hash_table_unref);
}

/* Returns true if the thread is new. */
static bool follow_thread(struct pp_target_threads *threads, int32_t tid,
			  int (*follow)(void *data, pid_t tid), void *data)
{
	int rc;

	if (!g_hash_table_add(threads->followed, GINT_TO_POINTER(tid)))
		return false;
	rc = follow(data, tid);
	if (rc && rc != -ESRCH) {
		g_hash_table_add(threads->unseen, GINT_TO_POINTER(tid));
		threads->error = rc;
	}
	return true;
}

/* Keeps descriptors for the files that follow: events may take all others. */
static void reserve(int spare[N_SPARE])
{
	for (unsigned i = 0; i < N_SPARE; i++)
		spare[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void release(const int spare[N_SPARE])
{
	for (unsigned i = 0; i < N_SPARE; i++)
		if (spare[i] >= 0)
			close(spare[i]);
}

void pp_target_threads_follow(struct pp_target_threads *threads, pid_t pid,
			      int (*follow)(void *data, pid_t tid), void *data)
{
	bool has_new = true;

	for (unsigned i = 0; i < MOST_ROUNDS && has_new; i++) {
		g_autoptr(GArray) tids = find_tids(pid);
		int spare[N_SPARE];

		has_new = false;
		reserve(spare);
		for (guint k = 0; k < tids->len; k++)
			has_new |=
			    follow_thread(threads, g_array_index(tids, int32_t, k), follow, data);
		release(spare);
	}
}

static int compare_tids(const void *a, const void *b)
{
	const struct pp_target_thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void pp_target_threads_read(struct pp_target_threads *threads, pid_t pid,
			    struct pp_collector *collector, int64_t begin_ns)
{
	g_autoptr(GArray) tids = find_tids(pid);

	for (guint i = 0; i < tids->len; i++) {
		struct pp_target_thread thread = {.tid = g_array_index(tids, int32_t, i)};
		void *key = GINT_TO_POINTER(thread.tid);
		struct pp_kevent state;

		if (!read_thread(pid, thread.tid, &state))
			continue;
		/* Without events, the state would seem to last. */
		if (!g_hash_table_contains(threads->unseen, key))
			pp_collector_take_state(collector, &state);
		thread.start_ns = g_hash_table_contains(threads->followed, key)
				      ? begin_ns
				      : (int64_t)state.time_ns;
		memcpy(thread.name, state.comm, sizeof(thread.name));
		g_array_append_val(threads->found, thread);
	}
	g_array_sort(threads->found, compare_tids);
}

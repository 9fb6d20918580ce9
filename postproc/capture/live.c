/* SPDX-License-Identifier: MIT */
/*
 * A capture whose program still runs is read up to one instant, when the reader opened it, so that
 * all of its files show the same state.
 *
 * The runtime libraries write to mapped files, so a record can be read as soon as it is stored.
 * GRACE_NS is left for that, from the moment at which a thread took its time.  Kernel events arrive
 * later: the collector notes until when it has written all of them (kernel/.complete), and the
 * instant is not after that.  If the collector has stopped, its file is old; the states of threads
 * are then unknown from there on, as in the capture of a killed recording.
 *
 * A snapshot is a copy of such a capture, and is always read up to the instant in its info.json.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "core/alive.h"
#include "core/clock.h"
#include "core/text/duration.h"
#include "core/text/json.h"
#include "core/pid_namespace.h"
#include "capture/children/find.h"
#include "capture/live.h"
#include "gmon-mt/format.h"

#define NS_PER_S  INT64_C(1000000000)
#define GRACE_NS  20000000
#define STALE_NS  (10 * NS_PER_S) /* the collector writes every second */
#define POLL_NS	  20000000
#define MAX_POLLS 500

static bool is_recorder, is_without_kernel;

void pp_live_is_recorder(void)
{
	is_recorder = true;
}

void pp_live_is_without_kernel(void)
{
	is_without_kernel = true;
}

/* Does a process hold the lock of `session`? */
static bool is_locked(const struct pp_capture *capture)
{
	g_autofree char *path = g_build_filename(capture->model->dir, GM_SESSION_FILE, NULL);
	struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_held = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

	if (fd >= 0)
		close(fd);
	return is_held;
}

/* --- the kernel's events -------------------------------------------------------------------- */

/* Returns -1 if there is no such file, 0 if the collector has not written the time yet. */
static int64_t read_complete(const struct pp_capture *capture)
{
	g_autofree char *path =
	    g_build_filename(capture->model->dir, "kernel", GM_KERNEL_COMPLETE, NULL);
	uint64_t time_ns = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	if (fd < 0)
		return -1;
	if (pread(fd, &time_ns, sizeof(time_ns), 0) != sizeof(time_ns) || time_ns > INT64_MAX)
		time_ns = 0;
	close(fd);
	return (int64_t)GUINT64_FROM_LE(time_ns);
}

/* In the first seconds, waits until the collector has written something. */
static int64_t await_complete(const struct pp_capture *capture)
{
	const struct timespec pause = {0, POLL_NS};
	int64_t ns = read_complete(capture);

	if (pp_clock_now_ns() - pp_json_int(capture->model->info, "start_ns", 0) > STALE_NS)
		return ns;
	for (unsigned i = 0; ns >= 0 && i < MAX_POLLS && ns < capture->opened_ns; i++) {
		nanosleep(&pause, NULL);
		ns = read_complete(capture);
	}
	return ns;
}

/* -------------------------------------------------------------------------------------------- */

/* The instant of a snapshot; 0: it is none. */
static int64_t snapshot_ns(const struct pp_model *model)
{
	return pp_json_int(pp_json_object(model->info, "snapshot"), "time_ns", 0);
}

bool pp_live_is_snapshot(const struct pp_model *model)
{
	return snapshot_ns(model) > 0;
}

void pp_live_begin(struct pp_capture *capture)
{
	int64_t complete_ns;

	if (pp_live_is_snapshot(capture->model)) {
		capture->opened_ns = snapshot_ns(capture->model);
		capture->kernel_complete_ns =
		    pp_json_int(pp_json_object(capture->model->info, "snapshot"), "kernel_ns", 0);
		return;
	}
	capture->opened_ns = pp_clock_now_ns();
	capture->is_locked = capture->is_of_this_boot && is_locked(capture);
	if (!capture->is_locked || is_without_kernel)
		return;
	complete_ns = await_complete(capture);
	if (complete_ns > 0 && complete_ns > capture->opened_ns - STALE_NS) {
		capture->kernel_complete_ns = complete_ns;
		capture->opened_ns = MIN(capture->opened_ns, complete_ns);
	}
}

struct wanted {
	const struct pp_process *process;
	const char *dir; /* the capture directory */
};

static bool is_it(pid_t pid, void *arg)
{
	const struct wanted *wanted = arg;
	const struct pp_process *process = wanted->process;

	if (process->proc_start)
		return pp_process_is_running(pid, process->proc_start);
	/*
	 * A forked child that writes into its parent's files does not record its start time in
	 * /proc.
	 */
	return process->start_ns != PP_TIME_UNKNOWN &&
	       pp_process_runs(pid, (uint64_t)process->start_ns) &&
	       pp_children_has_places(wanted->dir, pid);
}

/* Every record made before the instant is in its file when this returns. */
static void set_live(struct pp_capture *capture)
{
	const struct timespec grace = {0, GRACE_NS};

	if (!pp_model_is_live(capture->model))
		nanosleep(&grace, NULL);
	capture->model->until_ns = capture->opened_ns;
}

void pp_live_process(struct pp_capture *capture, struct pp_process *process, bool holds_lock)
{
	struct wanted wanted = {process, capture->model->dir};

	if (pp_live_is_snapshot(capture->model)) {
		process->is_live =
		    process->end_ns == PP_TIME_UNKNOWN || process->end_ns > capture->opened_ns;
		if (process->is_live)
			capture->model->until_ns = capture->opened_ns;
		return;
	}
	if (!capture->is_of_this_boot || process->end_ns != PP_TIME_UNKNOWN ||
	    (holds_lock && !capture->is_locked))
		return;
	if (!capture->numbers)
		capture->numbers = pp_numbers_new();
	/* Its number is from its own PID namespace, which is ours or one below. */
	process->is_live =
	    pp_numbers_may_have(capture->numbers, 0, (pid_t)process->pid, is_it, &wanted);
	process->may_live = holds_lock;
	if (process->is_live)
		set_live(capture);
}

/*
 * A process holds the lock, but /proc shows none of the capture: it is in a PID namespace that is
 * not visible from here, unless the lock is this process's own, which records.
 */
static void believe_lock(struct pp_capture *capture)
{
	const GPtrArray *processes = capture->model->processes;

	if (is_recorder)
		return;
	for (guint i = 0; i < processes->len; i++) {
		struct pp_process *process = processes->pdata[i];

		process->is_live = process->may_live;
		if (process->is_live)
			set_live(capture);
	}
}

static void clamp(int64_t *time_ns, int64_t until_ns)
{
	if (*time_ns != PP_TIME_UNKNOWN)
		*time_ns = MIN(*time_ns, until_ns);
}

void pp_live_end(struct pp_capture *capture)
{
	struct pp_model *model = capture->model;

	if (!pp_model_is_live(model))
		believe_lock(capture);
	if (!pp_model_is_live(model))
		return;
	for (guint i = 0; i < model->processes->len; i++) {
		struct pp_process *process = model->processes->pdata[i];

		if (process->is_live)
			process->end_ns = model->until_ns;
		clamp(&process->start_ns, model->until_ns);
		clamp(&process->end_ns, model->until_ns);
	}
	for (guint i = 0; i < model->threads->len; i++) {
		struct pp_thread *thread = model->threads->pdata[i];

		clamp(&thread->start_ns, model->until_ns);
		clamp(&thread->end_ns, model->until_ns);
	}
}

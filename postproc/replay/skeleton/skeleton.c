/* SPDX-License-Identifier: MIT */
/*
 * A run is finished when its process says so in the shared memory; how the process ended does not
 * matter then. While it runs, it is looked at ten times a second.
 */
#include "replay/skeleton/skeleton.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "core/clock.h"
#include "core/text/duration.h"
#include "replay/skeleton/load.h"
#include "replay/skeleton/process.h"
#include "replay/skeleton/watch.h"

#define LOOK_MS	       100
#define LEAST_LIMIT_NS 10000000000

struct pp_skeleton {
	struct pp_skeleton_how how;
	struct pp_plan plan;
	struct pp_process_objects *objects;
	cpu_set_t cpus;
	struct pp_shared *shared;
	size_t shared_bytes;
	struct pp_skeleton_entry *log;
	size_t log_bytes;
};

uint32_t pp_skeleton_usable_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (uint32_t)CPU_COUNT(&cpus);
}

/* Selects the first n of the usable CPUs. */
static void select_cpus(cpu_set_t *cpus, uint32_t n)
{
	sched_getaffinity(0, sizeof(*cpus), cpus);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (n != 0 && CPU_ISSET(i, cpus))
			n--;
		else
			CPU_CLR(i, cpus);
	}
}

static bool has_order(const struct pp_replay_model *model)
{
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++)
			if (g_array_index(thread->steps, struct pp_replay_step, k).rank !=
			    PP_REPLAY_NO_RANK)
				return true;
	}
	return false;
}

/* Ten times the time of a run whose threads run one after the other, or the recorded one. */
static int64_t limit_of(const struct pp_replay_model *model)
{
	int64_t sum_ns = 0;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		sum_ns = MAX(sum_ns, thread->start_ns) + 1000000;
		for (guint k = 0; k < thread->steps->len; k++) {
			const struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);

			sum_ns += (int64_t)step->cpu_ns + pp_replay_longest_wake(model);
			if (step->kind == PP_REPLAY_SLEEP)
				sum_ns += (int64_t)step->sleep_ns;
		}
	}
	return MAX(LEAST_LIMIT_NS, 10 * MAX(sum_ns, model->recorded_ns));
}

static void *share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int map(struct pp_skeleton *self, struct pp_error *err)
{
	const struct pp_replay_model *model = self->plan.model;

	self->shared_bytes =
	    sizeof(struct pp_shared) + model->threads->len * sizeof(struct pp_worker);
	self->log_bytes =
	    self->how.has_log ? pp_replay_n_steps(model) * sizeof(struct pp_skeleton_entry) : 0;
	self->shared = share(self->shared_bytes);
	if (self->log_bytes)
		self->log = share(self->log_bytes);
	if (!self->shared || (self->log_bytes && !self->log))
		return pp_error_add(err, -ENOMEM, "no memory for a replay of %u threads",
				    model->threads->len);
	return 0;
}

/* Returns 0 or -errno. */
static int check(const struct pp_replay_model *model, const struct pp_skeleton_how *how,
		 struct pp_error *err)
{
	uint32_t usable = pp_skeleton_usable_cpus();

	if (how->n_cpus > usable)
		return pp_error_add(err, -ERANGE,
				    "%u CPUs, but %u can be used here: use --engine=simulation",
				    how->n_cpus, usable);
	if (how->order != PP_SKELETON_FREE && !has_order(model))
		return pp_error_add(err, -ENODATA,
				    "the model has no order of its steps: use --order=free");
	return 0;
}

struct pp_skeleton *pp_skeleton_new(const struct pp_replay_model *model,
				    const struct pp_skeleton_how *how, struct pp_error *err)
{
	struct pp_skeleton *self;
	g_autofree char *wrong = NULL;

	if (check(model, how, err))
		return NULL;
	self = g_new0(struct pp_skeleton, 1);
	self->how = *how;
	if (self->how.limit_ns == 0)
		self->how.limit_ns = limit_of(model);
	select_cpus(&self->cpus, how->n_cpus);
	pp_plan_init(&self->plan, model);
	if (how->order != PP_SKELETON_FREE)
		wrong = pp_plan_order(&self->plan, how->order);
	if (wrong)
		pp_error_add(err, -EDEADLK, "the replay would wait for ever: %s", wrong);
	if (wrong || map(self, err))
		g_clear_pointer(&self, pp_skeleton_free);
	else
		self->objects = pp_process_objects_new(&self->plan);
	return self;
}

void pp_skeleton_free(struct pp_skeleton *self)
{
	if (!self)
		return;
	if (self->shared)
		munmap(self->shared, self->shared_bytes);
	if (self->log)
		munmap(self->log, self->log_bytes);
	pp_process_objects_free(self->objects);
	pp_plan_done(&self->plan);
	g_free(self);
}

/* --- a run ------------------------------------------------------------------------------------ */

/* Starts the process. Returns a descriptor of it, or -errno. */
static int start(const struct pp_skeleton *self, pid_t *ret_pid)
{
	pid_t parent = getpid(), pid = fork();
	int fd;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		pp_process_run(&self->plan, self->objects, &self->cpus, self->shared);
	}
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0) {
		fd = -errno;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	*ret_pid = pid;
	return fd;
}

/*
 * Waits until the process has ended, or has to. Returns 0, or -ETIME if it takes too long; then,
 * ret_stuck has the threads that wait.
 */
static int observe(const struct pp_skeleton *self, pid_t pid, int fd, GArray **ret_stuck)
{
	int64_t end_ns = pp_clock_now_ns() + self->how.limit_ns;
	struct pp_watch watch = {self->plan.model, self->shared, pid, 0};
	struct pollfd poller = {.fd = fd, .events = POLLIN};

	while (poll(&poller, 1, LOOK_MS) != 1) {
		*ret_stuck = pp_watch_look(&watch);
		if (*ret_stuck)
			return 0;
		if (pp_clock_now_ns() > end_ns) {
			*ret_stuck = pp_watch_waiting(&watch);
			return -ETIME;
		}
	}
	return 0;
}

static int explain(const struct pp_skeleton *self, int status, struct pp_error *err)
{
	const struct pp_shared *shared = self->shared;
	const struct pp_replay_model *model = self->plan.model;

	if (shared->error && shared->failed == PP_NO_THREAD)
		return pp_error_add(err, -shared->error, "cannot select CPUs for the replay: %s",
				    g_strerror(shared->error));
	if (shared->error)
		return pp_error_add(
		    err, -shared->error,
		    "cannot create thread %u of %u for the replay: %s: use --engine=simulation, or "
		    "raise the limits of memory (ulimit -v) and threads (ulimit -u)",
		    shared->failed, model->threads->len, g_strerror(shared->error));
	if (WIFSIGNALED(status))
		return pp_error_add(err, -ECHILD, "the replay's process was killed by signal %d",
				    WTERMSIG(status));
	return pp_error_add(err, -ECHILD, "the replay's process ended early");
}

/* It takes too long: which threads wait, for example for a lock whose owner waits and spins. */
static int late(const struct pp_skeleton *self, int code, const GArray *waiting,
		struct pp_error *err)
{
	g_autofree char *limit = pp_duration_text(self->how.limit_ns);
	g_autofree char *text = pp_plan_stuck_text(
	    self->plan.model, (const struct pp_plan_stuck *)waiting->data, waiting->len);

	return pp_error_add(err, code, "the replay has not ended after %s%s%s", limit,
			    waiting->len ? ", and waits: " : "", text);
}

static GArray *copy_log(const struct pp_skeleton *self)
{
	GArray *log = g_array_new(FALSE, FALSE, sizeof(struct pp_skeleton_entry));

	return g_array_append_vals(log, self->log, self->shared->n_logged);
}

static void set_stuck(const struct pp_skeleton *self, const GArray *stuck,
		      struct pp_skeleton_run *ret)
{
	guint n_threads = self->plan.model->threads->len, n_ended = 0;

	for (guint i = 0; i < n_threads; i++)
		n_ended += self->shared->workers[i].state == PP_WORKER_ENDED;
	ret->n_stuck = n_threads - n_ended;
	if (stuck && stuck->len)
		ret->stuck = pp_plan_stuck_text(
		    self->plan.model, (const struct pp_plan_stuck *)stuck->data, stuck->len);
	else if (ret->n_stuck)
		ret->stuck = pp_plan_not_created_text(ret->n_stuck);
}

int pp_skeleton_run(struct pp_skeleton *self, struct pp_skeleton_run *ret, struct pp_error *err)
{
	g_autoptr(GArray) stuck = NULL;
	struct pp_skeleton_run run = {0};
	int64_t busy_ns = pp_load_busy_ns(&self->cpus);
	int fd, code, status = 0;
	pid_t pid = 0;

	memset(self->shared, 0, self->shared_bytes);
	self->shared->failed = PP_NO_THREAD;
	self->shared->log = self->log;
	fd = start(self, &pid);
	if (fd < 0)
		return pp_error_add(err, fd, "cannot start the replay's process: %s",
				    g_strerror(-fd));
	code = observe(self, pid, fd, &stuck);
	if (code || stuck)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	close(fd);
	/* acquire: pairs with the release at the end of pp_process_run() */
	if (code)
		return late(self, code, stuck, err);
	if (!stuck && !__atomic_load_n(&self->shared->is_finished, __ATOMIC_ACQUIRE))
		return explain(self, status, err);
	run.ns = self->shared->end_ns - self->shared->begin_ns;
	run.cpu_ns = self->shared->cpu_ns;
	/* below 0 by less than a tick of each CPU */
	run.others_ns =
	    busy_ns < 0 ? -1 : MAX(pp_load_busy_ns(&self->cpus) - busy_ns - run.cpu_ns, 0);
	set_stuck(self, stuck, &run);
	if (self->log)
		run.log = copy_log(self);
	*ret = run;
	return 0;
}

void pp_skeleton_run_done(struct pp_skeleton_run *run)
{
	g_free(run->stuck);
	g_clear_pointer(&run->log, g_array_unref);
}

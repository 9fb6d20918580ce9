/* SPDX-License-Identifier: MIT */
/*
 * Each thread performs its steps. A call that may block is first tried: CPU time that a thread uses
 * while it blocks is not part of the model, so its burner pauses.
 */
#include "replay/skeleton/process.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <time.h>

#include "replay/skeleton/burn.h"

#define STACK_BYTES 65536

struct object {
	_Alignas(64) union {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
		pthread_spinlock_t spin;
		sem_t sem;
		pthread_barrier_t barrier;
		struct pp_gate cond;
	};
	struct pp_gate turn;
	unsigned n_waiting;   /* threads, for a lock */
	bool ends, has_ended; /* PP_REPLAY_ENDS; it has been released */
};

/* A thread's own data. */
struct runner {
	uint32_t number;
	const struct pp_replay_step *steps;
	struct pp_worker *worker;
	struct pp_burner burner;
	uint32_t *missed; /* locks that it has tried for in vain */
	uint32_t n_missed;
};

struct pp_process_objects {
	struct object *objects;
	struct runner *runners;
	uint32_t **missed; /* by thread */
	guint n_threads;
};

/* The process has one run. */
static struct {
	const struct pp_plan *plan;
	struct pp_shared *shared;
	struct pp_process_objects *own;
	pthread_attr_t attributes;
	double loops_per_ns;
} run;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec until = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* --- waits ------------------------------------------------------------------------------------ */

static void set_state(struct pp_worker *worker, enum pp_worker_state state)
{
	/* release: pairs with the acquire in changes_of_waiting() */
	__atomic_store_n(&worker->state, state, __ATOMIC_RELEASE);
	__atomic_store_n(&worker->n_changes, worker->n_changes + 1, __ATOMIC_RELEASE);
}

static void begin_wait(struct runner *self)
{
	pp_burner_pause(&self->burner);
	set_state(self->worker, PP_WORKER_WAITS);
}

static void end_wait(struct runner *self)
{
	set_state(self->worker, PP_WORKER_RUNS);
	pp_burner_resume(&self->burner);
}

static void wait_at(struct runner *self, struct pp_gate *gate, uint32_t value)
{
	if (pp_gate_has_reached(gate, value))
		return;
	begin_wait(self);
	pp_gate_wait(gate, value);
	end_wait(self);
}

/* --- operations ------------------------------------------------------------------------------- */

static bool try_lock(struct object *object, enum pp_plan_lock lock, enum pp_replay_kind kind)
{
	if (lock == PP_PLAN_MUTEX)
		return pthread_mutex_trylock(&object->mutex) == 0;
	if (lock == PP_PLAN_SPIN)
		return pthread_spin_trylock(&object->spin) == 0;
	return kind == PP_REPLAY_RDLOCK ? pthread_rwlock_tryrdlock(&object->rwlock) == 0
					: pthread_rwlock_trywrlock(&object->rwlock) == 0;
}

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

static void wait_for_lock(struct object *object, enum pp_plan_lock lock, enum pp_replay_kind kind)
{
	if (kind == PP_REPLAY_LOCK_SPIN) {
		while (!try_lock(object, lock, kind))
			pause_cpu();
	} else if (lock == PP_PLAN_MUTEX) {
		pthread_mutex_lock(&object->mutex);
	} else if (kind == PP_REPLAY_RDLOCK) {
		pthread_rwlock_rdlock(&object->rwlock);
	} else {
		pthread_rwlock_wrlock(&object->rwlock);
	}
}

static void lock_object(struct runner *self, const struct pp_replay_step *step)
{
	struct object *object = &run.own->objects[step->object];
	enum pp_plan_lock lock = run.plan->locks[step->object];

	/* acquire: pairs with the release in unlock_object() */
	if (object->ends && __atomic_load_n(&object->has_ended, __ATOMIC_ACQUIRE)) {
		self->missed[self->n_missed++] = step->object;
		return;
	}
	if (try_lock(object, lock, step->kind))
		return;
	if (step->tries && step->rank == PP_PLAN_NO_TURN) {
		self->missed[self->n_missed++] = step->object;
		return;
	}
	__atomic_fetch_add(&object->n_waiting, 1, __ATOMIC_RELAXED);
	begin_wait(self);
	wait_for_lock(object, lock, step->kind);
	end_wait(self);
	__atomic_fetch_sub(&object->n_waiting, 1, __ATOMIC_RELAXED);
}

/* True if its last try for the lock was in vain; then this was its release. */
static bool has_missed(struct runner *self, uint32_t object)
{
	for (uint32_t i = self->n_missed; i-- > 0;) {
		if (self->missed[i] != object)
			continue;
		self->missed[i] = self->missed[--self->n_missed];
		return true;
	}
	return false;
}

/* Steps have no CPU time for a release that wakes a thread (struct pp_contention_costs). */
static void unlock_object(struct runner *self, const struct pp_replay_step *step)
{
	struct object *object = &run.own->objects[step->object];

	if (has_missed(self, step->object))
		return;
	/* release: pairs with the acquire in lock_object() */
	if (object->ends)
		__atomic_store_n(&object->has_ended, true, __ATOMIC_RELEASE);
	if (__atomic_load_n(&object->n_waiting, __ATOMIC_RELAXED) != 0)
		pp_burner_exclude(&self->burner, run.plan->model->costs.release_ns);
	switch (run.plan->locks[step->object]) {
	case PP_PLAN_MUTEX:
		pthread_mutex_unlock(&object->mutex);
		break;
	case PP_PLAN_SPIN:
		pthread_spin_unlock(&object->spin);
		break;
	default:
		pthread_rwlock_unlock(&object->rwlock);
	}
}

static void wait_for_item(struct runner *self, sem_t *sem)
{
	if (sem_trywait(sem) == 0)
		return;
	begin_wait(self);
	while (sem_wait(sem) != 0)
		;
	end_wait(self);
}

static void pass_barrier(struct runner *self, pthread_barrier_t *barrier)
{
	begin_wait(self);
	pthread_barrier_wait(barrier);
	end_wait(self);
}

static void sleep_for(struct runner *self, uint64_t ns)
{
	set_state(self->worker, PP_WORKER_SLEEPS);
	sleep_until(clock_ns(CLOCK_MONOTONIC) + (int64_t)ns);
	set_state(self->worker, PP_WORKER_RUNS);
	pp_burner_read(&self->burner);
}

static void *run_thread(void *data);

static void create(uint32_t number)
{
	struct runner *created = &run.own->runners[number];
	pthread_t thread;
	int rc;

	set_state(created->worker, PP_WORKER_RUNS);
	__atomic_fetch_add(&run.shared->n_living, 1, __ATOMIC_RELAXED);
	rc = pthread_create(&thread, &run.attributes, run_thread, created);
	if (rc == 0)
		return;
	run.shared->failed = number;
	run.shared->error = rc;
	_exit(1);
}

static void end(struct runner *self)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int64_t end_ns = __atomic_load_n(&run.shared->end_ns, __ATOMIC_RELAXED);

	while (now_ns > end_ns &&
	       !__atomic_compare_exchange_n(&run.shared->end_ns, &end_ns, now_ns, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	set_state(self->worker, PP_WORKER_ENDED);
}

static void note(const struct runner *self, const struct pp_replay_step *step)
{
	struct pp_skeleton_entry entry = {self->number, (uint32_t)(step - self->steps)};

	if (run.shared->log)
		run.shared->log[__atomic_fetch_add(&run.shared->n_logged, 1, __ATOMIC_RELAXED)] =
		    entry;
}

/* The gate at which the step waits for its turn, and which it then moves on; NULL: none. */
static struct pp_gate *turn_of(const struct pp_replay_step *step)
{
	if (step->rank == PP_PLAN_NO_TURN)
		return NULL;
	return run.plan->order == PP_SKELETON_ALL ? &run.shared->turn
						  : &run.own->objects[step->object].turn;
}

static void perform(struct runner *self, const struct pp_replay_step *step, struct pp_gate *turn)
{
	switch (step->kind) {
	case PP_REPLAY_LOCK:
	case PP_REPLAY_LOCK_SPIN:
	case PP_REPLAY_RDLOCK:
		lock_object(self, step);
		note(self, step);
		break;
	case PP_REPLAY_UNLOCK:
		note(self, step);
		unlock_object(self, step);
		break;
	case PP_REPLAY_SEM_WAIT:
		wait_for_item(self, &run.own->objects[step->object].sem);
		note(self, step);
		break;
	case PP_REPLAY_SEM_POST:
		note(self, step);
		sem_post(&run.own->objects[step->object].sem);
		break;
	case PP_REPLAY_BARRIER:
		note(self, step);
		if (turn)
			pp_gate_step(turn);
		pass_barrier(self, &run.own->objects[step->object].barrier);
		return;
	case PP_REPLAY_AWAIT:
		wait_at(self, &run.shared->workers[step->of.thread].done, step->of.step + 1);
		note(self, step);
		break;
	case PP_REPLAY_NOTIFY:
		note(self, step);
		pp_gate_step(&run.own->objects[step->object].cond);
		break;
	case PP_REPLAY_NOTIFIED:
		wait_at(self, &run.own->objects[step->notified.object].cond, step->notified.count);
		note(self, step);
		break;
	case PP_REPLAY_SLEEP:
		sleep_for(self, step->sleep_ns);
		break;
	case PP_REPLAY_CREATE:
		note(self, step);
		create(step->thread);
		break;
	case PP_REPLAY_EXIT:
		note(self, step);
		end(self);
		break;
	default:
		note(self, step);
	}
	if (turn)
		pp_gate_step(turn);
}

static void *run_thread(void *data)
{
	struct runner *self = data;
	const struct pp_replay_thread *thread = run.plan->model->threads->pdata[self->number];

	if (!thread->has_creator) {
		set_state(self->worker, PP_WORKER_SLEEPS);
		sleep_until(run.shared->begin_ns + thread->start_ns);
		set_state(self->worker, PP_WORKER_RUNS);
	}
	pp_burner_init(&self->burner, run.loops_per_ns);
	for (uint32_t at = 0;; at++) {
		const struct pp_replay_step *step = &self->steps[at];
		struct pp_gate *turn = turn_of(step);

		__atomic_store_n(&self->worker->at, at, __ATOMIC_RELAXED);
		pp_burn(&self->burner, step->cpu_ns);
		if (turn)
			wait_at(self, turn, step->rank);
		perform(self, step, turn);
		if (step->awaited)
			pp_gate_set(&self->worker->done, at + 1);
		if (step->kind == PP_REPLAY_EXIT)
			break;
	}
	/* acq_rel: the last thread sees all that the others have written */
	if (__atomic_sub_fetch(&run.shared->n_living, 1, __ATOMIC_ACQ_REL) == 0)
		pp_gate_set(&run.shared->ended, 1);
	return NULL;
}

/* --- the process ------------------------------------------------------------------------------ */

static void init_object(struct object *object, const struct pp_replay_object *of,
			enum pp_plan_lock lock)
{
	switch (of->kind) {
	case PP_REPLAY_OBJECT_COND:
		object->cond = (struct pp_gate){0};
		break;
	case PP_REPLAY_OBJECT_SEM:
		sem_init(&object->sem, 0, MIN(of->count, SEM_VALUE_MAX));
		break;
	case PP_REPLAY_OBJECT_BARRIER:
		pthread_barrier_init(&object->barrier, NULL, of->count);
		break;
	default:
		object->ends = of->count == PP_REPLAY_ENDS;
		if (lock == PP_PLAN_MUTEX)
			pthread_mutex_init(&object->mutex, NULL);
		else if (lock == PP_PLAN_SPIN)
			pthread_spin_init(&object->spin, PTHREAD_PROCESS_PRIVATE);
		else
			pthread_rwlock_init(&object->rwlock, NULL);
	}
}

static void init(const cpu_set_t *cpus)
{
	const struct pp_replay_model *model = run.plan->model;
	size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);

	prctl(PR_SET_TIMERSLACK, 1); /* ns; threads inherit it */
	if (sched_setaffinity(0, sizeof(*cpus), cpus)) {
		run.shared->error = errno;
		_exit(1);
	}
	pthread_attr_init(&run.attributes);
	pthread_attr_setdetachstate(&run.attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&run.attributes, MAX(least, STACK_BYTES));
	run.loops_per_ns = pp_burn_calibrate();
	for (guint i = 0; i < model->objects->len; i++)
		init_object(&run.own->objects[i], model->objects->pdata[i], run.plan->locks[i]);
	for (guint i = 0; i < model->threads->len; i++)
		run.own->runners[i] = (struct runner){.number = i,
						      .steps = run.plan->steps[i],
						      .worker = &run.shared->workers[i],
						      .missed = run.own->missed[i]};
}

/* This thread executes the one that begins first of those without a creator. */
static uint32_t first_thread(const struct pp_replay_model *model)
{
	uint32_t first = PP_NO_THREAD;
	int64_t first_ns = INT64_MAX;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		if (thread->has_creator || thread->start_ns >= first_ns)
			continue;
		first = i;
		first_ns = thread->start_ns;
	}
	return first;
}

_Noreturn void pp_process_run(const struct pp_plan *plan, struct pp_process_objects *own,
			      const cpu_set_t *cpus, struct pp_shared *shared)
{
	const struct pp_replay_model *model = plan->model;
	uint32_t first = first_thread(model);
	int64_t cpu_ns;

	run.plan = plan;
	run.own = own;
	run.shared = shared;
	init(cpus);
	shared->n_living = 1;
	cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	shared->begin_ns = shared->end_ns = clock_ns(CLOCK_MONOTONIC);
	for (guint i = 0; i < model->threads->len; i++)
		if (i != first &&
		    !((const struct pp_replay_thread *)model->threads->pdata[i])->has_creator)
			create(i);
	if (first != PP_NO_THREAD)
		run_thread(&own->runners[first]);
	pp_gate_wait(&shared->ended, first != PP_NO_THREAD);
	shared->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	/* release: pairs with the acquire of the process that observes this one */
	__atomic_store_n(&shared->is_finished, 1, __ATOMIC_RELEASE);
	_exit(0);
}

struct pp_process_objects *pp_process_objects_new(const struct pp_plan *plan)
{
	struct pp_process_objects *own = g_new0(struct pp_process_objects, 1);

	own->objects = g_aligned_alloc0(MAX(plan->model->objects->len, 1), sizeof(struct object),
					_Alignof(struct object));
	own->n_threads = plan->model->threads->len;
	own->runners = g_new0(struct runner, own->n_threads);
	own->missed = g_new0(uint32_t *, own->n_threads);
	for (guint i = 0; i < own->n_threads; i++)
		own->missed[i] = g_new(uint32_t, plan->n_locks[i]);
	return own;
}

void pp_process_objects_free(struct pp_process_objects *own)
{
	if (!own)
		return;
	for (guint i = 0; i < own->n_threads; i++)
		g_free(own->missed[i]);
	g_free(own->missed);
	g_aligned_free(own->objects);
	g_free(own->runners);
	g_free(own);
}

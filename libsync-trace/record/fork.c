/* SPDX-License-Identifier: MIT */
/*
 * A fork in mid-event: by a signal handler that interrupted a wrapper.
 *
 * The child's copy of the interrupted code continues in a writer that the kernel has zeroed, with a
 * file that belongs to its parent. So before the fork the writers with closed gates are copied. In
 * the child they get their contents back, with private memory in place of the parent's file and no
 * room for another event. A half-written event belongs to the parent; the child's next event finds
 * no room and begins a stream for the child.
 *
 * A handler of another library may run before ours in the child. If it has synchronized, the
 * child's own recording has begun already, and must not be discarded.
 *
 * fork() runs these functions as its handlers; _Fork(), which a handler may call and which runs
 * none, is interposed. A bare clone() in mid-event is not handled.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/internal.h"
#include "libc/real.h"
#include "runtime/process/children.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

struct copy {
	struct copy *next;
	struct st_thread *of;
	struct st_thread writer;
	struct gm_stream accesses; /* if it has such a stream */
};

static __thread struct copy *copies __attribute__((tls_model("initial-exec")));

static void prepare(void)
{
	if (gm_seal_is_set())
		return;
	gm_children_prepare();
	for (struct st_thread *self = st_self; self != NULL; self = self->former) {
		struct copy *copy;

		if (!self->live || self->gate == 0)
			continue;
		copy = gm_sys_mmap(sizeof(*copy), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (copy == NULL)
			continue;
		copy->of = self;
		copy->writer = *self;
		if (self->accesses != NULL)
			copy->accesses = *st_accesses_stream(self);
		copy->next = copies;
		copies = copy;
	}
}

static void forget_copies(void)
{
	while (copies != NULL) {
		struct copy *copy = copies;

		copies = copy->next;
		gm_sys_munmap(copy, sizeof(*copy));
	}
}

/* The stream has no room, and private memory in place of its file. */
static void stream_give_back(struct gm_stream *stream)
{
	gm_stream_set_end(stream, NULL);
	if (stream->segment != NULL) {
		/* In a place of the parent, it is a part of a page that has no data of ours. */
		uintptr_t from = (uintptr_t)stream->segment + stream->window_at;
		uintptr_t start = from & ~(uintptr_t)4095, end = from + stream->mapped_bytes;

		gm_syscall6(SYS_mmap, (long)start, (long)(end - start), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}

static void give_back(const struct copy *copy)
{
	struct st_thread *self = copy->of;

	*self = copy->writer;
	self->live = 0;
	self->former = NULL;
	stream_give_back(&self->stream);
	if (self->accesses != NULL) {
		*st_accesses_stream(self) = copy->accesses;
		stream_give_back(st_accesses_stream(self));
	}
}

/* Zeroes the writers, like the kernel if it can. */
static void forget_writers(void)
{
	struct st_thread *self = st_self, *former;

	for (; self != NULL && self->live; self = former) {
		former = self->former;
		__builtin_memset(self, 0, sizeof(*self));
	}
}

static void in_child(void)
{
	gm_child_note_pid();
	if (!st_process_has_begun_anew()) {
		st_process_forked();
		st_counts_forget();
		st_live_forget();
		if (!st_memory_is_wiped)
			forget_writers();
	}
	for (const struct copy *copy = copies; copy != NULL; copy = copy->next) {
		give_back(copy);
		if (copy->of == st_self)
			st_self = &st_newborn;
	}
	forget_copies();
	/* A zeroed writer does not check which objects are recorded. */
	if (st_is_filtering() && !st_self->selective && st_self != &st_off)
		st_self = &st_newborn;
}

int st_fork_init(void)
{
	return pthread_atfork(prepare, forget_copies, in_child);
}

ST_EXPORT pid_t _Fork(void)
{
	pid_t pid;

	st_ready();
	prepare();
	pid = st_real._Fork();
	if (pid == 0)
		in_child();
	else
		forget_copies();
	/* LTTng was not informed, since _Fork() runs no fork handler. */
	if (pid == 0)
		st_ust_disown();
	return pid;
}

/* SPDX-License-Identifier: MIT */
/*
 * Jumps out of signal handlers.
 *
 * A handler that interrupted a wrapper may leave by siglongjmp(), past the wrapper's frame. Then
 * the gate that the wrapper closed is not opened, and the end of its wait is not written. Only at
 * the time of the jump is it known that both are over: the jump goes to a frame, and all frames
 * below that one on its stack are gone. So the functions that jump are wrapped: they open such
 * gates, end such waits (EINTR), and jump. They also undo a st_cancel_defer() of such a frame.
 *
 * Frames are compared only if they are known to lie on one stack: the alternate signal stack, or
 * the initial stack of the thread, as far down as it is readable. On other stacks (of coroutines)
 * no conclusion is possible: a gate closed there may open later, and stays closed until then. If a
 * jump resumes a context on the thread's own stack, all frames below it are gone as well, whatever
 * stack the jump came from.
 *
 * No list runs through stack memory: a thread stores its waits in thread-local storage.
 */
#undef _FORTIFY_SOURCE /* it would rename longjmp() */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "record/hold.h"
#include "record/internal.h"
#include "libc/real.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"

#define WAITS_MAX  8u /* nested handlers that wait; deeper ones are not stored */
#define PAGE_BYTES 4096u
#define PAGES_MAX  16384u     /* of a stack: 64 MiB */
#define NEAR_BYTES (1u << 20) /* of a stack: a page is tested once */
#define JMPBUF_RSP 6	      /* index in glibc's jmp_buf for x86-64 */

struct wait {
	uintptr_t frame; /* 0: none, or over */
	enum st_event done;
	uint32_t generation; /* result of st_waits_begin() */
	uintptr_t site;
	uint64_t object, extra, begin_ns;
};

static __thread struct {
	unsigned n_waits;
	struct wait waits[WAITS_MAX];
	uintptr_t stack_top; /* of the initial stack; 0: not known */
	uintptr_t stack_low; /* readable from here to its top */
	uintptr_t stack_floor;
	uintptr_t deferring; /* frame of st_cancel_defer(); 0: none */
	int cancel_type;     /* before that */
} own __attribute__((tls_model("initial-exec")));

/* True if the layout of jmp_buf is the known one. */
static bool known_layout;

extern void *__libc_stack_end; /* of the loader: start of the initial thread's stack */

/* --- waits ------------------------------------------------------------------------------------ */

/* A handler may run at any time, and restores the list before it returns. */
void st_wait_begins(uintptr_t frame, enum st_event begin, uintptr_t site, const void *object,
		    uint64_t extra, uint64_t begin_ns)
{
	unsigned i = own.n_waits < WAITS_MAX ? own.n_waits : 0;

	own.waits[i].frame = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own.n_waits = i + 1;
	own.waits[i].done = begin + 1; /* in events.h the completion follows its begin */
	own.waits[i].generation = st_waits_generation();
	own.waits[i].site = site;
	own.waits[i].object = (uintptr_t)object;
	own.waits[i].extra = extra;
	own.waits[i].begin_ns = begin_ns;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own.waits[i].frame = frame;
}

void st_wait_ends(uint64_t begin_ns, const void *object)
{
	for (unsigned i = own.n_waits; i-- > 0;) {
		struct wait *wait = &own.waits[i];

		if (wait->begin_ns == begin_ns && wait->object == (uintptr_t)object) {
			wait->frame = 0;
			break;
		}
	}
	while (own.n_waits > 0 && own.waits[own.n_waits - 1].frame == 0)
		own.n_waits--;
}

/* The wait is over, and the code that waited will not return. */
static void wait_left(struct wait *wait)
{
	wait->frame = 0;
	if (st_is_lock(wait->done))
		st_waits_end((const void *)wait->object, wait->generation);
}

void st_waits_over(void)
{
	while (own.n_waits > 0) {
		struct wait *wait = &own.waits[--own.n_waits];

		if (wait->frame != 0)
			wait_left(wait);
	}
}

/* --- cancellation ----------------------------------------------------------------------------- */

/* If a handler comes in between, the type is not changed yet, or it is the stored one. */
bool st_cancel_defer(uintptr_t frame)
{
	if (own.deferring != 0)
		return false;
	own.cancel_type = PTHREAD_CANCEL_DEFERRED;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own.deferring = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &own.cancel_type);
	return true;
}

void st_cancel_undefer(void)
{
	if (own.cancel_type != PTHREAD_CANCEL_DEFERRED)
		pthread_setcanceltype(own.cancel_type, NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own.deferring = 0;
}

/* --- stacks ----------------------------------------------------------------------------------- */

void st_stack_begins(uintptr_t top, uintptr_t floor)
{
	own.stack_top = top;
	own.stack_floor = floor;
	own.stack_low = top & -(uintptr_t)PAGE_BYTES;
}

/*
 * Valid only in the initial thread: a thread that calls dlopen() for this library has another
 * stack.
 */
void st_stack_init(void)
{
	if (gm_sys_gettid() == gm_sys_getpid())
		st_stack_begins((uintptr_t)__libc_stack_end, 0);
}

/*
 * Returns true if the frame is on the thread's initial stack. Below the stack is a guard page,
 * which is not readable.
 */
static bool on_own_stack(uintptr_t frame)
{
	uintptr_t page = frame & -(uintptr_t)PAGE_BYTES;

	if (frame > own.stack_top || own.stack_top - frame > (uintptr_t)PAGES_MAX * PAGE_BYTES)
		return false;
	while (own.stack_low > page) {
		if (!gm_memory_is_readable(own.stack_low - PAGE_BYTES))
			return false;
		own.stack_low -= PAGE_BYTES;
	}
	return true;
}

bool st_stack_has(uintptr_t address)
{
	return address <= own.stack_top && own.stack_top - address < NEAR_BYTES &&
	       on_own_stack(address);
}

bool st_stack_find(uintptr_t frame, size_t n_bytes, uintptr_t *ret_low, uintptr_t *ret_above)
{
	uintptr_t lowest = frame > n_bytes ? frame - n_bytes : 0;

	if (!on_own_stack(frame) || frame < own.stack_floor)
		return false;
	/* Finds more of it if it is there. */
	on_own_stack(lowest);
	*ret_low = own.stack_low > own.stack_floor ? own.stack_low : own.stack_floor;
	*ret_above = own.stack_top;
	return true;
}

static bool is_within(const stack_t *stack, uintptr_t frame)
{
	return (stack->ss_flags & SS_DISABLE) == 0 &&
	       frame - (uintptr_t)stack->ss_sp < stack->ss_size;
}

/* Returns true if a jump to a frame with stack pointer `target` leaves this frame for good. */
static bool dies(uintptr_t frame, uintptr_t target)
{
	stack_t alternate;

	if (gm_syscall3(SYS_sigaltstack, 0, (long)&alternate, 0) != 0)
		return false;
	if (is_within(&alternate, target))
		return is_within(&alternate, frame) && frame < target;
	if (is_within(&alternate, frame))
		return (alternate.ss_flags & SS_ONSTACK) != 0;
	return frame < target && on_own_stack(target) && on_own_stack(frame);
}

/* --- jumps ------------------------------------------------------------------------------------ */

static bool has_shut_gate(const struct st_thread *self)
{
	for (; self != NULL && self->live; self = self->former)
		if (self->gate != 0)
			return true;
	return false;
}

static void waits_leave(uintptr_t target)
{
	for (unsigned i = own.n_waits; i-- > 0;) {
		struct wait wait = own.waits[i];
		struct st_thread *self;

		if (wait.frame == 0 || !dies(wait.frame, target))
			continue;
		wait_left(&own.waits[i]);
		self = st_enter();
		if (self == NULL)
			continue;
		st_emit_parts(self, wait.done, EINTR, wait.site, (const void *)wait.object,
			      wait.extra, st_stamp(self));
		st_leave(self);
	}
	while (own.n_waits > 0 && own.waits[own.n_waits - 1].frame == 0)
		own.n_waits--;
}

static ST_COLD void frames_leave(uintptr_t target)
{
	bool undefers;
	uint64_t mask;

	gm_signals_block(&mask);
	for (struct st_thread *self = st_self; self != NULL && self->live; self = self->former)
		if (self->gate != 0 && dies(self->gate, target)) {
			st_count_left(self);
			self->last_object = NULL;
			st_stream_settle(self);
			st_accesses_settle(self);
			self->gate = 0;
		}
	if (st_access_frame() != 0 && dies(st_access_frame(), target))
		st_access_left();
	waits_leave(target);
	undefers = own.deferring != 0 && dies(own.deferring, target);
	gm_signals_restore(mask);
	if (undefers)
		st_cancel_undefer();
}

static uintptr_t target_of(const struct __jmp_buf_tag *env)
{
	uintptr_t mangled = (uintptr_t)env->__jmpbuf[JMPBUF_RSP], guard;

	__asm__("mov %%fs:0x30, %0" : "=r"(guard));
	return (mangled >> 17 | mangled << (64 - 17)) ^ guard;
}

static void note_jump(const struct __jmp_buf_tag *env)
{
	if (st_unlikely(st_real.__longjmp_chk == NULL)) /* the last one looked up */
		st_real_resolve();
	if (st_unlikely(own.n_waits != 0 || own.deferring != 0 || has_shut_gate(st_self) ||
			st_access_frame() != 0) &&
	    known_layout)
		frames_leave(target_of(env));
}

void st_jump_init(void)
{
	jmp_buf here;
	uintptr_t below;

	if (_setjmp(here) != 0)
		return;
	__asm__("mov %%rsp, %0" : "=r"(below));
	known_layout = target_of(here) - below < PAGE_BYTES || below - target_of(here) < PAGE_BYTES;
}

#define JUMP(name)                                                                                 \
	ST_EXPORT void name(struct __jmp_buf_tag env[1], int value)                                \
	{                                                                                          \
		note_jump(env);                                                                    \
		st_real.name(env, value);                                                          \
		__builtin_unreachable();                                                           \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)

/* _FORTIFY_SOURCE replaces all of them by this function. */
__attribute__((noreturn)) void __longjmp_chk(struct __jmp_buf_tag env[1], int value);
JUMP(__longjmp_chk)

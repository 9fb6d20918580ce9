/* SPDX-License-Identifier: MIT */
/*
 * How long threads were blocked on synchronization objects, by the calls that led there, the
 * operation, and the object.
 *
 * An operation's path comes with its end, so what it slept until then waits for that.
 */
#ifndef PP_EXPORT_STACKS_OFF_CPU_H
#define PP_EXPORT_STACKS_OFF_CPU_H

#include "export/exporter.h"
#include "export/stacks/wakers.h"

/* Blocked alike. */
struct pp_off_cpu_use {
	const struct pp_thread *thread;
	struct pp_object *object; /* NULL: the operation's end is not known */
	const struct pp_path *path;
	uint64_t site;
	enum st_event op;
	struct pp_release waker; /* without time and object; if it is asked for */
	int64_t slept_ns;
};

struct pp_off_cpu;

/* with_wakers: told apart by who ended the wait, too. */
struct pp_off_cpu *pp_off_cpu_new(const struct pp_export *export, bool with_wakers);
void pp_off_cpu_free(struct pp_off_cpu *self);
void pp_off_cpu_event(struct pp_off_cpu *self, const struct pp_event *event);
void pp_off_cpu_finish(struct pp_off_cpu *self, int64_t end_ns);

/* After the end: those selected, in order of appearance, of const struct pp_off_cpu_use *. */
const GPtrArray *pp_off_cpu_uses(const struct pp_off_cpu *self);

#endif

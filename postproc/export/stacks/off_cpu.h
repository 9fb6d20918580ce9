/* SPDX-License-Identifier: MIT */
/*
 * The time that threads were blocked on synchronization objects, by call path, operation and
 * object; and in blocking calls, by call path and function.
 *
 * The call path of an operation is recorded at its end, so the blocked time is kept until then.
 *
 * Objects that no longer exist are folded when they are many: those with the least blocked time
 * then share one object per type and call site of initialization.
 */
#ifndef PP_EXPORT_STACKS_OFF_CPU_H
#define PP_EXPORT_STACKS_OFF_CPU_H

#include "export/exporter.h"
#include "export/stacks/wakers.h"

/* All blocked time with the same fields. */
struct pp_off_cpu_use {
	const struct pp_thread *thread;
	struct pp_object *object; /* NULL: a blocking call, or the operation did not end */
	uint32_t number;	  /* of the object, until the end */
	const struct pp_path *path;
	uint64_t site;
	enum st_event op;	 /* of a blocking call: pp_io_op() */
	struct pp_release waker; /* without time and object; empty unless wakers are wanted */
	int64_t slept_ns;
};

struct pp_off_cpu;

/* with_wakers: distinguish uses by the operation that ended the wait. */
struct pp_off_cpu *pp_off_cpu_new(const struct pp_export *export, bool with_wakers);
void pp_off_cpu_free(struct pp_off_cpu *self);
void pp_off_cpu_event(struct pp_off_cpu *self, const struct pp_event *event);
void pp_off_cpu_finish(struct pp_off_cpu *self, int64_t end_ns);

/*
 * Call after the end: returns the selected uses in order of first use, of const struct
 * pp_off_cpu_use *.
 */
const GPtrArray *pp_off_cpu_uses(const struct pp_off_cpu *self);

#endif

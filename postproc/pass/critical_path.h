/* SPDX-License-Identifier: MIT */
/* The critical path between the pass that finds it (critical_path.c) and its tables
 * (critical_rows.c). */
#ifndef PP_PASS_CRITICAL_PATH_H
#define PP_PASS_CRITICAL_PATH_H

#include "pass/call_sites.h"
#include "pass/chain.h"
#include "pass/object_state.h"

/* What a chain sums: key = amount << AMOUNT_SHIFT | id << ID_SHIFT | mode. */
enum pp_critical_amount {
	PP_CRITICAL_IN_MODE,	/* ns; id: the thread's serial; with the mode */
	PP_CRITICAL_HELD,	/* ns; id: the object's serial, as in the next two */
	PP_CRITICAL_CROSSINGS,	/* times the path goes from one who waited to who woke it */
	PP_CRITICAL_WAITED,	/* ns that those had waited by then */
	PP_CRITICAL_AFTER_CALL, /* ns; id: number of the place */
};

#define PP_CRITICAL_AMOUNT_SHIFT 56
#define PP_CRITICAL_ID_SHIFT	 8

/* In place of an object: a wake-up that was not about any. */
#define PP_CRITICAL_NO_OBJECT UINT32_MAX

struct pp_critical_track {
	struct pp_chain chain; /* leaf NULL: it has none yet */
	int64_t until_ns;      /* what is in it */
	guint place;
	GPtrArray *holds; /* of struct pp_object * */
	struct pp_object *waits_on;
	int64_t waits_since_ns;
};

struct pp_critical {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GNode *chains;
	GPtrArray *tracks; /* by serial, of struct pp_critical_track *; NULL: not seen */
	struct pp_call_sites places;
};

/* The pass's finish(). */
void pp_critical_finish(void *state, int64_t end_ns, GPtrArray *tables);

#endif

/* SPDX-License-Identifier: MIT */
#include "pass/replay.h"

#include <string.h>

/* More calls within each other are taken for some that were left without a return. */
#define FRAMES_MAX 100000

/* A function, by where it begins; or by name where that is not known. */
struct function {
	uint64_t entry;
	char *name;
	bool is_part; /* of one that begins elsewhere */
};

struct frame {
	const struct function *function, *caller;
	uint64_t self; /* an address in it */
	int64_t start_ns;
};

struct pp_replay {
	const struct pp_pass_context *context;
	uint32_t tid;
	bool has_returns;
	void (*take)(void *data, const struct pp_replay_line *line);
	void *data;
	const struct pp_thread *thread; /* whose frames these are */
	GArray *frames;			/* of struct frame */
	bool held; /* the innermost frame's call, which may be a leaf, is not told yet */
	GHashTable *functions; /* address -> struct function *, of this process */
};

static void function_free(void *data)
{
	struct function *function = data;

	g_free(function->name);
	g_free(function);
}

/* gcc puts what is rarely executed, as handlers of exceptions, far from the rest of its function.
 */
static void join_part(struct function *function)
{
	static const char *const suffixes[] = {".cold", " [clone .cold]"};

	for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		if (!g_str_has_suffix(function->name, suffixes[i]))
			continue;
		function->name[strlen(function->name) - strlen(suffixes[i])] = '\0';
		function->is_part = true;
	}
}

static const struct function *function_at(struct pp_replay *replay, uint64_t address)
{
	const struct pp_namer *namer = replay->context->namer;
	const struct pp_process *process = replay->thread->process;
	struct function *function = g_hash_table_lookup(replay->functions, &address);

	if (function)
		return function;
	function = g_new0(struct function, 1);
	function->entry = namer->entry ? namer->entry(namer->data, process, address) : 0;
	function->name = namer->function(namer->data, process, address);
	join_part(function);
	g_hash_table_insert(replay->functions, g_memdup2(&address, sizeof(address)), function);
	return function;
}

static bool is_same(const struct function *a, const struct function *b)
{
	return a == b || ((a->entry == b->entry || a->is_part || b->is_part) &&
			  strcmp(a->name, b->name) == 0);
}

static struct frame *frame_at(const struct pp_replay *replay, guint depth)
{
	return &g_array_index(replay->frames, struct frame, depth);
}

static void tell(const struct pp_replay *replay, enum pp_replay_kind kind, int64_t time_ns,
		 int64_t duration_ns)
{
	guint depth = replay->frames->len - 1;
	struct pp_replay_line line = {
	    .kind = kind,
	    .thread = replay->thread,
	    .time_ns = time_ns,
	    .duration_ns = duration_ns,
	    .depth = depth,
	    .name = frame_at(replay, depth)->function->name,
	};

	replay->take(replay->data, &line);
}

void pp_replay_release(struct pp_replay *replay)
{
	if (replay->held)
		tell(replay, PP_REPLAY_CALL, frame_at(replay, replay->frames->len - 1)->start_ns,
		     PP_DURATION_UNKNOWN);
	replay->held = false;
}

static void begin_thread(struct pp_replay *replay, const struct pp_thread *thread)
{
	pp_replay_release(replay);
	if (replay->thread && replay->thread->process != thread->process)
		g_hash_table_remove_all(replay->functions);
	replay->thread = thread;
	g_array_set_size(replay->frames, 0);
}

/* Depth of the innermost call of the function, plus 1; 0: it is not on the stack. */
static guint find_frame(const struct pp_replay *replay, const struct function *function)
{
	guint depth = replay->frames->len;

	while (depth > 0 && !is_same(frame_at(replay, depth - 1)->function, function))
		depth--;
	return depth;
}

/* How many calls go on while `caller` makes another. */
static guint calls_above(const struct pp_replay *replay, const struct function *caller)
{
	guint depth = find_frame(replay, caller);

	if (depth > 0 || (replay->has_returns && replay->frames->len < FRAMES_MAX))
		return depth > 0 ? depth : replay->frames->len;
	for (depth = replay->frames->len; depth > 0; depth--)
		if (is_same(frame_at(replay, depth - 1)->caller, caller))
			return depth - 1;
	return replay->frames->len;
}

static void on_call(struct pp_replay *replay, const struct pp_event *event)
{
	const struct function *caller = function_at(replay, event->call.from);
	struct frame frame = {function_at(replay, event->call.self), caller, event->call.self,
			      event->time_ns};

	pp_replay_release(replay);
	g_array_set_size(replay->frames, calls_above(replay, caller));
	g_array_append_val(replay->frames, frame);
	replay->held = true;
}

/* The frame that a return with these low 24 bits of its address is from, plus 1; 0: none. */
static guint find_return(struct pp_replay *replay, uint64_t where)
{
	for (guint depth = replay->frames->len; depth > 0; depth--) {
		const struct frame *frame = frame_at(replay, depth - 1);
		int64_t distance = (int64_t)((where - frame->self) << 40) >> 40;
		uint64_t address = frame->self + (uint64_t)distance;

		if (is_same(function_at(replay, address), frame->function))
			return depth;
	}
	return 0;
}

static void on_return(struct pp_replay *replay, const struct pp_event *event)
{
	guint depth = find_return(replay, event->call.self);
	int64_t start_ns;

	if (depth == 0) /* entered before the history began, or in code that does not tell */
		return;
	if (depth < replay->frames->len)
		pp_replay_release(replay);
	g_array_set_size(replay->frames, depth);
	start_ns = frame_at(replay, depth - 1)->start_ns;
	if (replay->held)
		tell(replay, PP_REPLAY_LEAF, start_ns, event->time_ns - start_ns);
	else
		tell(replay, PP_REPLAY_RETURN, event->time_ns, event->time_ns - start_ns);
	replay->held = false;
	g_array_set_size(replay->frames, depth - 1);
}

struct pp_replay *pp_replay_new(const struct pp_pass_context *context, uint32_t tid,
				bool has_returns,
				void (*take)(void *data, const struct pp_replay_line *line),
				void *data)
{
	struct pp_replay *replay = g_new0(struct pp_replay, 1);

	replay->context = context;
	replay->tid = tid;
	replay->has_returns = has_returns;
	replay->take = take;
	replay->data = data;
	replay->frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
	replay->functions =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, function_free);
	return replay;
}

void pp_replay_free(struct pp_replay *replay)
{
	if (!replay)
		return;
	g_array_unref(replay->frames);
	g_hash_table_unref(replay->functions);
	g_free(replay);
}

void pp_replay_event(struct pp_replay *replay, const struct pp_event *event)
{
	if (event->thread->tid != replay->tid)
		return;
	if (event->thread != replay->thread)
		begin_thread(replay, event->thread);
	if (event->kind == PP_EVENT_CALL)
		on_call(replay, event);
	else if (event->kind == PP_EVENT_RETURN)
		on_return(replay, event);
}

unsigned pp_replay_depth(const struct pp_replay *replay)
{
	return replay->frames->len;
}

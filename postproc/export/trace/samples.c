/* SPDX-License-Identifier: MIT */
/*
 * See samples.h.  A frame is a function; all frames belong to one mapping, since viewers show only
 * frames that have one.  A stack is found by process and path.
 */
#include "export/trace/samples.h"

#include "core/text/printable.h"
#include "export/stacks/samples.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"

#define MAPPING	   1
#define NO_PATH	   "[no call path]"
#define OWN_MODULE "[program]"

struct pp_trace_samples {
	const struct pp_export *export;
	void (*take)(void *data, Perfetto__TracePacket *packet);
	void *data;
	GHashTable *functions; /* text -> number of the name and of its frame: 1, 2, ... */
	GHashTable *stacks;    /* a set of struct stack * */
	GArray *cpu_ns;	       /* of uint64_t, by serial of the thread: in samples so far */
};

struct stack {
	const struct pp_process *process;
	const struct pp_path *path;
	uint64_t number; /* 1, 2, ... */
};

/* The parts of a packet that are new. */
struct packet {
	GPtrArray *names, *frames; /* of Perfetto__InternedName *, Perfetto__Frame * */
	GArray *numbers;	   /* of uint64_t: the frames of the stack */
};

static guint stack_hash(const void *data)
{
	const struct stack *stack = data;

	return g_direct_hash(stack->process) * 31 ^ g_direct_hash(stack->path);
}

static gboolean stack_equal(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	return x->process == y->process && x->path == y->path;
}

struct pp_trace_samples *
pp_trace_samples_new(const struct pp_export *export,
		     void (*take)(void *data, Perfetto__TracePacket *packet), void *data)
{
	struct pp_trace_samples *self = g_new0(struct pp_trace_samples, 1);

	self->export = export;
	self->take = take;
	self->data = data;
	self->functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->stacks = g_hash_table_new_full(stack_hash, stack_equal, g_free, NULL);
	self->cpu_ns = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	return self;
}

void pp_trace_samples_free(struct pp_trace_samples *self)
{
	if (!self)
		return;
	g_hash_table_unref(self->functions);
	g_hash_table_unref(self->stacks);
	g_array_unref(self->cpu_ns);
	g_free(self);
}

/* --- stacks --------------------------------------------------------------------------------- */

static void add_frame(struct pp_trace_samples *self, struct packet *packet, const char *function)
{
	char *printable = pp_printable(g_strdup(function));
	uint64_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(self->functions, printable));
	Perfetto__InternedName *name;
	Perfetto__Frame *frame;

	if (number) {
		g_free(printable);
		g_array_append_val(packet->numbers, number);
		return;
	}
	number = g_hash_table_size(self->functions) + 1;
	g_hash_table_insert(self->functions, printable, GSIZE_TO_POINTER(number));
	g_array_append_val(packet->numbers, number);
	name = g_new(Perfetto__InternedName, 1);
	perfetto__interned_name__init(name);
	name->has_iid = 1;
	name->iid = number;
	name->name = printable;
	g_ptr_array_add(packet->names, name);
	frame = g_new(Perfetto__Frame, 1);
	perfetto__frame__init(frame);
	frame->has_iid = frame->has_function_name_id = 1;
	frame->has_mapping_id = frame->has_rel_pc = 1;
	frame->iid = frame->function_name_id = frame->rel_pc = number;
	frame->mapping_id = MAPPING;
	g_ptr_array_add(packet->frames, frame);
}

/* The functions at an address, the outermost first. */
static void add_address(struct pp_trace_samples *self, struct packet *packet,
			const struct pp_process *process, uint64_t address)
{
	const struct pp_namer *namer = self->export->context->namer;
	g_autoptr(GPtrArray) frames =
	    namer->frames ? namer->frames(namer->data, process, address) : NULL;
	g_autofree char *name = frames ? NULL : namer->function(namer->data, process, address);

	for (guint i = frames ? frames->len : 0; i-- > 0;)
		add_frame(self, packet, ((const struct pp_frame *)frames->pdata[i])->function);
	if (name)
		add_frame(self, packet, name);
}

static void add_stack(struct pp_trace_samples *self, struct packet *packet,
		      const struct stack *stack)
{
	unsigned n_own = stack->path ? pp_samples_own(self->export->context->namer, stack->process,
						      stack->path->addresses, stack->path->n)
				     : 0;

	for (unsigned i = stack->path ? stack->path->n : 0; i-- > n_own;)
		add_address(self, packet, stack->process, stack->path->addresses[i]);
	if (n_own)
		add_frame(self, packet, PP_OWN_CODE);
	if (!stack->path)
		add_frame(self, packet, NO_PATH);
}

/* --- packets -------------------------------------------------------------------------------- */

/* Writes the first packet of a stack, which defines it. */
static void write_new(struct pp_trace_samples *self, const struct stack *stack,
		      const Perfetto__TracePacket *packet)
{
	Perfetto__TracePacket whole;
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) frames = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	struct packet parts = {names, frames, numbers};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack callstack = PERFETTO__CALLSTACK__INIT, *callstacks[] = {&callstack};
	Perfetto__InternedName path = PERFETTO__INTERNED_NAME__INIT, *paths[] = {&path};
	Perfetto__Mapping mapping = PERFETTO__MAPPING__INIT, *mappings[] = {&mapping};
	uint64_t path_number = MAPPING;

	add_stack(self, &parts, stack);
	callstack.has_iid = 1;
	callstack.iid = stack->number;
	callstack.n_frame_ids = numbers->len;
	callstack.frame_ids = (uint64_t *)(void *)numbers->data;
	data.n_callstacks = 1;
	data.callstacks = callstacks;
	data.n_function_names = names->len;
	data.function_names = (Perfetto__InternedName **)names->pdata;
	data.n_frames = frames->len;
	data.frames = (Perfetto__Frame **)frames->pdata;
	if (stack->number == 1) {
		path.has_iid = mapping.has_iid = 1;
		path.iid = mapping.iid = MAPPING;
		path.name = (char *)OWN_MODULE;
		mapping.n_path_string_ids = 1;
		mapping.path_string_ids = &path_number;
		data.n_mapping_paths = data.n_mappings = 1;
		data.mapping_paths = paths;
		data.mappings = mappings;
	}
	whole = *packet;
	whole.interned_data = &data;
	self->take(self->data, &whole);
}

/* The CPU time of the thread's samples, with this one. */
static uint64_t count_time(struct pp_trace_samples *self, const struct pp_event *event)
{
	unsigned at = event->thread->serial;

	if (at >= self->cpu_ns->len)
		g_array_set_size(self->cpu_ns, at + 1);
	return g_array_index(self->cpu_ns, uint64_t, at) += event->sample.weight_ns;
}

bool pp_trace_samples_event(struct pp_trace_samples *self, const struct pp_event *event)
{
	const struct pp_pass_context *context = self->export->context;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__PerfSample sample = PERFETTO__PERF_SAMPLE__INIT;
	struct stack key = {.path = event->sample.path}, *stack;

	if (!event->thread || !pp_selects_thread(context, event->thread) ||
	    !pp_selects_time(context, event->time_ns))
		return false;
	key.process = event->thread->process;
	stack = g_hash_table_lookup(self->stacks, &key);
	sample.has_pid = sample.has_tid = sample.has_callstack_iid = 1;
	sample.pid = event->thread->process->pid;
	sample.tid = event->thread->tid;
	sample.has_timebase_count = 1;
	sample.timebase_count = count_time(self, event);
	packet.has_timestamp = 1;
	packet.timestamp = (uint64_t)event->time_ns;
	packet.perf_sample = &sample;
	if (stack) {
		sample.callstack_iid = stack->number;
		self->take(self->data, &packet);
		return true;
	}
	key.number = g_hash_table_size(self->stacks) + 1;
	stack = g_memdup2(&key, sizeof(key));
	g_hash_table_add(self->stacks, stack);
	sample.callstack_iid = stack->number;
	write_new(self, stack, &packet);
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * Timed samples: the time and the call path of each sample, in a stream of the thread in
 * <pid>/samples (gmon-mt/samples.h). They are written by the handler of the thread's timer, after
 * it has counted the address (sample.c).
 *
 * A writer (struct gm_stacks) has a stream and its nodes of call paths. A thread takes one at its
 * first sample; when it has ended, another thread takes the writer over, with its stream and nodes.
 * So there are as many streams as sampled threads at one time. The memory of a writer is zeroed in
 * every child process (MADV_WIPEONFORK).
 *
 * A child of fork that has no folder makes none for its first samples: they are kept in memory
 * until it has one. Then it still has one thread, since the slot of a second one is in the folder.
 *
 * All functions run with signals blocked. The handler touches no memory of the program but the
 * stack, which it reads as runtime/unwind/stack.h describes: nothing is remembered of it.
 */
#include <signal.h>
#include <ucontext.h>

#include "gmon-mt/samples.h"
#include "internal.h"
#include "runtime/files/file.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/nodes.h"
#include "runtime/unwind/unwind.h"

#define POOL_BYTES   65536u
#define PACKET_BYTES 65536u
#define OPEN_MAX     64u /* files that writers without a thread may keep mapped */
#define EVENT_BYTES  26u /* the largest: extended header 10, number 4, parent 4, address 8 */
#define FEW	     8u	 /* samples of a child of fork for which it makes no folder */

struct gm_stacks {
	struct gm_stream stream;
	struct gm_nodes nodes;
	uint32_t n_unloads; /* up to which the nodes are valid */
	bool has_moved;	    /* a node is in an object that is being unloaded */
	struct gm_stacks *next_free;
	uint64_t frames[GM_PATH_MAX_FRAMES];
	struct gm_node first_nodes[GM_NODES_FIRST];
};

/* A sample that is not written yet. */
struct kept {
	uint64_t now_ns, n;
	unsigned n_frames;
	uint32_t end; /* enum gm_unwind_end */
	uint64_t frames[GM_PATH_MAX_FRAMES];
};

static const struct gm_event_class events[GM_SAMPLES_N_EVENTS] = {
    [GM_SAMPLES_PATH] = {"path", GM_SAMPLES_PATH_FIELDS},
    [GM_SAMPLES_SAMPLE] = {"sample", GM_SAMPLES_SAMPLE_FIELDS},
};

static struct gm_trace trace;
static enum { TRACE_NEW, TRACE_OPEN, TRACE_FAILED } trace_state;
static struct gm_stacks *parked, *unused;
static uint32_t n_open;
static uint32_t n_unloads; /* of objects */

/* The samples that a child of fork without a folder keeps; its only thread took them. */
static GM_LARGE struct kept kept[FEW];
static unsigned n_kept;
static const struct gm_control *keeper;
static uint32_t kept_n_unloads; /* up to which their addresses are valid */

/* --- losses ----------------------------------------------------------------------------------- */

/* Their number is that of samples in the histogram less those in the streams. */
static void lose(const struct gm_control *control, uint16_t why)
{
	struct gm_stacks *stacks = control->stacks;

	gm_loss_add(&control->slot->stacks_why, &control->slot->stalled, GM_STALLED_SAMPLES, why);
	if (stacks == NULL)
		return;
	stacks->stream.n_lost++;
	if (stacks->stream.packet != NULL)
		stacks->stream.packet->events_discarded = stacks->stream.n_lost;
}

/* The samples of a packet could not be written at the end of the process. */
static void packet_lost(const struct gm_packet *packet, uint16_t why)
{
	struct gm_thread_slot *slot = gm_thread_at(packet->index);

	if (slot != NULL)
		gm_loss_add(&slot->stacks_why, &slot->stalled, GM_STALLED_SAMPLES, why);
}

/* --- events ----------------------------------------------------------------------------------- */

/* Writes an event with these fields, whose sizes are 4 or 8 bytes. Returns false without room. */
static bool write_event(struct gm_stacks *stacks, uint8_t id, uint64_t now_ns,
			const uint64_t *fields, const uint8_t *sizes, unsigned n)
{
	struct gm_stream *stream = &stacks->stream;
	uint8_t *at;

	if (stream->pos + EVENT_BYTES > stream->end && !gm_stream_room(stream, EVENT_BYTES, now_ns))
		return false;
	at = stream->pos;
	if (now_ns - stream->last_ns > UINT32_MAX) {
		*at++ = GM_SAMPLES_EXTENDED;
		*at++ = id;
		memcpy(at, &now_ns, 8);
		at += 8;
	} else {
		*at++ = id;
		memcpy(at, &now_ns, 4);
		at += 4;
	}
	for (unsigned i = 0; i < n; at += sizes[i++])
		memcpy(at, &fields[i], sizes[i]);
	stream->last_ns = now_ns;
	stream->pos = at;
	/* release: a reader of the live file takes no event beyond this length */
	__atomic_store_n(&stream->packet->content_bits,
			 (uint64_t)(at - (uint8_t *)stream->packet) * 8, __ATOMIC_RELEASE);
	return true;
}

/* --- nodes of call paths ---------------------------------------------------------------------- */

static bool grow(void *stacks)
{
	struct gm_stacks *self = stacks;

	return gm_nodes_grow(&self->nodes, self->first_nodes);
}

/* A node in an object that is being unloaded is defined by the address to which that has moved. */
static bool note(void *stacks, uint64_t address, uint64_t *ret_address)
{
	struct gm_stacks *self = stacks;
	uint64_t place;

	if (!gm_maps_look(address - 1, NULL, &place))
		return false;
	*ret_address = address + place;
	self->has_moved |= place != 0;
	return true;
}

static bool define(void *stacks, uint32_t number, uint32_t parent, uint64_t address,
		   uint64_t now_ns)
{
	const uint64_t fields[] = {number, parent, address};

	return write_event(stacks, GM_SAMPLES_PATH, now_ns, fields, (const uint8_t[]){4, 4, 8}, 3);
}

static const struct gm_nodes_writer node_functions = {grow, note, define};

/* Another object may have the addresses of the nodes now. */
static void check_unloads(struct gm_stacks *stacks)
{
	/* acquire: pairs with the release in gm_stacks_unload(); the object has moved */
	uint32_t n = __atomic_load_n(&n_unloads, __ATOMIC_ACQUIRE);

	if (stacks->n_unloads == n && !stacks->has_moved)
		return;
	gm_nodes_forget(&stacks->nodes);
	stacks->n_unloads = n;
	stacks->has_moved = false;
}

void gm_stacks_unload(void)
{
	__atomic_fetch_add(&n_unloads, 1, __ATOMIC_RELEASE);
}

/* --- a sample --------------------------------------------------------------------------------- */

static void registers_of(const ucontext_t *interrupted, struct gm_registers *ret)
{
	/* By DWARF's numbers. */
	static const uint8_t places[GM_N_REGISTERS] = {
	    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
	    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

	for (unsigned i = 0; i < GM_N_REGISTERS; i++)
		ret->value[i] = (uint64_t)interrupted->uc_mcontext.gregs[places[i]];
	ret->known = (1u << GM_N_REGISTERS) - 1;
	ret->interrupted = true;
}

/* On its own, so that its stack is free again before files are made. */
static __attribute__((noinline)) struct gm_call_path walk(uint64_t *frames,
							  const ucontext_t *interrupted)
{
	struct gm_call_path path = {.addresses = frames};
	struct gm_stack none = {0, 0};
	struct gm_registers registers;
	enum gm_unwind_end end;
	unsigned depth = (unsigned)gm_process_get()->config.sync_path_depth;

	registers_of(interrupted, &registers);
	path.n = gm_unwind(&registers, &none, frames, depth, &end);
	path.end = end;
	return path;
}

static void write_sample(struct gm_control *control, const struct gm_call_path *path, uint64_t n,
			 uint64_t now_ns)
{
	struct gm_stacks *stacks = control->stacks;
	uint64_t fields[2];

	if (now_ns < stacks->stream.last_ns)
		now_ns = stacks->stream.last_ns;
	check_unloads(stacks);
	fields[0] = gm_nodes_number(&stacks->nodes, path, &node_functions, stacks, now_ns);
	fields[1] = n < UINT32_MAX ? n : UINT32_MAX;
	if (!write_event(stacks, GM_SAMPLES_SAMPLE, now_ns, fields, (const uint8_t[]){4, 4}, 2))
		lose(control, stacks->stream.why);
}

/*
 * Counted as lost until it is written: the number of losses is that of samples that are in no
 * stream.
 */
static void keep(const struct gm_control *control, uint64_t n, const ucontext_t *interrupted)
{
	struct gm_call_path path;

	lose(control, GM_LOSS_LITTLE);
	if (n_kept == 0)
		/* acquire: as in check_unloads() */
		kept_n_unloads = __atomic_load_n(&n_unloads, __ATOMIC_ACQUIRE);
	keeper = control;
	path = walk(kept[n_kept].frames, interrupted);
	kept[n_kept].now_ns = gm_clock_ns();
	kept[n_kept].n = n;
	kept[n_kept].n_frames = path.n;
	kept[n_kept].end = path.end;
	n_kept++;
}

/* The objects at the addresses of the samples may have been unloaded since: these have no path. */
static void write_kept(struct gm_control *control)
{
	/* acquire: as in check_unloads() */
	bool is_valid = kept_n_unloads == __atomic_load_n(&n_unloads, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n_kept && is_valid; i++) {
		const struct gm_call_path path = {kept[i].frames, kept[i].n_frames, kept[i].end};

		write_sample(control, &path, kept[i].n, kept[i].now_ns);
	}
	n_kept = 0;
}

static bool may_keep(void)
{
	return !gm_process_has_folder() && n_kept < FEW;
}

static uint16_t begin(struct gm_control *control);

/* Returns false if the thread has no writer, which is counted. */
static bool has_writer(struct gm_control *control)
{
	uint16_t why = control->stacks == NULL ? begin(control) : 0;

	if (why != 0)
		lose(control, why);
	if (control->stacks != NULL && n_kept > 0 && keeper == control)
		write_kept(control);
	return control->stacks != NULL;
}

void gm_stacks_take(struct gm_control *control, uint64_t n, const void *interrupted)
{
	struct gm_call_path path;
	uint64_t now_ns;

	if (control->stacks == NULL && may_keep()) {
		keep(control, n, interrupted);
		return;
	}
	if (!has_writer(control))
		return;
	now_ns = gm_clock_ns();
	path = walk(control->stacks->frames, interrupted);
	write_sample(control, &path, n, now_ns);
}

void gm_stacks_write_kept(struct gm_control *control)
{
	uint64_t mask;

	if (n_kept == 0 || control == NULL || keeper != control || !gm_process_has_folder())
		return;
	gm_signals_block(&mask);
	has_writer(control);
	gm_signals_restore(mask);
}

/* --- the life of a writer --------------------------------------------------------------------- */

/* The caller holds the lock. Returns false with the reason if there is no trace. */
static bool trace_open(uint16_t *ret_why)
{
	if (trace_state == TRACE_NEW) {
		trace.which = 1;
		trace.lost = packet_lost;
		trace_state = gm_trace_open(&trace, GM_SAMPLES_DIR, PACKET_BYTES, events,
					    GM_SAMPLES_N_EVENTS, NULL)
				  ? TRACE_OPEN
				  : TRACE_FAILED;
	}
	*ret_why = trace.why;
	return trace_state == TRACE_OPEN;
}

/* The caller holds the lock. NULL: no memory. */
static struct gm_stacks *writer_take(void)
{
	struct gm_stacks *stacks = parked != NULL ? parked : unused;

	if (stacks == NULL) {
		stacks = gm_sys_mmap(POOL_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (stacks == NULL)
			return NULL;
		gm_syscall3(SYS_madvise, (long)stacks, POOL_BYTES, MADV_WIPEONFORK);
		for (unsigned i = POOL_BYTES / sizeof(*stacks); i-- > 0;) {
			stacks[i].next_free = unused;
			unused = &stacks[i];
		}
	}
	if (parked != NULL)
		parked = stacks->next_free;
	else
		unused = stacks->next_free;
	n_open -= stacks->stream.segment != NULL;
	return stacks;
}

/* Gives the thread a writer. Returns 0, or the reason (enum gm_loss) why there is none. */
static uint16_t begin(struct gm_control *control)
{
	struct gm_stacks *stacks;
	uint16_t why = GM_LOSS_STALLED;
	uint64_t mask;

	if (!gm_flush_lock(&mask))
		return why;
	if (trace_open(&why)) {
		why = GM_LOSS_MEMORY;
		stacks = writer_take();
		if (stacks != NULL) {
			stacks->stream.trace = &trace;
			stacks->stream.tid = control->tid;
			stacks->stream.index = control->index;
			if (stacks->nodes.at == NULL)
				gm_nodes_begin(&stacks->nodes, stacks->first_nodes);
			gm_stream_resume(&stacks->stream, gm_clock_ns());
			control->stacks = stacks;
			why = 0;
		}
	}
	gm_flush_unlock(mask);
	return why;
}

void gm_stacks_end(struct gm_control *control)
{
	struct gm_stacks *stacks = control->stacks;

	if (stacks == NULL)
		return;
	control->stacks = NULL;
	gm_stream_rest(&stacks->stream);
	if (stacks->stream.segment != NULL && n_open == OPEN_MAX)
		gm_stream_close(&stacks->stream);
	n_open += stacks->stream.segment != NULL;
	stacks->next_free = parked;
	parked = stacks;
}

void gm_stacks_trim(const struct gm_control *control)
{
	if (control != NULL && control->stacks != NULL)
		gm_stream_trim(&control->stacks->stream);
	for (struct gm_stacks *stacks = parked; stacks != NULL; stacks = stacks->next_free)
		gm_stream_close(&stacks->stream);
	n_open = 0;
}

void gm_stacks_forget(void)
{
	if (trace_state == TRACE_NEW && parked == NULL && unused == NULL && n_kept == 0)
		return; /* each page that a child writes to is copied */
	trace_state = TRACE_NEW;
	parked = unused = NULL;
	n_open = n_kept = 0;
	gm_nodes_forked();
}

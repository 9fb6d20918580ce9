/* SPDX-License-Identifier: MIT */
/*
 * The history of a thread's calls: the part that history.S does not do itself.
 *
 * A writer (struct gm_history) has a stream in <pid>/calls-history. When its thread ends, another
 * thread takes the writer over, as in libsync-trace. Its memory is zeroed in every child process
 * (MADV_WIPEONFORK), so the first call in a child takes the slow path, which detects the fork
 * (thread.c).
 *
 * All functions run with signals blocked. They may still have interrupted history.S between its two
 * steps: the record is stored, and the length of the packet is not updated yet. settle() does the
 * second step. Slots beyond the packet's length are zero until then, and no record is zero.
 */
#include <stddef.h>

#include "arch/x86_64/offsets.h"
#include "gmon-mt/history.h"
#include "internal.h"
#include "runtime/files/file.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define POOL_BYTES 65536u
#define OPEN_MAX   64u /* files that writers without a thread may keep mapped */
#define ROOM_BYTES 48u /* time, arc and call */

#define HISTORY(member) offsetof(struct gm_history, member)
_Static_assert(offsetof(struct gm_tls, history) == GM_TLS_HISTORY, "history.S");
_Static_assert(GM_STATE_HISTORY == GM_TLS_STATE_HISTORY, "history.S");
_Static_assert(HISTORY(table) == GM_HISTORY_TABLE && HISTORY(packet) == GM_HISTORY_PACKET &&
		   HISTORY(end) == GM_HISTORY_END,
	       "history.S");
_Static_assert(HISTORY(clock.tsc_base) == GM_HISTORY_TSC_BASE &&
		   HISTORY(clock.ns_base) == GM_HISTORY_NS_BASE &&
		   HISTORY(clock.tsc_limit) == GM_HISTORY_TSC_LIMIT &&
		   HISTORY(clock.mult) == GM_HISTORY_MULT,
	       "history.S");
_Static_assert(GM_CLOCK_SHIFT == GM_CLOCK_MULT_SHIFT, "history.S");
_Static_assert(offsetof(struct gm_packet, content_bits) == GM_PACKET_CONTENT_BITS, "history.S");
_Static_assert(offsetof(struct gm_arc, record) == GM_ARC_RECORD - GM_ARC_FROM, "history.S");

static const struct gm_event_class events[GM_HISTORY_N_EVENTS] = {
    [GM_HISTORY_CALL] = {"call", "uint24_t arc; "},
    [GM_HISTORY_RETURN] = {"return", "address24_t where; "},
    [GM_HISTORY_ARC] = {"arc", "uint24_t number; address_t from; address_t self; "},
    [GM_HISTORY_TIME] = {"time", "uint16_t unused[3]; "},
};

static struct gm_trace trace;
static enum { TRACE_NEW, TRACE_OPEN, TRACE_FAILED } trace_state;
static struct gm_history *parked, *unused;
static uint32_t n_open;

bool gm_history_on;

static uint64_t word_of(uint64_t id, uint64_t now_ns, uint64_t number)
{
	return id | (uint64_t)(uint32_t)now_ns << GM_HISTORY_TIME_SHIFT |
	       number << GM_HISTORY_ARC_SHIFT;
}

/* Publishes the position of the stream to history.S and to a forked child. */
static void show(struct gm_history *history, struct gm_control *control)
{
	history->end = history->stream.end;
	/* history.S reads the TSC, so it is stopped where that faults. */
	history->packet =
	    control->is_ending || gm_clock_faults || gm_sealed ? NULL : history->stream.packet;
	control->segment = history->stream.segment;
	control->segment_bytes = history->stream.segment_bytes;
}

void gm_history_show(struct gm_control *control)
{
	if (control != NULL && control->history != NULL)
		show(control->history, control);
}

void gm_sealing(bool begins)
{
	if (gm_tls.control == NULL && begins)
		gm_sample_end_early();
	else if (gm_tls.control == NULL)
		gm_sample_early();
	else if (begins)
		gm_sample_pause(gm_tls.control);
	else
		gm_sample_resume(gm_tls.control);
}

void gm_interposed(bool pin)
{
	if (gm_tls.history == NULL)
		return;
	if (pin)
		gm_clock_pin(&gm_tls.history->clock);
	gm_history_show(gm_tls.control);
}

/* Finds the true end of the packet: behind the last record that history.S stored. */
static void settle(struct gm_history *history)
{
	struct gm_stream *stream = &history->stream;

	if (stream->packet == NULL)
		return;
	stream->pos = (uint8_t *)stream->packet + stream->packet->content_bits / 8;
	while (stream->pos < stream->end && *(const uint64_t *)(const void *)stream->pos != 0)
		stream->pos += sizeof(uint64_t);
	stream->packet->content_bits = (uint64_t)(stream->pos - (uint8_t *)stream->packet) * 8;
}

static void put(struct gm_history *history, uint64_t word)
{
	memcpy(history->stream.pos, &word, sizeof(word));
	history->stream.pos += sizeof(word);
}

static void put_time(struct gm_history *history, uint64_t now_ns)
{
	put(history, GM_HISTORY_EXTENDED | GM_HISTORY_TIME << 8 | now_ns << 16);
	put(history, now_ns >> 48);
}

static void put_arc(struct gm_history *history, struct gm_arc *arc, uint64_t now_ns)
{
	uint64_t number = ++history->n_arcs;

	put(history, word_of(GM_HISTORY_ARC, now_ns, number));
	put(history, arc->from);
	put(history, arc->self);
	arc->record = word_of(GM_HISTORY_CALL, 0, number);
}

static void count_lost(struct gm_history *history, uint16_t why)
{
	history->stream.n_lost++;
	gm_tls.slot->records_lost++;
	gm_loss_add(&gm_tls.slot->records_why, &gm_tls.slot->stalled, GM_STALLED_RECORDS, why);
	if (history->stream.packet != NULL)
		history->stream.packet->events_discarded = history->stream.n_lost;
}

void gm_history_record(struct gm_control *control, struct gm_arc *arc, uint64_t where)
{
	struct gm_history *history = control->history;
	uint64_t line_ns = history->clock.ns_base, now_ns = gm_clock_read(&history->clock);

	gm_thread_note_error(control->slot, history->clock.error_ns);
	settle(history);
	if (arc != NULL && arc->record == 0 && history->n_arcs == GM_HISTORY_ARC_MAX) {
		count_lost(history, GM_LOSS_TOO_MANY);
		return;
	}
	if (!gm_stream_room(&history->stream, ROOM_BYTES, now_ns)) {
		count_lost(history, history->stream.why);
		show(history, control);
		return;
	}
	/*
	 * The last record was written by history.S and may be as old as the clock's current line.
	 */
	if (now_ns - line_ns > UINT32_MAX)
		put_time(history, now_ns);
	if (arc != NULL && arc->record == 0)
		put_arc(history, arc, now_ns);
	if (arc != NULL)
		put(history, arc->record | word_of(0, now_ns, 0));
	else
		put(history, word_of(GM_HISTORY_RETURN, now_ns, where));
	/* release: a reader of the live file takes no event beyond this length */
	__atomic_store_n(&history->stream.packet->content_bits,
			 (uint64_t)(history->stream.pos - (uint8_t *)history->stream.packet) * 8,
			 __ATOMIC_RELEASE);
	show(history, control);
}

/* Counts the records of a packet that could not be written as lost. */
static void packet_lost(const struct gm_packet *packet, uint16_t why)
{
	const uint64_t *words = (const uint64_t *)(const void *)(packet + 1);
	uint64_t n_words = (packet->content_bits / 8 - sizeof(*packet)) / sizeof(*words), n = 0;
	struct gm_thread_slot *slot = gm_thread_at(packet->index);

	for (uint64_t i = 0; i < n_words;) {
		uint8_t id = (uint8_t)words[i];

		n += id == GM_HISTORY_CALL || id == GM_HISTORY_RETURN;
		i += id == GM_HISTORY_ARC ? 3 : id == GM_HISTORY_EXTENDED ? 2 : 1;
	}
	if (slot == NULL)
		return;
	__atomic_fetch_add(&slot->records_lost, n, __ATOMIC_RELAXED);
	gm_loss_add(&slot->records_why, &slot->stalled, GM_STALLED_RECORDS, why);
}

/* --- the life of a writer: all under the lock ------------------------------------------------- */

static struct gm_history *writer_take(void)
{
	struct gm_history *history = parked != NULL ? parked : unused;

	if (history == NULL) {
		history = gm_sys_mmap(POOL_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (history == NULL)
			return NULL;
		gm_syscall3(SYS_madvise, (long)history, POOL_BYTES, MADV_WIPEONFORK);
		for (unsigned i = 0; i < POOL_BYTES / sizeof(*history); i++) {
			history[i].next_free = unused;
			unused = &history[i];
		}
		history = unused;
	}
	if (parked != NULL)
		parked = history->next_free;
	else
		unused = history->next_free;
	n_open -= history->stream.segment != NULL;
	return history;
}

bool gm_history_start(struct gm_control *control)
{
	const struct gm_process *process = gm_process_get();
	struct gm_history *history;
	uint64_t now_ns;

	if (trace_state == TRACE_NEW) {
		gm_clock_init();
		trace.keeps_mappings = true;
		trace.lost = packet_lost;
		trace_state =
		    gm_trace_open(&trace, GM_HISTORY_DIR, process->config.calls_buffer_bytes,
				  events, GM_HISTORY_N_EVENTS, "cannot record the history of calls")
			? TRACE_OPEN
			: TRACE_FAILED;
		gm_history_on = trace_state == TRACE_OPEN;
	}
	history = trace_state == TRACE_OPEN ? writer_take() : NULL;
	if (history == NULL) {
		gm_loss_add(&control->slot->records_why, &control->slot->stalled,
			    GM_STALLED_RECORDS,
			    trace_state == TRACE_OPEN ? GM_LOSS_MEMORY : trace.why);
		return false;
	}
	gm_clock_thread_look();
	history->n_arcs = 0;
	history->clock.error_ns = 0;
	history->stream.trace = &trace;
	history->stream.tid = control->tid;
	history->stream.index = control->index;
	now_ns = gm_clock_read(&history->clock);
	gm_stream_resume(&history->stream, now_ns);
	history->table = control->table;
	control->history = history;
	show(history, control);
	return true;
}

/*
 * Ends the packet behind the last record and notes the time, which is no earlier than that
 * record's.
 */
static void finish(struct gm_history *history)
{
	settle(history);
	history->stream.last_ns = gm_clock_read(&history->clock);
}

void gm_history_linger(struct gm_control *control)
{
	if (control->history == NULL)
		return;
	control->history->table = NULL;
	control->history->packet = NULL;
}

void gm_history_end(struct gm_control *control)
{
	struct gm_history *history = control->history;

	if (history == NULL)
		return;
	gm_history_linger(control);
	finish(history);
	gm_stream_rest(&history->stream);
	if (history->stream.segment != NULL && n_open == OPEN_MAX)
		gm_stream_close(&history->stream);
	n_open += history->stream.segment != NULL;
	control->history = NULL;
	control->segment = NULL;
	history->next_free = parked;
	parked = history;
}

void gm_history_trim(struct gm_control *control)
{
	if (control != NULL && control->history != NULL) {
		finish(control->history);
		gm_stream_trim(&control->history->stream);
		show(control->history, control);
	}
	for (struct gm_history *history = parked; history != NULL; history = history->next_free)
		gm_stream_close(&history->stream);
	n_open = 0;
}

void gm_history_forget(const struct gm_control *control)
{
	trace_state = TRACE_NEW;
	parked = unused = NULL;
	n_open = 0;
	if (control != NULL && control->segment != NULL)
		gm_syscall6(SYS_mmap, (long)control->segment, (long)control->segment_bytes,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

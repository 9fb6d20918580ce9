/* SPDX-License-Identifier: MIT */
/*
 * Streams of accesses in critical sections (sync-trace/accesses.h). Each writer (struct st_thread)
 * has one from its first segment on, which passes to its next thread with it.
 *
 * The lines of a segment are a set. A table has the numbers of sets by a hash of 128 bits; a set
 * whose place another one has taken since is defined again. The numbers of the sets of a place are
 * equal modulo the number of places, so that readers forget them, too. Another table has the
 * numbers of lines: sets that do not repeat mostly have lines that do. The first segment of a
 * process makes the trace. The memory is zeroed in a forked child, and its pointer with the writer.
 *
 * The writer's gate is closed. Steps that must not be left half done run with signals blocked.
 */
#include "record/internal.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/lock.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define HEADER_BYTES 10u

struct known_set {
	uint64_t hash[2];
	uint64_t checked; /* st_blocks_freed() when its blocks were last looked up */
	uint32_t number;  /* 0: none */
};

struct known_line {
	uint64_t hash[2];
	uint32_t number; /* 0: none */
};

#define LINE_HOMES 16384u /* a power of two; a line that finds its place taken replaces it */

/* Lines that are older could be forgotten while the largest set is defined. */
#define LINES_AGE_MAX (ST_ACCESS_LINES_KNOWN - ST_ACCESS_LINES_MAX)

/* After so many unknown lines, so many are not looked up. */
#define UNKNOWN_MAX   2048u
#define UNKNOWN_PAUSE 16384u

struct st_accesses {
	struct gm_stream stream;
	struct known_set known[ST_ACCESS_SETS];
	uint32_t n_lines;   /* defined so far, modulo 2^32 */
	uint32_t n_unknown; /* in a row; are_looked_up() */
	struct known_line lines[LINE_HOMES];
};

#define FIELDS_SEGMENT(bits)                                                                       \
	"uint32_t set; uint" #bits "_t duration; uint" #bits "_t reads; uint" #bits "_t writes; "

static const struct gm_event_class events[ST_ACCESSES_N_EVENTS] = {
    [ST_ACCESSES_LINES] = {"lines",
			   "uint32_t set; uint32_t n; struct { address_t address; uint64_t read; "
			   "uint64_t written; uint64_t changed; uint32_t first; uint32_t last; "
			   "address_t first_site; address_t last_site; } lines[n]; "},
    [ST_ACCESSES_SEGMENT] = {"segment", FIELDS_SEGMENT(32) "uint8_t flags; "},
    [ST_ACCESSES_SEGMENT_LONG] = {"segment_long",
				  FIELDS_SEGMENT(64) "uint64_t left_out; uint8_t flags; "},
    [ST_ACCESSES_BLOCK] = {"block", "address_t address; uint64_t size; address_t site; "},
    [ST_ACCESSES_FREED] = {"freed", "address_t address; uint64_t size; "},
    [ST_ACCESSES_KNOWN_LINES] = {"known_lines", "uint32_t set; uint32_t last; uint32_t n; "
						"struct { uint16_t place; } places[n]; "},
};

static struct gm_trace trace;
static struct gm_lock trace_lock;
static enum { TRACE_NEW, TRACE_OPEN, TRACE_FAILED } trace_state;

/* --- the trace -------------------------------------------------------------------------------- */

/* Adds the accesses and blocks of a packet that could not be written at the end of the process. */
static ST_COLD void packet_lost(const struct gm_packet *packet, uint16_t why)
{
	const uint8_t *at = (const uint8_t *)(packet + 1);
	const uint8_t *end = (const uint8_t *)packet + packet->content_bits / 8;
	uint64_t n = 0, n_blocks = 0, number;
	uint32_t numbers[4];

	(void)why;
	while (at < end) {
		uint8_t id = at[0] == ST_ACCESSES_EXTENDED ? at[1] : at[0];

		at += at[0] == ST_ACCESSES_EXTENDED ? HEADER_BYTES : 5;
		memcpy(numbers, at, sizeof(numbers));
		if (id == ST_ACCESSES_LINES) {
			at += 8 + numbers[1] * sizeof(struct st_access_line);
		} else if (id == ST_ACCESSES_SEGMENT) {
			n += (uint64_t)numbers[2] + numbers[3];
			at += ST_ACCESSES_SEGMENT_BYTES;
		} else if (id == ST_ACCESSES_BLOCK) {
			n_blocks++;
			at += ST_ACCESSES_BLOCK_BYTES;
		} else if (id == ST_ACCESSES_FREED) {
			n_blocks++;
			at += ST_ACCESSES_FREED_BYTES;
		} else if (id == ST_ACCESSES_KNOWN_LINES) {
			at += ST_ACCESSES_KNOWN_LINES_BYTES + numbers[2] * sizeof(uint16_t);
		} else {
			for (unsigned i = 0; i < 2; i++) {
				memcpy(&number, at + 12 + 8 * i, 8);
				n += number;
			}
			at += ST_ACCESSES_SEGMENT_LONG_BYTES;
		}
	}
	gm_process_count_accesses_lost(n);
	gm_process_count_blocks_lost(n_blocks);
}

/* Signals are blocked. */
static bool trace_open(void)
{
	/* acquire: pairs with the release below */
	int state = (int)__atomic_load_n(&trace_state, __ATOMIC_ACQUIRE);

	if (state != TRACE_NEW)
		return state == TRACE_OPEN;
	if (gm_lock_is_mine(&trace_lock) || !gm_lock_take(&trace_lock))
		return false;
	if (trace_state == TRACE_NEW) {
		trace.which = 1;
		trace.lost = packet_lost;
		state = gm_trace_open(&trace, ST_ACCESSES_DIR,
				      gm_process_get()->config.sync_buffer_bytes, events,
				      ST_ACCESSES_N_EVENTS, "cannot record accesses")
			    ? TRACE_OPEN
			    : TRACE_FAILED;
		/* release: publishes the trace */
		__atomic_store_n(&trace_state, state, __ATOMIC_RELEASE);
	}
	gm_lock_release(&trace_lock);
	return trace_state == TRACE_OPEN;
}

ST_COLD void st_accesses_forget(void)
{
	if (trace_state == TRACE_NEW)
		return; /* each page that a child writes to is copied */
	st_blocks_forget();
	trace_state = TRACE_NEW;
	trace_lock = (struct gm_lock){0};
}

/* --- a writer's stream ------------------------------------------------------------------------ */

struct gm_stream *st_accesses_stream(const struct st_thread *self)
{
	return self->accesses != NULL ? &self->accesses->stream : NULL;
}

static void stream_take_thread(struct gm_stream *stream, const struct st_thread *self)
{
	stream->tid = self->stream.tid;
	stream->index = self->stream.index;
}

void st_accesses_resume(struct st_thread *self, uint64_t now_ns)
{
	struct gm_stream *stream = &self->accesses->stream;

	stream_take_thread(stream, self);
	gm_stream_resume(stream, now_ns < stream->last_ns ? stream->last_ns : now_ns);
}

void st_accesses_rest(const struct st_thread *self, bool closes)
{
	gm_stream_rest(&self->accesses->stream);
	if (closes)
		gm_stream_close(&self->accesses->stream);
}

void st_accesses_settle(const struct st_thread *self)
{
	struct gm_stream *stream = st_accesses_stream(self);
	uint8_t *end;

	if (stream == NULL || stream->packet == NULL)
		return;
	end = (uint8_t *)stream->packet + stream->packet->content_bits / 8;
	if (stream->pos < end)
		stream->pos = end;
}

/* Signals are blocked. Returns NULL if there is no trace or no memory. */
static struct st_accesses *accesses_new(const struct st_thread *self)
{
	struct st_accesses *made;

	if (!trace_open())
		return NULL;
	made = st_memory_new(sizeof(*made));
	if (made == NULL)
		return NULL;
	made->stream.trace = &trace;
	stream_take_thread(&made->stream, self);
	return made;
}

/*
 * Babeltrace2 sorts the packets of a stream by their begin, and so no two may begin at the same
 * time: with a set that fills packets, the time of the second one is a nanosecond later.
 */
static ST_COLD bool make_room(struct st_thread *self, uint64_t n_bytes, uint64_t *now_ns)
{
	struct gm_stream *stream;
	uint64_t mask;
	bool made = false;

	if (gm_seal_is_set())
		return false;
	gm_signals_block(&mask);
	if (self->accesses == NULL)
		self->accesses = accesses_new(self);
	stream = st_accesses_stream(self);
	if (stream != NULL && stream->packet != NULL && *now_ns <= stream->packet->timestamp_begin)
		*now_ns = stream->packet->timestamp_begin + 1;
	if (stream != NULL)
		made = gm_stream_room(stream, n_bytes, *now_ns);
	gm_signals_restore(mask);
	if (made && self->budget.watched)
		st_budget_check_output(self, *now_ns);
	return made;
}

/* Makes room for an event with n_bytes of fields. *now_ns becomes later if its stream needs that.
 */
static __attribute__((noinline)) bool has_room(struct st_thread *self, uint64_t n_bytes,
					       uint64_t *now_ns)
{
	const struct gm_stream *stream = st_accesses_stream(self);

	n_bytes += HEADER_BYTES;
	if (stream != NULL && *now_ns < stream->last_ns)
		*now_ns = stream->last_ns;
	return (stream != NULL && (uintptr_t)stream->pos + n_bytes <= (uintptr_t)stream->end) ||
	       make_room(self, n_bytes, now_ns);
}

/* There is room for it. */
static void write_event(struct gm_stream *stream, uint8_t id, const void *head, size_t n_head,
			const void *rest, size_t n_rest, uint64_t now_ns)
{
	uint8_t *at = stream->pos;

	if (now_ns - stream->last_ns > UINT32_MAX) {
		*at++ = ST_ACCESSES_EXTENDED;
		*at++ = id;
		memcpy(at, &now_ns, 8);
		at += 8;
	} else {
		*at++ = id;
		memcpy(at, &now_ns, 4);
		at += 4;
	}
	memcpy(at, head, n_head);
	at += n_head;
	if (n_rest != 0)
		memcpy(at, rest, n_rest);
	at += n_rest;
	stream->last_ns = now_ns;
	/* release: as in event_end() of emit.c; st_accesses_settle() derives the rest from it */
	__atomic_store_n(&stream->packet->content_bits,
			 (uint64_t)(at - (uint8_t *)stream->packet) * 8, __ATOMIC_RELEASE);
	__atomic_store_n(&stream->pos, at, __ATOMIC_RELEASE);
}

/* Returns false if there is no room for it. */
static __attribute__((noinline)) bool put(struct st_thread *self, uint8_t id, const void *head,
					  size_t n_head, const void *rest, size_t n_rest,
					  uint64_t *now_ns)
{
	if (!has_room(self, n_head + n_rest, now_ns))
		return false;
	write_event(&self->accesses->stream, id, head, n_head, rest, n_rest, *now_ns);
	return true;
}

bool st_accesses_put(struct st_thread *self, uint8_t id, const void *fields, size_t n_bytes,
		     uint64_t *now_ns)
{
	return put(self, id, fields, n_bytes, NULL, 0, now_ns);
}

/* --- hashes ----------------------------------------------------------------------------------- */

/* Both halves of the product depend on all bits of both factors. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two hashes for a lookup by both. Each is of half of the fields: only both depend on all. */
static void hash_line(const struct st_access_line *line, uint64_t ret[2])
{
	uint64_t ordinals = (uint64_t)line->first << 32 | line->last;
	uint64_t a = mix(line->address ^ 0x9e3779b97f4a7c15u, line->read ^ 0xd6e8feb86659fd93u);
	uint64_t b = mix(ordinals ^ 0x9e3779b97f4a7c15u, line->first_site ^ 0xd6e8feb86659fd93u);

	ret[0] = mix(a ^ line->written, line->changed ^ 0xa0761d6478bd642fu);
	ret[1] = mix(b ^ line->last_site, line->address ^ 0xa0761d6478bd642fu);
}

static void hash_lines(const struct st_access_line *lines, uint32_t n, uint64_t ret[2])
{
	uint64_t a = n, b = n, hash[2];

	for (uint32_t i = 0; i < n; i++) {
		hash_line(&lines[i], hash);
		a = mix(a ^ hash[0], 0x2127599bf4325c37u);
		b = mix(b ^ hash[1], 0x2127599bf4325c37u);
	}
	ret[0] = a;
	ret[1] = b;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Some lines of a set, one behind the other. */
struct lines {
	const struct st_access_line *at;
	uint32_t n, n_known;
	/* Their numbers; 0: readers do not know it. Without a look-up, nothing else is set. */
	struct known_line now[ST_KNOWN_IN_EVENT];
	struct known_line *home[ST_KNOWN_IN_EVENT]; /* the place of each in the table */
};

/* Sets the number of the line if it is known. */
static void line_look_up(struct st_accesses *accesses, struct lines *lines, uint32_t i)
{
	struct known_line *now = &lines->now[i], *home;

	hash_line(&lines->at[i], now->hash);
	home = &accesses->lines[(now->hash[0] ^ now->hash[1]) & (LINE_HOMES - 1)];
	lines->home[i] = home;
	if (home->number == 0 || home->hash[0] != now->hash[0] || home->hash[1] != now->hash[1] ||
	    accesses->n_lines - home->number >= LINES_AGE_MAX)
		return;
	now->number = home->number;
	lines->n_known++;
}

/* Defines the lines that are not known, of the set, or of none yet. False: there is no room. */
static bool define_new(struct st_thread *self, uint32_t set, struct lines *lines, uint64_t *now_ns)
{
	uint32_t head[2] = {set, 0};

	for (uint32_t i = 0; i < lines->n;) {
		uint32_t first = i;

		while (i < lines->n && i - first < ST_LINES_IN_EVENT && lines->now[i].number == 0)
			i++;
		if (i == first) {
			i++;
			continue;
		}
		head[1] = i - first;
		if (!put(self, ST_ACCESSES_LINES, head, sizeof(head), lines->at + first,
			 head[1] * sizeof(*lines->at), now_ns))
			return false;
		while (first < i)
			lines->now[first++].number = ++self->accesses->n_lines;
	}
	return true;
}

/* Readers know the lines. Returns false if there is no room. */
static bool name_lines(struct st_thread *self, uint32_t set, const struct lines *lines,
		       uint64_t *now_ns)
{
	uint16_t places[ST_KNOWN_IN_EVENT];
	uint32_t head[3] = {set, self->accesses->n_lines, lines->n};

	_Static_assert(sizeof(head) == ST_ACCESSES_KNOWN_LINES_BYTES, "fields of known_lines");
	for (uint32_t i = 0; i < lines->n; i++)
		places[i] = (uint16_t)ST_ACCESS_LINE_PLACE(lines->now[i].number);
	return put(self, ST_ACCESSES_KNOWN_LINES, head, sizeof(head), places,
		   lines->n * sizeof(*places), now_ns);
}

/*
 * Returns false if lines are written without being looked up, since none of the last ones was
 * known: now and then some are.
 */
static bool are_looked_up(struct st_accesses *accesses, uint32_t n)
{
	if (accesses->n_unknown >= UNKNOWN_MAX + UNKNOWN_PAUSE)
		accesses->n_unknown = 0;
	accesses->n_unknown += n;
	return accesses->n_unknown < UNKNOWN_MAX;
}

/* Returns false if there is no room for all lines; the set is then never named. */
static bool define(struct st_thread *self, uint32_t set, const struct st_access_line *at,
		   uint32_t n, uint64_t *now_ns)
{
	struct st_accesses *accesses = self->accesses;
	struct lines lines;

	for (; n != 0; n -= lines.n, at += lines.n) {
		bool is_looked_up;

		lines.at = at;
		lines.n = n < ST_KNOWN_IN_EVENT ? n : ST_KNOWN_IN_EVENT;
		lines.n_known = 0;
		is_looked_up = are_looked_up(accesses, lines.n);
		for (uint32_t i = 0; i < lines.n; i++) {
			lines.now[i].number = 0;
			if (is_looked_up)
				line_look_up(accesses, &lines, i);
		}
		if (lines.n_known != 0)
			accesses->n_unknown = 0;
		if (!define_new(self, lines.n_known != 0 ? 0 : set, &lines, now_ns) ||
		    (lines.n_known != 0 && !name_lines(self, set, &lines, now_ns)))
			return false;
		for (uint32_t i = 0; is_looked_up && i < lines.n; i++)
			*lines.home[i] = lines.now[i];
	}
	return true;
}

/* --- sets ------------------------------------------------------------------------------------- */

/*
 * Returns the set, defined before; NULL: it is empty, or there is no room. The definition has the
 * time at which the segment began, so that the time of the segment's event need not become later.
 */
static struct known_set *set_find(struct st_thread *self, const struct st_collector *collector)
{
	uint64_t now_ns = collector->begin_ns;
	struct st_accesses *accesses;
	struct known_set *known;
	uint64_t hash[2];
	uint32_t number, place;

	if (collector->n_lines == 0)
		return NULL;
	hash_lines(collector->lines, collector->n_lines, hash);
	if (!has_room(self, 0, &now_ns))
		return NULL;
	accesses = self->accesses;
	place = (uint32_t)(hash[0] ^ hash[1]) & (ST_ACCESS_SETS - 1);
	known = &accesses->known[place];
	if (known->number != 0 && known->hash[0] == hash[0] && known->hash[1] == hash[1])
		return known;
	number = known->number == 0 || known->number > UINT32_MAX - ST_ACCESS_SETS
		     ? place + 1
		     : known->number + ST_ACCESS_SETS;
	/* Also if there is no room for all lines: the number is used up. */
	*known = (struct known_set){{0, 0}, 0, number};
	if (!define(self, number, collector->lines, collector->n_lines, &now_ns))
		return NULL;
	known->hash[0] = hash[0];
	known->hash[1] = hash[1];
	return known;
}

/* Writes the blocks that the set accesses, unless all of them are in the trace. */
static void set_check(struct st_thread *self, struct known_set *known,
		      const struct st_collector *collector, uint64_t *now_ns)
{
	uint64_t n_freed = st_blocks_freed();

	if (known->checked != n_freed && st_blocks_write(self, collector, now_ns))
		known->checked = n_freed;
}

/* --- segments --------------------------------------------------------------------------------- */

static bool write_segment(struct st_thread *self, const struct st_collector *collector,
			  uint32_t number, uint8_t flags, uint64_t now_ns)
{
	uint64_t duration_ns = now_ns > collector->begin_ns ? now_ns - collector->begin_ns : 0;
	uint64_t most = duration_ns | collector->n_reads | collector->n_writes;
	uint32_t head[4] = {number, (uint32_t)duration_ns, (uint32_t)collector->n_reads,
			    (uint32_t)collector->n_writes};
	uint64_t rest[4] = {duration_ns, collector->n_reads, collector->n_writes,
			    collector->n_left_out};
	uint8_t tail[sizeof(rest) + 1];

	_Static_assert(sizeof(head) + 1 == ST_ACCESSES_SEGMENT_BYTES, "fields of a segment");
	_Static_assert(sizeof(number) + sizeof(tail) == ST_ACCESSES_SEGMENT_LONG_BYTES,
		       "... of a long one");
	if (most <= UINT32_MAX && collector->n_left_out == 0)
		return put(self, ST_ACCESSES_SEGMENT, head, sizeof(head), &flags, 1, &now_ns);
	memcpy(tail, rest, sizeof(rest));
	tail[sizeof(rest)] = flags;
	return put(self, ST_ACCESSES_SEGMENT_LONG, &number, sizeof(number), tail, sizeof(tail),
		   &now_ns);
}

bool st_accesses_write(struct st_thread *self, const struct st_collector *collector, unsigned flags,
		       uint64_t now_ns)
{
	struct known_set *known = set_find(self, collector);
	struct gm_stream *stream;

	if (known != NULL)
		set_check(self, known, collector, &now_ns);
	if ((known != NULL || collector->n_lines == 0) &&
	    has_room(self, ST_ACCESSES_SEGMENT_LONG_BYTES, &now_ns) &&
	    write_segment(self, collector, known != NULL ? known->number : 0, (uint8_t)flags,
			  now_ns))
		return true;
	stream = st_accesses_stream(self);
	if (stream != NULL) {
		stream->n_lost++;
		if (stream->packet != NULL)
			stream->packet->events_discarded = stream->n_lost;
	}
	return false;
}

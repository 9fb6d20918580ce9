/* SPDX-License-Identifier: MIT */
/*
 * A stream defines a set in one or several events, and names it from the next segment on.  A set is
 * forgotten when another one takes its place, as the writer forgets it: memory does not depend on
 * the number of sets that the stream has defined.  Neither does it on the number of lines, of which
 * the last ones are kept.
 */
#include "ctf/decode_accesses.h"

#include <string.h>

#include "core/access_set.h"
#include "sync-trace/accesses.h"

/* As it was read. */
struct read_line {
	struct pp_access_line line;
	uint32_t first, last; /* struct pp_access_order */
};

struct pp_defined_set {
	uint32_t number; /* 0: none yet */
	struct pp_access_set *set;
	struct pp_access_order *order;
	unsigned n_order;
};

struct pp_defined_sets {
	uint32_t pending;  /* the number of the set whose lines are being read; 0: none */
	uint32_t left_out; /* the last set that has no place, since lines are missing; 0: none */
	GArray *lines;	   /* ... of struct read_line */
	/*
	 * The last lines that were defined, the same type: line `number` is at (number - 1 -
	 * origin) % ST_ACCESS_LINES_KNOWN.
	 */
	GArray *known;
	uint32_t origin, last; /* numbers, modulo 2^32: those behind the first one are known */
	struct pp_access_set *empty; /* that of number 0; NULL: not needed so far */
	struct pp_defined_set places[ST_ACCESS_SETS];
};

void pp_defined_sets_free(struct pp_defined_sets *sets)
{
	if (!sets)
		return;
	for (unsigned i = 0; i < ST_ACCESS_SETS; i++) {
		pp_access_set_unref(sets->places[i].set);
		g_free(sets->places[i].order);
	}
	pp_access_set_unref(sets->empty);
	g_array_unref(sets->lines);
	g_array_unref(sets->known);
	g_free(sets);
}

static struct pp_defined_sets *sets_of(struct pp_stream *stream)
{
	if (!stream->sets) {
		stream->sets = g_new0(struct pp_defined_sets, 1);
		stream->sets->lines = g_array_new(FALSE, FALSE, sizeof(struct read_line));
		stream->sets->known = g_array_new(FALSE, FALSE, sizeof(struct read_line));
	}
	return stream->sets;
}

static void add_problem(const struct pp_stream *stream, const char *what)
{
	pp_model_add_problem(stream->decoder->capture->model, what, stream->name, 1);
}

/* --- sets ------------------------------------------------------------------------------------- */

static struct read_line read_line(const uint8_t *at)
{
	struct st_access_line line;

	memcpy(&line, at, sizeof(line));
	return (struct read_line){
	    .line = {.address = line.address & ~(uint64_t)(ST_LINE_BYTES - 1),
		     .read = line.read,
		     .written = line.written,
		     .changed = line.changed & line.written,
		     .first_site = line.first_site,
		     .last_site = line.last_site},
	    .first = line.first,
	    .last = line.last,
	};
}

/* Code that was unloaded later has addresses of its own. */
static void place_sites(const struct pp_stream *stream, GArray *lines, int64_t time_ns)
{
	const struct pp_process *process = stream->thread ? stream->thread->process : NULL;

	for (guint i = 0; process && process->places && i < lines->len; i++) {
		struct pp_access_line *line = &g_array_index(lines, struct read_line, i).line;

		line->first_site = pp_places_code(process, line->first_site, time_ns);
		line->last_site = pp_places_code(process, line->last_site, time_ns);
	}
}

/* Divides the lines that were read into a set and the order of its accesses. */
static void fill_place(const struct pp_stream *stream, struct pp_defined_set *place)
{
	const GArray *lines = stream->sets->lines;
	g_autofree struct pp_access_line *of_set = g_new(struct pp_access_line, lines->len);

	place->order = g_renew(struct pp_access_order, place->order, lines->len);
	place->n_order = lines->len;
	for (guint i = 0; i < lines->len; i++) {
		const struct read_line *line = &g_array_index(lines, struct read_line, i);

		of_set[i] = line->line;
		place->order[i] =
		    (struct pp_access_order){line->line.address, line->first, line->last};
	}
	place->set =
	    pp_access_set_get(stream->decoder->capture->model->access_sets, of_set, lines->len);
}

/* Ends the set whose lines are being read, and gives it its place. */
static void end_set(struct pp_stream *stream, int64_t time_ns)
{
	struct pp_defined_sets *sets = stream->sets;
	struct pp_defined_set *place = &sets->places[ST_ACCESS_SET_PLACE(sets->pending)];

	if (!sets->pending)
		return;
	place_sites(stream, sets->lines, time_ns);
	pp_access_set_unref(place->set);
	place->number = sets->pending;
	fill_place(stream, place);
	g_array_set_size(sets->lines, 0);
	sets->pending = 0;
}

/* --- lines ---------------------------------------------------------------------------------- */

/* The set is never defined, also not by further lines. */
static void leave_out(struct pp_stream *stream, const char *why)
{
	struct pp_defined_sets *sets = stream->sets;

	add_problem(stream, why);
	g_array_set_size(sets->lines, 0);
	sets->left_out = sets->pending;
	sets->pending = 0;
}

/* Begins to read lines of the set.  Returns false if they are left out. */
static bool begin_lines(struct pp_stream *stream, uint64_t number, uint32_t n_lines)
{
	struct pp_defined_sets *sets = stream->sets;

	if (number == sets->left_out)
		return false;
	if (sets->pending != number)
		end_set(stream, stream->last_ns);
	sets->pending = (uint32_t)number;
	sets->left_out = 0;
	if (sets->lines->len + n_lines <= ST_ACCESS_LINES_MAX)
		return true;
	leave_out(stream, "sets of accesses with too many lines: left out");
	return false;
}

/* The line has the next number. */
static void remember(struct pp_defined_sets *sets, const struct read_line *line)
{
	uint32_t at = (sets->last++ - sets->origin) % ST_ACCESS_LINES_KNOWN;

	if (at == sets->known->len)
		g_array_append_vals(sets->known, line, 1);
	else
		g_array_index(sets->known, struct read_line, at) = *line;
}

void pp_decode_lines(struct pp_stream *stream, const struct pp_record *record)
{
	struct pp_defined_sets *sets = sets_of(stream);
	uint64_t number = record->values[PP_LINES_SET];
	const uint8_t *at = record->lines;
	bool is_taken;

	if (number > UINT32_MAX) {
		add_problem(stream, "sets of accesses without a number: left out");
		return;
	}
	is_taken = number && begin_lines(stream, number, record->n_lines);
	for (uint32_t i = 0; i < record->n_lines; i++) {
		struct read_line line = read_line(at + i * sizeof(struct st_access_line));

		remember(sets, &line);
		if (is_taken)
			g_array_append_val(sets->lines, line);
	}
}

/* Returns the last line with that place; NULL: it is not known. */
static const struct read_line *known_line(const struct pp_defined_sets *sets, uint16_t place)
{
	uint32_t age = (sets->last - 1 - place) % ST_ACCESS_LINES_KNOWN;

	if (place >= ST_ACCESS_LINES_KNOWN || age >= sets->known->len)
		return NULL;
	return &g_array_index(sets->known, struct read_line,
			      (sets->last - 1 - age - sets->origin) % ST_ACCESS_LINES_KNOWN);
}

/* The stream has defined lines that are missing: none before the next one is known. */
static void forget_lines(struct pp_defined_sets *sets, uint32_t last)
{
	sets->origin = sets->last = last;
	g_array_set_size(sets->known, 0);
}

void pp_decode_known_lines(struct pp_stream *stream, const struct pp_record *record)
{
	struct pp_defined_sets *sets = sets_of(stream);
	uint64_t number = record->values[PP_KNOWN_SET];
	const uint8_t *at = record->lines;

	if (sets->last != (uint32_t)record->values[PP_KNOWN_LAST])
		forget_lines(sets, (uint32_t)record->values[PP_KNOWN_LAST]);
	if (!number || number > UINT32_MAX) {
		add_problem(stream, "sets of accesses without a number: left out");
		return;
	}
	if (!begin_lines(stream, number, record->n_lines))
		return;
	for (uint32_t i = 0; i < record->n_lines; i++) {
		const struct read_line *line;
		uint16_t place;

		memcpy(&place, at + i * sizeof(place), sizeof(place));
		line = known_line(sets, place);
		if (!line) {
			leave_out(stream, "sets of accesses with lines that are missing: left out");
			return;
		}
		g_array_append_vals(sets->lines, line, 1);
	}
}

/* Sets the set, and the order of its accesses, lent.  Returns false if it is not defined. */
static bool find_set(struct pp_stream *stream, uint64_t number, struct pp_event *event)
{
	struct pp_defined_sets *sets = sets_of(stream);
	const struct pp_defined_set *place = &sets->places[ST_ACCESS_SET_PLACE(number)];

	if (number)
		end_set(stream, event->time_ns);
	else if (!sets->empty)
		sets->empty =
		    pp_access_set_get(stream->decoder->capture->model->access_sets, NULL, 0);
	event->segment.set = number ? place->set : sets->empty;
	event->segment.order = number ? place->order : NULL;
	event->segment.n_order = number ? place->n_order : 0;
	return !number || place->number == number;
}

/* --- events ----------------------------------------------------------------------------------- */

static unsigned why_abandoned(unsigned flags)
{
	unsigned why = flags >> ST_ACCESS_WHY_SHIFT;

	return why < ST_ACCESS_N_WHYS ? why : 0;
}

/* A recording that was not configured by info.json: nothing is known of its blocks. */
static void note_stepped(struct pp_process *process)
{
	if (process->accesses == PP_ACCESSES_SAMPLED)
		return;
	process->accesses = PP_ACCESSES_SAMPLED;
	process->knows_blocks = false;
}

bool pp_decode_segment(struct pp_stream *stream, const struct pp_record *record,
		       struct pp_event *event)
{
	if (!find_set(stream, record->values[PP_SEGMENT_SET], event)) {
		add_problem(stream, "segments with undefined sets of accesses: left out");
		if (stream->thread)
			stream->thread->process->segments_lost++;
		return false;
	}
	event->kind = PP_EVENT_SEGMENT;
	event->thread = stream->thread;
	event->segment.duration_ns = record->values[PP_SEGMENT_DURATION];
	event->segment.reads = record->values[PP_SEGMENT_READS];
	event->segment.writes = record->values[PP_SEGMENT_WRITES];
	event->segment.left_out = record->values[PP_SEGMENT_LEFT_OUT];
	event->segment.flags = (unsigned)record->values[PP_SEGMENT_FLAGS];
	if (event->thread && event->segment.flags & ST_ACCESS_STEPPED)
		note_stepped(event->thread->process);
	if (event->thread && event->segment.flags & ST_ACCESS_ABANDONED)
		event->thread->process->abandoned[why_abandoned(event->segment.flags)]++;
	return true;
}

void pp_decode_heap(struct pp_stream *stream, const struct pp_record *record,
		    struct pp_event *event)
{
	event->kind =
	    record->class->what == PP_CLASS_HEAP_BLOCK ? PP_EVENT_HEAP_BLOCK : PP_EVENT_HEAP_FREED;
	event->thread = stream->thread;
	event->heap.address = record->values[PP_HEAP_ADDRESS];
	event->heap.size = record->values[PP_HEAP_SIZE];
	event->heap.site = record->values[PP_HEAP_SITE];
	if (event->heap.site && event->thread && event->thread->process->places)
		event->heap.site =
		    pp_places_code(event->thread->process, event->heap.site, event->time_ns);
}

void pp_lose_segments(struct pp_stream *stream, uint64_t count)
{
	if (stream->thread)
		stream->thread->process->segments_lost += MAX(count, 1);
}

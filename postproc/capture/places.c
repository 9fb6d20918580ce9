/* SPDX-License-Identifier: MIT */
/*
 * Finds which library was loaded at an address at a given time, where libraries were loaded one
 * after the other at the same addresses.
 *
 * The lines of a load map become load intervals.  An interval begins when its object is listed.  It
 * ends when the object is listed at a place where nothing can be loaded (format.h), or when another
 * object is listed at its addresses.  An object may have been loaded any time before it is listed,
 * so between two intervals an address belongs either to the next object already, or to memory of
 * the program.  Code there counts as the next object's.  Data counts as the next object's if code
 * of the same object used it; otherwise it has no name.
 *
 * Names are found by the last load that holds an address.  Earlier objects are moved by a
 * displacement of their own: one that the library recorded, or one that is added to the load map
 * here.
 */
#include <inttypes.h>
#include <string.h>

#include "core/event.h"
#include "gmon-mt/format.h"
#include "capture/capture.h"

struct load_interval {
	guint load;		   /* index in the load map */
	int64_t from_ns, until_ns; /* INT64_MAX: loaded to the end */
	uint64_t moved;		   /* displacement; 0: no other object followed, or no
				    * displacement is left */
};

/* The load intervals at one address. */
struct address_history {
	guint n;
	struct load_interval
	    intervals[]; /* in order; `moved` is 0 where the last load gives the right names */
};

struct pp_places {
	GArray *intervals;     /* of struct load_interval, in order */
	uint64_t start, end;   /* covers all intervals that ended */
	GHashTable *histories; /* address -> struct address_history *; NULL: at most one object
				* was there */
};

static const struct pp_load *load_at(const GArray *maps, guint i)
{
	return &g_array_index(maps, struct pp_load, i);
}

static struct load_interval *interval_at(const GArray *intervals, guint i)
{
	return &g_array_index(intervals, struct load_interval, i);
}

static uint64_t start_of(const struct pp_load *load)
{
	return load->start - GM_PLACE(load->start);
}

static uint64_t end_of(const struct pp_load *load)
{
	return load->end - GM_PLACE(load->start);
}

/* Compares objects regardless of their displacement. */
static bool is_same_object(const struct pp_load *a, const struct pp_load *b)
{
	return start_of(a) == start_of(b) && end_of(a) == end_of(b) &&
	       a->bias - GM_PLACE(a->start) == b->bias - GM_PLACE(b->start) &&
	       g_strcmp0(a->build_id, b->build_id) == 0 && strcmp(a->path, b->path) == 0;
}

/* --- intervals ----------------------------------------------------------------------------------
 */

static int compare_starts(const void *a, const void *b, void *unused)
{
	(void)unused;
	return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

struct building {
	const GArray *maps;
	GArray *intervals;
	GTree *now; /* start -> index of the interval; intervals that have not ended, none
		     * overlapping */
};

/* Returns the first interval that has not ended and may contain addresses from `start` on. */
static GTreeNode *first_from(GTree *now, uint64_t start)
{
	GTreeNode *after = g_tree_upper_bound(now, (void *)(uintptr_t)start);
	GTreeNode *at = after ? g_tree_node_previous(after) : g_tree_node_last(now);

	return at ? at : after;
}

static struct load_interval *interval_of(const struct building *building, GTreeNode *node)
{
	return interval_at(building->intervals, GPOINTER_TO_UINT(g_tree_node_value(node)));
}

/* Ends one interval at those addresses: of that object (only_same) or of another.  False: none. */
static bool end_one(struct building *building, const struct pp_load *load, bool only_same)
{
	GTreeNode *node = first_from(building->now, start_of(load));

	for (; node; node = g_tree_node_next(node)) {
		struct load_interval *interval = interval_of(building, node);
		const struct pp_load *held = load_at(building->maps, interval->load);

		if (held->start >= end_of(load))
			return false;
		if (held->end <= start_of(load) || is_same_object(held, load) != only_same)
			continue;
		interval->until_ns = MAX(load->time_ns, interval->from_ns);
		g_tree_remove(building->now, (void *)(uintptr_t)held->start);
		return true;
	}
	return false;
}

static void begin_interval(struct building *building, guint i)
{
	const struct pp_load *load = load_at(building->maps, i);
	struct load_interval interval = {
	    .load = i, .from_ns = load->time_ns, .until_ns = INT64_MAX};
	GTreeNode *node = g_tree_lookup_node(building->now, (void *)(uintptr_t)load->start);

	if (node &&
	    is_same_object(load_at(building->maps, interval_of(building, node)->load), load))
		return;
	while (end_one(building, load, false))
		;
	g_tree_insert(building->now, (void *)(uintptr_t)load->start,
		      GUINT_TO_POINTER(building->intervals->len));
	g_array_append_val(building->intervals, interval);
}

static GArray *find_intervals(const GArray *maps)
{
	struct building building = {
	    .maps = maps,
	    .intervals = g_array_new(FALSE, FALSE, sizeof(struct load_interval)),
	    .now = g_tree_new_full(compare_starts, NULL, NULL, NULL),
	};

	for (guint i = 0; i < maps->len; i++) {
		if (GM_PLACE(load_at(maps, i)->start))
			end_one(&building, load_at(maps, i), true);
		else
			begin_interval(&building, i);
	}
	g_tree_unref(building.now);
	return building.intervals;
}

/* --- displacements -------------------------------------------------------------------------- */

static char *key_of(const struct pp_load *load)
{
	return g_strdup_printf("%" PRIx64 " %" PRIx64 " %" PRIx64 " %s %s", start_of(load),
			       end_of(load), load->bias - GM_PLACE(load->start),
			       load->build_id ? load->build_id : "-", load->path);
}

static void add_place(GHashTable *places, const struct pp_load *load, uint64_t moved)
{
	char *key = key_of(load);

	if (g_hash_table_contains(places, key))
		g_free(key);
	else
		g_hash_table_insert(places, key, g_memdup2(&moved, sizeof(moved)));
}

/* Returns the object's recorded displacement, or a new one; 0: none is left. */
static uint64_t find_place(GArray *maps, GHashTable *places, guint i, uint64_t *last)
{
	g_autofree char *key = key_of(load_at(maps, i));
	const uint64_t *known = g_hash_table_lookup(places, key);
	struct pp_load moved = *load_at(maps, i);

	if (known)
		return *known;
	if (*last / GM_PLACE_BYTES + 1 >= GM_PLACE_NONE)
		return 0;
	*last += GM_PLACE_BYTES;
	moved.start += *last;
	moved.end += *last;
	moved.bias += *last;
	moved.build_id = g_strdup(moved.build_id);
	moved.path = g_strdup(moved.path);
	g_array_append_val(maps, moved);
	add_place(places, &moved, *last);
	return *last;
}

static void set_places(struct pp_places *self, GArray *maps)
{
	g_autoptr(GHashTable) places =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	uint64_t last = 0;

	for (guint i = 0; i < maps->len; i++) {
		const struct pp_load *load = load_at(maps, i);

		last = MAX(last, GM_PLACE(load->start));
		if (GM_PLACE(load->start))
			add_place(places, load, GM_PLACE(load->start));
	}
	for (guint i = 0; i < self->intervals->len; i++) {
		struct load_interval *interval = interval_at(self->intervals, i);

		if (interval->until_ns != INT64_MAX)
			interval->moved = find_place(maps, places, interval->load, &last);
	}
}

struct pp_places *pp_places_new(GArray *maps)
{
	struct pp_places *self = g_new0(struct pp_places, 1);

	self->intervals = find_intervals(maps);
	self->start = UINT64_MAX;
	for (guint i = 0; i < self->intervals->len; i++) {
		const struct load_interval *interval = interval_at(self->intervals, i);

		if (interval->until_ns == INT64_MAX)
			continue;
		self->start = MIN(self->start, load_at(maps, interval->load)->start);
		self->end = MAX(self->end, load_at(maps, interval->load)->end);
	}
	if (!self->end) {
		pp_places_free(self);
		return NULL;
	}
	set_places(self, maps);
	self->histories = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return self;
}

void pp_places_free(struct pp_places *self)
{
	if (!self)
		return;
	g_array_unref(self->intervals);
	g_clear_pointer(&self->histories, g_hash_table_unref);
	g_free(self);
}

/* --- lookups -------------------------------------------------------------------------------- */

static bool holds(const struct pp_load *load, uint64_t address)
{
	return address >= load->start && address < load->end;
}

static struct address_history *history_new(const struct pp_process *process, uint64_t address)
{
	const struct pp_places *self = process->places;
	const struct pp_load *last = pp_maps_find(process, address); /* gives the address its
								      * name */
	struct address_history *history = NULL;
	guint n = 0;
	bool ended = false;

	for (guint i = 0; i < self->intervals->len; i++) {
		struct load_interval interval = *interval_at(self->intervals, i);
		const struct pp_load *load = load_at(process->maps, interval.load);

		if (!holds(load, address))
			continue;
		if (is_same_object(load, last))
			interval.moved = 0;
		else if (!interval.moved)
			interval.moved = PP_LOAD_UNNAMED;
		if (n)
			interval.from_ns =
			    MAX(interval.from_ns, history->intervals[n - 1].until_ns);
		ended |= interval.until_ns != INT64_MAX;
		if ((n & (n + 1)) == 0)
			history =
			    g_realloc(history, sizeof(*history) + (2 * n + 1) * sizeof(interval));
		history->intervals[n++] = interval;
		history->n = n;
	}
	if (!ended)
		g_clear_pointer(&history, g_free);
	return history;
}

static const struct address_history *history_at(const struct pp_process *process, uint64_t address)
{
	struct pp_places *self = process->places;
	void *known;

	if (!self || address < self->start || address >= self->end)
		return NULL;
	if (!g_hash_table_lookup_extended(self->histories, &address, NULL, &known)) {
		known = history_new(process, address);
		g_hash_table_insert(self->histories, g_memdup2(&address, sizeof(address)), known);
	}
	return known;
}

/* Returns the number of intervals that began by then. */
static guint n_until(const struct address_history *history, int64_t time_ns)
{
	guint from = 0, to = history->n;

	while (from < to) {
		guint middle = from + (to - from) / 2;

		if (history->intervals[middle].from_ns <= time_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Returns the interval at that time (*ret_certain) or the next one; history->n: none. */
static guint find_interval(const struct address_history *history, int64_t time_ns,
			   bool *ret_certain)
{
	guint n = n_until(history, time_ns);

	*ret_certain = n > 0 && time_ns < history->intervals[n - 1].until_ns;
	return *ret_certain ? n - 1 : n;
}

/*
 * A sample in a library that was about to be unloaded, or was loaded again before the runtime
 * noticed, has the address to which the library had moved.  Its other addresses are not displaced
 * if no other object followed at its place.
 */
static uint64_t undo_move(const struct pp_process *process, uint64_t address)
{
	uint64_t home = address - GM_PLACE(address);
	const struct pp_load *moved = pp_maps_find(process, address - 1);
	const struct pp_load *last = pp_maps_find(process, home - 1);

	return moved && last && is_same_object(moved, last) ? home : address;
}

uint64_t pp_places_code(const struct pp_process *process, uint64_t address, int64_t time_ns)
{
	const struct address_history *history = history_at(process, address - 1);
	bool certain;
	guint i;

	if (GM_PLACE(address))
		return undo_move(process, address);
	if (!history)
		return address;
	i = find_interval(history, time_ns, &certain);
	return address + (i < history->n ? history->intervals[i].moved : PP_LOAD_UNNAMED);
}

void pp_places_translate_starts(struct pp_process *process)
{
	for (guint i = 0; process->places && i < process->threads->len; i++) {
		struct pp_thread *thread = process->threads->pdata[i];

		if (thread->start_routine)
			thread->start_routine =
			    pp_places_code(process, thread->start_routine + 1, thread->start_ns) -
			    1;
	}
}

/* Was the code loaded in the same interval as `load`, or did it appear together with it? */
static bool is_of(const struct pp_process *process, uint64_t site, int64_t time_ns, guint load)
{
	const struct address_history *history = history_at(process, site - 1);
	bool certain;
	guint i = history ? find_interval(history, time_ns, &certain) : 0;

	return history && i < history->n && history->intervals[i].load == load;
}

uint64_t pp_places_load_id(const struct pp_process *process, uint64_t address, uint64_t site,
			   int64_t time_ns)
{
	const struct address_history *history = history_at(process, address);
	bool certain;
	guint i;

	if (!history)
		return 0;
	i = find_interval(history, time_ns, &certain);
	if (i < history->n && !certain)
		certain = is_of(process, site, time_ns, history->intervals[i].load);
	return (certain ? history->intervals[i].moved : PP_LOAD_UNNAMED) | (i + 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * What was at an address at a time, where objects were loaded one after the other at the same
 * addresses.
 *
 * The lines of a load map become stays.  A stay begins when its object is listed, and ends when it
 * is listed where nothing can be loaded (format.h), or another is listed at its addresses.  An
 * object may have come any time before it is listed, so what is between two stays is either the
 * next object already, or memory of the program's own.  Code is the next one's.  A datum is, if the
 * code that used it is the same object's; else it has no name.
 *
 * Names are found by the last load that holds an address.  What was there before is moved to a
 * place of its own: one that the library gave it, or one that is added to the load map here.
 */
#include <inttypes.h>
#include <string.h>

#include "core/event.h"
#include "gmon-mt/format.h"
#include "capture/capture.h"

struct stay {
	guint load;
	int64_t from_ns, until_ns; /* INT64_MAX: it is there to the end */
	uint64_t moved;		   /* by so much; 0: nothing else came, or there is no place */
};

/* What is known of an address. */
struct spot {
	guint n;
	struct stay stays[]; /* in order; `moved` is 0 where names are of this object anyway */
};

struct pp_places {
	GArray *stays;	     /* of struct stay, in order */
	uint64_t start, end; /* all that ended are in here */
	GHashTable *spots;   /* address -> struct spot *; NULL: one object was there, or none */
};

static const struct pp_load *load_at(const GArray *maps, guint i)
{
	return &g_array_index(maps, struct pp_load, i);
}

static struct stay *stay_at(const GArray *stays, guint i)
{
	return &g_array_index(stays, struct stay, i);
}

static uint64_t start_of(const struct pp_load *load)
{
	return load->start - GM_PLACE(load->start);
}

static uint64_t end_of(const struct pp_load *load)
{
	return load->end - GM_PLACE(load->start);
}

/* Wherever it has been moved to. */
static bool is_same_object(const struct pp_load *a, const struct pp_load *b)
{
	return start_of(a) == start_of(b) && end_of(a) == end_of(b) &&
	       a->bias - GM_PLACE(a->start) == b->bias - GM_PLACE(b->start) &&
	       g_strcmp0(a->build_id, b->build_id) == 0 && strcmp(a->path, b->path) == 0;
}

/* --- stays ---------------------------------------------------------------------------------- */

static int compare_starts(const void *a, const void *b, void *unused)
{
	(void)unused;
	return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

struct building {
	const GArray *maps;
	GArray *stays;
	GTree *now; /* start -> number of the stay: those that have not ended, none over another */
};

/* The first of those that have not ended and may hold something from `start` on. */
static GTreeNode *first_from(GTree *now, uint64_t start)
{
	GTreeNode *after = g_tree_upper_bound(now, (void *)(uintptr_t)start);
	GTreeNode *at = after ? g_tree_node_previous(after) : g_tree_node_last(now);

	return at ? at : after;
}

static struct stay *stay_of(const struct building *building, GTreeNode *node)
{
	return stay_at(building->stays, GPOINTER_TO_UINT(g_tree_node_value(node)));
}

/* Ends a stay at those addresses, of that object or of another; false: there is none. */
static bool end_one(struct building *building, const struct pp_load *load, bool only_same)
{
	GTreeNode *node = first_from(building->now, start_of(load));

	for (; node; node = g_tree_node_next(node)) {
		struct stay *stay = stay_of(building, node);
		const struct pp_load *held = load_at(building->maps, stay->load);

		if (held->start >= end_of(load))
			return false;
		if (held->end <= start_of(load) || is_same_object(held, load) != only_same)
			continue;
		stay->until_ns = MAX(load->time_ns, stay->from_ns);
		g_tree_remove(building->now, (void *)(uintptr_t)held->start);
		return true;
	}
	return false;
}

static void come(struct building *building, guint i)
{
	const struct pp_load *load = load_at(building->maps, i);
	struct stay stay = {.load = i, .from_ns = load->time_ns, .until_ns = INT64_MAX};
	GTreeNode *node = g_tree_lookup_node(building->now, (void *)(uintptr_t)load->start);

	if (node && is_same_object(load_at(building->maps, stay_of(building, node)->load), load))
		return;
	while (end_one(building, load, false))
		;
	g_tree_insert(building->now, (void *)(uintptr_t)load->start,
		      GUINT_TO_POINTER(building->stays->len));
	g_array_append_val(building->stays, stay);
}

static GArray *find_stays(const GArray *maps)
{
	struct building building = {
	    .maps = maps,
	    .stays = g_array_new(FALSE, FALSE, sizeof(struct stay)),
	    .now = g_tree_new_full(compare_starts, NULL, NULL, NULL),
	};

	for (guint i = 0; i < maps->len; i++) {
		if (GM_PLACE(load_at(maps, i)->start))
			end_one(&building, load_at(maps, i), true);
		else
			come(&building, i);
	}
	g_tree_unref(building.now);
	return building.stays;
}

/* --- places --------------------------------------------------------------------------------- */

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

/* Where the object was moved to, or now is, since nobody noticed when it went; 0: no place is left.
 */
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
	for (guint i = 0; i < self->stays->len; i++) {
		struct stay *stay = stay_at(self->stays, i);

		if (stay->until_ns != INT64_MAX)
			stay->moved = find_place(maps, places, stay->load, &last);
	}
}

struct pp_places *pp_places_new(GArray *maps)
{
	struct pp_places *self = g_new0(struct pp_places, 1);

	self->stays = find_stays(maps);
	self->start = UINT64_MAX;
	for (guint i = 0; i < self->stays->len; i++) {
		const struct stay *stay = stay_at(self->stays, i);

		if (stay->until_ns == INT64_MAX)
			continue;
		self->start = MIN(self->start, load_at(maps, stay->load)->start);
		self->end = MAX(self->end, load_at(maps, stay->load)->end);
	}
	if (!self->end) {
		pp_places_free(self);
		return NULL;
	}
	set_places(self, maps);
	self->spots = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return self;
}

void pp_places_free(struct pp_places *self)
{
	if (!self)
		return;
	g_array_unref(self->stays);
	g_clear_pointer(&self->spots, g_hash_table_unref);
	g_free(self);
}

/* --- what was there ------------------------------------------------------------------------- */

static bool holds(const struct pp_load *load, uint64_t address)
{
	return address >= load->start && address < load->end;
}

static struct spot *spot_new(const struct pp_process *process, uint64_t address)
{
	const struct pp_places *self = process->places;
	const struct pp_load *last = pp_maps_find(process, address); /* by which it gets its name */
	struct spot *spot = NULL;
	guint n = 0;
	bool ended = false;

	for (guint i = 0; i < self->stays->len; i++) {
		struct stay stay = *stay_at(self->stays, i);
		const struct pp_load *load = load_at(process->maps, stay.load);

		if (!holds(load, address))
			continue;
		if (is_same_object(load, last))
			stay.moved = 0;
		else if (!stay.moved)
			stay.moved = PP_ERA_UNNAMED;
		if (n)
			stay.from_ns = MAX(stay.from_ns, spot->stays[n - 1].until_ns);
		ended |= stay.until_ns != INT64_MAX;
		if ((n & (n + 1)) == 0)
			spot = g_realloc(spot, sizeof(*spot) + (2 * n + 1) * sizeof(stay));
		spot->stays[n++] = stay;
		spot->n = n;
	}
	if (!ended)
		g_clear_pointer(&spot, g_free);
	return spot;
}

static const struct spot *spot_at(const struct pp_process *process, uint64_t address)
{
	struct pp_places *self = process->places;
	void *known;

	if (!self || address < self->start || address >= self->end)
		return NULL;
	if (!g_hash_table_lookup_extended(self->spots, &address, NULL, &known)) {
		known = spot_new(process, address);
		g_hash_table_insert(self->spots, g_memdup2(&address, sizeof(address)), known);
	}
	return known;
}

/* The number of those that had come by then. */
static guint n_until(const struct spot *spot, int64_t time_ns)
{
	guint from = 0, to = spot->n;

	while (from < to) {
		guint middle = from + (to - from) / 2;

		if (spot->stays[middle].from_ns <= time_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The stay of that time, or the next (*ret_certain: the first of these); spot->n: none. */
static guint find_stay(const struct spot *spot, int64_t time_ns, bool *ret_certain)
{
	guint n = n_until(spot, time_ns);

	*ret_certain = n > 0 && time_ns < spot->stays[n - 1].until_ns;
	return *ret_certain ? n - 1 : n;
}

uint64_t pp_places_code(const struct pp_process *process, uint64_t address, int64_t time_ns)
{
	const struct spot *spot = spot_at(process, address - 1);
	bool certain;
	guint i;

	if (!spot)
		return address;
	i = find_stay(spot, time_ns, &certain);
	return address + (i < spot->n ? spot->stays[i].moved : PP_ERA_UNNAMED);
}

/* Whether the code was, or came, there together with that stay. */
static bool is_of(const struct pp_process *process, uint64_t site, int64_t time_ns, guint load)
{
	const struct spot *spot = spot_at(process, site - 1);
	bool certain;
	guint i = spot ? find_stay(spot, time_ns, &certain) : 0;

	return spot && i < spot->n && spot->stays[i].load == load;
}

uint64_t pp_places_era(const struct pp_process *process, uint64_t address, uint64_t site,
		       int64_t time_ns)
{
	const struct spot *spot = spot_at(process, address);
	bool certain;
	guint i;

	if (!spot)
		return 0;
	i = find_stay(spot, time_ns, &certain);
	if (i < spot->n && !certain)
		certain = is_of(process, site, time_ns, spot->stays[i].load);
	return (certain ? spot->stays[i].moved : PP_ERA_UNNAMED) | (i + 1);
}

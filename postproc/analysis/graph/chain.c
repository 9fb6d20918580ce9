/* SPDX-License-Identifier: MIT */
/*
 * The tree of chains.  Segments are appended to a thread's leaf.  When a leaf ends, a stretch that
 * has only one successor left is joined with it.
 */
#include "analysis/graph/chain.h"

#include <string.h>

/* An equal key is searched for among the last RECENT entries.  Longer stretches also use slots. */
#define RECENT 4

/* A power of two. */
#define SLOTS 256

struct stretch {
	/* of struct pp_chain_entry; the first n_sorted are sorted, with unique keys */
	GArray *entries;
	guint n_sorted;
	int64_t from_ns;  /* the begin of the chain's first stretch */
	GArray *segments; /* of struct pp_chain_segment */
	int64_t least_ns; /* PP_CHAIN_SEGMENTS inner segments are at least this long */
	uint64_t n_left_out;
	bool passes; /* the next segment belongs to another thread */
	guint about;
	guint32 *slots; /* hash of a key -> its probable position plus 1; NULL: none yet */
};

static GNode *stretch_new(int64_t from_ns)
{
	struct stretch *stretch = g_new(struct stretch, 1);

	*stretch = (struct stretch){
	    .entries = g_array_new(FALSE, FALSE, sizeof(struct pp_chain_entry)),
	    .segments = g_array_new(FALSE, FALSE, sizeof(struct pp_chain_segment)),
	    .from_ns = from_ns,
	};
	return g_node_new(stretch);
}

static void stretch_free(GNode *node)
{
	struct stretch *stretch = node->data;

	g_array_unref(stretch->entries);
	g_array_unref(stretch->segments);
	g_free(stretch->slots);
	g_free(stretch);
	node->data = NULL;
	g_node_destroy(node);
}

/* --- amounts -------------------------------------------------------------------------------- */

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct pp_chain_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Sorts the entries and adds up those with the same key. */
static void combine(struct stretch *stretch)
{
	struct pp_chain_entry *entries = (struct pp_chain_entry *)stretch->entries->data;
	guint n = 0;

	g_array_sort(stretch->entries, compare);
	for (guint i = 0; i < stretch->entries->len; i++)
		if (n && entries[n - 1].key == entries[i].key)
			entries[n - 1].amount += entries[i].amount;
		else
			entries[n++] = entries[i];
	g_array_set_size(stretch->entries, n);
	stretch->n_sorted = n;
	if (stretch->slots)
		memset(stretch->slots, 0, SLOTS * sizeof(*stretch->slots));
}

/* Runs rarely enough to cost little, and often enough to keep at most twice the memory needed. */
static void combine_if_long(struct stretch *stretch)
{
	if (stretch->entries->len > 2 * stretch->n_sorted + 64)
		combine(stretch);
}

/* The slot for the key; 0 if unused. */
static guint32 *slot_of(struct stretch *stretch, uint64_t key)
{
	if (!stretch->slots)
		stretch->slots = g_new0(guint32, SLOTS);
	return &stretch->slots[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

static void append(struct stretch *stretch, uint64_t key, int64_t amount)
{
	const struct pp_chain_entry new = {key, amount};
	guint32 *slot = stretch->entries->len >= RECENT ? slot_of(stretch, key) : NULL;

	if (slot && *slot && *slot <= stretch->entries->len) {
		struct pp_chain_entry *entry =
		    &g_array_index(stretch->entries, struct pp_chain_entry, *slot - 1);

		if (entry->key == key) {
			entry->amount += amount;
			return;
		}
	}
	g_array_append_val(stretch->entries, new);
	if (slot)
		*slot = stretch->entries->len;
	combine_if_long(stretch);
}

void pp_chain_add(const struct pp_chain *chain, uint64_t key, int64_t amount)
{
	struct stretch *stretch = chain->leaf->data;
	struct pp_chain_entry *entries = (struct pp_chain_entry *)stretch->entries->data;
	guint n = stretch->entries->len, first = n > RECENT ? n - RECENT : 0;

	for (guint i = n; i-- > first;)
		if (entries[i].key == key) {
			entries[i].amount += amount;
			return;
		}
	append(stretch, key, amount);
}

/* --- segments -----------------------------------------------------------------------------------
 */

static struct pp_chain_segment *segment_at(const GArray *segments, guint i)
{
	return &g_array_index(segments, struct pp_chain_segment, i);
}

static int64_t length_of(const struct pp_chain_segment *segment)
{
	return segment->end_ns - segment->start_ns;
}

static gint longest_first(gconstpointer a, gconstpointer b, void *data)
{
	const struct pp_chain_segment *x = segment_at(data, *(const guint *)a);
	const struct pp_chain_segment *y = segment_at(data, *(const guint *)b);
	int64_t x_ns = length_of(x), y_ns = length_of(y);

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return *(const guint *)a < *(const guint *)b ? -1 : 1;
}

/* Keeps the longest segments, and n_ends segments at each end, which may be incomplete. */
static void keep_longest(struct stretch *stretch, guint n_ends)
{
	GArray *segments = stretch->segments;
	guint n = segments->len, n_inner = n - 2 * n_ends, to = n_ends;
	g_autofree guint *order = g_new(guint, n_inner);
	g_autofree bool *is_kept = g_new0(bool, n);

	for (guint i = 0; i < n_inner; i++)
		order[i] = n_ends + i;
	g_qsort_with_data(order, (gint)n_inner, sizeof(*order), longest_first, segments);
	for (guint i = 0; i < PP_CHAIN_SEGMENTS; i++)
		is_kept[order[i]] = true;
	stretch->least_ns = length_of(segment_at(segments, order[PP_CHAIN_SEGMENTS - 1]));
	for (guint i = n_ends; i < n; i++)
		if (is_kept[i] || i >= n - n_ends)
			*segment_at(segments, to++) = *segment_at(segments, i);
	stretch->n_left_out += n - to;
	g_array_set_size(segments, to);
}

/* Adds to the last place, or replaces it. */
static void add_blocked(struct pp_chain_segment *segment, struct pp_chain_blocked blocked)
{
	if (segment->last.ns && segment->last.place == blocked.place)
		blocked.ns += segment->last.ns;
	segment->last = blocked;
	if (blocked.ns > segment->longest.ns)
		segment->longest = blocked;
}

/* Adds what follows. */
static void join_blocked(struct pp_chain_segment *segment, const struct pp_chain_segment *after)
{
	if (after->longest.ns > segment->longest.ns)
		segment->longest = after->longest;
	if (after->last.ns)
		add_blocked(segment, after->last);
}

static bool goes_on(const struct pp_chain_segment *last, const struct pp_chain_segment *segment)
{
	return !segment->is_passed && last->thread == segment->thread &&
	       last->end_ns == segment->start_ns;
}

/*
 * Drops the last segment if it is too short to be kept.  It is inner now, since another one
 * follows.
 */
static void drop_short(struct stretch *stretch)
{
	guint n = stretch->segments->len;

	if (n < 2 || length_of(segment_at(stretch->segments, n - 1)) > stretch->least_ns)
		return;
	g_array_set_size(stretch->segments, n - 1);
	stretch->n_left_out++;
}

/*
 * Marks the segment as following the last one if the last one ended when it began; otherwise
 * segments in between may have been left out.
 */
static void add_segment(struct stretch *stretch, struct pp_chain_segment segment)
{
	guint n = stretch->segments->len;
	struct pp_chain_segment *last = n ? segment_at(stretch->segments, n - 1) : NULL;

	if (stretch->passes && !segment.is_passed) {
		segment.is_passed = true;
		segment.about = stretch->about;
	}
	stretch->passes = false;
	if (last && goes_on(last, &segment)) {
		last->end_ns = segment.end_ns;
		for (unsigned mode = 0; mode < PP_CHAIN_MODES; mode++)
			last->ns[mode] += segment.ns[mode];
		join_blocked(last, &segment);
		last->object = segment.object;
		last->to = segment.to;
		return;
	}
	if (last && segment.is_passed && last->end_ns == segment.start_ns) {
		last->to = segment.thread + 1;
		last->object = segment.about;
	}
	if (stretch->least_ns)
		drop_short(stretch);
	g_array_append_val(stretch->segments, segment);
	if (stretch->segments->len > 2 * PP_CHAIN_SEGMENTS)
		keep_longest(stretch, 1);
}

/* Appends the segments of `after`. */
static void add_segments(struct stretch *stretch, const struct stretch *after)
{
	for (guint i = 0; i < after->segments->len; i++)
		add_segment(stretch, *segment_at(after->segments, i));
	stretch->n_left_out += after->n_left_out;
	stretch->least_ns = MAX(stretch->least_ns, after->least_ns);
	if (after->passes) {
		stretch->passes = true;
		stretch->about = after->about;
	}
}

void pp_chain_go(const struct pp_chain *chain, guint thread, guint place, int64_t start_ns,
		 int64_t end_ns, unsigned mode)
{
	struct stretch *stretch = chain->leaf->data;
	guint n = stretch->segments->len;
	struct pp_chain_segment *last = n ? segment_at(stretch->segments, n - 1) : NULL;
	struct pp_chain_segment segment = {
	    .start_ns = start_ns, .end_ns = end_ns, .thread = thread, .place = place};

	/* The most frequent case. */
	if (last && !stretch->passes && goes_on(last, &segment)) {
		last->end_ns = end_ns;
		last->ns[mode] += end_ns - start_ns;
		return;
	}
	segment.ns[mode] = end_ns - start_ns;
	add_segment(stretch, segment);
}

void pp_chain_block(const struct pp_chain *chain, guint place, int64_t ns)
{
	const struct stretch *stretch = chain->leaf->data;
	guint n = stretch->segments->len;

	if (n)
		add_blocked(segment_at(stretch->segments, n - 1),
			    (struct pp_chain_blocked){place, ns});
}

void pp_chain_pass(const struct pp_chain *chain, guint object)
{
	struct stretch *stretch = chain->leaf->data;

	stretch->passes = true;
	stretch->about = object;
}

/* --- the tree ------------------------------------------------------------------------------- */

GNode *pp_chains_new(void)
{
	return g_node_new(NULL);
}

static gboolean free_stretch(GNode *node, void *data)
{
	struct stretch *stretch = node->data;

	(void)data;
	if (stretch) {
		g_array_unref(stretch->entries);
		g_array_unref(stretch->segments);
		g_free(stretch->slots);
	}
	g_free(stretch);
	return FALSE;
}

void pp_chains_free(GNode *chains)
{
	g_node_traverse(chains, G_POST_ORDER, G_TRAVERSE_ALL, -1, free_stretch, NULL);
	g_node_destroy(chains);
}

struct pp_chain pp_chain_begin(GNode *chains, int64_t from_ns)
{
	return (struct pp_chain){g_node_append(chains, stretch_new(from_ns))};
}

struct pp_chain pp_chain_branch(struct pp_chain *chain)
{
	const struct stretch *stretch = chain->leaf->data;
	GNode *both = chain->leaf;

	chain->leaf = g_node_append(both, stretch_new(stretch->from_ns));
	return (struct pp_chain){g_node_append(both, stretch_new(stretch->from_ns))};
}

/* Joins `node` with its only child. */
static void join(GNode *node)
{
	GNode *after = node->children;
	struct stretch *first = node->data, *last = after->data;
	struct stretch both = *first;

	g_array_append_vals(both.entries, last->entries->data, last->entries->len);
	add_segments(&both, last);
	*first = *last;
	*last = both;
	combine_if_long(last);
	g_node_unlink(after);
	g_node_append(node->parent, after);
	g_node_unlink(node);
	stretch_free(node);
}

void pp_chain_drop(struct pp_chain *chain)
{
	GNode *before = chain->leaf->parent;

	g_node_unlink(chain->leaf);
	stretch_free(chain->leaf);
	chain->leaf = NULL;
	if (before->data && before->children && !before->children->next)
		join(before);
}

static void change_segments(struct stretch *stretch, const struct pp_chain_change *change)
{
	for (guint i = 0; i < stretch->segments->len; i++) {
		struct pp_chain_segment *segment = segment_at(stretch->segments, i);

		if (segment->to)
			change->object(change->data, &segment->object);
		if (segment->is_passed)
			change->object(change->data, &segment->about);
	}
	if (stretch->passes)
		change->object(change->data, &stretch->about);
}

static gboolean change_stretch(GNode *node, void *data)
{
	const struct pp_chain_change *change = data;
	struct stretch *stretch = node->data;

	if (!stretch)
		return FALSE;
	for (guint i = 0; change->entry && i < stretch->entries->len; i++)
		change->entry(change->data,
			      &g_array_index(stretch->entries, struct pp_chain_entry, i));
	if (change->entry)
		combine(stretch);
	if (change->object)
		change_segments(stretch, change);
	return FALSE;
}

void pp_chains_change(GNode *chains, const struct pp_chain_change *change)
{
	g_node_traverse(chains, G_PRE_ORDER, G_TRAVERSE_ALL, -1, change_stretch, (void *)change);
}

GArray *pp_chain_sum(const struct pp_chain *chain, int64_t *ret_from_ns)
{
	struct stretch sum = {
	    .entries = g_array_new(FALSE, FALSE, sizeof(struct pp_chain_entry)),
	};

	for (const GNode *node = chain->leaf; node->data; node = node->parent) {
		const struct stretch *stretch = node->data;

		g_array_append_vals(sum.entries, stretch->entries->data, stretch->entries->len);
		*ret_from_ns = stretch->from_ns;
	}
	combine(&sum);
	return sum.entries;
}

GArray *pp_chain_segments(const struct pp_chain *chain, uint64_t *ret_left_out)
{
	struct stretch all = {.segments =
				  g_array_new(FALSE, FALSE, sizeof(struct pp_chain_segment))};
	g_autoptr(GPtrArray) stretches = g_ptr_array_new();

	for (const GNode *node = chain->leaf; node->data; node = node->parent)
		g_ptr_array_add(stretches, node->data);
	for (guint i = stretches->len; i-- > 0;)
		add_segments(&all, stretches->pdata[i]);
	if (all.segments->len > PP_CHAIN_SEGMENTS)
		keep_longest(&all, 0);
	*ret_left_out = all.n_left_out;
	return all.segments;
}

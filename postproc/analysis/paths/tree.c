/* SPDX-License-Identifier: MIT */
/* See tree.h.  Nodes are found by hash of parent and name; names are unique strings. */
#include "analysis/paths/tree.h"

#include "analysis/thread_cells.h"
#include "analysis/paths/frames.h"

struct pp_tree {
	const struct pp_pass_context *context;
	bool bottom_up;
	GPtrArray *all;	     /* of struct pp_tree_node *, a node after its parent */
	GHashTable *known;   /* the same, by parent and name */
	GHashTable *names;   /* a set of char *; owns them */
	GPtrArray *units;    /* if threads are grouped: of struct pp_unit * */
	GHashTable *unit_of; /* ... const struct pp_thread * -> title */
};

static guint node_hash(const void *data)
{
	const struct pp_tree_node *node = data;

	return g_direct_hash(node->parent) * 31 ^ g_direct_hash(node->name);
}

static gboolean node_equal(const void *a, const void *b)
{
	const struct pp_tree_node *x = a, *y = b;

	return x->parent == y->parent && x->name == y->name;
}

static void node_free(void *data)
{
	struct pp_tree_node *node = data;

	if (node->children)
		g_ptr_array_unref(node->children);
	g_free(node);
}

static const char *unique_name(struct pp_tree *tree, const char *name)
{
	char *known = g_hash_table_lookup(tree->names, name);

	if (!known) {
		known = g_strdup(name);
		g_hash_table_add(tree->names, known);
	}
	return known;
}

/* The child of that name; `times`: how often it calls itself on this path. */
static struct pp_tree_node *child_of(struct pp_tree *tree, struct pp_tree_node *parent,
				     const char *name, unsigned times)
{
	struct pp_tree_node key = {.parent = parent, .name = name, .level = parent->level + 1};
	struct pp_tree_node *node = g_hash_table_lookup(tree->known, &key);

	if (!node) {
		node = g_memdup2(&key, sizeof(key));
		node->least = node->most = times;
		g_ptr_array_add(tree->all, node);
		g_hash_table_add(tree->known, node);
		if (!parent->children)
			parent->children = g_ptr_array_new();
		g_ptr_array_add(parent->children, node);
	}
	node->least = MIN(node->least, times);
	node->most = MAX(node->most, times);
	return node;
}

/* --- paths ---------------------------------------------------------------------------------- */

static void add_name(struct pp_tree *tree, GPtrArray *names, const char *name)
{
	g_ptr_array_add(names, (char *)unique_name(tree, name));
}

/* True if the address, as in a path, is in gprof-mt's libraries. */
static bool is_own(const struct pp_tree *tree, const struct pp_path_use *use, uint64_t address)
{
	const struct pp_namer *namer = tree->context->namer;

	return namer->is_own && namer->is_own(namer->data, use->process, address - 1);
}

/* A path of one address.  The caller frees it. */
static struct pp_path *path_of_site(uint64_t site)
{
	struct pp_path *path = g_malloc(sizeof(*path) + sizeof(site));

	path->n = 1;
	path->addresses[0] = site;
	return path;
}

/* The functions of a path or a call site, innermost first. */
static void add_frames(struct pp_tree *tree, GPtrArray *names, const struct pp_path_use *use)
{
	bool is_sample = use->kind == PP_PATH_CPU || (use->kind == PP_PATH_BLAME && !use->function);
	g_autofree struct pp_path *alone = NULL;
	g_autoptr(GArray) frames = NULL;
	bool with_library;

	if (!use->path && !use->site)
		return;
	alone = use->path ? NULL : path_of_site(use->site);
	frames = pp_path_frames(use->path ?: alone, use->process, tree->context->namer);
	with_library = !pp_path_frames_have_program(frames);
	for (guint i = 0; i < frames->len; i++) {
		const struct pp_path_frame *frame = pp_path_frame_at(frames, i);

		if (is_sample && is_own(tree, use, frame->address)) {
			if (!names->len)
				add_name(tree, names, PP_OWN_CODE);
		} else if (!frame->is_library || with_library)
			add_name(tree, names, frame->function);
	}
}

/* The names from the root on. */
static GPtrArray *names_of(struct pp_tree *tree, const struct pp_path_use *use)
{
	GPtrArray *names = g_ptr_array_new();

	if (use->kind == PP_PATH_WAIT)
		add_name(tree, names, pp_sync_function(use->op));
	else if (use->kind == PP_PATH_CALL)
		add_name(tree, names, pp_io_name(use->op));
	else if (use->function)
		add_name(tree, names, use->function);
	add_frames(tree, names, use);
	if (!use->path && !use->is_whole)
		add_name(tree, names, PP_TREE_NO_PATH);
	for (guint i = 0; !tree->bottom_up && i < names->len / 2; i++) {
		void *name = names->pdata[i];

		names->pdata[i] = names->pdata[names->len - 1 - i];
		names->pdata[names->len - 1 - i] = name;
	}
	return names;
}

static void add_use(struct pp_tree *tree, const struct pp_path_use *use)
{
	g_autoptr(GPtrArray) names = names_of(tree, use);
	struct pp_tree_node *node = tree->all->pdata[0];
	unsigned kind = use->kind == PP_PATH_CPU     ? PP_TREE_CPU
			: use->kind == PP_PATH_CALL  ? PP_TREE_CALLS
			: use->kind == PP_PATH_BLAME ? PP_TREE_BLAME
						     : pp_sync_type(use->op);

	if (tree->unit_of)
		node = child_of(
		    tree, node,
		    unique_name(tree, g_hash_table_lookup(tree->unit_of, use->thread) ?: ""), 1);
	for (guint i = 0, next; i < names->len; i = next) {
		for (next = i + 1; next < names->len && names->pdata[next] == names->pdata[i];)
			next++;
		node = child_of(tree, node, names->pdata[i], next - i);
	}
	node->self.n[kind] += use->n;
	node->self.ns[kind] += use->ns;
	node->self.in_waits_ns += use->in_waits_ns;
}

/* -------------------------------------------------------------------------------------------- */

static void find_units(struct pp_tree *tree, const GPtrArray *uses)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GPtrArray) threads = g_ptr_array_new();

	for (guint i = 0; i < uses->len; i++) {
		const struct pp_path_use *use = uses->pdata[i];

		if (g_hash_table_add(seen, (void *)use->thread))
			g_ptr_array_add(threads, (void *)use->thread);
	}
	tree->units = pp_thread_units(tree->context, threads);
	tree->unit_of = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < tree->units->len; i++) {
		const struct pp_unit *unit = tree->units->pdata[i];

		for (guint t = 0; t < unit->threads->len; t++)
			g_hash_table_insert(tree->unit_of, unit->threads->pdata[t], unit->title);
	}
}

static void add_figures(struct pp_tree_figures *to, const struct pp_tree_figures *from)
{
	for (unsigned kind = 0; kind < PP_TREE_KINDS; kind++) {
		to->n[kind] += from->n[kind];
		to->ns[kind] += from->ns[kind];
	}
	to->in_waits_ns += from->in_waits_ns;
}

/* Most blame first, then longest, then most waits, then by name. */
static gint compare(gconstpointer a, gconstpointer b)
{
	const struct pp_tree_node *x = *(struct pp_tree_node *const *)a;
	const struct pp_tree_node *y = *(struct pp_tree_node *const *)b;
	int64_t of_x = pp_tree_wall_ns(&x->total), of_y = pp_tree_wall_ns(&y->total);
	int64_t blame_of_x = x->total.ns[PP_TREE_BLAME], blame_of_y = y->total.ns[PP_TREE_BLAME];
	uint64_t n_x = pp_tree_waits(&x->total), n_y = pp_tree_waits(&y->total);

	if (blame_of_x != blame_of_y)
		return blame_of_x < blame_of_y ? 1 : -1;
	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	if (n_x != n_y)
		return n_x < n_y ? 1 : -1;
	return g_strcmp0(x->name, y->name);
}

/* A node comes after its parent. */
static void sum_up(struct pp_tree *tree)
{
	for (guint i = tree->all->len; i-- > 0;) {
		struct pp_tree_node *node = tree->all->pdata[i];

		add_figures(&node->total, &node->self);
		if (node->parent)
			add_figures(&node->parent->total, &node->total);
	}
	for (guint i = 0; i < tree->all->len; i++) {
		struct pp_tree_node *node = tree->all->pdata[i];

		if (node->children)
			g_ptr_array_sort(node->children, compare);
	}
}

struct pp_tree *pp_tree_new(const struct pp_pass_context *context, const GPtrArray *uses,
			    bool bottom_up, bool group)
{
	struct pp_tree *tree = g_new0(struct pp_tree, 1);

	tree->context = context;
	tree->bottom_up = bottom_up;
	tree->all = g_ptr_array_new_with_free_func(node_free);
	tree->known = g_hash_table_new(node_hash, node_equal);
	tree->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_ptr_array_add(tree->all, g_new0(struct pp_tree_node, 1));
	if (group)
		find_units(tree, uses);
	for (guint i = 0; i < uses->len; i++)
		add_use(tree, uses->pdata[i]);
	sum_up(tree);
	return tree;
}

void pp_tree_free(struct pp_tree *tree)
{
	if (!tree)
		return;
	g_hash_table_unref(tree->known);
	g_ptr_array_unref(tree->all);
	g_hash_table_unref(tree->names);
	if (tree->units) {
		g_hash_table_unref(tree->unit_of);
		g_ptr_array_unref(tree->units);
	}
	g_free(tree);
}

const struct pp_tree_node *pp_tree_root(const struct pp_tree *tree)
{
	return tree->all->pdata[0];
}

int64_t pp_tree_wait_ns(const struct pp_tree_figures *figures)
{
	int64_t sum_ns = 0;

	for (unsigned kind = 0; kind < PP_N_SYNC_TYPES; kind++)
		sum_ns += figures->ns[kind];
	return sum_ns;
}

int64_t pp_tree_wall_ns(const struct pp_tree_figures *figures)
{
	return pp_tree_wait_ns(figures) + figures->ns[PP_TREE_CALLS] + figures->ns[PP_TREE_CPU] +
	       figures->ns[PP_TREE_BLAME] - figures->in_waits_ns;
}

uint64_t pp_tree_waits(const struct pp_tree_figures *figures)
{
	uint64_t sum = 0;

	for (unsigned kind = 0; kind < PP_N_SYNC_TYPES; kind++)
		sum += figures->n[kind];
	return sum;
}

/* "f", "f (3 times)", "f (2 to 5 times)" */
static void append_node(GString *text, const struct pp_tree_node *node)
{
	g_string_append(text, node->name);
	if (node->most > 1 && node->least == node->most)
		g_string_append_printf(text, " (%u times)", node->most);
	else if (node->most > 1)
		g_string_append_printf(text, " (%u to %u times)", node->least, node->most);
}

char *pp_tree_chain_text(const struct pp_tree *tree, const struct pp_tree_node *node,
			 const struct pp_tree_node *end)
{
	GString *text = g_string_new(NULL);
	g_autoptr(GPtrArray) chain = g_ptr_array_new();

	for (; end != node; end = end->parent)
		g_ptr_array_add(chain, (void *)end);
	append_node(text, node);
	for (guint i = chain->len; i-- > 0;) {
		g_string_append(text, tree->bottom_up ? " < " : " > ");
		append_node(text, chain->pdata[i]);
	}
	return g_string_free(text, FALSE);
}

char *pp_tree_path_text(const struct pp_tree *tree, const struct pp_tree_node *node)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	GString *text = g_string_new(NULL);

	for (; node->parent; node = node->parent)
		g_ptr_array_add(names, (char *)node->name);
	for (guint i = names->len; i-- > 0;)
		g_string_append_printf(text, "%s%s",
				       !text->len	 ? ""
				       : tree->bottom_up ? " < "
							 : " > ",
				       (const char *)names->pdata[i]);
	return g_string_free(text, FALSE);
}

static bool has_figures(const struct pp_tree_figures *figures)
{
	return pp_tree_wait_ns(figures) || pp_tree_waits(figures) || figures->n[PP_TREE_CPU] ||
	       figures->n[PP_TREE_CALLS] || figures->ns[PP_TREE_CALLS] ||
	       figures->n[PP_TREE_BLAME] || figures->ns[PP_TREE_BLAME];
}

static const struct pp_tree_node *chain_end(const struct pp_tree_node *node)
{
	while (node->children && node->children->len == 1 && !has_figures(&node->self))
		node = node->children->pdata[0];
	return node;
}

struct place {
	const struct pp_tree_node *node;
	unsigned depth;
};

static void push_children(GArray *rest, const struct pp_tree_node *node, unsigned depth)
{
	for (guint i = node->children ? node->children->len : 0; i-- > 0;) {
		struct place place = {node->children->pdata[i], depth};

		g_array_append_val(rest, place);
	}
}

void pp_tree_walk_chains(const struct pp_tree *tree,
			 void (*take)(void *data, const struct pp_tree_node *node,
				      const struct pp_tree_node *end, unsigned depth),
			 void *data)
{
	g_autoptr(GArray) rest = g_array_new(FALSE, FALSE, sizeof(struct place));

	push_children(rest, pp_tree_root(tree), 0);
	while (rest->len) {
		struct place at = g_array_index(rest, struct place, rest->len - 1);
		const struct pp_tree_node *end = chain_end(at.node);

		g_array_set_size(rest, rest->len - 1);
		take(data, at.node, end, at.depth);
		push_children(rest, end, at.depth + 1);
	}
}

void pp_tree_walk(const struct pp_tree *tree,
		  void (*take)(void *data, const struct pp_tree_node *node), void *data)
{
	g_autoptr(GPtrArray) rest = g_ptr_array_new();

	g_ptr_array_add(rest, tree->all->pdata[0]);
	while (rest->len) {
		const struct pp_tree_node *node = g_ptr_array_steal_index(rest, rest->len - 1);

		if (node->parent)
			take(data, node);
		for (guint i = node->children ? node->children->len : 0; i-- > 0;)
			g_ptr_array_add(rest, node->children->pdata[i]);
	}
}

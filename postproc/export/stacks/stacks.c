/* SPDX-License-Identifier: MIT */
/* A tree of frames: a stack is a node, found by hash of parent and frame. */
#include "export/stacks/stacks.h"

#include <inttypes.h>
#include <string.h>

#include "core/text/printable.h"
#include "export/exporter.h"
#include "analysis/thread_cells.h"

/* About 150 bytes each. */
#define STACKS_MAX 1000000
#define DEPTH_MAX  1000

/* Size of a cache for repeated calls; a power of two. */
#define SEEN 8192

struct pp_stacks {
	GPtrArray *all;	   /* of struct pp_stack *, the root first */
	GHashTable *known; /* the same stacks, by parent and name */
	GHashTable *names; /* original name -> name as written */
	const char *rest;
	unsigned max;
	struct seen {
		const struct pp_stack *parent;
		const char *name; /* original name */
		struct pp_stack *stack;
	} seen[SEEN];
};

static guint stack_hash(const void *data)
{
	const struct pp_stack *stack = data;

	return g_direct_hash(stack->parent) * 31 ^ g_direct_hash(stack->name);
}

static gboolean stack_equal(const void *a, const void *b)
{
	const struct pp_stack *x = a, *y = b;

	return x->parent == y->parent && x->name == y->name;
}

/* Replaces characters that would end a frame or a line. */
static const char *name_of(struct pp_stacks *stacks, const char *name)
{
	char *written = g_hash_table_lookup(stacks->names, name);

	if (written)
		return written;
	written = g_strdelimit(pp_printable(g_strdup(name)), ";", ':');
	g_hash_table_insert(stacks->names, g_strdup(name), written);
	return written;
}

struct pp_stacks *pp_stacks_new(unsigned max)
{
	struct pp_stacks *stacks = g_new0(struct pp_stacks, 1);

	stacks->all = g_ptr_array_new_with_free_func(g_free);
	stacks->known = g_hash_table_new(stack_hash, stack_equal);
	stacks->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	stacks->max = max ? max : STACKS_MAX;
	stacks->rest = name_of(stacks, PP_STACK_REST);
	g_ptr_array_add(stacks->all, g_new0(struct pp_stack, 1));
	return stacks;
}

void pp_stacks_free(struct pp_stacks *stacks)
{
	if (!stacks)
		return;
	g_hash_table_unref(stacks->known);
	g_hash_table_unref(stacks->names);
	g_ptr_array_unref(stacks->all);
	g_free(stacks);
}

struct pp_stack *pp_stacks_root(const struct pp_stacks *stacks)
{
	return stacks->all->pdata[0];
}

unsigned pp_stacks_n(const struct pp_stacks *stacks)
{
	return stacks->all->len;
}

struct pp_stack *pp_stacks_at(const struct pp_stacks *stacks, unsigned number)
{
	return stacks->all->pdata[number];
}

struct pp_stack *pp_stack_child(struct pp_stacks *stacks, struct pp_stack *parent, const char *name)
{
	struct pp_stack key = {.parent = parent, .depth = parent->depth + 1};
	struct pp_stack *stack;

	if (parent->name == stacks->rest)
		return parent;
	key.name = name_of(stacks, name);
	stack = g_hash_table_lookup(stacks->known, &key);
	if (!stack && (stacks->all->len >= stacks->max || key.depth > DEPTH_MAX)) {
		key.name = stacks->rest;
		stack = g_hash_table_lookup(stacks->known, &key);
	}
	if (stack)
		return stack;
	stack = g_memdup2(&key, sizeof(key));
	stack->first_ns = INT64_MAX;
	stack->first_rank = UINT64_MAX;
	stack->number = stacks->all->len;
	g_ptr_array_add(stacks->all, stack);
	g_hash_table_add(stacks->known, stack);
	return stack;
}

struct pp_stack *pp_stack_call(struct pp_stacks *stacks, struct pp_stack *parent, const char *name)
{
	uintptr_t hash = ((uintptr_t)parent >> 4) * 31 + ((uintptr_t)name >> 4);
	struct seen *seen = &stacks->seen[(hash ^ hash >> 13) % SEEN];

	if (seen->parent != parent || seen->name != name)
		*seen = (struct seen){parent, name, pp_stack_child(stacks, parent, name)};
	return seen->stack;
}

void pp_stacks_forget_names(struct pp_stacks *stacks)
{
	memset(stacks->seen, 0, sizeof(stacks->seen));
}

/* A stack comes after its parent. */
void pp_stacks_join(struct pp_stacks *stacks, const struct pp_stacks *from)
{
	pp_stacks_root(from)->joined = pp_stacks_root(stacks);
	for (guint i = 1; i < from->all->len; i++) {
		struct pp_stack *stack = from->all->pdata[i];

		stack->joined = pp_stack_child(stacks, stack->parent->joined, stack->name);
		stack->joined->value += stack->value;
		pp_stack_seen(stack->joined, stack->first_ns, stack->first_rank);
	}
}

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct pp_stack *x = *(struct pp_stack *const *)a, *y = *(struct pp_stack *const *)b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x->first_rank < y->first_rank ? -1 : x->first_rank > y->first_rank;
}

void pp_stacks_sort(struct pp_stacks *stacks)
{
	pp_stack_seen(pp_stacks_root(stacks), INT64_MIN, 0);
	g_ptr_array_sort(stacks->all, compare);
	for (guint i = 0; i < stacks->all->len; i++)
		pp_stacks_at(stacks, i)->number = i;
}

struct pp_stack *pp_stacks_thread(struct pp_stacks *stacks, const struct pp_thread *thread,
				  bool no_threads)
{
	g_autofree char *title = no_threads ? NULL : pp_thread_title(thread);

	return title ? pp_stack_child(stacks, pp_stacks_root(stacks), title)
		     : pp_stacks_root(stacks);
}

/* Returns the inlined frames at the address, of struct pp_frame, innermost first. */
static GPtrArray *frames_of(const struct pp_namer *namer, const struct pp_process *process,
			    uint64_t address)
{
	return namer->frames ? namer->frames(namer->data, process, address) : NULL;
}

static struct pp_stack *add_function(struct pp_stacks *stacks, struct pp_stack *parent,
				     const struct pp_namer *namer, const struct pp_process *process,
				     uint64_t address)
{
	g_autofree char *name = namer->function(namer->data, process, address);

	return pp_stack_child(stacks, parent, name);
}

struct pp_stack *pp_stack_address(struct pp_stacks *stacks, struct pp_stack *parent,
				  const struct pp_namer *namer, const struct pp_process *process,
				  uint64_t address)
{
	g_autoptr(GPtrArray) frames = frames_of(namer, process, address);

	for (guint i = frames ? frames->len : 0; i-- > 0;)
		parent = pp_stack_child(stacks, parent,
					((const struct pp_frame *)frames->pdata[i])->function);
	return frames ? parent : add_function(stacks, parent, namer, process, address);
}

struct pp_stack *pp_stack_address_reversed(struct pp_stacks *stacks, struct pp_stack *parent,
					   const struct pp_namer *namer,
					   const struct pp_process *process, uint64_t address)
{
	g_autoptr(GPtrArray) frames = frames_of(namer, process, address);

	for (guint i = 0; frames && i < frames->len; i++)
		parent = pp_stack_child(stacks, parent,
					((const struct pp_frame *)frames->pdata[i])->function);
	return frames ? parent : add_function(stacks, parent, namer, process, address);
}

uint64_t pp_stacks_rest(const struct pp_stacks *stacks)
{
	uint64_t rest = 0;

	for (guint i = 0; i < stacks->all->len; i++) {
		const struct pp_stack *stack = stacks->all->pdata[i];

		rest += stack->name == stacks->rest ? stack->value : 0;
	}
	return rest;
}

static void write_frames(const struct pp_stack *stack, struct pp_out *out)
{
	const char *names[DEPTH_MAX + 1];
	unsigned n = 0;

	for (; stack->parent; stack = stack->parent)
		names[n++] = stack->name;
	while (n-- > 0) {
		g_string_append(out->text, names[n]);
		if (n)
			g_string_append_c(out->text, ';');
	}
}

/* Writes the stacks with a weight in order of appearance.  Returns false if there are none. */
static bool write_folded(const struct pp_stacks *stacks, struct pp_out *out)
{
	bool any = false;

	for (guint i = 1; i < stacks->all->len; i++) {
		const struct pp_stack *stack = stacks->all->pdata[i];

		if (!stack->value)
			continue;
		write_frames(stack, out);
		g_string_append_printf(out->text, " %" PRIu64 "\n", stack->value);
		pp_out_flush(out);
		any = true;
	}
	return any;
}

bool pp_export_stacks(const struct pp_export *export, const struct pp_stacks *stacks,
		      const char *unit)
{
	return export->exporter->write_stacks
		   ? export->exporter->write_stacks(stacks, unit, export->out)
		   : write_folded(stacks, export->out);
}

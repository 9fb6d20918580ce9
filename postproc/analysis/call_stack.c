/* SPDX-License-Identifier: MIT */
/*
 * Replays the records of one thread: identifies each function once per address, pushes calls, and
 * pops the calls that a record proves to have ended.
 */
#include "analysis/call_stack.h"

#include <string.h>

/*
 * The maximum depth of the stack.  At this depth, calls are taken for ones that ended without a
 * recorded return.
 */
#define CALLS_MAX 100000

/* A power of two.  Large enough for one thread's functions, small enough for 1,000 threads. */
#define SEEN 256

/* --- functions ------------------------------------------------------------------------------ */

static guint function_hash(gconstpointer key)
{
	const struct pp_function *function = key;

	return g_str_hash(function->name) ^ g_int64_hash(&function->entry) ^ function->is_part;
}

static gboolean function_equal(gconstpointer a, gconstpointer b)
{
	const struct pp_function *x = a, *y = b;

	return x->entry == y->entry && x->is_part == y->is_part && strcmp(x->name, y->name) == 0;
}

static void function_free(void *data)
{
	struct pp_function *function = data;

	g_free(function->name);
	g_free(function);
}

void pp_functions_init(struct pp_functions *functions, const struct pp_namer *namer, GMutex *lock)
{
	*functions = (struct pp_functions){
	    .namer = namer,
	    .lock = lock,
	    .all = g_ptr_array_new_with_free_func(function_free),
	    .by_identity = g_hash_table_new(function_hash, function_equal),
	    .by_process =
		g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref),
	};
}

void pp_functions_done(struct pp_functions *functions)
{
	g_hash_table_unref(functions->by_process);
	g_hash_table_unref(functions->by_identity);
	g_ptr_array_unref(functions->all);
}

/*
 * gcc moves rarely executed code, such as exception handlers, to a .cold part far from its
 * function.
 */
static void join_part(struct pp_function *function)
{
	static const char *const suffixes[] = {".cold", " [clone .cold]"};

	for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		if (!g_str_has_suffix(function->name, suffixes[i]))
			continue;
		function->name[strlen(function->name) - strlen(suffixes[i])] = '\0';
		function->is_part = true;
	}
}

static struct pp_function *identify(struct pp_functions *functions,
				    const struct pp_process *process, uint64_t address)
{
	const struct pp_namer *namer = functions->namer;
	struct pp_function *function = g_new0(struct pp_function, 1), *known;

	function->entry = namer->entry ? namer->entry(namer->data, process, address) : 0;
	function->name = namer->function(namer->data, process, address);
	join_part(function);
	known = g_hash_table_lookup(functions->by_identity, function);
	if (known) {
		function_free(function);
		return known;
	}
	function->number = functions->all->len;
	g_ptr_array_add(functions->all, function);
	g_hash_table_add(functions->by_identity, function);
	return function;
}

static const struct pp_function *look_up(struct pp_functions *functions,
					 const struct pp_process *process, uint64_t address)
{
	GHashTable *addresses = g_hash_table_lookup(functions->by_process, process);
	struct pp_function *function;

	if (!addresses) {
		addresses = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
		g_hash_table_insert(functions->by_process, (void *)process, addresses);
	}
	function = g_hash_table_lookup(addresses, &address);
	if (!function) {
		function = identify(functions, process, address);
		g_hash_table_insert(addresses, g_memdup2(&address, sizeof(address)), function);
	}
	return function;
}

/* The function that contains the address. */
static const struct pp_function *function_at(const struct pp_call_stack *stack,
					     const struct pp_process *process, uint64_t address)
{
	struct pp_function_seen *seen = &stack->seen[address % SEEN];

	if (seen->address != address || seen->process != process) {
		g_mutex_lock(stack->functions->lock);
		*seen = (struct pp_function_seen){process, address,
						  look_up(stack->functions, process, address)};
		g_mutex_unlock(stack->functions->lock);
	}
	return seen->function;
}

static bool is_same(const struct pp_function *a, const struct pp_function *b)
{
	return a == b || ((a->is_part || b->is_part) && strcmp(a->name, b->name) == 0);
}

/* --- calls ---------------------------------------------------------------------------------- */

void pp_call_stack_init(struct pp_call_stack *stack, struct pp_functions *functions,
			bool has_returns)
{
	*stack = (struct pp_call_stack){
	    .functions = functions,
	    .has_returns = has_returns,
	    .seen = g_new0(struct pp_function_seen, SEEN),
	};
}

void pp_call_stack_done(struct pp_call_stack *stack)
{
	g_free(stack->seen);
	g_free(stack->calls);
}

static guint find(const struct pp_call_stack *stack, const struct pp_function *function)
{
	guint depth = stack->n;

	while (depth > 0 && !is_same(pp_call_at(stack, depth - 1)->function, function))
		depth--;
	return depth;
}

guint pp_call_stack_holding(const struct pp_call_stack *stack, const struct pp_process *process,
			    uint64_t address)
{
	return find(stack, function_at(stack, process, address));
}

guint pp_call_stack_callers(struct pp_call_stack *stack, const struct pp_event *call)
{
	const struct pp_function *caller =
	    function_at(stack, call->thread->process, call->call.from);
	guint n = stack->n, depth = find(stack, caller);

	stack->from = call->call.from;
	stack->caller = caller;
	if (depth > 0 || (stack->has_returns && n < CALLS_MAX))
		return depth > 0 ? depth : n;
	for (depth = n; depth > 0; depth--) {
		const struct pp_call *other = pp_call_at(stack, depth - 1);

		if (other->caller && is_same(other->caller, caller))
			return depth - 1;
	}
	return n;
}

/* A return records only the low 24 bits of an address. */
guint pp_call_stack_returning(const struct pp_call_stack *stack, const struct pp_event *event)
{
	for (guint depth = stack->n; depth > 0; depth--) {
		const struct pp_call *call = pp_call_at(stack, depth - 1);
		int64_t distance = (int64_t)((event->call.self - call->self) << 40) >> 40;
		uint64_t address = call->self + (uint64_t)distance;

		if (is_same(function_at(stack, event->thread->process, address), call->function))
			return depth;
	}
	return 0;
}

/* Links the outermost call of each function on the stack to the next such call further out. */
static void link_outermost(const struct pp_call_stack *stack, struct pp_call *call)
{
	guint n = stack->n;
	const struct pp_call *last = n ? pp_call_at(stack, n - 1) : NULL;

	if (last)
		call->outermost_before = last->is_outermost ? n : last->outermost_before;
	call->is_outermost = true;
	for (guint i = call->outermost_before; i && call->is_outermost;
	     i = pp_call_at(stack, i - 1)->outermost_before)
		call->is_outermost = pp_call_at(stack, i - 1)->function != call->function;
}

static const struct pp_function *caller_at(const struct pp_call_stack *stack,
					   const struct pp_process *process, uint64_t from)
{
	if (!from)
		return NULL;
	return from == stack->from ? stack->caller : function_at(stack, process, from);
}

void pp_call_stack_push(struct pp_call_stack *stack, const struct pp_process *process,
			uint64_t self, uint64_t from, int64_t now_ns)
{
	struct pp_call *call;

	if (stack->n == stack->n_max) {
		stack->n_max = MAX(32, 2 * stack->n_max);
		stack->calls = g_renew(struct pp_call, stack->calls, stack->n_max);
	}
	/* Filled in place, since this runs for each call. */
	call = pp_call_at(stack, stack->n);
	call->function = function_at(stack, process, self);
	call->caller = caller_at(stack, process, from);
	call->self = self;
	call->start_ns = now_ns;
	call->counted_ns = now_ns;
	call->own_ns = 0;
	call->is_outermost = false;
	call->outermost_before = 0;
	if (stack->links_outermost)
		link_outermost(stack, call);
	stack->n++;
}

/* SPDX-License-Identifier: MIT */
/*
 * Both ways of each branch are followed.  Jumps are followed wherever they lead: what is no way
 * back to an exit does not matter.  So do the instructions behind a call that does not return: they
 * may add paths, which can only keep more instructions inside.
 */
#include "flow/code.h"

#include "symbols/instruction.h"

/* Longer sections, or functions that they call, are left out. */
#define MAX_NODES 20000u

struct reading {
	const struct pp_flow_code *code;
	struct pp_flow *flow;
	GHashTable *numbers; /* address -> number of the node + 1 */
};

/* --- instructions ----------------------------------------------------------------------------- */

static bool decode(const struct pp_text_bytes *text, uint64_t address, struct pp_instruction *ret)
{
	uint64_t offset = address - text->start;

	return offset < text->n &&
	       pp_instruction_decode(text->bytes + offset, text->n - offset, address, ret);
}

static bool has(GHashTable *set, uint64_t address)
{
	return g_hash_table_contains(set, &address);
}

/*
 * Adds the addresses of `set` from behind the instruction's first byte to its end to `found`, which
 * may be NULL.  Returns false if there are none.
 */
static bool find_in(GHashTable *set, uint64_t address, unsigned len_bytes, GHashTable *found)
{
	bool is_any = false;

	for (uint64_t at = address + 1; at <= address + len_bytes; at++) {
		if (!has(set, at))
			continue;
		is_any = true;
		if (found)
			g_hash_table_add(found, g_memdup2(&at, sizeof(at)));
	}
	return is_any;
}

/* The node at the address, which is added if there is none. */
static uint32_t node_at(struct reading *self, uint64_t address)
{
	void *known = g_hash_table_lookup(self->numbers, &address);
	struct pp_flow_node new = {.address = address, .next = {PP_FLOW_NONE, PP_FLOW_NONE}};

	if (known)
		return GPOINTER_TO_UINT(known) - 1;
	g_array_append_val(self->flow->nodes, new);
	g_hash_table_insert(self->numbers, g_memdup2(&address, sizeof(address)),
			    GUINT_TO_POINTER(self->flow->nodes->len));
	return self->flow->nodes->len - 1;
}

/* Sets the nodes that follow the instruction.  Returns false if they are not known. */
static bool set_next(struct reading *self, uint32_t number, const struct pp_instruction *of,
		     uint64_t behind)
{
	uint32_t next[2] = {PP_FLOW_NONE, PP_FLOW_NONE};

	switch (of->kind) {
	case PP_INSTRUCTION_RETURN:
		return true;
	case PP_INSTRUCTION_JUMP:
		if (!of->target)
			return false;
		next[0] = node_at(self, of->target);
		break;
	case PP_INSTRUCTION_BRANCH:
		next[0] = node_at(self, behind);
		next[1] = of->target ? node_at(self, of->target) : PP_FLOW_NONE;
		break;
	default:
		next[0] = node_at(self, behind);
	}
	pp_flow_at(self->flow, number)->next[0] = next[0];
	pp_flow_at(self->flow, number)->next[1] = next[1];
	return true;
}

/* Returns false if an indirect jump ends the path. */
static bool read_node(struct reading *self, uint32_t number)
{
	const struct pp_flow_code *code = self->code;
	struct pp_flow_node *node = pp_flow_at(self->flow, number);
	struct pp_instruction instruction;
	uint64_t behind;

	if (!decode(&code->text, node->address, &instruction))
		return true;
	behind = node->address + instruction.len_bytes;
	node->len_bytes = (uint8_t)instruction.len_bytes;
	node->is_call = instruction.kind == PP_INSTRUCTION_CALL;
	node->target = node->is_call ? instruction.target : 0;
	node->is_exit = has(code->exits, behind);
	node->stays = find_in(code->staying, node->address, instruction.len_bytes, NULL);
	node->is_seen =
	    node->is_exit || find_in(code->seen, node->address, instruction.len_bytes, NULL);
	return node->is_exit || set_next(self, number, &instruction, behind);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Code that is called, directly or indirectly. */
struct callee {
	const struct pp_flow_code *code;
	GHashTable *visited;	      /* set of addresses */
	GArray *todo;		      /* of uint64_t */
	bool is_whole;		      /* all of it is known */
	GHashTable *outside, *called; /* pp_flow_callees(); NULL: not wanted */
};

static void visit(struct callee *self, uint64_t address)
{
	if (!address || has(self->visited, address))
		return;
	g_hash_table_add(self->visited, g_memdup2(&address, sizeof(address)));
	g_array_append_val(self->todo, address);
}

static void add_address(GHashTable *to, uint64_t address)
{
	if (to)
		g_hash_table_add(to, g_memdup2(&address, sizeof(address)));
}

/* Notes the target of the instruction at the address, if it is a call or a jump. */
static void note_target(struct callee *self, uint64_t address, const struct pp_instruction *of)
{
	if (of->kind != PP_INSTRUCTION_CALL && of->kind != PP_INSTRUCTION_JUMP)
		return;
	if (!of->target || of->target - self->code->text.start >= self->code->text.n)
		add_address(self->outside, address);
	else if (of->kind == PP_INSTRUCTION_CALL)
		add_address(self->called, of->target);
}

/* Adds the return addresses in code that the call leads to, which stay, to `found`. */
static void follow(struct callee *self, GHashTable *found)
{
	for (guint i = 0; i < self->todo->len && i < MAX_NODES; i++) {
		uint64_t address = g_array_index(self->todo, uint64_t, i);
		struct pp_instruction of;
		uint64_t behind;

		if (!decode(&self->code->text, address, &of)) {
			self->is_whole = false;
			continue;
		}
		behind = address + of.len_bytes;
		note_target(self, address, &of);
		find_in(self->code->staying, address, of.len_bytes, found);
		if (of.kind == PP_INSTRUCTION_CALL || of.kind == PP_INSTRUCTION_JUMP ||
		    of.kind == PP_INSTRUCTION_BRANCH)
			visit(self, of.target);
		if (of.kind != PP_INSTRUCTION_JUMP && of.kind != PP_INSTRUCTION_RETURN)
			visit(self, behind);
		self->is_whole &=
		    of.target || (of.kind != PP_INSTRUCTION_CALL && of.kind != PP_INSTRUCTION_JUMP);
	}
	self->is_whole &= self->todo->len <= MAX_NODES;
}

static GHashTable *addresses_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

/*
 * Does the call at the node lead to something that stays?  Adds what it surely leads to to `found`.
 * A call of code that is not known as a whole may lead to anything.
 */
static bool leads_to_staying(const struct pp_flow_code *code, const struct pp_flow_node *node,
			     GHashTable *found)
{
	struct callee callee = {.code = code,
				.visited = addresses_new(),
				.todo = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
				.is_whole = node->target != 0};
	g_autoptr(GHashTable) here = addresses_new();
	GHashTableIter at;
	void *address;

	visit(&callee, node->target);
	follow(&callee, here);
	g_hash_table_iter_init(&at, here);
	while (g_hash_table_iter_next(&at, &address, NULL))
		g_hash_table_add(found, g_memdup2(address, sizeof(uint64_t)));
	g_hash_table_unref(callee.visited);
	g_array_unref(callee.todo);
	return g_hash_table_size(here) || !callee.is_whole;
}

/*
 * Finds code that stays and is not in `found`: the section calls it, so it is in none of its nodes.
 */
static bool find_outside(const struct reading *self, GHashTable *found, uint64_t *ret_address)
{
	GHashTableIter at;
	void *address;

	g_hash_table_iter_init(&at, self->code->staying);
	while (g_hash_table_iter_next(&at, &address, NULL))
		if (!g_hash_table_contains(found, address)) {
			*ret_address = *(const uint64_t *)address;
			return true;
		}
	return false;
}

static const char *mark_calls(struct reading *self, uint64_t *ret_address)
{
	g_autoptr(GHashTable) found = addresses_new();

	for (uint32_t i = 0; i < self->flow->nodes->len; i++) {
		const struct pp_flow_node *node = pp_flow_at(self->flow, i);

		find_in(self->code->staying, node->address, node->len_bytes, found);
	}
	if (!find_outside(self, found, ret_address) && !self->code->frees)
		return NULL;
	for (uint32_t i = 0; i < self->flow->nodes->len; i++) {
		struct pp_flow_node *node = pp_flow_at(self->flow, i);

		if (node->is_call && !node->is_exit && !node->stays)
			node->stays = leads_to_staying(self->code, node, found);
	}
	return find_outside(self, found, ret_address)
		   ? "code that no call of the section leads to directly"
		   : NULL;
}

/* ---------------------------------------------------------------------------------------------- */

const char *pp_flow_read(struct pp_flow *flow, const struct pp_flow_code *code,
			 uint64_t *ret_address)
{
	struct reading self = {code, flow,
			       g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
	const char *why = NULL;

	*ret_address = code->entry;
	node_at(&self, code->entry);
	for (uint32_t i = 0; i < flow->nodes->len && !why; i++) {
		if (i >= MAX_NODES)
			why = "too many instructions";
		else if (!read_node(&self, i)) {
			*ret_address = pp_flow_at(flow, i)->address + 1;
			why = "a jump to a computed address";
		}
	}
	if (!why && !pp_flow_at(flow, 0)->len_bytes)
		why = "machine code that cannot be decoded";
	if (!why)
		why = mark_calls(&self, ret_address);
	g_hash_table_unref(self.numbers);
	return why;
}

void pp_flow_callees(const struct pp_flow_code *code, const struct pp_flow_node *node,
		     GHashTable *outside, GHashTable *called)
{
	struct callee callee = {.code = code,
				.visited = addresses_new(),
				.todo = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
				.outside = outside,
				.called = called};
	struct pp_instruction of;

	if (decode(&code->text, node->address, &of))
		note_target(&callee, node->address, &of);
	visit(&callee, node->target);
	follow(&callee, NULL);
	g_hash_table_unref(callee.visited);
	g_array_unref(callee.todo);
}

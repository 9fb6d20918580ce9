/* SPDX-License-Identifier: MIT */
/*
 * A small interpreter: it knows which registers and places on the stack hold the pointer, and to
 * which types other registers point.  The pointer's type is that of a variable which holds it, of
 * the place in memory to which it is stored, of the function that returns it, or of the class whose
 * constructor gets it.
 *
 * It begins with the instructions before the call, which often compute the address to which the
 * pointer will be stored.
 *
 * Both ways of a branch are followed, except where the pointer is NULL, and only a few calls are
 * passed: code behind a call that does not return has nothing to do with the pointer.
 */
#include "symbols/returned.h"

#include <dwarf.h>
#include <string.h>

#include "symbols/instruction.h"
#include "symbols/type_parts.h"

#define STEPS_MAX 96u
#define PATHS_MAX 8u
#define SLOTS_MAX 4u
#define CALLS_MAX 4u
/* Instructions from the function's first one to the call. */
#define BEFORE_MAX 4096u

/* The place that a register points to, apart from the pointer itself. */
struct target {
	bool is_known;
	bool is_indexed; /* an unknown number of elements further */
	struct pp_type_part part;
};

struct path {
	Dwarf_Addr pc;
	uint32_t holders; /* registers with the pointer, as bits */
	int64_t slots[SLOTS_MAX];
	unsigned n_slots, n_calls;
	bool is_tested; /* the last instruction tested whether the pointer is NULL */
	struct target targets[PP_N_REGISTERS];
};

struct walk {
	const struct pp_returned *returned;
	struct path paths[PATHS_MAX];
	unsigned n_paths, n_steps;
	Dwarf_Addr seen[STEPS_MAX];
};

/* --- types ------------------------------------------------------------------------------------ */

bool pp_pointee_of(const Dwarf_Die *pointer, Dwarf_Die *ret_type)
{
	Dwarf_Die type = *pointer, peeled;

	if (dwarf_peel_type(&type, &peeled) != 0)
		return false;
	switch (dwarf_tag(&peeled)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		*ret_type = peeled;
		return pp_type_of(ret_type);
	default:
		return false;
	}
}

/* The pointer is an object of this type. */
static void report(const struct pp_returned *returned, const Dwarf_Die *type)
{
	Dwarf_Die pointee;

	if (pp_pointee_of(type, &pointee))
		returned->found(returned->data, &pointee);
}

static void on_holder(void *data, const Dwarf_Die *type)
{
	report(data, type);
}

static void on_slot(void *data, const Dwarf_Die *type, uint64_t offset)
{
	if (offset == 0)
		report(data, type);
}

/* A variable's type, in the first one that is found. */
static void take_pointer(void *data, const Dwarf_Die *type)
{
	struct target *target = data;

	if (!target->is_known && pp_pointee_of(type, &target->part.type))
		target->is_known = true;
}

static void take_variable(void *data, const Dwarf_Die *type, uint64_t offset)
{
	struct target *target = data;

	if (target->is_known)
		return;
	target->is_known = true;
	target->part = (struct pp_type_part){*type, offset};
}

/* --- places in memory ------------------------------------------------------------------------- */

static void add_offset(struct target *target, int64_t offset, bool is_indexed)
{
	target->part.offset += (Dwarf_Word)offset;
	target->is_indexed |= is_indexed;
}

/* Returns the place at the operand's address. */
static struct target target_at(const struct walk *walk, const struct path *path,
			       const struct pp_memory_operand *memory)
{
	const struct pp_returned *returned = walk->returned;
	bool is_indexed = memory->index >= 0;
	struct target target = {0};
	int64_t slot;

	if (memory->base < 0) {
		target.is_known = returned->variable(returned->data, (Dwarf_Addr)memory->offset,
						     &target.part.type, &target.part.offset);
		target.is_indexed = is_indexed;
		return target;
	}
	if (path->targets[memory->base].is_known) {
		target = path->targets[memory->base];
		add_offset(&target, memory->offset, is_indexed);
		return target;
	}
	if (is_indexed && path->targets[memory->index].is_known) {
		target = path->targets[memory->index];
		add_offset(&target, memory->offset, true);
		return target;
	}
	if (pp_frame_slot(&returned->code, path->pc, memory->base, memory->offset, &slot)) {
		pp_frame_stack(&returned->code, path->pc, slot, take_variable, &target);
		target.is_indexed = is_indexed;
		return target;
	}
	pp_frame_register(&returned->code, path->pc, memory->base, take_pointer, &target);
	if (target.is_known)
		add_offset(&target, memory->offset, is_indexed);
	return target;
}

/* The type of the word at the target.  Returns false if it is not known. */
static bool word_at(const struct target *target, Dwarf_Die *ret_type)
{
	struct pp_type_part part = target->part;
	g_autoptr(GString) unused = g_string_new(NULL);
	Dwarf_Word n_bytes;

	if (!target->is_known || dwarf_aggregate_size(&part.type, &n_bytes) != 0 || n_bytes == 0)
		return false;
	if (target->is_indexed)
		part.offset %= n_bytes;
	if (part.offset >= n_bytes)
		return false;
	pp_type_enter(&part, unused);
	*ret_type = part.type;
	return part.offset == 0;
}

/* Returns the index of the slot at the operand's address; n_slots: the pointer is not there. */
static unsigned find_slot(const struct walk *walk, const struct path *path,
			  const struct pp_memory_operand *memory, int64_t *ret_slot)
{
	unsigned at = 0;

	*ret_slot = INT64_MAX;
	if (memory->base < 0 || memory->index >= 0 ||
	    !pp_frame_slot(&walk->returned->code, path->pc, memory->base, memory->offset, ret_slot))
		return path->n_slots;
	while (at < path->n_slots && path->slots[at] != *ret_slot)
		at++;
	return at;
}

/* --- instructions ----------------------------------------------------------------------------- */

static void forget_register(struct path *path, int number)
{
	path->holders &= ~(1u << number);
	path->targets[number].is_known = false;
}

static void forget_registers(struct path *path, uint32_t numbers)
{
	for (int i = 0; i < PP_N_REGISTERS; i++)
		if (numbers & 1u << i)
			forget_register(path, i);
}

static bool holds(const struct path *path, int number)
{
	return number >= 0 && (path->holders & 1u << number) != 0;
}

static void move(struct path *path, int to, int from)
{
	bool is_pointer = holds(path, from);
	struct target target = path->targets[from];

	forget_register(path, to);
	path->targets[to] = target;
	path->holders |= is_pointer ? 1u << to : 0;
}

static void load(const struct walk *walk, struct path *path, const struct pp_instruction *at)
{
	int64_t slot;
	bool is_pointer = find_slot(walk, path, &at->memory, &slot) < path->n_slots;
	struct target memory = target_at(walk, path, &at->memory), target = {0};
	Dwarf_Die type;

	target.is_known = word_at(&memory, &type) && pp_pointee_of(&type, &target.part.type);
	forget_register(path, at->to);
	if (is_pointer)
		path->holders |= 1u << at->to;
	else
		path->targets[at->to] = target;
}

static void store(const struct walk *walk, struct path *path, const struct pp_instruction *at)
{
	int64_t slot;
	unsigned found = find_slot(walk, path, &at->memory, &slot);
	struct target target;
	Dwarf_Die type;

	if (!holds(path, at->from)) {
		if (found < path->n_slots)
			path->slots[found] = path->slots[--path->n_slots];
		return;
	}
	target = target_at(walk, path, &at->memory);
	if (word_at(&target, &type))
		report(walk->returned, &type);
	if (slot != INT64_MAX && found == path->n_slots && path->n_slots < SLOTS_MAX)
		path->slots[path->n_slots++] = slot;
}

static void take_address(const struct walk *walk, struct path *path,
			 const struct pp_instruction *at)
{
	struct target target = target_at(walk, path, &at->memory);

	forget_register(path, at->to);
	path->targets[at->to] = target;
}

/* An array's address plus an offset is the address of an element, whose number is not known. */
static void add(struct path *path, const struct pp_instruction *at)
{
	struct target sum = path->targets[at->to];

	if (at->from >= 0 && !sum.is_known)
		sum = path->targets[at->from];
	else if (at->from >= 0 && path->targets[at->from].is_known)
		sum.is_known = false;
	add_offset(&sum, at->number, at->from >= 0);
	forget_register(path, at->to);
	path->targets[at->to] = sum;
}

/* True if the function is a constructor: its name is that of the class, without arguments. */
static bool is_constructor(Dwarf_Die *function, Dwarf_Die *class)
{
	const char *name = dwarf_diename(function), *of_class = dwarf_diename(class);
	size_t len = name ? strlen(name) : 0;

	return len != 0 && of_class && strncmp(name, of_class, len) == 0 &&
	       (of_class[len] == '\0' || of_class[len] == '<');
}

/* A constructor that gets the pointer tells its class. */
static void call(const struct walk *walk, const struct path *path, Dwarf_Addr target)
{
	const struct pp_returned *returned = walk->returned;
	Dwarf_Die function, first, type;
	Dwarf_Attribute artificial;
	bool is_this;

	if (!holds(path, PP_RDI) || target == 0 ||
	    !returned->function(returned->data, target, &function) ||
	    dwarf_child(&function, &first) != 0 || dwarf_tag(&first) != DW_TAG_formal_parameter)
		return;
	type = first;
	if (dwarf_formflag(dwarf_attr_integrate(&first, DW_AT_artificial, &artificial), &is_this) ==
		0 &&
	    is_this && pp_type_of(&type) && pp_pointee_of(&type, &first) &&
	    is_constructor(&function, &first))
		returned->found(returned->data, &first);
}

static void test(const struct walk *walk, struct path *path, const struct pp_instruction *at)
{
	int64_t slot;

	path->is_tested = at->from >= 0 ? holds(path, at->from)
					: find_slot(walk, path, &at->memory, &slot) < path->n_slots;
}

static void other(const struct walk *walk, struct path *path, const struct pp_instruction *at)
{
	int64_t slot;
	unsigned found = at->has_memory ? find_slot(walk, path, &at->memory, &slot) : path->n_slots;

	if (found < path->n_slots)
		path->slots[found] = path->slots[--path->n_slots];
	forget_registers(path, at->written);
}

/* --- paths ------------------------------------------------------------------------------------ */

static void add_path(struct walk *walk, const struct path *path, Dwarf_Addr pc)
{
	Dwarf_Die function = walk->returned->code.function;

	if (walk->n_paths == PATHS_MAX || dwarf_haspc(&function, pc) <= 0)
		return;
	walk->paths[walk->n_paths] = *path;
	walk->paths[walk->n_paths++].pc = pc;
}

static void look_at_variables(const struct walk *walk, const struct path *path)
{
	const struct pp_returned *returned = walk->returned;

	for (int i = 0; i < PP_N_REGISTERS; i++)
		if (holds(path, i))
			pp_frame_register(&returned->code, path->pc, i, on_holder,
					  (void *)returned);
	for (unsigned i = 0; i < path->n_slots; i++)
		pp_frame_stack(&returned->code, path->pc, path->slots[i], on_slot,
			       (void *)returned);
}

/* Executes an instruction that does not jump. */
static void execute(const struct walk *walk, struct path *path, const struct pp_instruction *at)
{
	switch (at->kind) {
	case PP_INSTRUCTION_MOVE:
		move(path, at->to, at->from);
		break;
	case PP_INSTRUCTION_LOAD:
		load(walk, path, at);
		break;
	case PP_INSTRUCTION_STORE:
		store(walk, path, at);
		break;
	case PP_INSTRUCTION_ADDRESS:
		take_address(walk, path, at);
		break;
	case PP_INSTRUCTION_ADD:
		add(path, at);
		break;
	case PP_INSTRUCTION_TEST:
		test(walk, path, at);
		break;
	case PP_INSTRUCTION_CALL:
		call(walk, path, at->target);
		forget_registers(path, PP_REGISTERS_LOST_BY_CALLS);
		path->n_calls++;
		break;
	default:
		other(walk, path, at);
		break;
	}
}

/* Executes the instruction.  Returns false if the path ends with it. */
static bool step(struct walk *walk, struct path *path, const struct pp_instruction *at)
{
	bool was_tested = path->is_tested;
	Dwarf_Die type = walk->returned->code.function;

	path->is_tested = false;
	switch (at->kind) {
	case PP_INSTRUCTION_JUMP:
		call(walk, path, at->target);
		add_path(walk, path, at->target);
		return false;
	case PP_INSTRUCTION_BRANCH:
		if (!was_tested || at->branch != PP_BRANCH_IF_ZERO)
			add_path(walk, path, at->target);
		if (was_tested && at->branch == PP_BRANCH_UNLESS_ZERO)
			return false;
		break;
	case PP_INSTRUCTION_RETURN:
		if (holds(path, PP_RAX) && pp_type_of(&type))
			report(walk->returned, &type);
		return false;
	default:
		execute(walk, path, at);
		break;
	}
	path->pc += at->len_bytes;
	return path->n_calls <= CALLS_MAX && (path->holders != 0 || path->n_slots != 0);
}

static bool is_new(struct walk *walk, Dwarf_Addr pc)
{
	for (unsigned i = 0; i < walk->n_steps; i++)
		if (walk->seen[i] == pc)
			return false;
	walk->seen[walk->n_steps++] = pc;
	return true;
}

static bool decode(const struct pp_returned *returned, Dwarf_Addr pc, struct pp_instruction *ret)
{
	Dwarf_Addr offset = pc - returned->bytes_start;

	return offset < returned->n_bytes &&
	       pp_instruction_decode(returned->bytes + offset, returned->n_bytes - offset, pc, ret);
}

static void follow(struct walk *walk, struct path *path)
{
	struct pp_instruction at;

	while (walk->n_steps < STEPS_MAX && is_new(walk, path->pc)) {
		look_at_variables(walk, path);
		if (!decode(walk->returned, path->pc, &at) || !step(walk, path, &at))
			return;
	}
}

/* --- before the call -------------------------------------------------------------------------- */

/*
 * The first of the instructions that lead to the call at `pc` without a jump: branches before the
 * call may be taken or not, and are not taken here.  `pc` if that is not known.
 */
static Dwarf_Addr find_first(const struct pp_returned *returned, Dwarf_Addr pc)
{
	Dwarf_Die function = returned->code.function;
	Dwarf_Addr first, at;
	struct pp_instruction instruction;

	if (dwarf_entrypc(&function, &first) != 0)
		return pc;
	at = first;
	for (unsigned i = 0; at < pc; i++) {
		if (i == BEFORE_MAX || !decode(returned, at, &instruction))
			return pc;
		at += instruction.len_bytes;
		if (instruction.kind == PP_INSTRUCTION_JUMP ||
		    instruction.kind == PP_INSTRUCTION_RETURN)
			first = at;
	}
	return at == pc ? first : pc;
}

static void prepare(const struct walk *walk, struct path *path, Dwarf_Addr pc)
{
	struct pp_instruction at;

	path->pc = find_first(walk->returned, pc);
	while (path->pc < pc && decode(walk->returned, path->pc, &at)) {
		execute(walk, path, &at);
		path->pc += at.len_bytes;
	}
}

void pp_returned_follow(const struct pp_returned *returned, Dwarf_Addr pc)
{
	struct walk walk = {.returned = returned};
	struct path begin = {0};

	prepare(&walk, &begin, pc);
	begin.holders = 1u << PP_RAX;
	begin.n_calls = 0;
	add_path(&walk, &begin, pc);
	while (walk.n_paths > 0) {
		struct path path = walk.paths[--walk.n_paths];

		follow(&walk, &path);
	}
}

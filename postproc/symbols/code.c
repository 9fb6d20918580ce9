/* SPDX-License-Identifier: MIT */
/*
 * Indexes the address ranges of compilation units, and walks the tree of a unit once, when its
 * first address is looked up.
 */
#include "symbols/code.h"

#include <limits.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "symbols/local_name.h"
#include "symbols/ranges.h"
#include "symbols/wrapper.h"

/* No compiler nests deeper; damaged data may contain cycles. */
#define MAX_DEPTH 256

struct unit {
	Dwarf_Die die;
	Dwarf_Die tree; /* the unit's tree, or that of its .dwo file */
	bool is_open, is_deep;
	GArray *functions;  /* of Dwarf_Die */
	GHashTable *locals; /* of functions without a linkage name: offset -> scope */
	struct pp_ranges ranges;
};

struct pp_code {
	Dwfl_Module *module;
	bool is_open;
	Dwarf_Addr bias;
	GArray *units; /* of struct unit */
	struct pp_ranges ranges;
	bool has_split;
	GStringChunk *names; /* of functions, and scopes */
	GHashTable *classes; /* for pp_local_name() */
};

static void unit_clear(void *data)
{
	struct unit *unit = data;

	g_clear_pointer(&unit->functions, g_array_unref);
	g_clear_pointer(&unit->locals, g_hash_table_unref);
	pp_ranges_done(&unit->ranges);
}

struct pp_code *pp_code_new(Dwfl_Module *module)
{
	struct pp_code *code = g_new0(struct pp_code, 1);

	code->module = module;
	code->names = g_string_chunk_new(1024);
	code->classes = pp_local_name_classes();
	code->units = g_array_new(FALSE, TRUE, sizeof(struct unit));
	g_array_set_clear_func(code->units, unit_clear);
	pp_ranges_init(&code->ranges);
	return code;
}

void pp_code_free(struct pp_code *code)
{
	if (!code)
		return;
	g_array_unref(code->units);
	pp_ranges_done(&code->ranges);
	g_string_chunk_free(code->names);
	g_hash_table_unref(code->classes);
	g_free(code);
}

static void add_ranges(struct pp_ranges *ranges, Dwarf_Die *die, uint32_t number)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	/* Ranges of code that the linker removed begin at 0 or 1, where there is no code. */
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start > 1)
			pp_ranges_add(ranges, start, end, number);
}

static void find_units(struct pp_code *code)
{
	Dwarf *dwarf = dwfl_module_getdwarf(code->module, &code->bias);
	Dwarf_CU *cu = NULL;
	struct unit unit = {0};
	uint8_t kind;

	code->is_open = true;
	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, &kind, &unit.die, NULL) == 0) {
		if (kind != DW_UT_compile && kind != DW_UT_skeleton)
			continue;
		add_ranges(&code->ranges, &unit.die, code->units->len);
		g_array_append_val(code->units, unit);
	}
	pp_ranges_sort(&code->ranges);
}

/* `is_deep`: also search for nested functions, which few units have and which take long to find. */
static bool may_hold_functions(int tag, bool is_deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		return is_deep;
	default:
		return false;
	}
}

static void add_function(struct unit *unit, Dwarf_Die *die)
{
	/* Skip declarations, which are the majority. */
	if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
		return;
	add_ranges(&unit->ranges, die, unit->functions->len);
	g_array_append_val(unit->functions, *die);
}

/* The state of a walk; `scope` is NULL within a scope without a name. */
struct walk {
	struct unit *unit;
	GStringChunk *names;
	GString *scope;
};

static void note_local(const struct walk *walk, Dwarf_Die *die)
{
	if (!walk->scope || !pp_local_name_is_missing(die))
		return;
	g_hash_table_insert(walk->unit->locals, GSIZE_TO_POINTER(dwarf_dieoffset(die)),
			    g_string_chunk_insert_const(walk->names, walk->scope->str));
}

static void walk_children(const struct walk *walk, Dwarf_Die *parent, unsigned depth);

static void walk_into(const struct walk *walk, Dwarf_Die *die, unsigned depth)
{
	struct walk inner = *walk;
	gsize len = walk->scope ? walk->scope->len : 0;
	int tag = dwarf_tag(die);

	if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
	    tag == DW_TAG_inlined_subroutine ||
	    (inner.scope && !pp_local_name_add_scope(inner.scope, die)))
		inner.scope = NULL;
	walk_children(&inner, die, depth);
	if (walk->scope)
		g_string_truncate(walk->scope, len);
}

static void walk_children(const struct walk *walk, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int more = depth < MAX_DEPTH ? dwarf_child(parent, &die) : 1;

	for (; more == 0; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram) {
			add_function(walk->unit, &die);
			note_local(walk, &die);
		}
		if (may_hold_functions(tag, walk->unit->is_deep))
			walk_into(walk, &die, depth + 1);
	}
}

static void find_functions(struct pp_code *code, struct unit *unit, bool is_deep)
{
	g_autoptr(GString) scope = g_string_new(NULL);
	const struct walk walk = {unit, code->names, scope};

	g_clear_pointer(&unit->functions, g_array_unref);
	g_clear_pointer(&unit->locals, g_hash_table_unref);
	pp_ranges_done(&unit->ranges);
	unit->functions = g_array_new(FALSE, FALSE, sizeof(Dwarf_Die));
	pp_ranges_init(&unit->ranges);
	unit->locals = g_hash_table_new(NULL, NULL);
	unit->is_deep = is_deep;
	walk_children(&walk, &unit->tree, 0);
	pp_ranges_sort(&unit->ranges);
}

static void open_unit(struct pp_code *code, struct unit *unit)
{
	uint8_t kind;
	Dwarf_Die split;

	unit->is_open = true;
	unit->tree = unit->die;
	if (dwarf_cu_info(unit->die.cu, NULL, &kind, NULL, &split, NULL, NULL, NULL) == 0 &&
	    kind == DW_UT_skeleton) {
		code->has_split = true;
		if (split.addr)
			unit->tree = split;
	}
	find_functions(code, unit, false);
}

/* NULL if no function is known to contain the address. */
static Dwarf_Die *find_function(struct pp_code *code, struct unit *unit, Dwarf_Addr address)
{
	uint32_t number;
	bool is_found = pp_ranges_find(&unit->ranges, address, &number);

	if (!is_found && !unit->is_deep) {
		find_functions(code, unit, true);
		is_found = pp_ranges_find(&unit->ranges, address, &number);
	}
	return is_found ? &g_array_index(unit->functions, Dwarf_Die, number) : NULL;
}

static struct unit *find_unit(struct pp_code *code, uint64_t address)
{
	struct unit *unit;
	uint32_t number;

	if (!code->is_open)
		find_units(code);
	if (!pp_ranges_find(&code->ranges, address - code->bias, &number))
		return NULL;
	unit = &g_array_index(code->units, struct unit, number);
	if (!unit->is_open)
		open_unit(code, unit);
	return unit;
}

static bool may_hold_code(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

/* The functions inlined at the address into this one, of Dwarf_Die, outermost first. */
static GArray *inlined_at(Dwarf_Die *function, Dwarf_Addr address)
{
	GArray *inlined = g_array_new(FALSE, FALSE, sizeof(Dwarf_Die));
	Dwarf_Die die;
	int more = function ? dwarf_child(function, &die) : 1;

	for (unsigned depth = 0; more == 0 && depth < MAX_DEPTH;) {
		int tag = dwarf_tag(&die);

		if (may_hold_code(tag) && dwarf_haspc(&die, address) > 0) {
			if (tag == DW_TAG_inlined_subroutine)
				g_array_append_val(inlined, die);
			more = dwarf_child(&die, &die);
			depth++;
		} else {
			more = dwarf_siblingof(&die, &die);
		}
	}
	return inlined;
}

/* Returns -1 if the attribute is missing. */
static int number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, attribute, &found), &value) != 0 || value > INT_MAX)
		return -1;
	return (int)value;
}

/* The die that the attribute refers to, or else itself. */
static Dwarf_Die referred(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Die other;

	return dwarf_formref_die(dwarf_attr(die, attribute, &found), &other) ? other : *die;
}

/* The linkage name of a function that has none; NULL: not known. */
static const char *local_name(struct pp_code *code, const struct unit *unit, Dwarf_Die *inlined)
{
	Dwarf_Die function = referred(inlined, DW_AT_abstract_origin);
	Dwarf_Die declared = referred(&function, DW_AT_specification);
	const char *scope =
	    g_hash_table_lookup(unit->locals, GSIZE_TO_POINTER(dwarf_dieoffset(&declared)));
	g_autofree char *name = scope ? pp_local_name(&function, scope, code->classes) : NULL;

	return name ? g_string_chunk_insert_const(code->names, name) : NULL;
}

/* The linkage name, or else the name in the source. */
static const char *raw_name(struct pp_code *code, const struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Attribute found;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &found));

	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &found));
	if (!name)
		name = local_name(code, unit, die);
	return name ? name : dwarf_diename(die);
}

/* File numbers start at 0 since DWARF 5; before, 0 meant no file. */
static void set_caller(struct pp_code_frame *frame, Dwarf_Die *inlined, Dwarf_Files *files)
{
	int file = number_of(inlined, DW_AT_call_file);
	Dwarf_Half version = 0;

	dwarf_cu_info(inlined->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
	frame->line = number_of(inlined, DW_AT_call_line);
	frame->file = file >= (version < 5) ? dwarf_filesrc(files, (size_t)file, NULL, NULL) : NULL;
}

/* Adds the frames from the innermost, whose position is `frame`. */
static void add_frames(struct pp_code *code, GArray *frames, struct unit *unit, Dwarf_Addr address,
		       struct pp_code_frame frame)
{
	Dwarf_Die *function = find_function(code, unit, address);
	g_autoptr(GArray) inlined = inlined_at(function, address);
	Dwarf_Files *files = NULL;

	if (inlined->len && dwarf_getsrcfiles(&unit->tree, &files, NULL) != 0)
		g_array_set_size(inlined, 0);
	for (guint i = inlined->len; i-- > 0;) {
		Dwarf_Die *die = &g_array_index(inlined, Dwarf_Die, i);

		frame.function = raw_name(code, unit, die);
		frame.is_wrapper = pp_inlined_is_wrapper(function, die, address + 1);
		g_array_append_val(frames, frame);
		set_caller(&frame, die, files);
	}
	frame.function = NULL;
	frame.is_wrapper = false;
	g_array_append_val(frames, frame);
}

GArray *pp_code_frames(struct pp_code *code, uint64_t address, const char **ret_compile_dir)
{
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(struct pp_code_frame));
	struct unit *unit = find_unit(code, address);
	Dwarf_Line *line = unit ? dwarf_getsrc_die(&unit->die, address - code->bias) : NULL;
	struct pp_code_frame frame = {0};
	Dwarf_Attribute found;

	*ret_compile_dir = NULL;
	if (!line)
		return frames;
	*ret_compile_dir = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &found));
	frame.file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &frame.line) != 0)
		frame.line = 0;
	add_frames(code, frames, unit, address - code->bias, frame);
	return frames;
}

bool pp_code_function(struct pp_code *code, uint64_t address, Dwarf_Die *ret_function,
		      Dwarf_Addr *ret_bias)
{
	struct unit *unit = find_unit(code, address);
	const Dwarf_Die *function = unit ? find_function(code, unit, address - code->bias) : NULL;

	if (!function)
		return false;
	*ret_function = *function;
	*ret_bias = code->bias;
	return true;
}

bool pp_code_is_whole(const struct pp_code *code)
{
	return !code->has_split;
}

/* SPDX-License-Identifier: MIT */
/*
 * Compilers note each call of optimized code as a call site below the function that makes it, also
 * if that is inlined (DWARF 5, 3.4).  The rule is that of libsync-trace/callers/, which recognizes
 * the other wrappers while the program runs.
 */
#include "symbols/wrapper.h"

#include <string.h>

#include <dwarf.h>

#include "sync-trace/harmless.h"

#define UNSURE_MAX     64u  /* bytes, if calls through pointers may be missing */
#define WRAPPER_MAX    256u /* bytes */
#define MAX_DEPTH      64u
#define REFERENCES_MAX 4u

struct search {
	Dwarf_Addr return_address;
	Dwarf_Off only; /* the entry of the function that is called there; 0: not found */
	bool others;	/* a call of another function was found */
};

static bool has_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	bool value = false;

	return dwarf_formflag(dwarf_attr(die, attribute, &found), &value) == 0 && value;
}

/* Returns the size of its code in bytes; 0: not known. */
static Dwarf_Addr size_of(Dwarf_Die *inlined)
{
	Dwarf_Addr base, start, end, n_bytes = 0;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(inlined, at, &base, &start, &end)) > 0)
		n_bytes += end - start;
	return at == 0 ? n_bytes : 0;
}

/* The size up to which an inlined function may be a wrapper, by how complete its calls are. */
static Dwarf_Addr max_size(Dwarf_Die *function)
{
	if (has_flag(function, DW_AT_call_all_calls) ||
	    has_flag(function, DW_AT_GNU_all_call_sites))
		return WRAPPER_MAX;
	/* gcc does not list calls through global pointers. */
	return has_flag(function, DW_AT_call_all_tail_calls) ||
		       has_flag(function, DW_AT_GNU_all_tail_call_sites)
		   ? UNSURE_MAX
		   : 0;
}

/* The called or inlined function.  Returns false if it is not known. */
static bool find_callee(Dwarf_Die *call, Dwarf_Die *ret)
{
	Dwarf_Attribute found;
	Dwarf_Die of;

	if (!dwarf_formref_die(dwarf_attr(call, DW_AT_call_origin, &found), ret) &&
	    !dwarf_formref_die(dwarf_attr(call, DW_AT_abstract_origin, &found), ret))
		return false;
	/* Its code, its inlined copies and its declaration have one entry that all refer to. */
	for (unsigned i = 0; i < REFERENCES_MAX; i++, *ret = of)
		if (!dwarf_formref_die(dwarf_attr(ret, DW_AT_abstract_origin, &found), &of) &&
		    !dwarf_formref_die(dwarf_attr(ret, DW_AT_specification, &found), &of))
			break;
	return true;
}

static bool returns_to(Dwarf_Die *call, Dwarf_Addr address)
{
	Dwarf_Attribute found;
	Dwarf_Addr value;

	return (dwarf_formaddr(dwarf_attr(call, DW_AT_call_return_pc, &found), &value) == 0 ||
		dwarf_formaddr(dwarf_attr(call, DW_AT_low_pc, &found), &value) == 0) &&
	       value == address;
}

static bool is_harmless(Dwarf_Die *callee)
{
	Dwarf_Attribute found;
	const char *name =
	    dwarf_formstring(dwarf_attr_integrate(callee, DW_AT_linkage_name, &found));

	if (!name)
		name = dwarf_diename(callee);
	return has_flag(callee, DW_AT_noreturn) || (name && st_is_harmless(name));
}

static bool is_call(int tag)
{
	return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
}

/* Finds the call that returns to the address. */
static void find_only(struct search *search, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die, callee;
	int more = depth < MAX_DEPTH ? dwarf_child(parent, &die) : 1;

	for (; more == 0 && search->only == 0; more = dwarf_siblingof(&die, &die)) {
		if (!is_call(dwarf_tag(&die)))
			find_only(search, &die, depth + 1);
		else if (returns_to(&die, search->return_address) && find_callee(&die, &callee))
			search->only = dwarf_dieoffset(&callee);
	}
}

/* `self`: the innermost inlined function; what the compiler left out of line of it is called, too.
 */
static void find_others(struct search *search, Dwarf_Die *parent, Dwarf_Off self, unsigned depth)
{
	Dwarf_Die die, callee;
	int more = depth < MAX_DEPTH ? dwarf_child(parent, &die) : 1;

	if (dwarf_tag(parent) == DW_TAG_inlined_subroutine && find_callee(parent, &callee))
		self = dwarf_dieoffset(&callee);

	for (; more == 0 && !search->others; more = dwarf_siblingof(&die, &die)) {
		if (!is_call(dwarf_tag(&die)))
			find_others(search, &die, self, depth + 1);
		else if (!find_callee(&die, &callee) ||
			 (dwarf_dieoffset(&callee) != search->only &&
			  dwarf_dieoffset(&callee) != self && !is_harmless(&callee)))
			search->others = true;
	}
}

bool pp_inlined_is_wrapper(Dwarf_Die *function, Dwarf_Die *inlined, Dwarf_Addr return_address)
{
	struct search search = {.return_address = return_address};

	if (size_of(inlined) - 1 >= max_size(function))
		return false;
	find_only(&search, inlined, 0);
	if (search.only != 0)
		find_others(&search, inlined, 0, 0);
	return search.only != 0 && !search.others;
}

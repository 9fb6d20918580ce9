/* SPDX-License-Identifier: MIT */
/*
 * Calls are found without decoding all instructions: the bytes of a direct call or jump count only
 * if its target is the start of a function or an entry of the procedure linkage table. Functions of
 * other objects are known by the names of their relocations. All bytes of an indirect call count.
 * So a byte that looks like a call may at worst keep a function from being recognized.
 */
#include "callers/only_call.h"

#include <elf.h>
#include <stddef.h>

#include "runtime/sys/sys.h"
#include "runtime/unwind/cfi.h"
#include "sync-trace/harmless.h"

#define WRAPPER_MAX	 256u /* bytes */
#define HARMLESS_MAX	 64u
#define SHORT_JUMP_BYTES 2u
#define LONG_JUMP_BYTES	 6u
#define INDIRECT_BYTES	 2u /* at least */
#define NEAR_BYTES	 5u /* a call or jump with a displacement of four bytes */
#define THROUGH_BYTES	 6u /* ... through a pointer at a displacement */

/* A called function: its address, or its name if another object may define it. */
struct callee {
	uintptr_t address;
	const char *name;
};

/* --- calls through the linkage table ---------------------------------------------------------- */

/* The dynamic section as the loader has relocated it. */
struct dynamic {
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Rela *tables[2];
	size_t n[2];
};

static const void *relocated(const struct gm_running *module, uint64_t address)
{
	return (const void *)(address < module->bias ? module->bias + address : address);
}

static void read_dynamic(const struct gm_running *module, struct dynamic *ret)
{
	*ret = (struct dynamic){0};
	for (const Elf64_Dyn *entry = module->dynamic; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			ret->symbols = relocated(module, entry->d_un.d_ptr);
			break;
		case DT_STRTAB:
			ret->strings = relocated(module, entry->d_un.d_ptr);
			break;
		case DT_JMPREL:
			ret->tables[0] = relocated(module, entry->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			ret->n[0] = entry->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_RELA:
			ret->tables[1] = relocated(module, entry->d_un.d_ptr);
			break;
		case DT_RELASZ:
			ret->n[1] = entry->d_un.d_val / sizeof(Elf64_Rela);
			break;
		default:
			break;
		}
	}
}

/* The name of the function whose address the loader stores there; NULL: unknown. */
static const char *name_of_slot(const struct gm_running *module, uintptr_t slot)
{
	struct dynamic dynamic;

	read_dynamic(module, &dynamic);
	if (dynamic.symbols == NULL || dynamic.strings == NULL)
		return NULL;
	for (unsigned table = 0; table < 2; table++) {
		for (size_t i = 0; dynamic.tables[table] != NULL && i < dynamic.n[table]; i++) {
			const Elf64_Rela *rela = &dynamic.tables[table][i];
			uint64_t symbol = ELF64_R_SYM(rela->r_info);

			if (rela->r_offset + module->bias == slot && symbol != 0)
				return dynamic.strings + dynamic.symbols[symbol].st_name;
		}
	}
	return NULL;
}

static bool is_code(const struct gm_running *module, uintptr_t address, size_t n)
{
	return address >= module->text_start && address < module->text_end &&
	       module->text_end - address >= n;
}

static intptr_t displacement_at(const uint8_t *at)
{
	int32_t displacement;

	__builtin_memcpy(&displacement, at, sizeof(displacement));
	return displacement;
}

/* The pointer that `jmp *displacement(%rip)` or `call *...` at this place goes through. */
static uintptr_t slot_at(const uint8_t *at)
{
	return (uintptr_t)at + THROUGH_BYTES + (uintptr_t)displacement_at(at + 2);
}

/* The name of an entry of the linkage table: [endbr64] [bnd] jmp *slot(%rip); NULL: none. */
static const char *name_of_stub(const struct gm_running *module, uintptr_t address)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *at = (const uint8_t *)address;

	if (address == 0 || !is_code(module, address, 16))
		return NULL;
	if (memcmp(at, endbr, sizeof(endbr)) == 0)
		at += sizeof(endbr);
	if (*at == 0xf2)
		at++;
	return at[0] == 0xff && at[1] == 0x25 ? name_of_slot(module, slot_at(at)) : NULL;
}

/* --- calls in a function ---------------------------------------------------------------------- */

bool st_function_find(const struct gm_running *module, uintptr_t address, struct st_function *ret)
{
	return gm_cfi_function(&module->tables, address, &ret->start, &ret->end);
}

/*
 * The target of the direct call or jump that may begin there; 0: none. Short conditional jumps lead
 * to no other function, and are common as bytes of other instructions.
 */
static uintptr_t target_at(const uint8_t *at, size_t left)
{
	bool is_long = left >= LONG_JUMP_BYTES && at[0] == 0x0f && (at[1] & 0xf0) == 0x80;

	if (is_long)
		return (uintptr_t)at + LONG_JUMP_BYTES + (uintptr_t)displacement_at(at + 2);
	if (left >= NEAR_BYTES && (at[0] == 0xe8 || at[0] == 0xe9))
		return (uintptr_t)at + NEAR_BYTES + (uintptr_t)displacement_at(at + 1);
	if (left >= SHORT_JUMP_BYTES && at[0] == 0xeb)
		return (uintptr_t)at + SHORT_JUMP_BYTES + (uintptr_t)(intptr_t)(int8_t)at[1];
	return 0;
}

/* Returns the length of the call of a known function, or jump to it, that begins there; 0: none. */
static size_t callee_at(const struct gm_running *module, const struct st_function *function,
			const uint8_t *at, struct callee *ret)
{
	size_t left = function->end - (uintptr_t)at;
	struct st_function called;
	uintptr_t target;

	*ret = (struct callee){0};
	if (left >= THROUGH_BYTES && at[0] == 0xff && (at[1] == 0x15 || at[1] == 0x25)) {
		ret->name = name_of_slot(module, slot_at(at));
		return ret->name != NULL ? THROUGH_BYTES : 0;
	}
	target = target_at(at, left);
	if (!is_code(module, target, 1) ||
	    (target >= function->start && target < function->end && target != function->start))
		return 0;
	ret->name = name_of_stub(module, target);
	ret->address = target;
	if (ret->name == NULL &&
	    (!st_function_find(module, target, &called) || called.start != target))
		return 0;
	return at[0] == 0xeb ? SHORT_JUMP_BYTES : at[0] == 0x0f ? LONG_JUMP_BYTES : NEAR_BYTES;
}

/* A call through a register or pointer, or such a jump, of a function that is not known. */
static bool is_indirect(const uint8_t *at, size_t left)
{
	unsigned operation = left >= INDIRECT_BYTES ? at[1] >> 3 & 7 : 0;

	return (operation == 2 || operation == 4) && at[0] == 0xff;
}

/*
 * Finds the next call or jump to another function, from *at on, and moves *at behind it. Returns
 * false if there is none; *ret is empty if its callee is not known.
 */
static bool next_callee(const struct gm_running *module, const struct st_function *function,
			uintptr_t *at, struct callee *ret)
{
	for (; *at != 0 && *at < function->end; (*at)++) {
		const uint8_t *code = (const uint8_t *)*at;
		size_t n_bytes = callee_at(module, function, code, ret);

		if (n_bytes == 0 && is_indirect(code, function->end - *at))
			n_bytes = INDIRECT_BYTES;
		*at += n_bytes;
		if (n_bytes != 0)
			return true;
	}
	return false;
}

static bool is_same(const struct callee *a, const struct callee *b)
{
	if (a->name != NULL && b->name != NULL)
		return st_is_same_name(a->name, b->name);
	return a->name == b->name && a->address == b->address;
}

/* The line of a pragma tells more than the calls of its function. */
static bool is_generated(const struct callee *callee)
{
	return callee->name != NULL && st_begins_with(callee->name, "GOMP_");
}

/* True if all calls in the short function at this address are harmless, or if it makes none. */
static bool is_harmless_function(const struct gm_running *module, uintptr_t address)
{
	struct st_function function;
	struct callee callee;
	uintptr_t at;

	if (!st_function_find(module, address, &function) ||
	    function.end - function.start > HARMLESS_MAX)
		return false;
	at = function.start;
	while (next_callee(module, &function, &at, &callee))
		if (callee.name == NULL || !st_is_harmless(callee.name))
			return false;
	return true;
}

/* The beginning of the call that returns to `site`; NULL: it is not direct. */
static const uint8_t *call_before(uintptr_t site)
{
	const uint8_t *at = (const uint8_t *)site;

	if (at[-(int)NEAR_BYTES] == 0xe8)
		return at - NEAR_BYTES;
	if (at[-(int)THROUGH_BYTES] == 0xff && at[1 - (int)THROUGH_BYTES] == 0x15)
		return at - THROUGH_BYTES;
	return NULL;
}

bool st_call_is_direct(const struct gm_running *module, uintptr_t site)
{
	return is_code(module, site - THROUGH_BYTES, THROUGH_BYTES) && call_before(site) != NULL;
}

bool st_call_is_only(const struct gm_running *module, const struct st_function *function,
		     uintptr_t site)
{
	const uint8_t *call = call_before(site);
	uintptr_t at = function->start;
	struct callee only, callee;

	if (function->end - function->start > WRAPPER_MAX || call == NULL ||
	    callee_at(module, function, call, &only) == 0 || is_generated(&only))
		return false;
	while (next_callee(module, function, &at, &callee)) {
		if (is_same(&callee, &only))
			continue;
		if (callee.name != NULL ? !st_is_harmless(callee.name)
					: !is_harmless_function(module, callee.address))
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * The cache of unwind rules (rule.h), shared by all threads of the process.
 *
 * It is a hash table that only grows: a slot gets its address by compare and exchange, once, and
 * then its rule; a rule of 0 is not known yet, or no longer. So readers take no lock, a signal
 * handler may interrupt a writer at any instruction, and a rule never belongs to another address. A
 * full table is followed by a larger one, in front of it. Unloading an object sets its rules to 0;
 * `n_unloads` tells a writer that computes a rule at that time.
 */
#include "runtime/unwind/rule.h"

#include "runtime/process/loadmap.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/cfi.h"
#include "runtime/unwind/expression.h"

#define FIRST_BITS	10
#define MAX_BITS	20
#define STACK_BYTES	1800 /* to compute a rule */
#define PROBES_MAX	8u
#define CALL_MAX_BYTES	7u
#define ADDED_MAX_BYTES (63 * 8)

struct slot {
	uint64_t at;
	uint64_t rule;
};

struct table {
	struct table *older;
	unsigned bits;
	struct slot *slots;
};

static GM_LARGE struct slot first_slots[1u << FIRST_BITS];
static struct table first_table = {NULL, FIRST_BITS, first_slots};
static struct table *tables = &first_table;
static uint32_t n_unloads;

/* --- code --------------------------------------------------------------------------------------
 */

/* Direct calls, and indirect ones in each of their lengths: see Intel's manual, CALL. */
static bool ends_with_call(const uint8_t *before, unsigned n)
{
	static const uint8_t indirect[] = {2, 3, 4, 6, 7};

	if (before[n - 5] == 0xe8)
		return true;
	for (unsigned i = 0; i < sizeof(indirect); i++) {
		const uint8_t *call = before + n - indirect[i];

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/* The code may be gone, or the address be that of something else. */
static bool follows_call_if_mapped(uint64_t address)
{
	uint8_t before[CALL_MAX_BYTES];

	return gm_memory_read(before, address - sizeof(before), sizeof(before)) &&
	       ends_with_call(before, sizeof(before));
}

static bool follows_call(uint64_t address, const struct gm_object *object, bool may_be_unloaded)
{
	uint64_t start = address - CALL_MAX_BYTES;

	if (start < object->text_start || address > object->text_end)
		return false;
	if (may_be_unloaded)
		return follows_call_if_mapped(address);
	return ends_with_call((const uint8_t *)start, CALL_MAX_BYTES);
}

bool gm_follows_call(uint64_t address)
{
	struct gm_object object;
	uint64_t place;

	return gm_maps_look(address - 1, &object, &place) && follows_call(address, &object, true);
}

/* --- encoding ----------------------------------------------------------------------------------
 */

static const struct gm_rule all_registers = {.kind = GM_RULE_ALL_REGISTERS};

static struct gm_rule ending(enum gm_unwind_end why)
{
	return (struct gm_rule){.kind = GM_RULE_END, .why = (uint16_t)why & 7};
}

static bool read_expression(const struct gm_tables *in, int64_t position, uint64_t address,
			    bool with_cfa, struct gm_value *ret)
{
	return gm_expression_read(in, in->start + (uint64_t)position, address, with_cfa, ret);
}

/* Encodes the CFA. Returns false if that needs other registers or more bits. */
static bool encode_cfa(struct gm_rule *rule, const struct gm_tables *in, const struct gm_row *row,
		       uint64_t address)
{
	struct gm_value value = {.base = row->cfa_register, .offset = row->cfa_offset};

	if (row->cfa_is_expression && !read_expression(in, row->cfa_offset, address, false, &value))
		return false;
	if ((value.base != GM_RSP && value.base != GM_RBP) ||
	    value.offset != (int32_t)value.offset || value.added % 8 != 0 ||
	    value.added < -ADDED_MAX_BYTES || value.added > ADDED_MAX_BYTES)
		return false;
	rule->kind = value.is_loaded ? GM_RULE_LOAD : GM_RULE_CFA;
	rule->base_is_rbp = value.base == GM_RBP;
	rule->offset = (int32_t)value.offset;
	rule->added = (int16_t)(value.added / 8);
	return true;
}

static bool encode_rbp(struct gm_rule *rule, const struct gm_tables *in, const struct gm_row *row,
		       uint64_t address)
{
	const struct gm_saved *saved = &row->saved[GM_RBP];
	struct gm_value value = {.base = GM_BASE_CFA, .offset = saved->offset};

	switch (saved->how) {
	case GM_SAME:
		rule->rbp = GM_RBP_SAME;
		return true;
	case GM_UNDEFINED:
		rule->rbp = GM_RBP_UNKNOWN;
		return true;
	case GM_AT_EXPRESSION:
		if (!read_expression(in, saved->offset, address, true, &value))
			return false;
		break;
	case GM_AT_CFA:
		break;
	default:
		return false;
	}
	if (value.is_loaded || (value.base != GM_BASE_CFA && value.base != GM_RBP) ||
	    value.offset % 8 != 0 || value.offset / 8 != (int16_t)(value.offset / 8))
		return false;
	rule->rbp = value.base == GM_RBP ? GM_RBP_AT_RBP : GM_RBP_AT_CFA;
	rule->rbp_at = (int16_t)(value.offset / 8);
	return true;
}

static struct gm_rule encode(const struct gm_tables *in, const struct gm_row *row, uint64_t address)
{
	struct gm_rule rule = {.kind = GM_RULE_NONE};

	if (row->saved[GM_RIP].how == GM_UNDEFINED)
		return ending(GM_END_OUTERMOST);
	/* The tables of the C library's restorer describe the kernel's frame. */
	if (row->is_signal)
		return (struct gm_rule){.kind = GM_RULE_SIGNAL};
	if (row->saved[GM_RIP].how != GM_AT_CFA || row->saved[GM_RIP].offset != -8 ||
	    row->saved[GM_RSP].how != GM_SAME || !encode_cfa(&rule, in, row, address) ||
	    !encode_rbp(&rule, in, row, address))
		return all_registers;
	return rule;
}

static struct gm_rule by_frame_pointer(enum gm_unwind_end why)
{
	return (struct gm_rule){.kind = GM_RULE_FRAME_POINTER, .why = (uint16_t)why & 7};
}

static struct gm_rule no_frame(enum gm_unwind_end why)
{
	return (struct gm_rule){.kind = GM_RULE_NO_FRAME, .why = (uint16_t)why & 7};
}

struct gm_rule gm_rule_read(const struct gm_tables *in, uint64_t at)
{
	uint64_t address = gm_rule_address(at);
	enum gm_unwind_end why;
	struct gm_row row;

	if (!gm_cfi_read(in, address, &row, &why))
		return by_frame_pointer(why);
	return encode(in, &row, address != at ? address : address + 1);
}

/*
 * True for glibc's __start_context(), which makecontext() makes the return address of the first
 * function on a stack. No call is before it, and it begins with "mov %rbx, %rsp".
 */
static bool starts_context(const struct gm_tables *in, uint64_t address)
{
	static const uint8_t first[] = {0x48, 0x89, 0xdc};
	uint8_t code[sizeof(first)];
	uint64_t start, end;

	return gm_cfi_function(in, address, &start, &end) && start == address &&
	       gm_memory_read(code, address, sizeof(code)) &&
	       memcmp(code, first, sizeof(code)) == 0;
}

/* *ret_is_lasting: it holds until the unloading of the object is noticed. */
static struct gm_rule compute(uint64_t at, bool *ret_is_lasting)
{
	uint64_t address = gm_rule_address(at);
	bool interrupted = address != at;
	struct gm_object object;
	struct gm_rule rule;
	struct gm_tables in;
	uint64_t place = 0;

	/*
	 * Noted objects are those whose unloading discards their rules. That of one that has moved
	 * was noticed. Code that is compiled at run time may be replaced at any time.
	 */
	*ret_is_lasting = gm_maps_look(address, &object, &place) && place == 0;
	if (!*ret_is_lasting && place == 0)
		return interrupted || follows_call_if_mapped(address + 1)
			   ? by_frame_pointer(GM_END_NO_OBJECT)
			   : no_frame(GM_END_NO_OBJECT);
	if (!gm_tables_find(address, &in))
		return interrupted || follows_call(address + 1, &object, true)
			   ? by_frame_pointer(GM_END_NO_TABLE)
			   : no_frame(GM_END_NO_TABLE);
	rule = gm_rule_read(&in, at);
	/* Only these are entered in another way: the kernel does it, and some coroutines. */
	if (interrupted || rule.kind == GM_RULE_SIGNAL || rule.kind == GM_RULE_END ||
	    follows_call(address + 1, &object, in.may_be_unloaded))
		return rule;
	if (starts_context(&in, address + 1))
		return ending(GM_END_OUTERMOST);
	return no_frame(rule.kind == GM_RULE_FRAME_POINTER ? rule.why : GM_END_BAD_TABLE);
}

/* --- the cache ---------------------------------------------------------------------------------
 */

static uint64_t word_of(struct gm_rule rule)
{
	uint64_t word;

	__builtin_memcpy(&word, &rule, sizeof(word));
	return word;
}

static struct gm_rule rule_of(uint64_t word)
{
	struct gm_rule rule;

	__builtin_memcpy(&rule, &word, sizeof(rule));
	return rule;
}

static struct slot *slot_at(const struct table *table, uint64_t at, unsigned probe)
{
	uint64_t home = at * 0x9e3779b97f4a7c15u >> (64 - table->bits);

	return &table->slots[(home + probe) & ((1u << table->bits) - 1)];
}

/* Returns the slot of the address, or NULL. `take`: takes a free one. */
static struct slot *slot_of(const struct table *table, uint64_t at, bool take)
{
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct slot *slot = slot_at(table, at, i);
		uint64_t found = __atomic_load_n(&slot->at, __ATOMIC_RELAXED);

		if (found == 0 && take &&
		    __atomic_compare_exchange_n(&slot->at, &found, at, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return slot;
		if (found == at)
			return slot;
		if (found == 0)
			return NULL;
	}
	return NULL;
}

/* Puts a larger table in front. Returns false if there is no memory. */
static bool grow(struct table *full)
{
	size_t n_bytes = sizeof(struct table) + (sizeof(struct slot) << (full->bits + 2));
	struct table *larger;

	if (full->bits + 2 > MAX_BITS)
		return false;
	larger = gm_sys_mmap(n_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (larger == NULL)
		return false;
	*larger = (struct table){full, full->bits + 2, (struct slot *)(larger + 1)};
	/* release: pairs with the acquire in front() */
	if (!__atomic_compare_exchange_n(&tables, &full, larger, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		gm_sys_munmap(larger, n_bytes); /* another thread was faster */
	return true;
}

static struct table *front(void)
{
	/* acquire: pairs with the release in grow() */
	return __atomic_load_n(&tables, __ATOMIC_ACQUIRE);
}

/* Without a slot the rule is computed again each time. */
static struct slot *slot_for(uint64_t at)
{
	struct table *table = front();
	struct slot *slot = slot_of(table, at, true);

	if (slot == NULL && grow(table))
		slot = slot_of(front(), at, true);
	return slot;
}

/* Discards the rules of an object that is being unloaded. */
static void forget(uint64_t start, uint64_t end)
{
	/* seq_cst: before the loop; pairs with the loads in learn() */
	__atomic_fetch_add(&n_unloads, 1, __ATOMIC_SEQ_CST);
	for (struct table *table = front(); table != NULL; table = table->older)
		for (uint32_t i = 0; i < 1u << table->bits; i++) {
			struct slot *slot = &table->slots[i];
			uint64_t address = gm_rule_address(slot->at);

			if (address >= start && address < end)
				__atomic_store_n(&slot->rule, 0, __ATOMIC_RELAXED);
		}
}

static __attribute__((noinline, cold)) struct gm_rule learn_blocked(uint64_t at)
{
	/* acquire: pairs with the increment in forget() */
	uint32_t unloads = __atomic_load_n(&n_unloads, __ATOMIC_ACQUIRE);
	bool is_lasting;
	struct gm_rule rule = compute(at, &is_lasting);
	struct slot *slot;

	if (!is_lasting)
		return rule;
	slot = slot_for(at);
	if (slot == NULL)
		return rule;
	/* release: pairs with the acquire in move_away(), runtime/process/loadmap.c */
	__atomic_store_n(&gm_maps_on_leave, forget, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->rule, word_of(rule), __ATOMIC_SEQ_CST);
	/* seq_cst: after the store above; an unloading that came before it is noticed here */
	if (__atomic_load_n(&n_unloads, __ATOMIC_SEQ_CST) != unloads)
		__atomic_store_n(&slot->rule, 0, __ATOMIC_RELAXED);
	return rule;
}

/*
 * Without signals: handlers of several may interrupt each other here on the
 * least stack that a thread can have, and each may learn rules, too.
 */
static __attribute__((noinline, cold)) struct gm_rule learn(uint64_t at)
{
	struct gm_rule rule;
	uint64_t mask;

	if (gm_seal_is_set())
		return learn_blocked(at);
	gm_stack_touch(STACK_BYTES);
	gm_signals_block(&mask);
	rule = learn_blocked(at);
	gm_signals_restore(mask);
	return rule;
}

struct gm_rule gm_rule_find(uint64_t at)
{
	for (const struct table *table = front(); table != NULL; table = table->older) {
		const struct slot *slot = slot_of(table, at, false);
		uint64_t word;

		if (slot == NULL)
			continue;
		word = __atomic_load_n(&slot->rule, __ATOMIC_RELAXED);
		if (__builtin_expect(word != 0, 1))
			return rule_of(word);
	}
	return learn(at);
}

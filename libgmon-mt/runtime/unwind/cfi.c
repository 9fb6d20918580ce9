/* SPDX-License-Identifier: MIT */
/*
 * Interprets call frame information: finds the FDE of an address, and executes its instructions up
 * to that address (DWARF 5, section 6.4; LSB Core, section 10.6, for the differences of .eh_frame).
 */
#include "runtime/unwind/cfi.h"

#include "runtime/sys/sys.h"

#define REMEMBERED_MAX	 4
#define INSTRUCTIONS_MAX 100000u

/* The upper two bits of an instruction, or all of it. */
enum {
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

struct entry {
	uint64_t start, end; /* of its content */
	uint64_t cie;	     /* 0: it is a CIE itself */
};

struct machine {
	const struct gm_tables *tables;
	struct gm_cursor cursor;
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	uint8_t n_remembered;
	bool has_augmentation;
	bool failed;
	uint64_t location, end; /* the next instruction's address; the end of the FDE's code */
	struct gm_row row;
	struct gm_saved initial[GM_N_REGISTERS]; /* after the CIE's instructions */
	struct gm_row remembered[REMEMBERED_MAX];
};

/* --- CIE and FDE -------------------------------------------------------------------------------
 */

static bool read_entry(const struct gm_tables *tables, uint64_t at, struct entry *ret)
{
	struct gm_cursor cursor = gm_cursor(tables, at, tables->end);
	uint64_t n_bytes = gm_cursor_unsigned(&cursor, 4), id_at, id;

	if (n_bytes == UINT32_MAX)
		n_bytes = gm_cursor_unsigned(&cursor, 8);
	id_at = cursor.at;
	id = gm_cursor_unsigned(&cursor, 4);
	if (cursor.failed || n_bytes < 4 || n_bytes > tables->end - id_at || id > id_at)
		return false;
	*ret = (struct entry){cursor.at, id_at + n_bytes, id == 0 ? 0 : id_at - id};
	return true;
}

/* Reads what the letters of the CIE's augmentation announce. Returns false for unknown letters. */
static bool read_augmentation(struct machine *machine, const char *letters)
{
	struct gm_cursor *cursor = &machine->cursor;
	uint64_t n_bytes, end;

	if (letters[0] == '\0')
		return true;
	if (letters[0] != 'z')
		return false;
	machine->has_augmentation = true;
	n_bytes = gm_cursor_uleb(cursor);
	if (cursor->failed || n_bytes > cursor->end - cursor->at)
		return false;
	end = cursor->at + n_bytes;
	for (letters++; *letters != '\0'; letters++) {
		if (*letters == 'R')
			machine->pointer_encoding = (uint8_t)gm_cursor_unsigned(cursor, 1);
		else if (*letters == 'P')
			gm_cursor_pointer(cursor, (uint8_t)gm_cursor_unsigned(cursor, 1) & 0x7f);
		else if (*letters == 'L')
			gm_cursor_skip(cursor, 1);
		else if (*letters == 'S')
			machine->row.is_signal = true;
		else
			return false;
	}
	if (cursor->failed || cursor->at > end)
		return false;
	gm_cursor_skip(cursor, end - cursor->at);
	return true;
}

/* Reads a CIE up to its instructions. */
static bool read_cie(struct machine *machine, uint64_t at)
{
	struct entry cie;
	struct gm_cursor *cursor = &machine->cursor;
	uint8_t version;
	char letters[8];
	unsigned n = 0;

	if (!read_entry(machine->tables, at, &cie) || cie.cie != 0)
		return false;
	*cursor = gm_cursor(machine->tables, cie.start, cie.end);
	version = (uint8_t)gm_cursor_unsigned(cursor, 1);
	while ((letters[n] = (char)gm_cursor_unsigned(cursor, 1)) != '\0')
		if (++n == sizeof(letters))
			return false;
	machine->code_align = gm_cursor_uleb(cursor);
	machine->data_align = gm_cursor_sleb(cursor);
	if ((version != 1 && version != 3) ||
	    (version == 1 ? gm_cursor_unsigned(cursor, 1) : gm_cursor_uleb(cursor)) != GM_RIP)
		return false;
	return read_augmentation(machine, letters) && !cursor->failed;
}

/* --- instructions ------------------------------------------------------------------------------
 */

static void save(struct machine *machine, uint64_t number, enum gm_saved_how how, int64_t offset)
{
	if (number >= GM_N_REGISTERS)
		return; /* vector and mask registers */
	machine->failed |= offset != (int32_t)offset;
	machine->row.saved[number] = (struct gm_saved){(uint8_t)how, (int32_t)offset};
}

static void restore(struct machine *machine, uint64_t number)
{
	if (number < GM_N_REGISTERS)
		machine->row.saved[number] = machine->initial[number];
}

/* Returns the expression's position, and skips it. */
static int64_t expression(struct machine *machine)
{
	uint64_t at = machine->cursor.at - machine->tables->start;

	gm_cursor_skip(&machine->cursor, gm_cursor_uleb(&machine->cursor));
	return (int64_t)at;
}

static void define_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
	machine->failed |= number >= GM_RIP;
	machine->row.cfa_is_expression = false;
	machine->row.cfa_register = (uint8_t)number;
	machine->row.cfa_offset = offset;
}

static void remember(struct machine *machine)
{
	if (machine->n_remembered == REMEMBERED_MAX)
		machine->failed = true;
	else
		machine->remembered[machine->n_remembered++] = machine->row;
}

static void recall(struct machine *machine)
{
	if (machine->n_remembered == 0)
		machine->failed = true;
	else
		machine->row = machine->remembered[--machine->n_remembered];
}

static uint64_t uleb(struct machine *machine)
{
	return gm_cursor_uleb(&machine->cursor);
}

static int64_t factored(struct machine *machine)
{
	return gm_cursor_sleb(&machine->cursor) * machine->data_align;
}

static int64_t factored_unsigned(struct machine *machine)
{
	return (int64_t)uleb(machine) * machine->data_align;
}

/* Instructions that define the CFA. Returns false for others. */
static bool execute_cfa(struct machine *machine, uint8_t code)
{
	uint64_t number;

	switch (code) {
	case CFA_DEF_CFA:
		number = uleb(machine);
		define_cfa(machine, number, (int64_t)uleb(machine));
		return true;
	case CFA_DEF_CFA_SF:
		number = uleb(machine);
		define_cfa(machine, number, factored(machine));
		return true;
	case CFA_DEF_CFA_REGISTER:
		define_cfa(machine, uleb(machine), machine->row.cfa_offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		define_cfa(machine, machine->row.cfa_register, (int64_t)uleb(machine));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		define_cfa(machine, machine->row.cfa_register, factored(machine));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		machine->row.cfa_offset = expression(machine);
		machine->row.cfa_is_expression = true;
		return true;
	}
	return false;
}

/* Instructions that define a register's rule. */
static void execute_register(struct machine *machine, uint8_t code)
{
	uint64_t number = uleb(machine);

	switch (code) {
	case CFA_OFFSET_EXTENDED:
		save(machine, number, GM_AT_CFA, factored_unsigned(machine));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		save(machine, number, GM_AT_CFA, factored(machine));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		save(machine, number, GM_AT_CFA, -factored_unsigned(machine));
		break;
	case CFA_VAL_OFFSET:
		save(machine, number, GM_IS_CFA, factored_unsigned(machine));
		break;
	case CFA_VAL_OFFSET_SF:
		save(machine, number, GM_IS_CFA, factored(machine));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(machine, number);
		break;
	case CFA_UNDEFINED:
		save(machine, number, GM_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		save(machine, number, GM_SAME, 0);
		break;
	case CFA_REGISTER:
		save(machine, number, GM_IN_REGISTER, (int64_t)uleb(machine));
		break;
	case CFA_EXPRESSION:
		save(machine, number, GM_AT_EXPRESSION, expression(machine));
		break;
	case CFA_VAL_EXPRESSION:
		save(machine, number, GM_IS_EXPRESSION, expression(machine));
		break;
	default:
		machine->failed = true;
	}
}

static void advance(struct machine *machine, uint64_t by)
{
	machine->location += by * machine->code_align;
}

static void execute(struct machine *machine)
{
	struct gm_cursor *cursor = &machine->cursor;
	uint8_t code = (uint8_t)gm_cursor_unsigned(cursor, 1), low = code & 0x3f;

	switch (code & 0xc0) {
	case CFA_ADVANCE_LOC:
		advance(machine, low);
		return;
	case CFA_OFFSET:
		save(machine, low, GM_AT_CFA, factored_unsigned(machine));
		return;
	case CFA_RESTORE:
		restore(machine, low);
		return;
	}
	switch (code) {
	case CFA_NOP:
		return;
	case CFA_SET_LOC:
		machine->location = gm_cursor_pointer(cursor, machine->pointer_encoding);
		return;
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
		advance(machine, gm_cursor_unsigned(cursor, 1u << (code - CFA_ADVANCE_LOC1)));
		return;
	case CFA_REMEMBER_STATE:
		remember(machine);
		return;
	case CFA_RESTORE_STATE:
		recall(machine);
		return;
	case CFA_GNU_ARGS_SIZE:
		uleb(machine);
		return;
	}
	if (!execute_cfa(machine, code))
		execute_register(machine, code);
}

/*
 * Executes instructions until the location is beyond the address. Those that change the location do
 * not change the row.
 */
static bool run(struct machine *machine, uint64_t address)
{
	struct gm_cursor *cursor = &machine->cursor;
	unsigned n = 0;

	while (cursor->at < cursor->end && machine->location <= address) {
		execute(machine);
		if (machine->failed || cursor->failed || n++ == INSTRUCTIONS_MAX)
			return false;
	}
	return true;
}

static bool read_fde(struct machine *machine, const struct entry *fde, uint64_t address,
		     enum gm_unwind_end *ret_why)
{
	struct gm_cursor cursor = gm_cursor(machine->tables, fde->start, fde->end);
	uint64_t start = gm_cursor_pointer(&cursor, machine->pointer_encoding);
	/* Its length has the same format, and is relative to nothing. */
	uint64_t n_bytes = gm_cursor_pointer(&cursor, machine->pointer_encoding & 0x0f);

	if (machine->has_augmentation)
		gm_cursor_skip(&cursor, gm_cursor_uleb(&cursor));
	if (cursor.failed)
		return false;
	if (address - start >= n_bytes) {
		*ret_why = GM_END_NO_TABLE;
		return false;
	}
	machine->location = start;
	machine->end = start + n_bytes;
	machine->cursor = cursor;
	return true;
}

/* Finds the FDE of the address, and reads its CIE up to the instructions. */
static bool begin(struct machine *machine, const struct gm_tables *tables, uint64_t address,
		  struct entry *ret_fde, enum gm_unwind_end *ret_why)
{
	uint64_t at = gm_tables_fde(tables, address);

	*ret_why = at == 0 ? GM_END_NO_TABLE : GM_END_BAD_TABLE;
	*machine = (struct machine){.tables = tables, .row.cfa_register = GM_N_REGISTERS};
	return at != 0 && read_entry(tables, at, ret_fde) && ret_fde->cie != 0 &&
	       read_cie(machine, ret_fde->cie);
}

bool gm_cfi_function(const struct gm_tables *tables, uint64_t address, uint64_t *ret_start,
		     uint64_t *ret_end)
{
	struct machine machine;
	struct entry fde;
	enum gm_unwind_end why;

	if (!begin(&machine, tables, address, &fde, &why) ||
	    !read_fde(&machine, &fde, address, &why))
		return false;
	*ret_start = machine.location;
	*ret_end = machine.end;
	return true;
}

bool gm_cfi_read(const struct gm_tables *tables, uint64_t address, struct gm_row *ret,
		 enum gm_unwind_end *ret_why)
{
	struct machine machine;
	struct entry fde;

	if (!begin(&machine, tables, address, &fde, ret_why) || !run(&machine, UINT64_MAX))
		return false;
	memcpy(machine.initial, machine.row.saved, sizeof(machine.initial));
	machine.n_remembered = 0;
	if (!read_fde(&machine, &fde, address, ret_why) || !run(&machine, address))
		return false;
	*ret = machine.row;
	return ret->cfa_is_expression || ret->cfa_register < GM_RIP;
}

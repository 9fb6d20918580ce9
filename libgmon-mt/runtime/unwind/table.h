/* SPDX-License-Identifier: MIT */
/*
 * Finds the unwind table of an instruction, and reads from it. Every access is checked against the
 * bounds of the memory that holds the table.
 */
#ifndef GM_RUNTIME_UNWIND_TABLE_H
#define GM_RUNTIME_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The readable memory of an object in which its tables are; run-time addresses. */
struct gm_tables {
	uint64_t header; /* .eh_frame_hdr */
	uint64_t start, end;
	bool may_be_unloaded; /* by another thread, at this instant */
};

/* Finds the tables of the object at `address`. Returns false if it has none. */
bool gm_tables_find(uint64_t address, struct gm_tables *ret);

/*
 * An object with code that the calling thread executes, now or after a return: it is not unloaded
 * meanwhile, and all of its memory is read directly.
 */
struct gm_running {
	struct gm_tables tables;
	uint64_t text_start, text_end; /* the readable segment with the code */
	uint64_t bias;		       /* run-time address - link-time address */
	const void *dynamic;	       /* its dynamic section, an Elf64_Dyn[] */
	const char *path;	       /* of its file, by the loader; "": the program */
	const void *header;	       /* its Elf64_Ehdr; NULL: of the program */
};

/* Makes no system call. Returns false if the address is in no object, or the object has no tables.
 */
bool gm_running_find(uint64_t address, struct gm_running *ret);

/* Copies bytes of a table. Returns false if not all of them are in its memory. */
bool gm_tables_read(const struct gm_tables *tables, void *into, uint64_t address, size_t n_bytes);

/*
 * Returns the address of the FDE that may cover `address`, from the sorted list in .eh_frame_hdr;
 * 0: none.
 */
uint64_t gm_tables_fde(const struct gm_tables *tables, uint64_t address);

/* Reads values one after the other. After a read beyond `end`, `failed` is set and values are 0. */
struct gm_cursor {
	const struct gm_tables *tables;
	uint64_t at, end;
	bool failed;
	/* a copy of the bytes from window_at on */
	uint8_t n_window;
	uint64_t window_at;
	uint8_t window[32];
};

static inline struct gm_cursor gm_cursor(const struct gm_tables *tables, uint64_t at, uint64_t end)
{
	return (struct gm_cursor){.tables = tables, .at = at, .end = end};
}

uint64_t gm_cursor_unsigned(struct gm_cursor *cursor, unsigned n_bytes); /* 1, 2, 4 or 8 */
int64_t gm_cursor_signed(struct gm_cursor *cursor, unsigned n_bytes);
uint64_t gm_cursor_uleb(struct gm_cursor *cursor);
int64_t gm_cursor_sleb(struct gm_cursor *cursor);
void gm_cursor_skip(struct gm_cursor *cursor, uint64_t n_bytes);

/* A pointer in an encoding of the LSB (DW_EH_PE_*); fails for those that code does not use. */
#define GM_POINTER_OMITTED 0xff
uint64_t gm_cursor_pointer(struct gm_cursor *cursor, uint8_t encoding);

#endif

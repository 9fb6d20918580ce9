/* SPDX-License-Identifier: MIT */
/*
 * Unwind tables of loaded objects: .eh_frame_hdr and .eh_frame, as the LSB (Core, Exception Frames)
 * defines them.
 *
 * The loader's _dl_find_object() takes no lock. Objects that were there when the program began are
 * never unloaded, and read directly. Of others the kernel makes copies (gm_memory_read()), since
 * another thread may be unloading them while a stale address leads there.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "runtime/process/loadmap.h"
#include "runtime/sys/auxv.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/table.h"

/* DW_EH_PE_*: format in the low four bits, then what it is relative to. */
enum {
	PE_ABSOLUTE = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_PC_RELATIVE = 0x10,
	PE_DATA_RELATIVE = 0x30,
};

#define FORMAT(encoding)   ((encoding)&0x0f)
#define RELATIVE(encoding) ((encoding)&0xf0)

/* The entries of .eh_frame_hdr in the only encoding that linkers write: relative to its start. */
struct entry {
	int32_t code, fde;
};

struct header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
};

/* --- the object ----------------------------------------------------------------------------- */

static const ElfW(Phdr) * headers_of(const struct dl_find_object *found, unsigned *ret_n)
{
	const struct link_map *map = found->dlfo_link_map;
	const ElfW(Ehdr) *elf = found->dlfo_map_start;

	/* The program may have gaps between its segments; then map_start is not its beginning. */
	if (map->l_name[0] == '\0') {
		*ret_n = (unsigned)gm_auxv(AT_PHNUM);
		return (const void *)gm_auxv(AT_PHDR);
	}
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	*ret_n = elf->e_phnum;
	return (const void *)((const char *)elf + elf->e_phoff);
}

/* Finds the segment with the address. Returns false if it lacks one of these permissions (PF_*). */
static bool find_segment(const struct dl_find_object *found, uint64_t address, uint32_t permissions,
			 uint64_t *ret_start, uint64_t *ret_end)
{
	unsigned n = 0;
	const ElfW(Phdr) *headers = headers_of(found, &n);

	for (unsigned i = 0; headers != NULL && i < n; i++) {
		uint64_t start = found->dlfo_link_map->l_addr + headers[i].p_vaddr;

		if (headers[i].p_type != PT_LOAD ||
		    (headers[i].p_flags & permissions) != permissions || address < start ||
		    address >= start + headers[i].p_filesz)
			continue;
		*ret_start = start;
		*ret_end = start + headers[i].p_filesz;
		return true;
	}
	return false;
}

bool gm_tables_find(uint64_t address, struct gm_tables *ret)
{
	struct dl_find_object found;

	if (gm_find_object == NULL || gm_find_object((void *)address, &found) != 0 ||
	    found.dlfo_eh_frame == NULL)
		return false;
	*ret = (struct gm_tables){
	    .header = (uint64_t)found.dlfo_eh_frame,
	    .start = (uint64_t)found.dlfo_map_start,
	    .end = (uint64_t)found.dlfo_map_end,
	    .may_be_unloaded = !gm_found_is_permanent(&found),
	};
	return ret->may_be_unloaded ||
	       find_segment(&found, ret->header, PF_R, &ret->start, &ret->end);
}

bool gm_running_find(uint64_t address, struct gm_running *ret)
{
	struct dl_find_object found;

	if (gm_find_object == NULL || gm_find_object((void *)address, &found) != 0 ||
	    found.dlfo_eh_frame == NULL)
		return false;
	*ret = (struct gm_running){
	    .tables.header = (uint64_t)found.dlfo_eh_frame,
	    .bias = found.dlfo_link_map->l_addr,
	    .dynamic = found.dlfo_link_map->l_ld,
	    .path = found.dlfo_link_map->l_name,
	    .header = found.dlfo_link_map->l_name[0] == '\0' ? NULL : found.dlfo_map_start,
	};
	return find_segment(&found, address, PF_R | PF_X, &ret->text_start, &ret->text_end) &&
	       find_segment(&found, ret->tables.header, PF_R, &ret->tables.start, &ret->tables.end);
}

bool gm_tables_read(const struct gm_tables *tables, void *into, uint64_t address, size_t n_bytes)
{
	if (address < tables->start || address >= tables->end || n_bytes > tables->end - address)
		return false;
	if (tables->may_be_unloaded)
		return gm_memory_read(into, address, n_bytes);
	memcpy(into, (const void *)address, n_bytes);
	return true;
}

/* --- values ------------------------------------------------------------------------------------
 */

static bool fill(struct gm_cursor *cursor)
{
	uint64_t n = cursor->end - cursor->at;

	if (cursor->at >= cursor->end)
		return false;
	if (n > sizeof(cursor->window))
		n = sizeof(cursor->window);
	if (!gm_tables_read(cursor->tables, cursor->window, cursor->at, n))
		return false;
	cursor->window_at = cursor->at;
	cursor->n_window = (uint8_t)n;
	return true;
}

static uint8_t next_byte(struct gm_cursor *cursor)
{
	if (cursor->at - cursor->window_at >= cursor->n_window && !cursor->failed && !fill(cursor))
		cursor->failed = true;
	if (cursor->failed)
		return 0;
	return cursor->window[cursor->at++ - cursor->window_at];
}

uint64_t gm_cursor_unsigned(struct gm_cursor *cursor, unsigned n_bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n_bytes; i++)
		value |= (uint64_t)next_byte(cursor) << 8 * i;
	return value;
}

int64_t gm_cursor_signed(struct gm_cursor *cursor, unsigned n_bytes)
{
	unsigned unused = 64 - 8 * n_bytes;

	return (int64_t)(gm_cursor_unsigned(cursor, n_bytes) << unused) >> unused;
}

uint64_t gm_cursor_uleb(struct gm_cursor *cursor)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;

	for (unsigned shift = 0; (byte & 0x80) != 0 && shift < 64; shift += 7) {
		byte = next_byte(cursor);
		value |= (uint64_t)(byte & 0x7f) << shift;
	}
	return value;
}

int64_t gm_cursor_sleb(struct gm_cursor *cursor)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;
	unsigned shift = 0;

	for (; (byte & 0x80) != 0 && shift < 64; shift += 7) {
		byte = next_byte(cursor);
		value |= (uint64_t)(byte & 0x7f) << shift;
	}
	if (shift < 64 && (byte & 0x40) != 0)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

void gm_cursor_skip(struct gm_cursor *cursor, uint64_t n_bytes)
{
	if (cursor->failed || n_bytes > cursor->end - cursor->at)
		cursor->failed = true;
	else
		cursor->at += n_bytes;
}

static uint64_t formatted(struct gm_cursor *cursor, uint8_t encoding)
{
	switch (FORMAT(encoding)) {
	case PE_ABSOLUTE:
	case PE_UDATA8:
	case PE_SDATA8:
		return gm_cursor_unsigned(cursor, 8);
	case PE_UDATA4:
		return gm_cursor_unsigned(cursor, 4);
	case PE_SDATA4:
		return (uint64_t)gm_cursor_signed(cursor, 4);
	case PE_UDATA2:
		return gm_cursor_unsigned(cursor, 2);
	case PE_SDATA2:
		return (uint64_t)gm_cursor_signed(cursor, 2);
	case PE_ULEB128:
		return gm_cursor_uleb(cursor);
	case PE_SLEB128:
		return (uint64_t)gm_cursor_sleb(cursor);
	}
	cursor->failed = true;
	return 0;
}

uint64_t gm_cursor_pointer(struct gm_cursor *cursor, uint8_t encoding)
{
	uint64_t at = cursor->at, value = formatted(cursor, encoding);

	switch (RELATIVE(encoding)) {
	case PE_ABSOLUTE:
		return value;
	case PE_PC_RELATIVE:
		return at + value;
	case PE_DATA_RELATIVE:
		return cursor->tables->header + value;
	}
	cursor->failed = true;
	return 0;
}

/* --- the list ----------------------------------------------------------------------------------
 */

static bool read_entry(const struct gm_tables *tables, uint64_t list, uint64_t i, struct entry *ret)
{
	return gm_tables_read(tables, ret, list + i * sizeof(*ret), sizeof(*ret));
}

uint64_t gm_tables_fde(const struct gm_tables *tables, uint64_t address)
{
	struct gm_cursor cursor = gm_cursor(tables, tables->header, tables->end);
	uint8_t version = (uint8_t)gm_cursor_unsigned(&cursor, 1);
	uint8_t frame_encoding = (uint8_t)gm_cursor_unsigned(&cursor, 1);
	uint8_t count_encoding = (uint8_t)gm_cursor_unsigned(&cursor, 1);
	uint8_t list_encoding = (uint8_t)gm_cursor_unsigned(&cursor, 1);
	int64_t offset = (int64_t)(address - tables->header);
	uint64_t low = 0, high;
	struct entry entry;

	if (version != 1 || count_encoding == GM_POINTER_OMITTED ||
	    list_encoding != (PE_DATA_RELATIVE | PE_SDATA4))
		return 0;
	gm_cursor_pointer(&cursor, frame_encoding);
	high = gm_cursor_pointer(&cursor, count_encoding);
	if (cursor.failed || high > (tables->end - cursor.at) / sizeof(entry))
		return 0;
	/* The last entry whose code begins at the address or before it: low - 1. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_entry(tables, cursor.at, middle, &entry))
			return 0;
		if (entry.code <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || !read_entry(tables, cursor.at, low - 1, &entry))
		return 0;
	return tables->header + (uint64_t)(int64_t)entry.fde;
}

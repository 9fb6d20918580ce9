/* SPDX-License-Identifier: MIT */
/*
 * Code that keeps frame pointers begins each function with `push %rbp; mov %rsp,%rbp`, after an
 * endbr64 where indirect branches are checked.  The file is untrusted.
 */
#include "symbols/file_survey.h"

#include <string.h>

#include <gelf.h>
#include <glib.h>

#include "symbols/debug_file.h"
#include "symbols/unwind_ranges.h"

/* The code of one section. */
struct code {
	uint64_t start, end;
	const uint8_t *bytes;
};

struct reading {
	struct pp_file_survey *survey;
	GArray *code; /* of struct code */
};

static const struct code *code_at(const struct reading *reading, uint64_t address)
{
	for (guint i = 0; i < reading->code->len; i++) {
		const struct code *code = &g_array_index(reading->code, struct code, i);

		if (address >= code->start && address < code->end)
			return code;
	}
	return NULL;
}

static bool begins_with(const uint8_t *at, const uint8_t *end, const uint8_t *wanted, size_t n)
{
	return (size_t)(end - at) >= n && memcmp(at, wanted, n) == 0;
}

static bool sets_frame_pointer(const uint8_t *at, const uint8_t *end)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t push[] = {0x55};
	/* mov %rsp,%rbp has two encodings. */
	static const uint8_t move[2][3] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}};

	if (begins_with(at, end, endbr64, sizeof(endbr64)))
		at += sizeof(endbr64);
	if (!begins_with(at, end, push, sizeof(push)))
		return false;
	at += sizeof(push);
	return begins_with(at, end, move[0], sizeof(move[0])) ||
	       begins_with(at, end, move[1], sizeof(move[1]));
}

static void note_function(const struct reading *reading, const struct code *code, uint64_t start)
{
	reading->survey->n_functions++;
	reading->survey->n_frames += sets_frame_pointer(code->bytes + (start - code->start),
							code->bytes + (code->end - code->start));
}

static void note_table(void *arg, uint64_t start, uint64_t end)
{
	const struct reading *reading = arg;
	const struct code *code = code_at(reading, start);

	if (!code)
		return;
	reading->survey->table_bytes += MIN(end, code->end) - start;
	note_function(reading, code, start);
}

/* Counts by symbols instead, if the file has them. */
static void note_symbols(const struct reading *reading, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);

	if (!reading->survey->has_names)
		return;
	reading->survey->n_functions = reading->survey->n_frames = 0;
	for (int i = 1; i < n; i++) {
		GElf_Addr address;
		GElf_Sym symbol;
		const struct code *code;

		if (!dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		code = code_at(reading, address);
		if (code)
			note_function(reading, code, address);
	}
}

static void read_sections(struct reading *reading, Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		struct code code;

		if (!gelf_getshdr(section, &header))
			continue;
		reading->survey->has_names |= header.sh_type == SHT_SYMTAB;
		if (header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf || header.sh_addr + data->d_size < header.sh_addr)
			continue;
		code = (struct code){header.sh_addr, header.sh_addr + data->d_size, data->d_buf};
		g_array_append_val(reading->code, code);
		reading->survey->code_bytes += data->d_size;
	}
}

static void read_code(struct reading *reading, Dwfl_Module *module)
{
	struct pp_unwind_ranges *tables = pp_unwind_ranges_new(module);

	pp_unwind_ranges_each(tables, note_table, reading);
	pp_unwind_ranges_free(tables);
	/* Functions that share code are counted once for each. */
	reading->survey->table_bytes =
	    MIN(reading->survey->table_bytes, reading->survey->code_bytes);
	if (reading->survey->table_bytes < reading->survey->code_bytes / 2)
		note_symbols(reading, module);
}

static bool has_lines(Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = NULL;

	while ((unit = dwfl_module_nextcu(module, unit, &bias))) {
		Dwarf_Lines *lines;
		size_t n;

		if (dwarf_getsrclines(unit, &lines, &n) == 0 && n)
			return true;
	}
	return false;
}

char *pp_file_survey_read(const char *path, struct pp_file_survey *survey)
{
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	struct pp_debug_file *file = pp_debug_file_open(absolute, NULL);
	Dwfl_Module *module = pp_debug_file_module(file);
	struct reading reading = {.survey = survey};
	char *fault = g_strdup(pp_debug_file_fault(file));
	const char *debug_path = NULL;
	GElf_Addr bias;
	Elf *elf;

	*survey = (struct pp_file_survey){.build_id = NULL};
	if (!fault) {
		reading.code = g_array_new(FALSE, FALSE, sizeof(struct code));
		elf = dwfl_module_getelf(module, &bias);
		survey->build_id = pp_debug_file_build_id(module);
		read_sections(&reading, elf);
		read_code(&reading, module);
		survey->has_lines = has_lines(module);
		dwfl_module_getsymtab(module); /* searches for the debug file */
		dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, &debug_path);
		survey->debug_path = g_strdup(debug_path);
		survey->has_names |= debug_path != NULL;
		g_array_unref(reading.code);
	}
	pp_debug_file_close(file);
	return fault;
}

void pp_file_survey_done(struct pp_file_survey *survey)
{
	g_clear_pointer(&survey->build_id, g_free);
	g_clear_pointer(&survey->debug_path, g_free);
}

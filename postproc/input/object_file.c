/* SPDX-License-Identifier: MIT */
/*
 * Each object is a Dwfl of its own with one module at bias 0, so that objects need not fit into one
 * address space: the same address may belong to different objects at different times.
 *
 * libdwfl searches a symbol table from its start for each address; here it is read once, sorted.
 */
#include "input/object_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "core/printable.h"

/* How far back from the nearest symbol one that holds the address is looked for. */
#define MAX_NESTED 16

struct symbol {
	uint64_t start, size;
	const char *name; /* of the file, until asked for; then, where it differs, `shown` */
	char *shown;
	uint8_t rank; /* among those that start alike, the least is shown */
	bool is_local;
};

struct pp_object_file {
	char *path, *name;
	char *fault;
	Dwfl *dwfl;
	Dwfl_Module *module;
	GArray *functions, *variables; /* of struct symbol, by start and rank */
	enum pp_demangle demangle;
};

static void symbol_clear(void *data)
{
	g_free(((struct symbol *)data)->shown);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *sa = a, *sb = b;

	if (sa->start != sb->start)
		return sa->start < sb->start ? -1 : 1;
	if (sa->rank != sb->rank)
		return sa->rank < sb->rank ? -1 : 1;
	return strcmp(sa->name, sb->name);
}

/* Names that programs are written with before those of their libraries' insides. */
static uint8_t rank_of(const char *name, const GElf_Sym *sym)
{
	size_t underscores = strspn(name, "_");
	uint8_t rank = (uint8_t)MIN(underscores, 3);

	if (strncmp(name, "_Z", 2) == 0)
		rank = 0;
	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		rank += 4;
	if (GELF_ST_BIND(sym->st_info) == STB_LOCAL)
		rank += 8;
	if (!sym->st_size)
		rank += 16;
	return rank;
}

static void read_symbols(struct pp_object_file *object)
{
	int n = dwfl_module_getsymtab(object->module);

	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name =
		    dwfl_module_getsym_info(object->module, i, &sym, &address, NULL, NULL, NULL);
		unsigned type = GELF_ST_TYPE(sym.st_info);
		struct symbol symbol;

		if (!name || !*name || sym.st_shndx == SHN_UNDEF)
			continue;
		symbol = (struct symbol){
		    .start = address,
		    .size = sym.st_size,
		    .name = name,
		    .rank = rank_of(name, &sym),
		    .is_local = GELF_ST_BIND(sym.st_info) == STB_LOCAL,
		};
		if (type == STT_FUNC || type == STT_GNU_IFUNC)
			g_array_append_val(object->functions, symbol);
		else if (type == STT_OBJECT && sym.st_size)
			g_array_append_val(object->variables, symbol);
	}
	g_array_sort(object->functions, compare_symbols);
	g_array_sort(object->variables, compare_symbols);
}

static bool has_build_id(Dwfl_Module *module, const char *expected)
{
	const unsigned char *bits;
	GElf_Addr address;
	int len = dwfl_module_build_id(module, &bits, &address);
	g_autoptr(GString) text = g_string_new(NULL);

	for (int i = 0; i < len; i++)
		g_string_append_printf(text, "%02x", bits[i]);
	return g_str_equal(text->str, expected);
}

static const char *open_module(struct pp_object_file *object, const char *build_id)
{
	static const Dwfl_Callbacks callbacks = {
	    .find_elf = dwfl_build_id_find_elf,
	    .find_debuginfo = dwfl_standard_find_debuginfo,
	};
	GElf_Addr bias;

	if (!g_path_is_absolute(object->path))
		return "not a file";
	if (!g_file_test(object->path, G_FILE_TEST_IS_REGULAR))
		return "no such file any more";
	object->dwfl = dwfl_begin(&callbacks);
	if (!object->dwfl)
		return dwfl_errmsg(-1);
	dwfl_report_begin(object->dwfl);
	object->module = dwfl_report_elf(object->dwfl, object->name, object->path, -1, 0, true);
	dwfl_report_end(object->dwfl, NULL, NULL);
	if (!object->module || !dwfl_module_getelf(object->module, &bias))
		return dwfl_errmsg(-1);
	if (build_id && !has_build_id(object->module, build_id))
		return "build-id differs";
	return NULL;
}

struct pp_object_file *pp_object_file_new(const char *path, const char *build_id,
					  enum pp_demangle demangle)
{
	struct pp_object_file *object = g_new0(struct pp_object_file, 1);

	object->demangle = demangle;
	object->path = g_strdup(path);
	object->name = pp_printable(g_path_get_basename(path));
	object->functions = g_array_new(FALSE, FALSE, sizeof(struct symbol));
	object->variables = g_array_new(FALSE, FALSE, sizeof(struct symbol));
	g_array_set_clear_func(object->functions, symbol_clear);
	g_array_set_clear_func(object->variables, symbol_clear);
	object->fault = g_strdup(open_module(object, build_id));
	if (!object->fault)
		read_symbols(object);
	return object;
}

void pp_object_file_free(struct pp_object_file *object)
{
	if (!object)
		return;
	g_array_unref(object->functions);
	g_array_unref(object->variables);
	if (object->dwfl)
		dwfl_end(object->dwfl);
	g_free(object->fault);
	g_free(object->name);
	g_free(object->path);
	g_free(object);
}

const char *pp_object_file_fault(const struct pp_object_file *object)
{
	return object->fault;
}

const char *pp_object_file_name(const struct pp_object_file *object)
{
	return object->name;
}

static bool holds(const struct symbol *symbol, const struct symbol *next, uint64_t address)
{
	if (symbol->size)
		return address - symbol->start < symbol->size;
	/* Code without a size, as from assembly, reaches to the next. */
	return !next || address < next->start;
}

static struct symbol *find_symbol(const GArray *symbols, uint64_t address)
{
	unsigned low = 0, high = symbols->len;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (g_array_index(symbols, struct symbol, middle).start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned back = 0; back < MAX_NESTED && back < low; back++) {
		unsigned at = low - 1 - back;
		struct symbol *symbol = &g_array_index(symbols, struct symbol, at);
		struct symbol *next =
		    low < symbols->len ? &g_array_index(symbols, struct symbol, low) : NULL;

		if (!holds(symbol, next, address))
			continue;
		while (at > 0 && symbol[-1].start == symbol->start &&
		       holds(&symbol[-1], next, address))
			symbol--, at--;
		return symbol;
	}
	return NULL;
}

/* What people call it: demangled, without a version, a local static without its number. */
static const char *shown_name(const struct pp_object_file *object, struct symbol *symbol,
			      bool is_variable)
{
	const char *dot = strrchr(symbol->name, '.');

	if (symbol->shown)
		return symbol->shown;
	symbol->shown = pp_demangle(symbol->name, object->demangle);
	if (is_variable && symbol->is_local && dot && dot[1] && dot != symbol->name &&
	    strspn(dot + 1, "0123456789") == strlen(dot + 1) &&
	    g_str_has_suffix(symbol->shown, dot))
		symbol->shown[strlen(symbol->shown) - strlen(dot)] = '\0';
	return symbol->shown;
}

const char *pp_object_file_function(struct pp_object_file *object, uint64_t address,
				    uint64_t *ret_start)
{
	struct symbol *symbol = find_symbol(object->functions, address);

	if (!symbol)
		return NULL;
	*ret_start = symbol->start;
	return shown_name(object, symbol, false);
}

const char *pp_object_file_variable(struct pp_object_file *object, uint64_t address,
				    uint64_t *ret_offset)
{
	struct symbol *symbol = find_symbol(object->variables, address);

	if (!symbol)
		return NULL;
	*ret_offset = address - symbol->start;
	return shown_name(object, symbol, true);
}

/* The path as the compiler was given it, or at least without the directories. */
static char *short_path(const char *path, const char *compile_dir)
{
	/* A package built reproducibly may say "." or nothing. */
	bool is_known = compile_dir && g_path_is_absolute(compile_dir);
	g_autofree char *full = g_canonicalize_filename(path, is_known ? compile_dir : "/");
	g_autofree char *dir = is_known ? g_canonicalize_filename(compile_dir, "/") : NULL;
	size_t len = dir ? strlen(dir) : 0;

	if (len > 1 && strncmp(full, dir, len) == 0 && full[len] == '/')
		return pp_printable(g_strdup(full + len + 1));
	if (!g_path_is_absolute(path))
		return pp_printable(g_strdup(path));
	return pp_printable(g_path_get_basename(full));
}

/* Where the likes of std::mutex::lock() stand. */
static bool is_header(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *dot = strrchr(slash ? slash : file, '.');

	return !dot || g_ascii_tolower(dot[1]) == 'h' || strcmp(dot, ".tcc") == 0 ||
	       strcmp(dot, ".ipp") == 0;
}

static int number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, attribute, &found), &value) == 0 ? (int)value : 0;
}

/* The name that the linker knows, or else the source. */
static const char *raw_name(Dwarf_Die *die)
{
	Dwarf_Attribute found;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &found));

	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &found));
	return name ? name : dwarf_diename(die);
}

/* Where a piece of code stands: a file that lives as long as the module, and a line. */
struct position {
	const char *file; /* NULL: not known */
	int line;
};

static void add_frame(struct pp_object_file *object, GArray *frames, const char *function,
		      const struct position *at, const char *compile_dir)
{
	struct pp_source_frame frame = {0};

	frame.function = pp_demangle(function ? function : "?", object->demangle);
	if (at->file && at->line > 0) {
		frame.file = short_path(at->file, compile_dir);
		frame.line = at->line;
		frame.is_header = is_header(at->file);
	}
	g_array_append_val(frames, frame);
}

static struct position caller_of(Dwarf_Die *inlined, Dwarf_Files *files)
{
	int line = number_of(inlined, DW_AT_call_line);
	int file = number_of(inlined, DW_AT_call_file);

	return (struct position){file > 0 ? dwarf_filesrc(files, (size_t)file, NULL, NULL) : NULL,
				 line};
}

/* What was inlined at the address; *at becomes where all of that was called. */
static void add_inlined(struct pp_object_file *object, uint64_t address, GArray *frames,
			struct position *at, const char *compile_dir)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = dwfl_module_addrdie(object->module, address, &bias);
	Dwarf_Die *innermost = NULL, *scopes = NULL;
	Dwarf_Files *files = NULL;
	int n = 0;

	/* Beyond the innermost these are of where it was written, not of where it was called. */
	if (unit && dwarf_getscopes(unit, address - bias, &innermost) > 0)
		n = dwarf_getscopes_die(innermost, &scopes);
	if (n > 0 && dwarf_getsrcfiles(unit, &files, NULL) == 0)
		for (int i = 0; i < n && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
			if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
				continue;
			add_frame(object, frames, raw_name(&scopes[i]), at, compile_dir);
			*at = caller_of(&scopes[i], files);
		}
	free(scopes);
	free(innermost);
}

static void frame_clear(void *data)
{
	struct pp_source_frame *frame = data;

	g_free(frame->function);
	g_free(frame->file);
}

GArray *pp_object_file_frames(struct pp_object_file *object, uint64_t address)
{
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(struct pp_source_frame));
	struct symbol *symbol = find_symbol(object->functions, address);
	Dwfl_Line *line = object->fault ? NULL : dwfl_module_getsrc(object->module, address);
	const char *compile_dir = line ? dwfl_line_comp_dir(line) : NULL;
	struct position at = {NULL, 0};

	g_array_set_clear_func(frames, frame_clear);
	if (line) {
		at.file = dwfl_lineinfo(line, NULL, &at.line, NULL, NULL, NULL);
		add_inlined(object, address, frames, &at, compile_dir);
	}
	/* Not by the name in DWARF: that of the symbol stands in the profiles. */
	if (symbol)
		add_frame(object, frames, symbol->name, &at, compile_dir);
	return frames;
}

/* SPDX-License-Identifier: MIT */
/*
 * Each object has its own Dwfl with one module at bias 0, so objects need not fit into one address
 * space: an address may belong to different objects at different times.
 *
 * Names that are not cached, perhaps by an earlier run, are looked up in the symbol table and in
 * DWARF, which are read when they are first needed.
 */
#include "symbols/object_file.h"

#include <inttypes.h>
#include <string.h>

#include <gelf.h>

#include "core/text/printable.h"
#include "symbols/allocated.h"
#include "symbols/code.h"
#include "symbols/debug_file.h"
#include "symbols/function_search.h"
#include "symbols/imports.h"
#include "symbols/instrumented.h"
#include "symbols/symbol_cache.h"
#include "symbols/symbol_table.h"
#include "symbols/unwind_ranges.h"
#include "symbols/variables.h"

struct pp_object_file {
	char *name, *build_id;
	enum pp_demangle demangle;
	struct pp_debug_file *file;
	struct pp_symbol_table *table; /* created on demand, like the next members */
	struct pp_unwind_ranges *unwind_ranges;
	struct pp_variables *variables;
	struct pp_code *code;
	struct pp_allocated *allocated;
	struct pp_cached_names *cached;
	char *key;			      /* of the cached names; NULL: they are not saved */
	GHashTable *shown[PP_N_SYMBOL_KINDS]; /* raw name -> display name */
	bool own_is_known;
	uint64_t own_start, own_end; /* code of gprof-mt's libraries */
};

/* --- cached names of earlier runs ------------------------------------------------------------ */

static char *cache_name(const char *key, const char *build_id)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);

	return g_strdup_printf("%.40s-%.16s", build_id, sum);
}

static void recall(struct pp_object_file *object)
{
	g_autofree char *name = cache_name(object->key, object->build_id);
	g_autoptr(GBytes) bytes = pp_symbol_cache_read(name);

	if (bytes)
		pp_cached_names_read(object->cached, bytes, object->key);
}

/* Saves the names if there are new ones, unless the files have changed meanwhile. */
static void keep(struct pp_object_file *object)
{
	g_autofree char *name = NULL, *key = NULL;
	g_autoptr(GBytes) bytes = NULL;

	if (!object->key || !pp_cached_names_have_grown(object->cached) ||
	    (object->code && !pp_code_is_whole(object->code)) ||
	    (object->variables && !pp_variables_are_whole(object->variables)))
		return;
	key = pp_debug_file_key(object->file);
	if (g_strcmp0(key, object->key) != 0)
		return;
	name = cache_name(key, object->build_id);
	bytes = pp_cached_names_write(object->cached, key);
	pp_symbol_cache_write(name, bytes);
}

struct pp_object_file *pp_object_file_new(const char *path, const char *build_id,
					  const struct pp_symbols_options *options)
{
	struct pp_object_file *object = g_new0(struct pp_object_file, 1);

	object->demangle = options->demangle;
	object->name = pp_printable(g_path_get_basename(path));
	object->build_id = g_strdup(build_id);
	object->cached = pp_cached_names_new();
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		object->shown[kind] = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	object->file = pp_debug_file_open(path, build_id);
	if (!options->no_cache)
		object->key = pp_debug_file_key(object->file);
	if (object->key)
		recall(object);
	return object;
}

void pp_object_file_free(struct pp_object_file *object)
{
	if (!object)
		return;
	keep(object);
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		g_hash_table_unref(object->shown[kind]);
	pp_cached_names_free(object->cached);
	pp_allocated_free(object->allocated);
	pp_code_free(object->code);
	pp_symbol_table_free(object->table);
	pp_unwind_ranges_free(object->unwind_ranges);
	pp_variables_free(object->variables);
	pp_debug_file_close(object->file);
	g_free(object->key);
	g_free(object->build_id);
	g_free(object->name);
	g_free(object);
}

const char *pp_object_file_fault(const struct pp_object_file *object)
{
	return pp_debug_file_fault(object->file);
}

const char *pp_object_file_name(const struct pp_object_file *object)
{
	return object->name;
}

/* --- code of gprof-mt ------------------------------------------------------------------------- */

/* The code section of libgmon_mt.a, as libgmon-mt/module.mk names it. */
#define OWN_SECTION "gprof_mt_text"

/* Finds the code that was linked statically. */
static void find_own_section(struct pp_object_file *object)
{
	GElf_Addr bias;
	Elf *elf = pp_object_file_fault(object)
		       ? NULL
		       : dwfl_module_getelf(pp_debug_file_module(object->file), &bias);
	size_t names;
	Elf_Scn *section = NULL;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && strcmp(name, OWN_SECTION) == 0) {
			object->own_start = header.sh_addr;
			object->own_end = header.sh_addr + header.sh_size;
		}
	}
}

static bool is_own_library(const struct pp_object_file *object)
{
	static const char *const libraries[] = {"libgmon_mt.so",	"libsync_trace.so",
						"libsync_trace_ust.so", "libsync_trace_openmp.so",
						"libaccess_trace.so",	"libaccess_step.so"};

	for (unsigned i = 0; i < G_N_ELEMENTS(libraries); i++)
		if (strcmp(object->name, libraries[i]) == 0)
			return true;
	return false;
}

bool pp_object_file_is_own(struct pp_object_file *object, uint64_t address)
{
	if (is_own_library(object))
		return true;
	if (!object->own_is_known)
		find_own_section(object);
	object->own_is_known = true;
	return address >= object->own_start && address < object->own_end;
}

/* --- symbols ---------------------------------------------------------------------------------- */

/* The start of a function without a symbol; 0 if it is unknown. */
static uint64_t find_start(struct pp_object_file *object, uint64_t address)
{
	uint64_t start = 0;

	if (!object->unwind_ranges)
		object->unwind_ranges = pp_unwind_ranges_new(pp_debug_file_module(object->file));
	pp_unwind_ranges_find(object->unwind_ranges, address, &start);
	return start;
}

static const struct pp_symbol_table *get_table(struct pp_object_file *object)
{
	if (!object->table)
		object->table = pp_symbol_table_new(pp_debug_file_module(object->file));
	return object->table;
}

static const struct pp_symbol *find_symbol(struct pp_object_file *object, enum pp_symbol_kind kind,
					   uint64_t address)
{
	const struct pp_symbol *known = pp_cached_names_symbol(object->cached, kind, address);
	struct pp_symbol found;

	if (known)
		return known;
	found = pp_symbol_table_find(get_table(object), kind, address);
	if (!found.name && kind == PP_SYMBOL_FUNCTION)
		found.start = find_start(object, address);
	return pp_cached_names_add_symbol(object->cached, kind, address, &found);
}

/* Removes the number from the name of a local static variable. */
static void drop_number(char *shown, const char *raw)
{
	const char *dot = strrchr(raw, '.');

	if (dot && dot[1] && dot != raw && strspn(dot + 1, "0123456789") == strlen(dot + 1) &&
	    g_str_has_suffix(shown, dot))
		shown[strlen(shown) - strlen(dot)] = '\0';
}

/* The display name: demangled, without version. */
static const char *shown_name(struct pp_object_file *object, enum pp_symbol_kind kind,
			      const struct pp_symbol *symbol)
{
	char *shown = g_hash_table_lookup(object->shown[kind], symbol->name);

	if (shown)
		return shown;
	shown = pp_demangle(symbol->name, object->demangle);
	if (kind == PP_SYMBOL_VARIABLE && symbol->is_local)
		drop_number(shown, symbol->name);
	g_hash_table_insert(object->shown[kind], (char *)symbol->name, shown);
	return shown;
}

const char *pp_object_file_function(struct pp_object_file *object, uint64_t address,
				    uint64_t *ret_start)
{
	const struct pp_symbol *symbol = find_symbol(object, PP_SYMBOL_FUNCTION, address);

	*ret_start = symbol->start;
	if (!symbol->name)
		return NULL;
	return shown_name(object, PP_SYMBOL_FUNCTION, symbol);
}

/* gcc's name of a part of a parallel region or task: that of the function, and this. */
#define OUTLINED "._omp_fn."

uint64_t pp_object_file_outlined_from(struct pp_object_file *object, uint64_t address)
{
	const struct pp_symbol *symbol = find_symbol(object, PP_SYMBOL_FUNCTION, address);
	const char *end = symbol->name ? strstr(symbol->name, OUTLINED) : NULL;

	return end ? pp_symbol_table_start(get_table(object), symbol->name,
					   (size_t)(end - symbol->name))
		   : 0;
}

static struct pp_variables *get_variables(struct pp_object_file *object)
{
	if (!object->variables)
		object->variables = pp_variables_new(pp_debug_file_module(object->file));
	return object->variables;
}

/* The part of the variable that contains the address, whose name is NULL if it is not known. */
static const struct pp_symbol *find_part(struct pp_object_file *object, uint64_t variable,
					 uint64_t address)
{
	const struct pp_symbol *known =
	    pp_cached_names_symbol(object->cached, PP_SYMBOL_PART, address);
	struct pp_symbol found = {.start = variable};
	g_autofree char *name = NULL;
	uint64_t rest;

	if (known)
		return known;
	name = pp_variables_part(get_variables(object), variable, address - variable, &rest);
	if (name)
		found = (struct pp_symbol){.start = address - rest, .name = name};
	return pp_cached_names_add_symbol(object->cached, PP_SYMBOL_PART, address, &found);
}

char *pp_object_file_variable(struct pp_object_file *object, uint64_t address)
{
	const struct pp_symbol *symbol = find_symbol(object, PP_SYMBOL_VARIABLE, address), *part;
	g_autofree char *inside = NULL;
	const char *name;

	if (!symbol->name)
		return NULL;
	name = shown_name(object, PP_SYMBOL_VARIABLE, symbol);
	part = find_part(object, symbol->start, address);
	inside = pp_printable(g_strdup(part->name ? part->name : ""));
	return address == part->start
		   ? g_strconcat(name, inside, NULL)
		   : g_strdup_printf("%s%s+%" PRIu64, name, inside, address - part->start);
}

/* --- blocks of the heap ----------------------------------------------------------------------- */

static struct pp_code *get_code(struct pp_object_file *object)
{
	if (!object->code)
		object->code = pp_code_new(pp_debug_file_module(object->file));
	return object->code;
}

static uint64_t find_variable_start(void *object, uint64_t address)
{
	const struct pp_symbol *symbol = find_symbol(object, PP_SYMBOL_VARIABLE, address);

	return symbol->name ? symbol->start : 0;
}

char *pp_object_file_allocated(struct pp_object_file *object, uint64_t site, uint64_t n_bytes,
			       uint64_t offset)
{
	char *part;

	if (!object->allocated) {
		const struct pp_allocated_variables variables = {
		    .data = object,
		    .start = find_variable_start,
		    .variables = get_variables(object),
		};

		object->allocated = pp_allocated_new(pp_debug_file_module(object->file),
						     get_code(object), &variables);
	}
	part = pp_allocated_part(object->allocated, site, n_bytes, offset);
	return part ? pp_printable(part) : NULL;
}

bool pp_object_file_text(struct pp_object_file *object, uint64_t address, struct pp_text_bytes *ret)
{
	return pp_text_bytes_find(pp_debug_file_module(object->file), address, ret);
}

char *pp_object_file_import(struct pp_object_file *object, uint64_t address)
{
	return pp_import_of_call(pp_debug_file_module(object->file), address);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The path that the compiler was given, or else the base name. */
static char *short_path(const char *path, const char *compile_dir)
{
	/* Packages built reproducibly may contain "." or nothing. */
	bool is_known = compile_dir && g_path_is_absolute(compile_dir);
	g_autofree char *full = g_canonicalize_filename(path, is_known ? compile_dir : "/");
	g_autofree char *dir = is_known ? g_canonicalize_filename(compile_dir, "/") : NULL;
	size_t len = dir ? strlen(dir) : 0;

	if (len > 1 && strncmp(full, dir, len) == 0 && full[len] == '/')
		return g_strdup(full + len + 1);
	if (!g_path_is_absolute(path))
		return g_strdup(path);
	return g_path_get_basename(full);
}

/* True if the file may contain functions such as std::mutex::lock(). */
static bool is_header(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *dot = strrchr(slash ? slash : file, '.');

	return !dot || g_ascii_tolower(dot[1]) == 'h' || strcmp(dot, ".tcc") == 0 ||
	       strcmp(dot, ".ipp") == 0;
}

static void add_raw(GArray *frames, const char *function, const struct pp_code_frame *at,
		    const char *compile_dir)
{
	struct pp_raw_frame frame = {.function = function, .is_wrapper = at && at->is_wrapper};

	if (at && at->file && at->line > 0) {
		frame.file = short_path(at->file, compile_dir);
		frame.line = at->line;
	}
	g_array_append_val(frames, frame);
}

static void raw_clear(void *data)
{
	g_free((char *)((struct pp_raw_frame *)data)->file);
}

static GArray *places_at(struct pp_object_file *object, uint64_t address,
			 const char **ret_compile_dir)
{
	return pp_code_frames(get_code(object), address, ret_compile_dir);
}

static const GArray *look_up(struct pp_object_file *object, uint64_t address)
{
	g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(struct pp_raw_frame));
	const struct pp_symbol *symbol = find_symbol(object, PP_SYMBOL_FUNCTION, address);
	g_autoptr(GArray) places = NULL;
	const char *compile_dir;
	guint n_inlined;

	places = places_at(object, address, &compile_dir);
	n_inlined = places->len ? places->len - 1 : 0;
	g_array_set_clear_func(frames, raw_clear);
	for (guint i = 0; i < n_inlined; i++) {
		const struct pp_code_frame *at = &g_array_index(places, struct pp_code_frame, i);

		add_raw(frames, at->function, at, compile_dir);
	}
	/* Uses the symbol's name, as profiles do, instead of the one in DWARF. */
	if (symbol->name)
		add_raw(frames, symbol->name,
			places->len ? &g_array_index(places, struct pp_code_frame, n_inlined)
				    : NULL,
			compile_dir);
	return pp_cached_names_add_frames(object->cached, address, frames);
}

static void frame_clear(void *data)
{
	struct pp_source_frame *frame = data;

	g_free(frame->function);
	g_free(frame->file);
}

GArray *pp_object_file_frames(struct pp_object_file *object, uint64_t address)
{
	const GArray *known = pp_cached_names_frames(object->cached, address);
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(struct pp_source_frame));

	if (!known)
		known = look_up(object, address);
	g_array_set_clear_func(frames, frame_clear);
	for (guint i = 0; i < known->len; i++) {
		const struct pp_raw_frame *raw = &g_array_index(known, struct pp_raw_frame, i);
		struct pp_source_frame frame = {
		    .function = pp_demangle(raw->function ? raw->function : "?", object->demangle),
		    .symbol = raw->function,
		    .file = raw->file ? pp_printable(g_strdup(raw->file)) : NULL,
		    .line = raw->line,
		    .is_header = raw->file && is_header(raw->file),
		    .is_wrapper = raw->is_wrapper,
		};

		g_array_append_val(frames, frame);
	}
	return frames;
}

void pp_object_file_search(struct pp_object_file *object, const char *list, bool *found,
			   unsigned n_names)
{
	pp_function_search(pp_debug_file_module(object->file), list, found, n_names);
}

bool pp_object_file_is_instrumented(struct pp_object_file *object)
{
	return is_own_library(object) ||
	       pp_module_is_instrumented(pp_debug_file_module(object->file));
}

void pp_object_file_plain_units(struct pp_object_file *object, GPtrArray *names)
{
	if (!is_own_library(object))
		pp_module_plain_units(pp_debug_file_module(object->file), names);
}

char *pp_object_file_path(struct pp_object_file *object, uint64_t address, guint frame)
{
	const char *compile_dir;
	g_autoptr(GArray) places = places_at(object, address, &compile_dir);
	const struct pp_code_frame *at = &g_array_index(places, struct pp_code_frame, frame);

	if (frame >= places->len || !at->file)
		return NULL;
	return compile_dir && g_path_is_absolute(compile_dir)
		   ? g_canonicalize_filename(at->file, compile_dir)
		   : g_strdup(at->file);
}

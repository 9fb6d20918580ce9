/* SPDX-License-Identifier: MIT */
/* Keeps opened objects and the names found in them, by path and build-id. */
#include "symbols/symbols.h"

#include <inttypes.h>

#include "core/event.h"
#include "core/text/json.h"
#include "core/text/printable.h"
#include "capture/capture.h"
#include "symbols/debug_server.h"
#include "sync-trace/named.h"

struct object {
	struct pp_object_file *file;
	GHashTable *frames; /* link-time address -> GArray of struct pp_source_frame */
};

struct pp_symbols {
	struct pp_model *model;
	struct pp_symbols_options options;
	GHashTable *objects; /* "build-id path" -> struct object * */
	char *wrappers;	     /* "a,b": [names] wrappers; "": none */
	bool is_silence_noted;
};

static void object_free(void *data)
{
	struct object *object = data;

	pp_object_file_free(object->file);
	g_hash_table_unref(object->frames);
	g_free(object);
}

static char *wrappers_of(const struct pp_model *model)
{
	const char *list = pp_json_string(pp_json_object(model->info, "config"), "names.wrappers");

	return g_strdup(list && !g_str_equal(list, "none") ? list : "");
}

struct pp_symbols *pp_symbols_new(struct pp_model *model, const struct pp_symbols_options *options)
{
	struct pp_symbols *symbols = g_new0(struct pp_symbols, 1);

	symbols->options = *options;
	symbols->model = model;
	symbols->wrappers = wrappers_of(model);
	symbols->objects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, object_free);
	return symbols;
}

void pp_symbols_free(struct pp_symbols *symbols)
{
	if (!symbols)
		return;
	g_hash_table_unref(symbols->objects);
	g_free(symbols->wrappers);
	g_free(symbols);
}

/* Servers are asked for the debug file when an object is opened. */
static void note_silence(struct pp_symbols *symbols)
{
	g_autofree char *servers = NULL;

	if (symbols->is_silence_noted || !pp_debug_server_is_silent())
		return;
	symbols->is_silence_noted = true;
	servers = pp_printable(g_strdup(g_getenv("DEBUGINFOD_URLS")));
	pp_model_add_problem(symbols->model,
			     "names may be missing: a server of debug files sent nothing", servers,
			     0);
}

static struct object *get_object(struct pp_symbols *symbols, const struct pp_load *load)
{
	g_autofree char *key =
	    g_strdup_printf("%s %s", load->build_id ? load->build_id : "-", load->path);
	struct object *object = g_hash_table_lookup(symbols->objects, key);
	const char *fault;

	if (object)
		return object;
	object = g_new0(struct object, 1);
	object->file = pp_object_file_new(load->path, load->build_id, &symbols->options);
	object->frames = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					       (GDestroyNotify)g_array_unref);
	g_hash_table_insert(symbols->objects, g_steal_pointer(&key), object);
	fault = pp_object_file_fault(object->file);
	if (fault && g_path_is_absolute(load->path)) {
		g_autofree char *what = g_strdup_printf("no names for addresses: %s", fault);
		g_autofree char *path = pp_printable(g_strdup(load->path));

		pp_model_add_problem(symbols->model, what, path, 0);
	}
	note_silence(symbols);
	return object;
}

static const GArray *get_frames(struct object *object, uint64_t address)
{
	GArray *frames = g_hash_table_lookup(object->frames, &address);

	if (frames)
		return frames;
	frames = pp_object_file_frames(object->file, address);
	g_hash_table_insert(object->frames, g_memdup2(&address, sizeof(address)), frames);
	return frames;
}

static const struct pp_source_frame *frame_at(const GArray *frames, guint i)
{
	return &g_array_index(frames, struct pp_source_frame, i);
}

/*
 * The object that contains the call before a return address, and the link-time address; NULL if
 * there is none.
 */
static struct object *find_call(struct pp_symbols *symbols, const struct pp_process *process,
				uint64_t address, const struct pp_load **ret_load,
				uint64_t *ret_linked)
{
	*ret_load = address ? pp_maps_find(process, address - 1) : NULL;
	if (!*ret_load)
		return NULL;
	/* One byte back: the call may be the last instruction of its line or function. */
	*ret_linked = address - 1 - (*ret_load)->bias;
	return get_object(symbols, *ret_load);
}

/*
 * The display name of a call site without a symbol: module and offset, which are the same in each
 * run.
 */
static char *unnamed_site(struct pp_symbols *symbols, const struct pp_process *process,
			  uint64_t address)
{
	const struct pp_load *load;
	uint64_t linked;
	struct object *object = find_call(symbols, process, address, &load, &linked);

	if (!object)
		return g_strdup_printf("0x%" PRIx64, pp_address_runtime(address));
	return g_strdup_printf("%s+0x%" PRIx64, pp_object_file_name(object->file), linked + 1);
}

/* Empty or NULL if nothing is known. */
static const GArray *find_frames(struct pp_symbols *symbols, const struct pp_process *process,
				 uint64_t address)
{
	const struct pp_load *load;
	uint64_t linked;
	struct object *object = find_call(symbols, process, address, &load, &linked);

	return object && !pp_object_file_fault(object->file) ? get_frames(object, linked) : NULL;
}

static char *frame_text(const struct pp_source_frame *frame)
{
	return frame->file
		   ? g_strdup_printf("%s (%s:%d)", frame->function, frame->file, frame->line)
		   : g_strdup(frame->function);
}

/* The symbol, and its start. */
static const char *find_function(struct pp_symbols *symbols, const struct pp_process *process,
				 uint64_t address, uint64_t *ret_entry)
{
	const struct pp_load *load;
	uint64_t linked, start = 0;
	struct object *object = find_call(symbols, process, address, &load, &linked);
	const char *name = object && !pp_object_file_fault(object->file)
			       ? pp_object_file_function(object->file, linked, &start)
			       : NULL;

	*ret_entry = name ? start + load->bias : 0;
	return name;
}

/*
 * The display name of a function without a symbol: module and offset of its first instruction.  If
 * that is unknown, all such code of the module has one name.
 */
static char *unnamed_function(struct pp_symbols *symbols, const struct pp_process *process,
			      uint64_t address)
{
	const struct pp_load *load;
	uint64_t linked, start = 0;
	struct object *object = find_call(symbols, process, address, &load, &linked);

	if (!object)
		return g_strdup_printf("0x%" PRIx64, pp_address_runtime(address));
	if (!pp_object_file_fault(object->file))
		(void)pp_object_file_function(object->file, linked, &start);
	return start ? g_strdup_printf("%s+0x%" PRIx64, pp_object_file_name(object->file), start)
		     : g_strdup_printf("%s, no symbols", pp_object_file_name(object->file));
}

static char *name_function(void *data, const struct pp_process *process, uint64_t address)
{
	uint64_t entry;
	const char *name = find_function(data, process, address, &entry);

	return name ? g_strdup(name) : unnamed_function(data, process, address);
}

/* True if the only purpose of the inlined function is its call, or if the user names it. */
static bool is_wrapper(const struct pp_symbols *symbols, const struct pp_source_frame *frame)
{
	g_autofree char *name = NULL;

	if (frame->is_wrapper || !*symbols->wrappers || !frame->symbol)
		return frame->is_wrapper;
	name = pp_demangle_simplify(frame->function);
	return st_find_named(frame->symbol, symbols->wrappers) >= 0 ||
	       st_find_named(name, symbols->wrappers) >= 0;
}

/*
 * Functions inlined from headers are shown as their caller's line, and so are inlined wrappers, if
 * `beyond_wrappers`.  NULL if nothing is known.
 */
static const struct pp_source_frame *find_line(struct pp_symbols *symbols,
					       const struct pp_process *process, uint64_t address,
					       bool beyond_wrappers, guint *ret_frame)
{
	const GArray *frames = find_frames(symbols, process, address);
	guint i = 0;

	if (!frames || !frames->len)
		return NULL;
	if (symbols->options.no_inline)
		i = frames->len - 1;
	while (i + 1 < frames->len &&
	       (frame_at(frames, i)->is_header || !frame_at(frames, i)->file ||
		(beyond_wrappers && is_wrapper(symbols, frame_at(frames, i)))))
		i++;
	*ret_frame = i;
	return frame_at(frames, i);
}

static const struct pp_source_frame *find_site(struct pp_symbols *symbols,
					       const struct pp_process *process, uint64_t address,
					       guint *ret_frame)
{
	return find_line(symbols, process, address, true, ret_frame);
}

static char *name_site(void *data, const struct pp_process *process, uint64_t address)
{
	guint frame;
	const struct pp_source_frame *site = find_site(data, process, address, &frame);

	return site ? frame_text(site) : unnamed_site(data, process, address);
}

static char *frame_source(struct pp_symbols *symbols, const struct pp_process *process,
			  uint64_t address, const struct pp_source_frame *site, guint frame,
			  int *ret_line)
{
	const struct pp_load *load;
	uint64_t linked;
	struct object *object =
	    site && site->file ? find_call(symbols, process, address, &load, &linked) : NULL;

	if (!object)
		return NULL;
	*ret_line = site->line;
	return pp_object_file_path(object->file, linked, frame);
}

static char *find_source(void *data, const struct pp_process *process, uint64_t address,
			 int *ret_line)
{
	guint frame = 0;
	const struct pp_source_frame *site = find_site(data, process, address, &frame);

	return frame_source(data, process, address, site, frame, ret_line);
}

static char *find_call_line(void *data, const struct pp_process *process, uint64_t address,
			    int *ret_line)
{
	guint frame = 0;
	const struct pp_source_frame *line = find_line(data, process, address, false, &frame);

	return frame_source(data, process, address, line, frame, ret_line);
}

static char *find_holder(void *data, const struct pp_process *process, uint64_t address,
			 int *ret_line)
{
	const GArray *frames = find_frames(data, process, address);
	guint frame = frames && frames->len ? frames->len - 1 : 0;
	const struct pp_source_frame *site = frames && frames->len ? frame_at(frames, frame) : NULL;

	return frame_source(data, process, address, site, frame, ret_line);
}

static void named_frame_free(void *data)
{
	struct pp_frame *frame = data;

	g_free(frame->function);
	g_free(frame->site);
	g_free(frame);
}

static GPtrArray *name_frames(void *data, const struct pp_process *process, uint64_t address)
{
	struct pp_symbols *symbols = data;
	GPtrArray *named = g_ptr_array_new_with_free_func(named_frame_free);
	const GArray *frames = find_frames(symbols, process, address);
	guint n = frames ? frames->len : 0;

	for (guint i = symbols->options.no_inline && n ? n - 1 : 0; i < n; i++) {
		struct pp_frame *frame = g_new0(struct pp_frame, 1);

		frame->function = g_strdup(frame_at(frames, i)->function);
		frame->site = frame_text(frame_at(frames, i));
		g_ptr_array_add(named, frame);
	}
	if (!n) {
		struct pp_frame *frame = g_new0(struct pp_frame, 1);

		frame->function = unnamed_function(symbols, process, address);
		frame->site = unnamed_site(symbols, process, address);
		g_ptr_array_add(named, frame);
	}
	return named;
}

/* gcc's name of a critical section, before that in the program. */
#define CRITICAL ".gomp_critical_user_"

static char *name_object(void *data, const struct pp_process *process, uint64_t address)
{
	const struct pp_load *load = pp_maps_find(process, address);
	struct object *object = load ? get_object(data, load) : NULL;
	g_autofree char *name = NULL;

	if (!object || pp_object_file_fault(object->file))
		return NULL;
	name = pp_object_file_variable(object->file, address - load->bias);
	return name && g_str_has_prefix(name, CRITICAL)
		   ? g_strconcat("critical ", name + strlen(CRITICAL), NULL)
		   : g_steal_pointer(&name);
}

static char *name_allocated(void *data, const struct pp_process *process, uint64_t site,
			    uint64_t n_bytes, uint64_t offset)
{
	const struct pp_load *load;
	uint64_t linked;
	struct object *object = find_call(data, process, site, &load, &linked);

	return object && !pp_object_file_fault(object->file)
		   ? pp_object_file_allocated(object->file, linked + 1, n_bytes, offset)
		   : NULL;
}

bool pp_symbols_text(struct pp_symbols *symbols, const struct pp_process *process, uint64_t address,
		     struct pp_text_bytes *ret)
{
	const struct pp_load *load;
	uint64_t linked;
	struct object *object = find_call(symbols, process, address, &load, &linked);

	if (!object || pp_object_file_fault(object->file) ||
	    !pp_object_file_text(object->file, linked, ret))
		return false;
	ret->start += load->bias;
	return true;
}

char *pp_symbols_import(struct pp_symbols *symbols, const struct pp_process *process,
			uint64_t address)
{
	const struct pp_load *load;
	uint64_t linked;
	struct object *object = find_call(symbols, process, address + 1, &load, &linked);

	return object && !pp_object_file_fault(object->file)
		   ? pp_object_file_import(object->file, linked)
		   : NULL;
}

static char *find_place(void *data, const struct pp_process *process, uint64_t address,
			char **ret_build_id)
{
	const struct pp_load *load = pp_maps_find(process, address);
	g_autofree char *module = load ? g_path_get_basename(load->path) : NULL;

	(void)data;
	*ret_build_id = load ? g_strdup(load->build_id) : NULL;
	return load ? g_strdup_printf("%s+0x%" PRIx64, module, address - load->bias) : NULL;
}

static uint64_t find_entry(void *data, const struct pp_process *process, uint64_t address)
{
	uint64_t entry;

	find_function(data, process, address, &entry);
	return entry;
}

static uint64_t find_outlined(void *data, const struct pp_process *process, uint64_t address)
{
	const struct pp_load *load;
	uint64_t linked, start = 0;
	struct object *object = find_call(data, process, address, &load, &linked);

	if (object && !pp_object_file_fault(object->file))
		start = pp_object_file_outlined_from(object->file, linked);
	return start ? start + load->bias + 1 : 0;
}

static bool is_own(void *data, const struct pp_process *process, uint64_t address)
{
	const struct pp_load *load = pp_maps_find(process, address);

	return load && pp_object_file_is_own(get_object(data, load)->file, address - load->bias);
}

/* glibc and the unwinder: nobody compiles them, and the wrappers of libaccess_trace record mem*()
 * and str*(). */
static bool is_of_c_library(const char *name)
{
	static const char *const prefixes[] = {"ld-linux", "libc.so",  "libm.so",  "libpthread.so",
					       "libdl.so", "librt.so", "libgcc_s", "linux-vdso"};

	for (unsigned i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (g_str_has_prefix(name, prefixes[i]))
			return true;
	return false;
}

static void find_uninstrumented(void *data, const struct pp_process *process, GPtrArray *objects,
				GPtrArray *files)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	for (guint i = 0; process->maps && i < process->maps->len; i++) {
		const struct pp_load *load = &g_array_index(process->maps, struct pp_load, i);
		struct object *object = get_object(data, load);
		const char *name = pp_object_file_name(object->file);

		if (!g_path_is_absolute(load->path) || pp_object_file_fault(object->file) ||
		    is_of_c_library(name) || !g_hash_table_add(seen, object))
			continue;
		if (pp_object_file_is_instrumented(object->file))
			pp_object_file_plain_units(object->file, files);
		else
			g_ptr_array_add(objects, g_strdup(name));
	}
}

/* Searches the objects of a process that were not searched before. */
static void search_process(struct pp_symbols *symbols, const struct pp_process *process,
			   GHashTable *searched, bool *found, unsigned n_names)
{
	for (guint i = 0; process->maps && i < process->maps->len; i++) {
		struct object *object =
		    get_object(symbols, &g_array_index(process->maps, struct pp_load, i));

		if (!pp_object_file_fault(object->file) && g_hash_table_add(searched, object))
			pp_object_file_search(object->file, symbols->wrappers, found, n_names);
	}
}

GStrv pp_symbols_unknown_wrappers(struct pp_symbols *symbols)
{
	g_auto(GStrv) names = g_strsplit(symbols->wrappers, ",", -1);
	g_autoptr(GHashTable) searched = g_hash_table_new(NULL, NULL);
	guint n_names = g_strv_length(names);
	g_autofree bool *found = g_new0(bool, n_names + 1);
	GPtrArray *unknown = g_ptr_array_new();

	for (guint i = 0; n_names && i < symbols->model->processes->len; i++)
		search_process(symbols, symbols->model->processes->pdata[i], searched, found,
			       n_names);
	for (guint i = 0; i < n_names; i++)
		if (!found[i])
			g_ptr_array_add(unknown, g_strdup(names[i]));
	if (unknown->len)
		g_ptr_array_add(unknown, NULL);
	return (GStrv)g_ptr_array_free(unknown, !unknown->len);
}

struct pp_namer pp_symbols_namer(struct pp_symbols *symbols)
{
	return (struct pp_namer){
	    .data = symbols,
	    .site = name_site,
	    .frames = name_frames,
	    .source = find_source,
	    .call_line = find_call_line,
	    .holder = find_holder,
	    .function = name_function,
	    .object = name_object,
	    .allocated = name_allocated,
	    .place = find_place,
	    .entry = find_entry,
	    .outlined_from = find_outlined,
	    .is_own = is_own,
	    .uninstrumented = find_uninstrumented,
	};
}

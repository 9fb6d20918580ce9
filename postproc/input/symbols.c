/* SPDX-License-Identifier: MIT */
#include "input/symbols.h"

#include <inttypes.h>

#include "core/printable.h"
#include "input/capture.h"
#include "input/object_file.h"

struct object {
	struct pp_object_file *file;
	GHashTable *lines; /* link-time address -> struct line * */
};

struct line {
	char *file; /* NULL: not known */
	int number;
};

struct pp_symbols {
	struct pp_model *model;
	GHashTable *objects; /* "build-id path" -> struct object * */
};

static void line_free(void *data)
{
	struct line *line = data;

	g_free(line->file);
	g_free(line);
}

static void object_free(void *data)
{
	struct object *object = data;

	pp_object_file_free(object->file);
	g_hash_table_unref(object->lines);
	g_free(object);
}

struct pp_symbols *pp_symbols_new(struct pp_model *model)
{
	struct pp_symbols *symbols = g_new0(struct pp_symbols, 1);

	symbols->model = model;
	symbols->objects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, object_free);
	return symbols;
}

void pp_symbols_free(struct pp_symbols *symbols)
{
	if (!symbols)
		return;
	g_hash_table_unref(symbols->objects);
	g_free(symbols);
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
	object->file = pp_object_file_new(load->path, load->build_id);
	object->lines = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, line_free);
	g_hash_table_insert(symbols->objects, g_steal_pointer(&key), object);
	fault = pp_object_file_fault(object->file);
	if (fault && g_path_is_absolute(load->path)) {
		g_autofree char *what = g_strdup_printf("no names for addresses: %s", fault);
		g_autofree char *path = pp_printable(g_strdup(load->path));

		pp_model_add_problem(symbols->model, what, path, 0);
	}
	return object;
}

/* The last loaded, where more than one was there in the course of time. */
static const struct pp_load *find_load(const struct pp_process *process, uint64_t address)
{
	const GArray *maps = process->maps;

	for (guint i = maps ? maps->len : 0; i-- > 0;) {
		const struct pp_load *load = &g_array_index(maps, struct pp_load, i);

		if (address >= load->start && address < load->end)
			return load;
	}
	return NULL;
}

static const struct line *get_line(struct object *object, uint64_t address)
{
	struct line *line = g_hash_table_lookup(object->lines, &address);

	if (line)
		return line;
	line = g_new0(struct line, 1);
	line->file = pp_object_file_line(object->file, address, &line->number);
	g_hash_table_insert(object->lines, g_memdup2(&address, sizeof(address)), line);
	return line;
}

void pp_symbols_place(struct pp_symbols *symbols, const struct pp_process *process,
		      uint64_t address, struct pp_place *ret)
{
	const struct pp_load *load = address ? find_load(process, address - 1) : NULL;
	struct object *object;
	const struct line *line;
	uint64_t linked, start = 0;

	*ret = (struct pp_place){0};
	if (!load)
		return;
	/* One byte back: the call, which may be the last instruction of its line or function. */
	linked = address - 1 - load->bias;
	object = get_object(symbols, load);
	ret->object = pp_object_file_name(object->file);
	ret->object_address = linked + 1;
	ret->fault = pp_object_file_fault(object->file);
	if (ret->fault)
		return;
	ret->function = pp_object_file_function(object->file, linked, &start);
	ret->entry = ret->function ? start + load->bias : 0;
	line = get_line(object, linked);
	ret->file = line->file;
	ret->line = line->number;
}

static char *unnamed(const struct pp_place *place, uint64_t address)
{
	if (!place->object)
		return g_strdup_printf("0x%" PRIx64, address);
	if (place->fault)
		return g_strdup_printf("0x%" PRIx64 " (%s: %s)", address, place->object,
				       place->fault);
	return g_strdup_printf("0x%" PRIx64 " (%s+0x%" PRIx64 ")", address, place->object,
			       place->object_address);
}

static char *name_function(void *data, const struct pp_process *process, uint64_t address)
{
	struct pp_place place;

	pp_symbols_place(data, process, address, &place);
	return place.function ? g_strdup(place.function) : unnamed(&place, address);
}

static char *name_site(void *data, const struct pp_process *process, uint64_t address)
{
	struct pp_place place;

	pp_symbols_place(data, process, address, &place);
	if (place.function && place.file)
		return g_strdup_printf("%s (%s:%d)", place.function, place.file, place.line);
	return place.function ? g_strdup(place.function) : unnamed(&place, address);
}

static char *name_object(void *data, const struct pp_process *process, uint64_t address)
{
	const struct pp_load *load = find_load(process, address);
	struct object *object = load ? get_object(data, load) : NULL;
	const char *name;
	uint64_t offset;

	if (!object || pp_object_file_fault(object->file))
		return NULL;
	name = pp_object_file_variable(object->file, address - load->bias, &offset);
	if (!name)
		return NULL;
	return offset ? g_strdup_printf("%s+%" PRIu64, name, offset) : g_strdup(name);
}

static uint64_t find_entry(void *data, const struct pp_process *process, uint64_t address)
{
	struct pp_place place;

	pp_symbols_place(data, process, address, &place);
	return place.entry;
}

static char *name_file(void *data, const struct pp_process *process, uint64_t address)
{
	const struct pp_load *load = find_load(process, address);

	return load ? g_strdup(pp_object_file_name(get_object(data, load)->file)) : NULL;
}

struct pp_namer pp_symbols_namer(struct pp_symbols *symbols)
{
	return (struct pp_namer){symbols,     name_site,  name_function,
				 name_object, find_entry, name_file};
}

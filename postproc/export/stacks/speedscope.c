/* SPDX-License-Identifier: MIT */
/* Writes the JSON of speedscope: frames first seen first, one profile for each thread. */
#include "export/stacks/speedscope.h"

#include "core/text/printable.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void write_name(struct pp_json_writer *json, const char *name)
{
	g_autofree char *printable = pp_printable(g_strdup(name));

	pp_json_write_text(json, "name", printable);
}

void pp_speedscope_init(struct pp_speedscope *file, struct pp_out *out)
{
	struct pp_json_writer *json = &file->json;

	*file = (struct pp_speedscope){
	    .out = out,
	    .json = {.to = out->text},
	    .frames = g_hash_table_new(g_str_hash, g_str_equal),
	    .names = g_ptr_array_new_with_free_func(g_free),
	};
	pp_json_write_open(json, NULL, '{');
	pp_json_write_text(json, "$schema", SCHEMA);
	pp_json_write_text(json, "exporter", "gprof-mt " GM_VERSION);
	pp_json_write_newline(json);
	pp_json_write_open(json, "profiles", '[');
}

void pp_speedscope_done(struct pp_speedscope *file)
{
	if (file->frames)
		g_hash_table_unref(file->frames);
	if (file->names)
		g_ptr_array_unref(file->names);
}

unsigned pp_speedscope_frame(struct pp_speedscope *file, const char *name)
{
	unsigned number = GPOINTER_TO_UINT(g_hash_table_lookup(file->frames, name));
	char *kept;

	if (number)
		return number - 1;
	kept = g_strdup(name);
	g_ptr_array_add(file->names, kept);
	g_hash_table_insert(file->frames, kept, GUINT_TO_POINTER(file->names->len));
	return file->names->len - 1;
}

void pp_speedscope_begin_profile(struct pp_speedscope *file, const char *type, const char *name,
				 const char *unit, int64_t start, int64_t end)
{
	struct pp_json_writer *json = &file->json;

	file->n_profiles++;
	pp_json_write_newline(json);
	pp_json_write_open(json, NULL, '{');
	pp_json_write_text(json, "type", type);
	write_name(json, name);
	pp_json_write_text(json, "unit", unit);
	pp_json_write_int(json, "startValue", start);
	pp_json_write_int(json, "endValue", end);
}

void pp_speedscope_finish(struct pp_speedscope *file)
{
	struct pp_json_writer *json = &file->json;

	pp_json_write_close(json, ']');
	pp_json_write_newline(json);
	pp_json_write_open(json, "shared", '{');
	pp_json_write_open(json, "frames", '[');
	for (guint i = 0; i < file->names->len; i++) {
		pp_json_write_newline(json);
		pp_json_write_open(json, NULL, '{');
		write_name(json, file->names->pdata[i]);
		pp_json_write_close(json, '}');
		pp_out_flush(file->out);
	}
	pp_json_write_close(json, ']');
	pp_json_write_close(json, '}');
	pp_json_write_close(json, '}');
	g_string_append_c(file->out->text, '\n');
}

/* --- stacks --------------------------------------------------------------------------------- */

/* The frames within the outermost, from the outermost on. */
static void write_sample(struct pp_speedscope *file, const struct pp_stack *stack)
{
	g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(unsigned));

	for (; stack->parent && stack->parent->parent; stack = stack->parent) {
		unsigned frame = pp_speedscope_frame(file, stack->name);

		g_array_append_val(frames, frame);
	}
	pp_json_write_open(&file->json, NULL, '[');
	for (guint i = frames->len; i-- > 0;)
		pp_json_write_count(&file->json, NULL, g_array_index(frames, unsigned, i));
	pp_json_write_close(&file->json, ']');
	pp_out_flush(file->out);
}

static void write_profile(struct pp_speedscope *file, const struct pp_stack *outermost,
			  const GPtrArray *samples, const char *unit)
{
	struct pp_json_writer *json = &file->json;
	uint64_t sum = 0;

	for (guint i = 0; i < samples->len; i++)
		sum += ((const struct pp_stack *)samples->pdata[i])->value;
	pp_speedscope_begin_profile(file, "sampled", outermost->name, unit, 0, (int64_t)sum);
	pp_json_write_open(json, "samples", '[');
	for (guint i = 0; i < samples->len; i++)
		write_sample(file, samples->pdata[i]);
	pp_json_write_close(json, ']');
	pp_json_write_open(json, "weights", '[');
	for (guint i = 0; i < samples->len; i++) {
		pp_json_write_count(json, NULL,
				    ((const struct pp_stack *)samples->pdata[i])->value);
		pp_out_flush(file->out);
	}
	pp_json_write_close(json, ']');
	pp_json_write_close(json, '}');
}

bool pp_speedscope_write_stacks(const struct pp_stacks *stacks, const char *unit,
				struct pp_out *out)
{
	g_autoptr(GHashTable) of_outermost =
	    g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	g_autoptr(GPtrArray) outermosts = g_ptr_array_new();
	struct pp_speedscope file;

	for (unsigned i = 0; i < pp_stacks_n(stacks); i++) {
		struct pp_stack *stack = pp_stacks_at(stacks, i), *outermost = stack;
		GPtrArray *samples;

		if (!stack->parent || !stack->value)
			continue;
		while (outermost->parent->parent)
			outermost = outermost->parent;
		samples = g_hash_table_lookup(of_outermost, outermost);
		if (!samples) {
			samples = g_ptr_array_new();
			g_hash_table_insert(of_outermost, outermost, samples);
			g_ptr_array_add(outermosts, outermost);
		}
		g_ptr_array_add(samples, stack);
	}
	if (!outermosts->len)
		return false;
	pp_speedscope_init(&file, out);
	for (guint i = 0; i < outermosts->len; i++)
		write_profile(&file, outermosts->pdata[i],
			      g_hash_table_lookup(of_outermost, outermosts->pdata[i]), unit);
	pp_speedscope_finish(&file);
	pp_speedscope_done(&file);
	return true;
}

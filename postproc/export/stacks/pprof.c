/* SPDX-License-Identifier: MIT */
/*
 * A profile for pprof: number of calls by caller, CPU time of samples and blocked time by call
 * path, and the time of waits by the path of the call to blame; samples without stacks have only
 * the function.
 *
 * A profile is a message whose parts may come in any order, so each part is written as soon as it
 * is known.  A synchronization operation is not code of the program; it becomes a location without
 * an address.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/json.h"
#include "core/text/printable.h"
#include "export/gzip.h"
#include "export/stacks/blamed.h"
#include "export/stacks/off_cpu.h"
#include "export/stacks/pprof.pb-c.h"
#include "export/stacks/samples.h"
#include "capture/capture.h"
#include "analysis/caller.h"
#include "analysis/select.h"
#include "analysis/paths/sums.h"
#include "analysis/thread_cells.h"

enum { CALLS, CPU, OFF_CPU, BLAME, N_VALUES };

/* An address in a process, or only a name: an operation. */
struct place {
	const struct pp_process *process;
	uint64_t address; /* 0: none */
	const char *name; /* interned */
};

struct location {
	struct place place;
	uint64_t id;
};

struct pprof {
	const struct pp_export *export;
	struct pp_off_cpu *off_cpu;
	struct pp_blame *blame;
	struct pp_path_sums *sums; /* for samples with stacks */
	GByteArray *bytes;	   /* not compressed yet */
	struct pp_gzip gzip;
	GHashTable *strings;   /* text -> number + 1 */
	GHashTable *functions; /* "name\nfile" -> id */
	GHashTable *locations; /* a set of struct location * */
	GHashTable *mappings;  /* const struct pp_load * -> id */
	bool has[N_VALUES];    /* there are samples with this value */
	bool has_any;
};

/* --- parts ---------------------------------------------------------------------------------- */

static void take_compressed(void *data, const char *bytes, size_t n_bytes)
{
	struct pp_out *out = data;

	g_string_append_len(out->text, bytes, (gssize)n_bytes);
	pp_out_flush(out);
}

static void add(struct pprof *self, const Pprof__Profile *part)
{
	GByteArray *bytes = self->bytes;
	guint begin = bytes->len;

	g_byte_array_set_size(bytes, begin + (guint)pprof__profile__get_packed_size(part));
	pprof__profile__pack(part, bytes->data + begin);
	if (bytes->len < PP_GZIP_BATCH_BYTES)
		return;
	pp_gzip_add(&self->gzip, bytes->data, bytes->len);
	g_byte_array_set_size(bytes, 0);
}

static int64_t string_of(struct pprof *self, const char *text)
{
	g_autofree char *printable = pp_printable(g_strdup(text));
	size_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(self->strings, printable));
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char *strings[] = {printable};

	if (number)
		return (int64_t)number - 1;
	part.n_string_table = 1;
	part.string_table = strings;
	add(self, &part);
	number = g_hash_table_size(self->strings) + 1;
	g_hash_table_insert(self->strings, g_steal_pointer(&printable), GSIZE_TO_POINTER(number));
	return (int64_t)number - 1;
}

static Pprof__ValueType value_type(struct pprof *self, const char *type, const char *unit)
{
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT;

	value.has_type = value.has_unit = 1;
	value.type = string_of(self, type);
	value.unit = string_of(self, unit);
	return value;
}

/* Returns the start of the capture in ns since 1970; 0: unknown or out of range. */
static int64_t time_of(const struct pp_model *model)
{
	const char *text = model->info ? pp_json_string(model->info, "start_time") : NULL;
	g_autoptr(GDateTime) time = text ? g_date_time_new_from_iso8601(text, NULL) : NULL;
	int64_t ns;

	if (!time || __builtin_mul_overflow(g_date_time_to_unix(time), INT64_C(1000000000), &ns) ||
	    __builtin_add_overflow(ns, g_date_time_get_microsecond(time) * INT64_C(1000), &ns))
		return 0;
	return ns;
}

static void add_head(struct pprof *self)
{
	const struct pp_model *model = self->export->context->model;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType calls = value_type(self, "calls", "count");
	Pprof__ValueType cpu = value_type(self, "cpu", "nanoseconds");
	Pprof__ValueType off_cpu = value_type(self, "off-cpu", "nanoseconds");
	Pprof__ValueType blame = value_type(self, "blame", "nanoseconds");
	Pprof__ValueType *list[N_VALUES] = {
	    [CALLS] = &calls, [CPU] = &cpu, [OFF_CPU] = &off_cpu, [BLAME] = &blame};
	int64_t comment = string_of(self, "gprof-mt " GM_VERSION);

	part.n_sample_type = N_VALUES;
	part.sample_type = list;
	part.time_nanos = time_of(model);
	part.has_time_nanos = part.time_nanos != 0;
	part.has_duration_nanos = 1;
	part.duration_nanos = model->end_ns - model->start_ns;
	part.n_comment = 1;
	part.comment = &comment;
	add(self, &part);
}

/*
 * Parses "function (file:line)".  Returns the file's name, which the caller frees, and the line;
 * NULL: none.
 */
static char *split_site(const char *site, int64_t *ret_line)
{
	const char *open = site ? strrchr(site, '(') : NULL;
	const char *colon = open ? strrchr(open, ':') : NULL;

	*ret_line = 0;
	if (!colon || !g_ascii_isdigit(colon[1]))
		return NULL;
	*ret_line = g_ascii_strtoll(colon + 1, NULL, 10);
	return g_strndup(open + 1, (gsize)(colon - open - 1));
}

static uint64_t function_of(struct pprof *self, const char *name, const char *file)
{
	g_autofree char *key = g_strconcat(name, "\n", file, NULL);
	uint64_t id = GPOINTER_TO_SIZE(g_hash_table_lookup(self->functions, key));
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT;
	Pprof__Function *list[] = {&function};

	if (id)
		return id;
	id = g_hash_table_size(self->functions) + 1;
	g_hash_table_insert(self->functions, g_steal_pointer(&key), GSIZE_TO_POINTER(id));
	function.has_id = function.has_name = function.has_system_name = 1;
	function.id = id;
	function.name = function.system_name = string_of(self, name);
	function.has_filename = file != NULL;
	function.filename = file ? string_of(self, file) : 0;
	part.n_function = 1;
	part.function = list;
	add(self, &part);
	return id;
}

/* --- places --------------------------------------------------------------------------------- */

/* Returns 0 if unknown. */
static uint64_t mapping_of(struct pprof *self, const struct place *place)
{
	Pprof__Mapping mapping = PPROF__MAPPING__INIT;
	Pprof__Mapping *list[] = {&mapping};
	Pprof__Profile part = PPROF__PROFILE__INIT;
	const struct pp_load *load =
	    place->process ? pp_maps_find(place->process, place->address) : NULL;

	if (!load)
		return 0;
	mapping.id = GPOINTER_TO_SIZE(g_hash_table_lookup(self->mappings, load));
	if (mapping.id)
		return mapping.id;
	mapping.id = g_hash_table_size(self->mappings) + 1;
	g_hash_table_insert(self->mappings, (void *)load, GSIZE_TO_POINTER(mapping.id));
	mapping.has_id = mapping.has_memory_start = mapping.has_memory_limit = 1;
	mapping.memory_start = load->start;
	mapping.memory_limit = load->end;
	mapping.has_filename = 1;
	mapping.filename = string_of(self, load->path);
	mapping.has_build_id = load->build_id != NULL;
	mapping.build_id = load->build_id ? string_of(self, load->build_id) : 0;
	/* Names are included, so pprof need not look for the files. */
	mapping.has_has_functions = mapping.has_functions = 1;
	mapping.has_has_filenames = mapping.has_filenames = 1;
	mapping.has_has_line_numbers = mapping.has_line_numbers = 1;
	mapping.has_has_inline_frames = mapping.has_inline_frames = 1;
	part.n_mapping = 1;
	part.mapping = list;
	add(self, &part);
	return mapping.id;
}

static void add_line(struct pprof *self, GArray *lines, const char *function, const char *site)
{
	Pprof__Line line = PPROF__LINE__INIT;
	g_autofree char *file = split_site(site, &line.line);

	line.has_line = file != NULL;
	line.has_function_id = 1;
	line.function_id = function_of(self, function, file);
	g_array_append_val(lines, line);
}

/* Returns an array of Pprof__Line. */
static GArray *lines_of(struct pprof *self, const struct place *place)
{
	const struct pp_namer *namer = self->export->context->namer;
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(Pprof__Line));
	g_autoptr(GPtrArray) frames = NULL;
	g_autofree char *function = NULL;

	if (place->name) {
		add_line(self, lines, place->name, NULL);
		return lines;
	}
	/* The namer expects return addresses. */
	if (namer->frames)
		frames = namer->frames(namer->data, place->process, place->address + 1);
	for (guint i = 0; frames && i < frames->len; i++) {
		const struct pp_frame *frame = frames->pdata[i];

		add_line(self, lines, frame->function, frame->site);
	}
	if (!frames) {
		function = namer->function(namer->data, place->process, place->address + 1);
		add_line(self, lines, function, NULL);
	}
	return lines;
}

static guint place_hash(const void *data)
{
	const struct place *place = data;

	return g_direct_hash(place->process) ^ g_int64_hash(&place->address) * 31 ^
	       g_direct_hash(place->name);
}

static gboolean place_equal(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->process == y->process && x->address == y->address && x->name == y->name;
}

static uint64_t location_of(struct pprof *self, const struct place *place)
{
	struct location *known = g_hash_table_lookup(self->locations, place);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__Location *list[] = {&location};
	g_autofree Pprof__Line **line_list = NULL;
	g_autoptr(GArray) lines = NULL;

	if (known)
		return known->id;
	known = g_new0(struct location, 1);
	known->place = *place;
	known->id = g_hash_table_size(self->locations) + 1;
	g_hash_table_add(self->locations, known);
	lines = lines_of(self, place);
	line_list = g_new0(Pprof__Line *, lines->len);
	for (guint i = 0; i < lines->len; i++)
		line_list[i] = &g_array_index(lines, Pprof__Line, i);
	location.has_id = 1;
	location.id = known->id;
	location.mapping_id = mapping_of(self, place);
	location.has_mapping_id = location.mapping_id != 0;
	location.has_address = place->address != 0;
	location.address = place->address;
	location.n_line = lines->len;
	location.line = line_list;
	part.n_location = 1;
	part.location = list;
	add(self, &part);
	return known->id;
}

static void add_place(struct pprof *self, GArray *stack, const struct pp_process *process,
		      uint64_t address)
{
	struct place place = {process, address, NULL};
	uint64_t id = location_of(self, &place);

	g_array_append_val(stack, id);
}

/* --- samples -------------------------------------------------------------------------------- */

static Pprof__Label label_of(struct pprof *self, const char *key, const char *text)
{
	Pprof__Label label = PPROF__LABEL__INIT;

	label.has_key = label.has_str = 1;
	label.key = string_of(self, key);
	label.str = string_of(self, text);
	return label;
}

struct label {
	const char *key, *text; /* text NULL: the sample has no such label */
};

#define N_LABELS 2

/* stack: of uint64_t, innermost first. */
static void add_labeled(struct pprof *self, const GArray *stack, unsigned which, int64_t value,
			const struct label *of)
{
	Pprof__Label labels[N_LABELS], *label_list[N_LABELS];
	int64_t values[N_VALUES] = {0};
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	Pprof__Sample *list[] = {&sample};
	Pprof__Profile part = PPROF__PROFILE__INIT;

	values[which] = value;
	for (unsigned i = 0; i < N_LABELS; i++) {
		if (!of[i].text)
			continue;
		labels[i] = label_of(self, of[i].key, of[i].text);
		label_list[sample.n_label++] = &labels[i];
	}
	sample.n_location_id = stack->len;
	sample.location_id = (uint64_t *)(void *)stack->data;
	sample.n_value = N_VALUES;
	sample.value = values;
	sample.label = label_list;
	part.n_sample = 1;
	part.sample = list;
	add(self, &part);
	self->has[which] = self->has_any = true;
}

static void add_sample(struct pprof *self, const struct pp_thread *thread, const GArray *stack,
		       unsigned which, int64_t value, const char *object)
{
	g_autofree char *title = pp_thread_title(thread);
	const struct label labels[N_LABELS] = {{"thread", title}, {"object", object}};

	add_labeled(self, stack, which, value, labels);
}

static bool is_sampled(const struct pprof *self, const struct pp_thread *thread)
{
	const struct pp_path_thread *known = pp_path_sums_thread(self->sums, thread);

	return known && known->sampled;
}

static void add_calls(struct pprof *self, const struct pp_thread *thread)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (guint i = 0; thread->arcs && i < thread->arcs->len; i++) {
		const struct pp_arc *arc = &g_array_index(thread->arcs, struct pp_arc, i);
		uint64_t from = pp_arc_caller(self->export->context->namer, thread->process, arc);

		g_array_set_size(stack, 0);
		add_place(self, stack, thread->process, arc->self - 1);
		if (from)
			add_place(self, stack, thread->process, from - 1);
		add_sample(self, thread, stack, CALLS, (int64_t)arc->count, NULL);
	}
}

/* A frame that is only a name. */
static void add_name(struct pprof *self, GArray *stack, const char *name)
{
	struct place place = {.name = g_intern_string(name)};
	uint64_t id = location_of(self, &place);

	g_array_append_val(stack, id);
}

/* The samples of a thread that have stacks. */
static void add_cpu_paths(struct pprof *self)
{
	const GPtrArray *uses = pp_path_sums_uses(self->sums);
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (guint i = 0; i < uses->len; i++) {
		const struct pp_path_use *use = uses->pdata[i];
		unsigned n_own;

		if (use->kind != PP_PATH_CPU || !is_sampled(self, use->thread))
			continue;
		n_own = use->path ? pp_samples_own(self->export->context->namer, use->process,
						   use->path->addresses, use->path->n)
				  : 0;
		g_array_set_size(stack, 0);
		if (n_own)
			add_name(self, stack, PP_OWN_CODE);
		for (unsigned at = n_own; use->path && at < use->path->n; at++)
			add_place(self, stack, use->process, use->path->addresses[at] - 1);
		if (!use->path)
			add_name(self, stack, "[no call path]");
		add_sample(self, use->thread, stack, CPU, use->ns, NULL);
	}
}

/* The samples of a thread without stacks: those of its histogram. */
static void add_cpu(struct pprof *self, const struct pp_thread *thread)
{
	const struct pp_namer *namer = self->export->context->namer;
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	if (is_sampled(self, thread))
		return;
	for (guint i = 0; thread->samples && i < thread->samples->len; i++) {
		const struct pp_sample *sample =
		    &g_array_index(thread->samples, struct pp_sample, i);
		uint64_t ns = sample->count * thread->process->sample_period_ns;

		g_array_set_size(stack, 0);
		if (namer->is_own && namer->is_own(namer->data, thread->process, sample->address))
			add_name(self, stack, PP_OWN_CODE);
		else
			add_place(self, stack, thread->process, sample->address);
		add_sample(self, thread, stack, CPU, (int64_t)ns, NULL);
	}
}

static void add_off_cpu(struct pprof *self, const struct pp_off_cpu_use *use)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	const struct pp_process *process = use->thread->process;
	const struct pp_namer *namer = self->export->context->namer;
	g_autofree char *name = use->object ? pp_object_name(use->object, namer) : NULL;

	add_name(self, stack, pp_op_function(use->op) ?: pp_sync_name(use->op));
	for (unsigned i = 0; use->path && i < use->path->n; i++)
		add_place(self, stack, process, use->path->addresses[i] - 1);
	if (!use->path && use->site)
		add_place(self, stack, process, use->site - 1);
	add_sample(self, use->thread, stack, OFF_CPU, use->slept_ns, name);
}

/* The time of waits, which has no thread: a call to blame may be one of several threads. */
static void add_blame(struct pprof *self, const struct pp_blamed *blamed)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	const struct pp_process *process = blamed->object->process;
	const struct pp_blame_call *call = &blamed->cause.call;
	g_autofree char *name = pp_object_name(blamed->object, self->export->context->namer);
	g_autofree char *kind = pp_blamed_kind(blamed);
	const struct label labels[N_LABELS] = {{"cause", kind}, {"object", name}};

	if (pp_blamed_has_call(blamed)) {
		add_name(self, stack, pp_blamed_function(blamed));
		for (unsigned i = 0; call->path && i < call->path->n; i++)
			add_place(self, stack, process, call->path->addresses[i] - 1);
		if (!call->path && call->site)
			add_place(self, stack, process, call->site - 1);
	} else {
		g_autofree char *frame = pp_blamed_frame(blamed);

		add_name(self, stack, frame);
	}
	add_labeled(self, stack, BLAME, blamed->ns, labels);
}

/* Writes the default sample type, and the sampling period. */
static void add_tail(struct pprof *self)
{
	const GPtrArray *processes = self->export->context->model->processes;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType cpu = value_type(self, "cpu", "nanoseconds");
	bool has_cpu = false;

	for (guint i = 0; i < processes->len && !has_cpu; i++) {
		const struct pp_process *process = processes->pdata[i];

		has_cpu = process->sample_period_ns && !process->why_no_samples;
		part.period = (int64_t)process->sample_period_ns;
	}
	part.has_period = has_cpu;
	part.period_type = has_cpu ? &cpu : NULL;
	part.has_default_sample_type = 1;
	part.default_sample_type = string_of(self, self->has[CPU]	? "cpu"
						   : self->has[CALLS]	? "calls"
						   : self->has[OFF_CPU] ? "off-cpu"
									: "blame");
	add(self, &part);
}

/* --- the exporter --------------------------------------------------------------------------- */

static void *pprof_start(const struct pp_export *export)
{
	struct pprof *self = g_new0(struct pprof, 1);

	self->export = export;
	self->off_cpu = pp_off_cpu_new(export, false);
	self->blame = pp_blame_new(export->context);
	self->sums = pp_path_sums_new(export->context, true);
	self->bytes = g_byte_array_new();
	pp_gzip_init(&self->gzip, take_compressed, export->out);
	self->strings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->locations = g_hash_table_new_full(place_hash, place_equal, g_free, NULL);
	self->mappings = g_hash_table_new(NULL, NULL);
	/* The first string must be empty. */
	(void)string_of(self, "");
	add_head(self);
	return self;
}

static void pprof_event(void *state, const struct pp_event *event)
{
	struct pprof *self = state;

	if (event->kind != PP_EVENT_SAMPLE) {
		pp_off_cpu_event(self->off_cpu, event);
		pp_blame_event(self->blame, event);
	}
	pp_path_sums_event(self->sums, event);
}

static int pprof_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct pprof *self = state;
	const struct pp_pass_context *context = self->export->context;
	g_autoptr(GArray) causes = NULL;
	const GPtrArray *uses;

	pp_off_cpu_finish(self->off_cpu, end_ns);
	pp_blame_finish(self->blame, end_ns);
	pp_path_sums_finish(self->sums, end_ns);
	for (guint i = 0; i < context->model->threads->len; i++) {
		const struct pp_thread *thread = context->model->threads->pdata[i];

		if (!pp_selects_thread(context, thread))
			continue;
		add_calls(self, thread);
		add_cpu(self, thread);
	}
	add_cpu_paths(self);
	uses = pp_off_cpu_uses(self->off_cpu);
	for (guint i = 0; i < uses->len; i++)
		add_off_cpu(self, uses->pdata[i]);
	causes = pp_blamed_causes(self->blame, context);
	for (guint i = 0; i < causes->len; i++)
		add_blame(self, &g_array_index(causes, struct pp_blamed, i));
	if (!self->has_any)
		return pp_error_add(err, -ENODATA,
				    "%s: the threads have no calls, samples or waits; see "
				    "`gprof-mt report quality`",
				    context->model->dir);
	add_tail(self);
	return pp_gzip_finish(&self->gzip, self->bytes->data, self->bytes->len, err);
}

static void pprof_free(void *state)
{
	struct pprof *self = state;

	pp_off_cpu_free(self->off_cpu);
	pp_blame_free(self->blame);
	pp_path_sums_free(self->sums);
	g_byte_array_unref(self->bytes);
	pp_gzip_done(&self->gzip);
	g_hash_table_unref(self->strings);
	g_hash_table_unref(self->functions);
	g_hash_table_unref(self->locations);
	g_hash_table_unref(self->mappings);
	g_free(self);
}

const struct pp_exporter pp_exporter_pprof = {
    .format = "pprof",
    .summary = "calls, CPU time, time blocked and blame, by path",
    .file_name = "gprof-mt.pb.gz",
    .kinds = PP_PATH_SUMS_KINDS,
    .selects = PP_SELECT_THREAD,
    .start = pprof_start,
    .event = pprof_event,
    .finish = pprof_finish,
    .free = pprof_free,
};

/* SPDX-License-Identifier: MIT */
/*
 * Compares the call tree of random events with sums that are made the slow way: each wait and each
 * sample is added to the text of every part of its path.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event_text.h"
#include "analysis/pass_set.h"
#include "analysis/select.h"

#define N_RUNS	  300
#define N_THREADS 3
#define DEPTH	  6

static const struct {
	const char *op, *function;
} waits[] = {
    {"mutex_lock", "pthread_mutex_lock"},
    {"sem_wait", "sem_wait"},
    {"barrier_wait", "pthread_barrier_wait"},
    {"rwlock_rdlock", "pthread_rwlock_rdlock"},
};

/* A wait or a sample. */
struct use {
	const char *function; /* that waits; NULL: a sample */
	int64_t begin_ns, end_ns;
	int64_t weight_ns; /* of a sample */
	bool in_wait;	   /* a sample */
	unsigned depth;	   /* 0: no path */
	unsigned functions[DEPTH];
};

struct figures {
	int64_t wall_ns, cpu_ns, wait_ns;
	uint64_t waits, samples;
};

/* --- names, as the fixtures have them: 0xFNLLA is function fF ------------------------------- */

static char *name_function(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("f%u", (unsigned)(address >> 16));
}

static void frame_free(void *data)
{
	struct pp_frame *frame = data;

	g_free(frame->function);
	g_free(frame->site);
	g_free(frame);
}

/* Inlined into itself if the bit is set. */
static GPtrArray *name_frames(void *data, const struct pp_process *process, uint64_t address)
{
	GPtrArray *frames = g_ptr_array_new_with_free_func(frame_free);

	for (unsigned i = 0; i <= (address >> 12 & 1); i++) {
		struct pp_frame *frame = g_new0(struct pp_frame, 1);

		frame->function = name_function(data, process, address);
		frame->site = g_strdup_printf("%s (a.c:%u)", frame->function, i);
		g_ptr_array_add(frames, frame);
	}
	return frames;
}

static const struct pp_namer namer = {
    .site = name_function,
    .function = name_function,
    .frames = name_frames,
};

/* --- events --------------------------------------------------------------------------------- */

static void add_event(GPtrArray *events, int64_t time_ns, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void add_event(GPtrArray *events, int64_t time_ns, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_ptr_array_add(events, g_strdup_printf("%010" PRId64 " %s", time_ns, text));
}

static char *choose_path(GRand *rand, struct use *use)
{
	GString *text = g_string_new(NULL);

	use->depth = (unsigned)g_rand_int_range(rand, 0, DEPTH + 1);
	for (unsigned i = 0; i < use->depth; i++) {
		use->functions[i] = (unsigned)g_rand_int_range(rand, 1, 4);
		g_string_append_printf(text, "%s0x%x", i ? "," : " path=",
				       use->functions[i] << 16 |
					   (unsigned)g_rand_int_range(rand, 0, 2) << 12 |
					   (unsigned)g_rand_int_range(rand, 1, 9));
	}
	return g_string_free(text, FALSE);
}

static void add_sample(GRand *rand, GPtrArray *events, GArray *uses, unsigned tid, int64_t time_ns,
		       bool in_wait)
{
	struct use use = {.begin_ns = time_ns,
			  .end_ns = time_ns,
			  .weight_ns = g_rand_int_range(rand, 1, 50),
			  .in_wait = in_wait};
	g_autofree char *path = choose_path(rand, &use);

	add_event(events, time_ns, "sample tid=%u weight=%" PRId64 "%s", tid, use.weight_ns, path);
	g_array_append_val(uses, use);
}

/* Times are tid, modulo 10, so no two threads have an event at the same time. */
static void add_thread(GRand *rand, GPtrArray *events, GArray *uses, unsigned tid)
{
	int64_t now_ns = tid;

	for (int n = g_rand_int_range(rand, 0, 20); n > 0; n--) {
		unsigned at = (unsigned)g_rand_int_range(rand, 0, G_N_ELEMENTS(waits));
		struct use use = {.function = waits[at].function};
		g_autofree char *path = choose_path(rand, &use);

		now_ns += 10 * g_rand_int_range(rand, 1, 9);
		if (g_rand_boolean(rand)) {
			add_sample(rand, events, uses, tid, now_ns, false);
			continue;
		}
		use.begin_ns = now_ns;
		add_event(events, now_ns, "%s_begin tid=%u object=0x%x site=0x30001", waits[at].op,
			  tid, 0x1000 * (tid * 8 + at));
		while (g_rand_int_range(rand, 0, 3) == 0) {
			now_ns += 10;
			add_sample(rand, events, uses, tid, now_ns, true);
		}
		now_ns += 10 * g_rand_int_range(rand, 1, 9);
		use.end_ns = now_ns;
		add_event(events, now_ns, "%s tid=%u object=0x%x site=0x30001%s", waits[at].op, tid,
			  0x1000 * (tid * 8 + at), path);
		g_array_append_val(uses, use);
	}
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *events_text(GRand *rand, GArray *uses)
{
	g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func(g_free);
	GString *text = g_string_new("source none\n");

	for (unsigned tid = 1; tid <= N_THREADS; tid++)
		g_string_append_printf(text, "thread %u start=0 end=5000\n", tid);
	for (unsigned tid = 1; tid <= N_THREADS; tid++)
		add_thread(rand, events, uses, tid);
	g_ptr_array_sort(events, by_text);
	for (guint i = 0; i < events->len; i++)
		g_string_append_printf(text, "%s\n",
				       (char *)events->pdata[i] + strspn(events->pdata[i], "0"));
	return g_string_free(text, FALSE);
}

/* --- the slow sums -------------------------------------------------------------------------- */

static GPtrArray *names_of(const struct use *use, bool bottom_up)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GPtrArray *reversed = g_ptr_array_new_with_free_func(g_free);

	if (use->function)
		g_ptr_array_add(names, g_strdup(use->function));
	for (unsigned i = 0; i < use->depth; i++)
		g_ptr_array_add(names, g_strdup_printf("f%u", use->functions[i]));
	if (!use->depth && use->function)
		g_ptr_array_add(names, g_strdup("f3"));
	if (!use->depth)
		g_ptr_array_add(names, g_strdup("[no call path]"));
	if (bottom_up) {
		g_ptr_array_unref(reversed);
		return names;
	}
	for (guint i = names->len; i-- > 0;)
		g_ptr_array_add(reversed, g_strdup(names->pdata[i]));
	g_ptr_array_unref(names);
	return reversed;
}

static void add_slowly(GHashTable *sums, const struct use *use, bool bottom_up, int64_t from_ns,
		       int64_t to_ns)
{
	g_autoptr(GPtrArray) names = names_of(use, bottom_up);
	g_autoptr(GString) path = g_string_new(NULL);
	int64_t wait_ns = MAX(MIN(use->end_ns, to_ns) - MAX(use->begin_ns, from_ns), 0);
	bool ends = use->end_ns >= from_ns && use->end_ns < to_ns;

	if (use->function ? !wait_ns && !ends : !ends)
		return;
	for (guint i = 0; i < names->len; i++) {
		struct figures *sum;

		if (i && strcmp(names->pdata[i], names->pdata[i - 1]) == 0)
			continue;
		g_string_append_printf(path, "%s%s",
				       !i	   ? ""
				       : bottom_up ? " < "
						   : " > ",
				       (char *)names->pdata[i]);
		sum = g_hash_table_lookup(sums, path->str);
		if (!sum) {
			sum = g_new0(struct figures, 1);
			g_hash_table_insert(sums, g_strdup(path->str), sum);
		}
		sum->wait_ns += use->function ? wait_ns : 0;
		sum->waits += use->function && ends;
		sum->cpu_ns += use->weight_ns;
		sum->samples += !use->function;
		sum->wall_ns += use->function ? wait_ns : use->in_wait ? 0 : use->weight_ns;
	}
}

/* --- the pass ------------------------------------------------------------------------------- */

static uint64_t figure(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->count : 0;
}

static unsigned compare(const struct pp_table *table, GHashTable *sums, unsigned run)
{
	static const struct figures none;
	unsigned n_wrong = table->rows->len != g_hash_table_size(sums);

	if (n_wrong)
		printf("run %u: %u rows, expected %u\n", run, table->rows->len,
		       g_hash_table_size(sums));
	for (guint i = 0; i < table->rows->len; i++) {
		const char *path = pp_table_cell(table, i, "path")->text;
		const struct figures *want = g_hash_table_lookup(sums, path);
		struct figures got = {
		    .wall_ns = (int64_t)figure(table, i, "wall_ns"),
		    .cpu_ns = (int64_t)figure(table, i, "cpu_ns"),
		    .wait_ns = (int64_t)figure(table, i, "wait_ns"),
		    .waits = figure(table, i, "waits"),
		    .samples = figure(table, i, "samples"),
		};

		if (memcmp(&got, want ?: &none, sizeof(got)) == 0)
			continue;
		printf("run %u: %s: wall %" PRId64 ", CPU %" PRId64 ", wait %" PRId64
		       "; expected %" PRId64 ", %" PRId64 ", %" PRId64 "\n",
		       run, path, got.wall_ns, got.cpu_ns, got.wait_ns, want ? want->wall_ns : -1,
		       want ? want->cpu_ns : -1, want ? want->wait_ns : -1);
		n_wrong++;
	}
	return n_wrong;
}

static unsigned check(const struct pp_text *text, const GArray *uses, unsigned run,
		      struct pp_selection *selection, bool bottom_up)
{
	static const char *const names[] = {"calltree"};
	g_autoptr(GHashTable) options = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	struct pp_pass_context context = {.model = text->model,
					  .namer = &namer,
					  .selection = selection->by ? selection : NULL,
					  .options = options};
	struct pp_pass_set *passes;
	unsigned n_tables, n_wrong;

	if (bottom_up)
		g_hash_table_insert(options, "bottom-up", "");
	passes = pp_pass_set_new(&context, names, 1);
	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	for (guint i = 0; i < uses->len; i++)
		add_slowly(sums, &g_array_index(uses, struct use, i), bottom_up,
			   selection->by ? selection->from_ns : INT64_MIN,
			   selection->by ? selection->to_ns : INT64_MAX);
	n_wrong = compare(pp_pass_set_tables(passes, "calltree", &n_tables)[0], sums, run);
	pp_pass_set_free(passes);
	return n_wrong;
}

static unsigned check_run(unsigned run)
{
	GRand *rand = g_rand_new_with_seed(run);
	g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(struct use));
	g_autofree char *events = events_text(rand, uses);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text;
	unsigned n_wrong = 0;

	if (pp_text_read(events, "random", 1, &text, &err)) {
		g_autofree char *what = pp_error_text(&err);

		printf("run %u: %s\n", run, what);
		return 1;
	}
	for (unsigned i = 0; i < 4; i++) {
		struct pp_selection *selection = pp_selection_new();

		selection->model = text->model;
		if (i & 1) {
			g_autofree char *range =
			    g_strdup_printf("%dns~%dns", g_rand_int_range(rand, 0, 400),
					    g_rand_int_range(rand, 400, 900));

			pp_select_time(selection, range);
		}
		n_wrong += check(text, uses, run, selection, i & 2);
		pp_selection_free(selection);
	}
	if (n_wrong)
		printf("%s", events);
	pp_text_free(text);
	g_rand_free(rand);
	return n_wrong;
}

int main(void)
{
	for (unsigned run = 0; run < N_RUNS; run++)
		if (check_run(run))
			return 1;
	printf("%d runs: the tree is equal to sums made the slow way\n", N_RUNS);
	return 0;
}

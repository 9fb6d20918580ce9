/* SPDX-License-Identifier: MIT */
/* Adds up the rows of sections `threads` and `locks`, and takes the first rows of section
 * `bottlenecks`. */
#include "cli/campaign/facts.h"

#include "cli/view.h"
#include "core/text/json.h"

/* Sections to keep and to name, and the least share of each. */
#define N_SECTIONS  5
#define N_NAMED	    2
#define LEAST_SHARE 0.5

static struct pp_table *table_of(const struct pp_view *view, const char *pass)
{
	unsigned n;
	struct pp_table **tables = pp_pass_set_tables(view->passes, pass, &n);

	return n ? tables[0] : NULL;
}

/* The sum of a column of times over rows of other types; negative: it is missing everywhere. */
static double sum(const struct pp_table *table, const char *key, const char *but_type)
{
	bool known = !table->rows->len;
	double sum_ns = 0;

	for (guint row = 0; row < table->rows->len; row++) {
		const struct pp_cell *cell = pp_table_cell(table, row, key);
		const struct pp_cell *type = but_type ? pp_table_cell(table, row, "type") : NULL;

		known |= cell != NULL;
		if (cell && !(type && g_str_equal(type->text, but_type)))
			sum_ns += (double)cell->time_ns;
	}
	return known ? sum_ns : -1;
}

/* The part of `a` that is not `b`, which may be unknown. */
static double without(double a, double b)
{
	return a < 0 ? -1 : a - MAX(b, 0);
}

static double wall_ns(const struct pp_model *model)
{
	int64_t start_ns = pp_json_int(model->info, "start_ns", -1);
	int64_t end_ns = pp_json_int(model->info, "end_ns", -1);

	return start_ns < 0 || end_ns < start_ns ? -1 : (double)(end_ns - start_ns);
}

static void set_time(struct pp_time_use *time, const struct pp_view *view)
{
	const struct pp_table *threads = table_of(view, "threads");
	const struct pp_table *locks = table_of(view, "locks");
	double io_ns = sum(threads, "blocked_io_ns", NULL);
	double other_ns = sum(threads, "blocked_other_ns", NULL);

	*time = (struct pp_time_use){
	    .wall_ns = wall_ns(view->capture->model),
	    .lifetime_ns = sum(threads, "lifetime_ns", NULL),
	    .running_ns = sum(threads, "running_ns", NULL),
	    .runnable_ns = sum(threads, "runnable_ns", NULL),
	    .blocked_sync_ns = sum(threads, "blocked_sync_ns", NULL),
	    .blocked_other_ns = other_ns < 0 ? -1 : other_ns + MAX(io_ns, 0),
	    .waits_ns = without(sum(locks, "wait_ns", "thread"), sum(locks, "idle_ns", "thread")),
	};
}

static char *text_at(const struct pp_table *table, guint row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? g_strdup(cell->text) : NULL;
}

static void section_free(void *data)
{
	struct pp_facts_section *section = data;

	g_free(section->lock);
	g_free(section->entry);
	g_free(section->exit);
	g_free(section);
}

static void add_sections(GPtrArray *sections, const struct pp_table *table)
{
	for (guint row = 0; row < MIN(table->rows->len, N_SECTIONS); row++) {
		const struct pp_cell *part = pp_table_cell(table, row, "share_pct");
		struct pp_facts_section *section;

		if (!part || part->number < LEAST_SHARE)
			break;
		section = g_new0(struct pp_facts_section, 1);
		section->lock = text_at(table, row, "lock");
		section->entry = text_at(table, row, "entry");
		section->exit = text_at(table, row, "exit");
		section->share_pct = part->number;
		g_ptr_array_add(sections, section);
	}
}

/* "table at work (app.c:12) 45 %, list at add (list.c:7) 3 %" */
static char *name_sections(const GPtrArray *sections)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < MIN(sections->len, N_NAMED); i++) {
		const struct pp_facts_section *section = sections->pdata[i];

		g_string_append_printf(text, "%s%s at %s %.0f %%", text->len ? ", " : "",
				       section->lock ? section->lock : "?",
				       section->entry ? section->entry : "?", section->share_pct);
	}
	return g_string_free(text, text->len == 0);
}

/* Waits of a row of section `locks` that are not idle. */
static double busy_waits(const struct pp_table *locks, guint row)
{
	const struct pp_cell *wait = pp_table_cell(locks, row, "wait_ns");
	const struct pp_cell *idle = pp_table_cell(locks, row, "idle_ns");

	return wait ? (double)(wait->time_ns - (idle ? idle->time_ns : 0)) : 0;
}

/* Nobody is in a critical section while others wait for such an object. */
static bool has_no_sections(const struct pp_table *locks, guint row)
{
	const struct pp_cell *type = pp_table_cell(locks, row, "type");

	return type && (g_str_equal(type->text, "cond") || g_str_equal(type->text, "once"));
}

/* "95 % of the waits are for no critical section, most for 5 conds ..."; NULL: half or less. */
static char *name_elsewhere(const struct pp_table *locks, double waits_ns)
{
	double sum_ns = 0, most_ns = 0;
	const char *name = NULL;

	for (guint row = 0; row < locks->rows->len; row++) {
		double wait_ns = has_no_sections(locks, row) ? busy_waits(locks, row) : 0;
		const struct pp_cell *cell = pp_table_cell(locks, row, "name");

		sum_ns += wait_ns;
		if (wait_ns <= most_ns)
			continue;
		most_ns = wait_ns;
		name = cell ? cell->text : "?";
	}
	if (sum_ns <= waits_ns / 2)
		return NULL;
	return g_strdup_printf("%.0f %% of the waits are for no critical section, most for %s",
			       100 * sum_ns / waits_ns, name);
}

struct pp_facts *pp_facts_read(const char *dir)
{
	static const char *const passes[] = {"threads", "locks", "bottlenecks", PP_CONTENTION_PASS};
	struct pp_facts *facts = g_new0(struct pp_facts, 1);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view = {0};
	int rc = pp_view_open(&view, dir, NULL, &err);

	facts->sections = g_ptr_array_new_with_free_func(section_free);
	/* The last pass needs accesses. */
	if (rc == 0)
		rc = pp_view_run(&view, passes, pp_view_has_accesses(&view) ? 4 : 3, &err);
	if (rc == 0) {
		set_time(&facts->time, &view);
		add_sections(facts->sections, table_of(&view, "bottlenecks"));
		facts->blocked_by = name_sections(facts->sections);
		facts->elsewhere = name_elsewhere(table_of(&view, "locks"), facts->time.waits_ns);
		pp_origin_read(&facts->origin, &view);
		pp_contention_read(&view, dir, &facts->contention);
	} else {
		facts->error = pp_error_text(&err);
		pp_error_done(&err);
	}
	pp_view_done(&view);
	return facts;
}

void pp_facts_free(void *data)
{
	struct pp_facts *facts = data;

	g_ptr_array_unref(facts->sections);
	pp_origin_done(&facts->origin);
	pp_contention_done(&facts->contention);
	g_free(facts->blocked_by);
	g_free(facts->elsewhere);
	g_free(facts->error);
	g_free(facts);
}

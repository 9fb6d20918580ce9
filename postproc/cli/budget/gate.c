/* SPDX-License-Identifier: MIT */
/*
 * Captures are read one after the other.  Only the first one of A and B stays open, for the notes
 * on their differences; of the others, the values remain.
 */
#include "cli/budget/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "budget/junit.h"
#include "budget/results.h"
#include "cli/budget/sides.h"
#include "cli/captures.h"
#include "cli/commands.h"
#include "cli/program_runs.h"
#include "cli/sections.h"
#include "core/text/printable.h"
#include "export/out.h"

enum { A, B, N_SIDES };

static const char *const side_names[N_SIDES] = {"A", "B"};

struct side {
	GPtrArray *dirs;   /* of char * */
	GPtrArray *values; /* of struct pp_budget_value[] per budget, by capture */
	struct pp_cli_program_runs runs;
	struct pp_view first;	     /* of its first capture */
	char *command, *command_dir; /* of the first run whose command is known */
};

struct judging {
	const struct pp_cli_gate *gate;
	GPtrArray *sections; /* of const char *: those that have the quantities */
	struct pp_table *captures;
	struct side sides[N_SIDES];
	GArray *results; /* of struct pp_budget_result */
	int damaged;	 /* PP_EXIT_GOOD, or that a capture is damaged */
};

void pp_cli_gate_init(struct pp_cli_gate *gate)
{
	gate->budgets = g_ptr_array_new_with_free_func(pp_budget_free);
	gate->junit = NULL;
}

void pp_cli_gate_done(struct pp_cli_gate *gate)
{
	g_ptr_array_unref(gate->budgets);
}

/* --- budgets -------------------------------------------------------------------------------- */

static void print_line(const char *text)
{
	g_autofree char *line = pp_printable(g_strdup(text));

	fprintf(stderr, "gprof-mt: %s\n", line);
}

static int take_file(struct pp_cli_gate *gate, const char *path)
{
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	struct pp_error err = PP_ERROR_INIT;
	guint n = gate->budgets->len;

	if (pp_budget_read_file(path, gate->budgets, errors, &err)) {
		pp_error_add(&err, -EINVAL, "--budget");
		return pp_cli_fail(&err);
	}
	for (guint i = 0; i < errors->len; i++)
		print_line(errors->pdata[i]);
	if (errors->len)
		return PP_EXIT_USAGE;
	if (gate->budgets->len == n)
		return pp_cli_usage("diff", "--budget %s: the file has no budget", path);
	return PP_EXIT_GOOD;
}

int pp_cli_gate_take(struct pp_cli_gate *gate, const char *value)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_budget *budget;
	g_autofree char *why = NULL;

	if (!strchr(value, '<') && g_file_test(value, G_FILE_TEST_EXISTS))
		return take_file(gate, value);
	budget = pp_budget_parse(value, &err);
	if (budget) {
		g_ptr_array_add(gate->budgets, budget);
		return PP_EXIT_GOOD;
	}
	why = pp_error_text(&err);
	pp_error_done(&err);
	if (!strchr(value, '<'))
		return pp_cli_usage("diff", "--budget %s: no such file, and no budget without '<'",
				    value);
	return pp_cli_usage("diff", "--budget: %s", why);
}

/* --- values --------------------------------------------------------------------------------- */

static void add_section(GPtrArray *sections, const char *name)
{
	if (name && !g_ptr_array_find_with_equal_func(sections, name, g_str_equal, NULL))
		g_ptr_array_add(sections, (char *)name);
}

/* The sections that have the quantities, and those that the table of captures shows. */
static GPtrArray *sections_of(const GPtrArray *budgets)
{
	GPtrArray *sections = g_ptr_array_new();

	add_section(sections, "summary");
	for (guint i = 0; i < budgets->len; i++) {
		const struct pp_budget *budget = budgets->pdata[i];

		add_section(sections, budget->quantity->table.section);
		add_section(sections, budget->quantity->names.section);
		add_section(sections, budget->quantity->whole_table.section);
	}
	return sections;
}

static struct pp_budget_value *measure(struct judging *judging, const struct pp_view *view)
{
	int damaged = pp_view_print_damage(view);
	const GPtrArray *budgets = judging->gate->budgets;
	struct pp_budget_value *values = g_new0(struct pp_budget_value, budgets->len);
	GPtrArray *tables = pp_cli_sections_tables(view, judging->sections);
	g_autofree char *failure = pp_cli_run_failure(view);

	judging->damaged = MAX(judging->damaged, damaged);
	if (!failure && damaged != PP_EXIT_GOOD)
		failure = g_strdup("it is damaged, and covers less than was recorded");
	for (guint i = 0; i < budgets->len; i++) {
		const struct pp_budget *budget = budgets->pdata[i];

		if (failure)
			values[i] = (struct pp_budget_value){.known = PP_BUDGET_UNKNOWN,
							     .why = g_strdup(failure)};
		else
			pp_budget_measure(budget->quantity, budget->name,
					  (struct pp_table *const *)tables->pdata, tables->len,
					  &values[i]);
	}
	g_ptr_array_unref(tables);
	return values;
}

static void values_free(const struct judging *judging, struct pp_budget_value *values)
{
	for (guint i = 0; i < judging->gate->budgets->len; i++)
		g_free(values[i].why);
	g_free(values);
}

/* A mean of runs with different arguments is one of different work. */
static int check_command(struct side *side, const struct pp_view *view, struct pp_error *err)
{
	const char *dir = view->capture->model->dir;
	g_autofree char *command = pp_cli_command(view);

	if (!command || g_strcmp0(command, side->command) == 0)
		return 0;
	if (side->command)
		return pp_error_add(err, -EINVAL,
				    "%s: a run of '%s', but %s is one of '%s': name runs of one "
				    "command",
				    dir, command, side->command_dir, side->command);
	side->command = g_steal_pointer(&command);
	side->command_dir = g_strdup(dir);
	return 0;
}

static int read_capture(struct judging *judging, unsigned number, const char *dir,
			struct pp_error *err)
{
	struct side *side = &judging->sides[number];
	struct pp_view view = {0};
	int rc = pp_view_open(&view, dir, NULL, err);

	if (rc == 0)
		rc = pp_cli_program_runs_check(&side->runs, &view, err);
	if (rc == 0)
		rc = check_command(side, &view, err);
	if (rc == 0)
		rc = pp_view_run(&view, (const char *const *)judging->sections->pdata,
				 judging->sections->len, err);
	if (rc == 0) {
		g_ptr_array_add(side->values, measure(judging, &view));
		pp_cli_captures_add(judging->captures, side_names[number], &view);
	}
	if (rc == 0 && !side->first.capture)
		side->first = view;
	else
		pp_view_done(&view);
	return rc;
}

static int read_sides(struct judging *judging, struct pp_error *err)
{
	int rc = 0;

	for (unsigned number = 0; number < N_SIDES; number++) {
		const GPtrArray *dirs = judging->sides[number].dirs;

		for (guint i = 0; i < dirs->len && rc == 0; i++)
			rc = read_capture(judging, number, dirs->pdata[i], err);
	}
	if (rc == 0)
		pp_cli_captures_compare(judging->captures, &judging->sides[A].first,
					&judging->sides[B].first);
	return rc;
}

/* --- results -------------------------------------------------------------------------------- */

/* The values of one budget, by capture; the caller frees the array. */
static struct pp_budget_value *values_of(const struct side *side, guint budget)
{
	struct pp_budget_value *values = g_new0(struct pp_budget_value, side->values->len);

	for (guint i = 0; i < side->values->len; i++)
		values[i] = ((const struct pp_budget_value *)side->values->pdata[i])[budget];
	return values;
}

static void judge(struct judging *judging)
{
	const struct side *a = &judging->sides[A], *b = &judging->sides[B];

	for (guint i = 0; i < judging->gate->budgets->len; i++) {
		g_autofree struct pp_budget_value *of_a = values_of(a, i);
		g_autofree struct pp_budget_value *of_b = values_of(b, i);
		struct pp_budget_result result;

		pp_budget_judge(judging->gate->budgets->pdata[i], of_a, a->values->len,
				(const char *const *)a->dirs->pdata, of_b, b->values->len,
				(const char *const *)b->dirs->pdata, &result);
		g_array_append_val(judging->results, result);
	}
}

static int write_junit(const struct judging *judging)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_out out = {0};
	int rc = pp_out_open(&out, judging->gate->junit, &err);

	if (rc == 0) {
		pp_budget_append_junit(out.text, judging->results);
		rc = pp_out_finish(&out, &err);
	}
	pp_out_done(&out);
	if (rc == 0)
		return PP_EXIT_GOOD;
	pp_error_add(&err, rc, "--junit");
	return pp_cli_fail(&err);
}

static void print_not_measured(const GArray *results)
{
	for (guint i = 0; i < results->len; i++) {
		const struct pp_budget_result *result =
		    &g_array_index(results, struct pp_budget_result, i);
		g_autofree char *line = NULL;

		if (result->verdict != PP_BUDGET_NOT_MEASURED)
			continue;
		line =
		    g_strdup_printf("'%s' was not measured: %s", result->budget->text, result->why);
		print_line(line);
	}
}

static int show(const struct judging *judging, const struct pp_cli_tables *how)
{
	struct pp_table *table = pp_budget_table(judging->results);
	struct pp_table *const tables[] = {table, judging->captures};
	int status = pp_cli_tables_print(how, tables, G_N_ELEMENTS(tables));
	int written = judging->gate->junit ? write_junit(judging) : PP_EXIT_GOOD;

	pp_table_free(table);
	print_not_measured(judging->results);
	if (pp_budget_count(judging->results, PP_BUDGET_EXCEEDED))
		return PP_EXIT_EXCEEDED;
	if (pp_budget_count(judging->results, PP_BUDGET_NOT_MEASURED))
		return PP_EXIT_FAILED;
	return MAX(MAX(status, written), judging->damaged);
}

/* -------------------------------------------------------------------------------------------- */

static void judging_done(struct judging *judging)
{
	for (guint i = 0; i < judging->results->len; i++)
		pp_budget_result_done(&g_array_index(judging->results, struct pp_budget_result, i));
	for (unsigned number = 0; number < N_SIDES; number++) {
		struct side *side = &judging->sides[number];

		for (guint i = 0; i < side->values->len; i++)
			values_free(judging, side->values->pdata[i]);
		g_ptr_array_unref(side->values);
		g_ptr_array_unref(side->dirs);
		pp_cli_program_runs_done(&side->runs);
		pp_view_done(&side->first);
		g_free(side->command);
		g_free(side->command_dir);
	}
	g_array_unref(judging->results);
	g_ptr_array_unref(judging->sections);
	pp_table_free(judging->captures);
}

int pp_cli_gate_run(const struct pp_cli_gate *gate, const struct pp_cli_tables *how,
		    const char *word_a, const char *word_b)
{
	struct judging judging = {
	    .gate = gate,
	    .sections = sections_of(gate->budgets),
	    .captures = pp_cli_captures_new(),
	    .sides = {{.dirs = pp_cli_budget_side(word_a), .values = g_ptr_array_new()},
		      {.dirs = pp_cli_budget_side(word_b), .values = g_ptr_array_new()}},
	    .results = g_array_new(FALSE, FALSE, sizeof(struct pp_budget_result)),
	};
	struct pp_error err = PP_ERROR_INIT;
	int status;

	if (read_sides(&judging, &err)) {
		status = pp_cli_fail(&err);
	} else {
		judge(&judging);
		status = show(&judging, how);
	}
	judging_done(&judging);
	return status;
}

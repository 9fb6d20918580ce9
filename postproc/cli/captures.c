/* SPDX-License-Identifier: MIT */
/*
 * Compares two captures' info.json: program, command, settings, machine and losses; and shows the
 * leading cause of waits of each, if a section was requested that has it.
 */
#include "cli/captures.h"

#include <inttypes.h>
#include <string.h>

#include "core/text/command.h"
#include "pass/finding.h"

enum {
	RUN,
	CAPTURE,
	COMMAND,
	STARTED,
	LEVEL,
	SOURCE,
	CPUS,
	PROBLEMS,
	FINDING,
	FINDING_TEXT,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    [RUN] = {"run", "", PP_TYPE_TEXT, PP_COLUMN_KEY, "A or B"},
    [CAPTURE] = {"dir", "capture", PP_TYPE_TEXT, 0, "its directory"},
    [COMMAND] = {"command", "command", PP_TYPE_TEXT, 0, "as given to record"},
    [STARTED] = {"start_time", "started", PP_TYPE_TEXT, 0, "UTC"},
    [LEVEL] = {"level", "profile", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY, "profile.level"},
    [SOURCE] = {"kernel_source", "scheduling", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY,
		"source of scheduling events"},
    [CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, 0, "of the machine"},
    [PROBLEMS] = {"problems", "problems", PP_TYPE_COUNT, 0, "rows of its quality section"},
    [FINDING] = {"finding", "finding", PP_TYPE_TEXT, 0,
		 "the leading cause of waits; none: one thread, or neither summary nor blame"},
    [FINDING_TEXT] = {"finding_text", "in a sentence", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY,
		      "the same in a sentence"},
};

/* --- properties of a capture ---------------------------------------------------------------- */

static JsonObject *info_of(const struct pp_view *view)
{
	return view->capture->model->info;
}

static JsonObject *part_of(const struct pp_view *view, const char *part)
{
	return part ? pp_json_object(info_of(view), part) : info_of(view);
}

const struct pp_load *pp_cli_program(const struct pp_view *view)
{
	const GPtrArray *processes = view->capture->model->processes;

	for (guint p = 0; p < processes->len; p++) {
		const struct pp_process *process = processes->pdata[p];

		if (process->maps && process->maps->len)
			return &g_array_index(process->maps, struct pp_load, 0);
	}
	return NULL;
}

char *pp_cli_command(const struct pp_view *view)
{
	const struct pp_load *program = pp_cli_program(view);
	char *command = pp_command_text(info_of(view));

	return command || !program ? command : g_strdup(program->path);
}

static void set_finding(struct pp_cell *row, const struct pp_view *view)
{
	unsigned n = 0;
	struct pp_table **tables = pp_pass_set_tables(view->passes, "finding", &n);
	g_autofree char *name = n ? pp_finding_name(tables[0]) : NULL;
	g_autofree char *line = n ? pp_finding_line(tables[0]) : NULL;

	pp_cell_set_text(&row[FINDING], name);
	pp_cell_set_text(&row[FINDING_TEXT], line);
}

static void add_row(struct pp_table *table, const char *run, const struct pp_view *view)
{
	struct pp_cell *row = pp_table_add_row(table);
	g_autofree char *command = pp_cli_command(view);
	int64_t cpus = pp_json_int(part_of(view, "host"), "cpus", 0);

	pp_cell_set_text(&row[RUN], run);
	pp_cell_set_text(&row[CAPTURE], view->capture->model->dir);
	pp_cell_set_text(&row[COMMAND], command);
	pp_cell_set_text(&row[STARTED], pp_json_string(info_of(view), "start_time"));
	pp_cell_set_text(&row[LEVEL], pp_json_string(part_of(view, "config"), "level"));
	pp_cell_set_text(&row[SOURCE], pp_json_string(part_of(view, "kernel"), "source"));
	if (cpus > 0)
		pp_cell_set_count(&row[CPUS], (uint64_t)cpus);
	pp_cell_set_count(&row[PROBLEMS], view->capture->model->problems->len);
	set_finding(row, view);
}

/* --- differences ---------------------------------------------------------------------------- */

/* Adds a note if both values are known and differ. */
static void note_text(struct pp_table *table, const char *what, const char *a, const char *b)
{
	if (a && b && strcmp(a, b) != 0)
		pp_table_note(table, "%s: %s in A, %s in B", what, a, b);
}

static void note_program(struct pp_table *table, const struct pp_view *a, const struct pp_view *b)
{
	const struct pp_load *of_a = pp_cli_program(a), *of_b = pp_cli_program(b);
	g_autofree char *command_a = pp_cli_command(a);
	g_autofree char *command_b = pp_cli_command(b);
	g_autofree char *name_a = of_a ? g_path_get_basename(of_a->path) : NULL;
	g_autofree char *name_b = of_b ? g_path_get_basename(of_b->path) : NULL;

	if (name_a && name_b && strcmp(name_a, name_b) != 0)
		note_text(table, "different programs", name_a, name_b);
	else
		note_text(table, "different commands", command_a, command_b);
	if (name_a && name_b && strcmp(name_a, name_b) == 0 && of_a->build_id && of_b->build_id &&
	    strcmp(of_a->build_id, of_b->build_id) != 0)
		pp_table_note(table,
			      "%s was rebuilt between A and B: --no-lines matches call sites whose "
			      "lines have moved",
			      name_a);
}

/* Rows are distinguished by thread, function, object and call site, but not by process. */
static void note_processes(struct pp_table *table, const struct pp_view *a, const struct pp_view *b)
{
	guint of_a = a->capture->model->processes->len, of_b = b->capture->model->processes->len;

	if (of_a > 1 || of_b > 1)
		pp_table_note(table,
			      "several processes or programs, %u in A, %u in B: rows with the same "
			      "keys are combined",
			      of_a, of_b);
}

static void note_ends(struct pp_table *table, const struct pp_view *a, const struct pp_view *b)
{
	static const char *const members[][2] = {{"exit_status", "exit status"},
						 {"signal", "ended by signal"}};

	for (unsigned i = 0; i < G_N_ELEMENTS(members); i++) {
		int64_t of_a = pp_json_int(info_of(a), members[i][0], -1);
		int64_t of_b = pp_json_int(info_of(b), members[i][0], -1);
		g_autofree char *text_a =
		    of_a < 0 ? g_strdup("none") : g_strdup_printf("%" PRId64, of_a);
		g_autofree char *text_b =
		    of_b < 0 ? g_strdup("none") : g_strdup_printf("%" PRId64, of_b);

		if (part_of(a, "host") && part_of(b, "host"))
			note_text(table, members[i][1], text_a, text_b);
	}
}

/* Compares all settings that both captures contain, regardless of their origin. */
static void note_settings(struct pp_table *table, const struct pp_view *a, const struct pp_view *b)
{
	JsonObject *of_a = part_of(a, "config"), *of_b = part_of(b, "config");
	GList *members = of_a ? json_object_get_members(of_a) : NULL;

	for (GList *member = members; member; member = member->next) {
		const char *key = member->data;
		g_autofree char *what = g_strdup_printf("different %s", key);

		/* "level" is the old name of "profile.level". */
		if (!g_str_has_prefix(key, "output.") && strcmp(key, "level") != 0)
			note_text(table, what, pp_json_string(of_a, key),
				  pp_json_string(of_b, key));
	}
	g_list_free(members);
	note_text(table, "different sources of scheduling events",
		  pp_json_string(part_of(a, "kernel"), "source"),
		  pp_json_string(part_of(b, "kernel"), "source"));
}

static void note_machine(struct pp_table *table, const struct pp_view *a, const struct pp_view *b)
{
	static const char *const members[][2] = {{"hostname", "different machines"},
						 {"machine", "different architectures"},
						 {"release", "different kernels"},
						 {"glibc", "different glibc versions"}};
	int64_t cpus_a = pp_json_int(part_of(a, "host"), "cpus", 0);
	int64_t cpus_b = pp_json_int(part_of(b, "host"), "cpus", 0);

	for (unsigned i = 0; i < G_N_ELEMENTS(members); i++)
		note_text(table, members[i][1], pp_json_string(part_of(a, "host"), members[i][0]),
			  pp_json_string(part_of(b, "host"), members[i][0]));
	if (cpus_a > 0 && cpus_b > 0 && cpus_a != cpus_b)
		pp_table_note(table,
			      "different numbers of CPUs: %" PRId64 " in A, %" PRId64 " in B",
			      cpus_a, cpus_b);
}

static void note_problems(struct pp_table *table, const char *run, const struct pp_view *view)
{
	const struct pp_model *model = view->capture->model;

	if (model->problems->len)
		pp_table_note(
		    table, "%s has losses or contradictions: see `gprof-mt report -i %s quality`",
		    run, model->dir);
}

struct pp_table *pp_cli_captures_new(void)
{
	return pp_table_new("captures", "Captures", columns, N_COLUMNS);
}

void pp_cli_captures_add(struct pp_table *table, const char *run, const struct pp_view *view)
{
	add_row(table, run, view);
	note_problems(table, run, view);
}

void pp_cli_captures_compare(struct pp_table *table, const struct pp_view *a,
			     const struct pp_view *b)
{
	note_program(table, a, b);
	note_processes(table, a, b);
	note_ends(table, a, b);
	note_settings(table, a, b);
	note_machine(table, a, b);
}

struct pp_table *pp_cli_captures(const struct pp_view *a, const struct pp_view *b)
{
	struct pp_table *table = pp_cli_captures_new();

	add_row(table, "A", a);
	add_row(table, "B", b);
	pp_cli_captures_compare(table, a, b);
	note_problems(table, "A", a);
	note_problems(table, "B", b);
	return table;
}

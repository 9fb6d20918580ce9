/* SPDX-License-Identifier: MIT */
/*
 * Runs the fixtures of this folder: text events in, rows of the passes' tables out.
 *
 * A fixture holds cases.  "=== TITLE" begins one; its events follow (event_text.h), then the
 * expected results:
 *
 *   == TABLE [OPTION...]    the rows of that table, one a line, in order and all of them (an OPTION
 * may be KEY=VALUE); a row names the cells that matter: KEY=VALUE..., "-" for a missing one
 *   == PASS:TABLE ...       the same, if several passes have a table of that name
 *   == TABLE first=N        only the first N rows; last=N: the last ones
 *   == TABLE/KEY ROW        the rows of the table nested in that row (0, 1, ...)
 *   == history OBJECT       the operations on that object (0, 1, ... in order of appearance)
 *   == timeline TID         the lines of that thread
 *   == notes TABLE          each line is part of a note of that table; no line: it has none
 *   OPTION, on each of these, is a pass's own, or selects: time=100ns~200ns
 *   == error                the events are refused with this message (after file and line)
 *
 * Code addresses are called "site:0x400" and "function:0x400", except that sites 0xeNLL are "fN
 * (a.c:LL)"; data from 0x1000 on "var:0x1000",
 * from 0x1000000 on "array[0].lock", ... of 32 bytes each.  Below 0x10000000, all is in the file
 * "prog".
 */
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_text.h"
#include "analysis/pass_set.h"
#include "analysis/select.h"
#include "analysis/thread_routines.h"
#include "pass/history_by_object.h"
#include "pass/timeline/timeline.h"

struct section {
	char *title;	  /* the text after "== " */
	unsigned line;	  /* of the title */
	GPtrArray *lines; /* of char *, unchanged */
};

struct fixture_case {
	const char *file;
	char *title;
	unsigned line; /* of the first line of events */
	GString *events;
	GPtrArray *sections; /* of struct section * */
};

static unsigned n_checked, n_failed;

static void complain(const struct fixture_case *fixture, unsigned line, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void complain(const struct fixture_case *fixture, unsigned line, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	printf("%s:%u: %s: %s\n", fixture->file, line, fixture->title, text);
	n_failed++;
}

/* --- names ---------------------------------------------------------------------------------- */

static char *name_site(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	if (address >> 12 == 0xe)
		return g_strdup_printf("f%u (a.c:%u)", (unsigned)(address >> 8) & 0xf,
				       (unsigned)address & 0xff);
	return g_strdup_printf("site:0x%" PRIx64, address);
}

static char *name_function(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("function:0x%" PRIx64, address);
}

static char *name_object(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	if (address >= 0x1000000)
		return g_strdup_printf("array[%" PRIu64 "].lock", (address - 0x1000000) / 0x20);
	return address >= 0x1000 ? g_strdup_printf("var:0x%" PRIx64, address) : NULL;
}

static char *name_place(void *data, const struct pp_process *process, uint64_t address,
			char **ret_build_id)
{
	(void)data;
	(void)process;
	*ret_build_id = address < 0x10000000 ? g_strdup("b1d") : NULL;
	return *ret_build_id ? g_strdup_printf("prog+0x%" PRIx64, address) : NULL;
}

static void named_frame_free(void *data)
{
	struct pp_frame *frame = data;

	g_free(frame->function);
	g_free(frame->site);
	g_free(frame);
}

static void add_named_frame(GPtrArray *frames, char *function, char *site)
{
	struct pp_frame *frame = g_new0(struct pp_frame, 1);

	frame->function = function;
	frame->site = site;
	g_ptr_array_add(frames, frame);
}

/*
 * 0xFNLLA: function fF at line LL, any A; if N is not 0, it is inlined N times into itself, there.
 * Other addresses have one frame each.
 */
static GPtrArray *name_frames(void *data, const struct pp_process *process, uint64_t address)
{
	GPtrArray *frames = g_ptr_array_new_with_free_func(named_frame_free);
	unsigned number = (unsigned)(address >> 16) & 0xf, line = (unsigned)(address >> 4) & 0xff;

	if (!number)
		add_named_frame(frames, name_function(data, process, address),
				name_site(data, process, address));
	for (unsigned i = 0; number && i <= ((address >> 12) & 0xf); i++)
		add_named_frame(frames, g_strdup_printf("f%u", number),
				g_strdup_printf("f%u (a.c:%u)", number, line + i));
	return frames;
}

static bool is_own(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return address >= 0xf000 && address < 0x10000;
}

static const struct pp_namer namer = {
    .site = name_site,
    .frames = name_frames,
    .function = name_function,
    .object = name_object,
    .place = name_place,
    .is_own = is_own,
};

/* --- running -------------------------------------------------------------------------------- */

static struct pp_text *read_events(const struct fixture_case *fixture)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text = NULL;

	if (pp_text_read(fixture->events->str, fixture->file, fixture->line, &text, &err)) {
		g_autofree char *what = pp_error_text(&err);

		complain(fixture, fixture->line, "%s", what);
	}
	pp_error_done(&err);
	return text;
}

/* The options of a section's title. */
struct options {
	GHashTable *of_passes;
	struct pp_selection *selection;
};

static const struct pp_event *event_at(const struct pp_text *text, guint i)
{
	return &g_array_index(text->events, struct pp_event, i);
}

static bool has_calls(const struct pp_text *text)
{
	for (guint i = 0; i < text->events->len; i++)
		if (PP_EVENT_MASK(event_at(text, i)->kind) & PP_CALL_KINDS)
			return true;
	return false;
}

static struct pp_pass_context context_of(const struct pp_text *text, const struct options *options)
{
	options->selection->model = text->model;
	pp_name_routines(text->model, &namer);
	return (struct pp_pass_context){
	    .model = text->model,
	    .namer = &namer,
	    .has_kernel = text->has_kernel,
	    .has_switch_pairs = text->has_switch_pairs,
	    .has_wakings = text->has_wakings,
	    .has_calls = has_calls(text),
	    .selection = options->selection->by ? options->selection : NULL,
	    .options = options->of_passes,
	};
}

/* Passes that have run over the events of a case. */
struct run {
	struct pp_text *text;
	struct pp_pass_context context;
	struct pp_pass_set *passes;
};

static const char *const pass_names[] = {
    "summary",	     "waiting",	    "threads",	  "activity",	 "sync",       "locks",
    "blame",	     "io",	    "paths",	  "calltree",	 "switches",   "quality",
    "critical-path", "consistency", "blame-tree", "bottlenecks", "occ-timing", "occ-accesses",
    "accesses",	     "conflicts",   "ulcp"};

/* Runs all passes of the list, or only one of any. */
static void run_passes(struct run *run, const struct fixture_case *fixture, const char *only,
		       const struct options *options)
{
	run->text = read_events(fixture);
	if (!run->text)
		return;
	run->context = context_of(run->text, options);
	run->passes = pp_pass_set_new(&run->context, only ? &only : pass_names,
				      only ? 1 : G_N_ELEMENTS(pass_names));
	for (guint i = 0; i < run->text->events->len; i++)
		pp_pass_set_event(run->passes, event_at(run->text, i));
	pp_pass_set_finish(run->passes, run->text->model->end_ns);
}

static void run_done(struct run *run)
{
	pp_pass_set_free(run->passes);
	if (run->text)
		pp_text_free(run->text);
}

static const struct pp_table *find_in(const struct run *run, const char *pass, const char *key)
{
	unsigned n = 0;
	struct pp_table **tables = pp_pass_set_tables(run->passes, pass, &n);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(tables[i]->key, key) == 0)
			return tables[i];
	return NULL;
}

static const struct pp_table *find_table(const struct run *run, const char *only, const char *key)
{
	const struct pp_table *table = NULL;

	if (run->passes && only)
		return find_in(run, only, key);
	for (unsigned i = 0; run->passes && i < G_N_ELEMENTS(pass_names) && !table; i++)
		table = find_in(run, pass_names[i], key);
	return table;
}

static struct pp_table *run_history(const struct fixture_case *fixture, unsigned at,
				    const struct options *options)
{
	struct pp_text *text = read_events(fixture);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_pass_context context;
	struct pp_history_by_object *history;
	struct pp_table *table = NULL;

	if (!text)
		return NULL;
	context = context_of(text, options);
	history = pp_history_by_object_new(&context);
	for (guint i = 0; i < text->events->len; i++)
		pp_history_by_object_event(history, event_at(text, i));
	pp_history_by_object_finish(history, text->model->end_ns, &err);
	while (pp_history_next_object(history) && at)
		at--;
	table = pp_history_next_operations(history, UINT_MAX);
	pp_history_by_object_free(history);
	pp_text_free(text);
	return table;
}

static void take_line(void *table, const struct pp_timeline_line *line)
{
	pp_timeline_add_row(table, line);
}

static struct pp_table *run_timeline(const struct fixture_case *fixture, uint32_t tid,
				     const struct options *options)
{
	struct pp_table *table = pp_timeline_table();
	struct pp_text *text = read_events(fixture);
	struct pp_timeline_options wanted = {.tid = tid, .take = take_line, .data = table};
	struct pp_pass_context context;
	struct pp_timeline *timeline;

	if (!text)
		return table;
	context = context_of(text, options);
	timeline = pp_timeline_new(&context, &wanted);
	for (guint i = 0; i < text->events->len; i++)
		pp_timeline_event(timeline, event_at(text, i));
	pp_timeline_finish(timeline, text->model->end_ns);
	pp_timeline_free(timeline);
	pp_text_free(text);
	return table;
}

/* --- comparing ------------------------------------------------------------------------------ */

static char *cell_text(const struct pp_cell *cell, enum pp_type type)
{
	if (cell->missing)
		return g_strdup("-");
	switch (type) {
	case PP_TYPE_TEXT:
		return g_strdup(cell->text);
	case PP_TYPE_COUNT:
		return g_strdup_printf("%" PRIu64, cell->count);
	case PP_TYPE_INTEGER:
		return g_strdup_printf("%" PRId64, cell->integer);
	case PP_TYPE_TIME_NS:
		return g_strdup_printf("%" PRId64, cell->time_ns);
	case PP_TYPE_SECONDS:
	case PP_TYPE_PERCENT:
	case PP_TYPE_RATIO:
		return g_strdup_printf("%.2f", cell->number);
	case PP_TYPE_ADDRESS:
		return g_strdup_printf("0x%" PRIx64, cell->count);
	case PP_TYPE_BOOL:
		return g_strdup(cell->truth ? "yes" : "no");
	case PP_TYPE_TABLE:
		break;
	}
	return g_strdup("(table)");
}

static char *row_text(const struct pp_table *table, guint at)
{
	const struct pp_cell *row = table->rows->pdata[at];
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < table->n_columns; i++) {
		g_autofree char *cell = cell_text(&row[i], table->columns[i].type);

		g_string_append_printf(text, " %s=%s", table->columns[i].key, cell);
	}
	return g_string_free(text, FALSE);
}

static void check_row(const struct fixture_case *fixture, unsigned line,
		      const struct pp_table *table, guint at, const char *expected)
{
	const struct pp_cell *row = table->rows->pdata[at];
	g_auto(GStrv) words = NULL;

	if (!g_shell_parse_argv(expected, NULL, &words, NULL)) {
		complain(fixture, line, "not a row: %s", expected);
		return;
	}
	for (unsigned i = 0; words[i]; i++) {
		char *value = strchr(words[i], '=');
		g_autofree char *found = NULL;
		int column = -1;

		if (value) {
			*value++ = '\0';
			column = pp_table_column(table, words[i]);
		}
		if (column < 0) {
			complain(fixture, line, "no column '%s'", words[i]);
			continue;
		}
		n_checked++;
		found = cell_text(&row[column], table->columns[column].type);
		if (strcmp(found, value) != 0)
			complain(fixture, line, "%s: expected %s, got %s", words[i], value, found);
	}
}

/* The N of first=N or last=N; 0: none. */
static guint limit_of(const struct section *section, const char *key)
{
	const char *at = strstr(section->title, key);

	return at ? (guint)atoi(at + strlen(key)) : 0;
}

static void check_rows(const struct fixture_case *fixture, const struct section *section,
		       const struct pp_table *table)
{
	unsigned before = n_failed;
	guint first = limit_of(section, "first="), last = limit_of(section, "last=");
	guint n_rows = first || last ? MIN(first + last, table->rows->len) : table->rows->len;
	guint skip = last ? table->rows->len - n_rows : 0;
	guint n = MIN(section->lines->len, n_rows);

	if (section->lines->len != n_rows)
		complain(fixture, section->line, "expected %u rows, got %u", section->lines->len,
			 n_rows);
	for (guint i = 0; i < n; i++)
		check_row(fixture, section->line + 1 + i, table, skip + i,
			  section->lines->pdata[i]);
	if (n_failed != before)
		for (guint i = skip; i < skip + n_rows; i++) {
			g_autofree char *text = row_text(table, i);

			printf("\tfound:%s\n", text);
		}
	n_checked++;
}

static void check_notes(const struct fixture_case *fixture, const struct section *section,
			const struct pp_table *table)
{
	for (guint i = 0; i < section->lines->len; i++) {
		bool found = false;

		for (guint j = 0; j < table->notes->len; j++)
			found = found || strstr(table->notes->pdata[j], section->lines->pdata[i]);
		n_checked++;
		if (!found)
			complain(fixture, section->line + 1 + i, "no such note on %s", table->key);
	}
	if (section->lines->len != table->notes->len)
		complain(fixture, section->line, "expected %u notes, got %u", section->lines->len,
			 table->notes->len);
}

static void check_error(const struct fixture_case *fixture, const struct section *section)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text = NULL;
	g_autofree char *what = NULL;

	n_checked++;
	if (pp_text_read(fixture->events->str, fixture->file, fixture->line, &text, &err) == 0) {
		complain(fixture, section->line, "expected an error, but the events are accepted");
		pp_text_free(text);
		return;
	}
	what = pp_error_text(&err);
	if (section->lines->len != 1 || !g_str_has_suffix(what, section->lines->pdata[0]) ||
	    !g_str_has_prefix(what, fixture->file))
		complain(fixture, section->line, "another error: %s", what);
	pp_error_done(&err);
}

static void check_nested(const struct fixture_case *fixture, const struct section *section,
			 const struct pp_table *table, const char *key, const char *row_number)
{
	int column = pp_table_column(table, key);
	unsigned long at = row_number ? strtoul(row_number, NULL, 10) : 0;
	const struct pp_cell *row;

	if (column < 0 || at >= table->rows->len) {
		complain(fixture, section->line, "no such table");
		return;
	}
	row = table->rows->pdata[at];
	if (row[column].missing)
		complain(fixture, section->line, "the cell has no table");
	else
		check_rows(fixture, section, row[column].table);
}

/* Parses an option that selects; false: unknown option or invalid value. */
static bool take_selection(struct pp_selection *selection, const char *key, const char *value)
{
	if (strcmp(key, "tid") == 0)
		pp_select_tid(selection, (uint32_t)strtoul(value, NULL, 10));
	else if (strcmp(key, "thread") == 0)
		pp_select_thread_name(selection, value);
	else if (strcmp(key, "function") == 0)
		pp_select_function(selection, value);
	else if (strcmp(key, "object") == 0)
		return pp_select_object(selection, value);
	else if (strcmp(key, "time") == 0)
		return pp_select_time(selection, value);
	else if (strcmp(key, "min-wait") == 0)
		return pp_select_min_wait(selection, value);
	else
		return false;
	return true;
}

/* Splits OPTION or OPTION=VALUE in two. */
static void take_option(const struct options *options, char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	if (!value || !take_selection(options->selection, word, value))
		g_hash_table_insert(options->of_passes, word, value ? value : "");
}

static int64_t add_up(const struct pp_table *table, const char *key)
{
	int64_t sum = 0;

	for (guint row = 0; row < table->rows->len; row++) {
		const struct pp_cell *cell = pp_table_cell(table, row, key);

		sum += cell ? cell->time_ns : 0;
	}
	return sum;
}

/* In every case, the tables of the critical path by thread and by call divide the same time. */
static void check_sums(const struct fixture_case *fixture, const struct section *section,
		       const struct run *run)
{
	const struct pp_table *threads = find_table(run, NULL, "critical_threads");
	const struct pp_table *sites = find_table(run, NULL, "critical_sites");
	int64_t wanted = add_up(threads, "path_ns"), got = add_up(sites, "path_ns");

	n_checked++;
	if (wanted != got)
		complain(fixture, section->line,
			 "critical_sites add up to %" PRId64 " ns, critical_threads to %" PRId64,
			 got, wanted);
}

static void check_table(const struct fixture_case *fixture, const struct section *section,
			char **words, const struct options *options)
{
	bool notes = strcmp(words[0], "notes") == 0;
	char *name = notes && words[1] ? words[1] : words[0];
	char *colon = strchr(name, ':');
	g_auto(GStrv) path = g_strsplit(colon ? colon + 1 : name, "/", 2);
	const char *only = colon ? name : NULL;
	struct run run = {.text = NULL};
	const struct pp_table *table;

	if (colon)
		*colon = '\0';
	run_passes(&run, fixture, only, options);
	table = find_table(&run, only, path[0]);
	if (!only && run.passes)
		check_sums(fixture, section, &run);
	if (!table)
		complain(fixture, section->line, "no table %s", path[0]);
	else if (notes)
		check_notes(fixture, section, table);
	else if (path[1])
		check_nested(fixture, section, table, path[1], words[1]);
	else
		check_rows(fixture, section, table);
	run_done(&run);
}

static void check_lines(const struct fixture_case *fixture, const struct section *section,
			char **words, const struct options *options)
{
	unsigned at = words[1] ? (unsigned)atoi(words[1]) : 0;
	struct pp_table *table = strcmp(words[0], "history") == 0
				     ? run_history(fixture, at, options)
				     : run_timeline(fixture, at, options);

	if (table)
		check_rows(fixture, section, table);
	else if (section->lines->len)
		complain(fixture, section->line, "no such object");
	else
		n_checked++;
	pp_table_free(table);
}

static void check_section(const struct fixture_case *fixture, const struct section *section)
{
	g_auto(GStrv) words = g_strsplit(section->title, " ", -1);
	struct options options = {g_hash_table_new(g_str_hash, g_str_equal), pp_selection_new()};

	for (unsigned i = 1; words[i]; i++)
		take_option(&options, words[i]);
	if (strcmp(words[0], "error") == 0)
		check_error(fixture, section);
	else if (strcmp(words[0], "history") == 0 || strcmp(words[0], "timeline") == 0)
		check_lines(fixture, section, words, &options);
	else
		check_table(fixture, section, words, &options);
	g_hash_table_unref(options.of_passes);
	pp_selection_free(options.selection);
}

/* --- fixtures ------------------------------------------------------------------------------- */

static void section_free(void *data)
{
	struct section *section = data;

	g_free(section->title);
	g_ptr_array_unref(section->lines);
	g_free(section);
}

static void case_free(void *data)
{
	struct fixture_case *fixture = data;

	g_free(fixture->title);
	g_string_free(fixture->events, TRUE);
	g_ptr_array_unref(fixture->sections);
	g_free(fixture);
}

static struct fixture_case *case_new(const char *file, const char *title, unsigned line)
{
	struct fixture_case *fixture = g_new0(struct fixture_case, 1);

	fixture->file = file;
	fixture->title = g_strdup(title);
	fixture->line = line;
	fixture->events = g_string_new(NULL);
	fixture->sections = g_ptr_array_new_with_free_func(section_free);
	return fixture;
}

static struct section *section_new(const char *title, unsigned line)
{
	struct section *section = g_new0(struct section, 1);

	section->title = g_strstrip(g_strdup(title));
	section->line = line;
	section->lines = g_ptr_array_new_with_free_func(g_free);
	return section;
}

/* Blank lines and comments are not rows; a section has none between its rows. */
static void add_line(struct fixture_case *fixture, struct section *section, const char *line)
{
	if (!section)
		g_string_append_printf(fixture->events, "%s\n", line);
	else if (line[0] && line[0] != '#')
		g_ptr_array_add(section->lines, g_strdup(line));
}

static GPtrArray *read_fixtures(const char *file, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GPtrArray *cases = g_ptr_array_new_with_free_func(case_free);
	struct fixture_case *fixture = NULL;
	struct section *section = NULL;

	for (unsigned i = 0; lines[i]; i++) {
		if (g_str_has_prefix(lines[i], "=== ")) {
			fixture = case_new(file, lines[i] + 4, i + 2);
			section = NULL;
			g_ptr_array_add(cases, fixture);
		} else if (fixture && g_str_has_prefix(lines[i], "== ")) {
			section = section_new(lines[i] + 3, i + 1);
			g_ptr_array_add(fixture->sections, section);
		} else if (fixture) {
			add_line(fixture, section, lines[i]);
		}
	}
	return cases;
}

static void run_file(const char *file)
{
	g_autofree char *text = NULL;
	g_autoptr(GPtrArray) cases = NULL;

	if (!g_file_get_contents(file, &text, NULL, NULL)) {
		printf("%s: cannot be read\n", file);
		n_failed++;
		return;
	}
	cases = read_fixtures(file, text);
	for (guint i = 0; i < cases->len; i++) {
		const struct fixture_case *fixture = cases->pdata[i];

		if (!fixture->sections->len)
			complain(fixture, fixture->line, "checks nothing");
		for (guint j = 0; j < fixture->sections->len; j++)
			check_section(fixture, fixture->sections->pdata[j]);
	}
	printf("%s: %u cases\n", file, cases->len);
}

int main(int argc, char **argv)
{
	g_autofree char *pattern =
	    g_build_filename(g_getenv("GM_TOP") ? g_getenv("GM_TOP") : ".", "tests/pass",
			     argc > 1 ? argv[1] : "*.txt", NULL);
	glob_t files;

	if (glob(pattern, 0, NULL, &files)) {
		printf("no fixtures: %s\n", pattern);
		return 1;
	}
	for (size_t i = 0; i < files.gl_pathc; i++)
		run_file(files.gl_pathv[i]);
	globfree(&files);
	printf("%u checked, %u failed\n", n_checked, n_failed);
	return n_failed || !n_checked;
}

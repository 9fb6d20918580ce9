/* SPDX-License-Identifier: MIT */
/*
 * See predict.h.  First the time of each thread without our cost, for which all sections count;
 * then the gain by section and thread (analysis/occ/gain.h).
 */
#include "pass/occ/predict.h"

#include <errno.h>
#include <inttypes.h>

#include "analysis/occ/conflicts.h"
#include "analysis/occ/gain.h"
#include "pass/occ/accesses.h"
#include "pass/occ/columns.h"

/* The sums of a section and thread over the rows that are the section. */
struct part {
	const struct pp_cell *row; /* one of them, for the thread's cells */
	struct thread *thread;
	double shared, exclusive, wait_ns, hold_ns, holds, releases;
	double f_wait, f_exec, f_release;
};

struct thread {
	double execution_ns; /* E, and E' once our cost is known */
	double overhead_ns;
};

struct section {
	const struct pp_occ_joined *joined;
	GPtrArray *parts; /* of struct part *, in order of the threads */
	double acquired, wait_ns, w;
	uint64_t instances, unknown, inexact, with_private, compared, n_conflicts;
	double reads, writes, rw_locations, rd_locations, rw_lines, rd_lines;
	double p_c[PP_OCC_GRAINS], common[PP_OCC_GRAINS];
	double saved_ns[PP_OCC_GRAINS];
	double paper_saved_ns[PP_OCC_GRAINS]; /* without the cost of releases */
};

struct prediction {
	const struct pp_occ_inputs *inputs;
	GHashTable *threads; /* text -> struct thread * */
	double execution_ns; /* of all threads */
	GPtrArray *joined, *sections;
};

/* --- rows of the passes --------------------------------------------------------------------- */

static double number_of(const struct pp_cell *cell, enum pp_type type)
{
	return cell->missing ? 0 : pp_cell_number(cell, type);
}

static double count_of(const struct pp_cell *cell)
{
	return number_of(cell, PP_TYPE_COUNT);
}

/* Returns the key that tells the thread from the others of its capture. */
static char *thread_key(const struct pp_cell *row)
{
	return g_strdup_printf("%" PRIu64 " %" PRIu64 " %" PRIu64, row[PP_CELL_PID].count,
			       row[PP_CELL_IMAGE].count, row[PP_CELL_INDEX].count);
}

static GHashTable *threads_of(const struct pp_table *table)
{
	GHashTable *threads = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (guint i = 0; i < table->rows->len; i++) {
		const struct pp_cell *row = table->rows->pdata[i];
		struct thread *thread = g_new0(struct thread, 1);

		thread->execution_ns = number_of(&row[PP_OCC_EXECUTION], PP_TYPE_TIME_NS);
		g_hash_table_insert(threads, thread_key(row), thread);
	}
	return threads;
}

static struct part *part_of(struct section *section, struct thread *thread,
			    const struct pp_cell *row)
{
	struct part *part;

	for (guint i = 0; i < section->parts->len; i++) {
		part = section->parts->pdata[i];
		if (part->thread == thread)
			return part;
	}
	part = g_new0(struct part, 1);
	part->thread = thread;
	part->row = row;
	g_ptr_array_add(section->parts, part);
	return part;
}

static void add_times(const struct prediction *self, struct section *section,
		      const struct pp_cell *row)
{
	g_autofree char *key = thread_key(row);
	struct thread *thread = g_hash_table_lookup(self->threads, key);
	struct part *part;

	if (!thread)
		return;
	part = part_of(section, thread, row);
	part->shared += count_of(&row[PP_OCC_SHARED]);
	part->exclusive += count_of(&row[PP_OCC_EXCLUSIVE]);
	part->holds += count_of(&row[PP_OCC_HOLDS]);
	part->releases += count_of(&row[PP_OCC_CONTENDED_RELEASES]);
	part->wait_ns += number_of(&row[PP_OCC_WAIT], PP_TYPE_TIME_NS);
	part->hold_ns += number_of(&row[PP_OCC_IN_SECTION], PP_TYPE_TIME_NS);
}

static void add_timing(const struct prediction *self, struct section *section)
{
	const struct pp_table *timing = self->inputs->join.timing;

	for (guint i = 0; i < section->joined->timing->len; i++) {
		const struct pp_cell *row =
		    timing->rows->pdata[g_array_index(section->joined->timing, guint, i)];
		const struct pp_table *times = row[PP_OCC_TIMES].table;

		for (guint k = 0; k < times->rows->len; k++)
			add_times(self, section, times->rows->pdata[k]);
	}
}

/* Means of several rows are weighted by what they are means of. */
static void add_accesses(const struct prediction *self, struct section *section)
{
	const struct pp_table *accesses = self->inputs->join.accesses;

	for (guint i = 0; i < section->joined->accesses->len; i++) {
		const struct pp_cell *row =
		    accesses->rows->pdata[g_array_index(section->joined->accesses, guint, i)];
		double compared = count_of(&row[PP_OCC_COMPARED]);
		double conflicts = count_of(&row[PP_OCC_CONFLICTS]);

		section->instances += row[PP_OCC_INSTANCES].count;
		section->unknown += row[PP_OCC_UNKNOWN].count;
		section->inexact += row[PP_OCC_INEXACT].count;
		section->with_private += row[PP_OCC_WITH_PRIVATE].count;
		section->reads += count_of(&row[PP_OCC_READS]);
		section->writes += count_of(&row[PP_OCC_WRITES]);
		section->rw_locations += count_of(&row[PP_OCC_RW_LOCATIONS]);
		section->rd_locations += count_of(&row[PP_OCC_RD_LOCATIONS]);
		section->rw_lines += count_of(&row[PP_OCC_RW_LINES]);
		section->rd_lines += count_of(&row[PP_OCC_RD_LINES]);
		section->compared += (uint64_t)compared;
		section->n_conflicts += (uint64_t)conflicts;
		section->p_c[PP_OCC_LOCATIONS] +=
		    compared * number_of(&row[PP_OCC_P_C], PP_TYPE_RATIO);
		section->p_c[PP_OCC_LINES] +=
		    compared * number_of(&row[PP_OCC_P_C_LINES], PP_TYPE_RATIO);
		section->common[PP_OCC_LOCATIONS] +=
		    conflicts * number_of(&row[PP_OCC_COMMON_LOCATIONS], PP_TYPE_RATIO);
		section->common[PP_OCC_LINES] +=
		    conflicts * number_of(&row[PP_OCC_COMMON_LINES], PP_TYPE_RATIO);
	}
	for (unsigned grain = 0; grain < PP_OCC_GRAINS; grain++) {
		section->p_c[grain] /= section->compared ? (double)section->compared : 1;
		section->common[grain] /= section->n_conflicts ? (double)section->n_conflicts : 1;
	}
}

static void section_free(void *data)
{
	struct section *section = data;

	g_ptr_array_unref(section->parts);
	g_free(section);
}

static struct section *section_new(const struct prediction *self,
				   const struct pp_occ_joined *joined)
{
	struct section *section = g_new0(struct section, 1);
	double holds = 0;

	section->joined = joined;
	section->parts = g_ptr_array_new_with_free_func(g_free);
	add_timing(self, section);
	add_accesses(self, section);
	for (guint i = 0; i < section->parts->len; i++) {
		const struct part *part = section->parts->pdata[i];

		section->acquired += part->shared + part->exclusive;
		section->wait_ns += part->wait_ns;
		holds += part->holds;
	}
	section->w = section->acquired > 0 ? holds / section->acquired : 0;
	return section;
}

/* --- the gain ------------------------------------------------------------------------------- */

static void subtract_cost(struct prediction *self)
{
	double operation_ns = self->inputs->operation_ns;
	GHashTableIter iter;
	void *data;

	for (guint i = 0; i < self->sections->len; i++) {
		const struct section *section = self->sections->pdata[i];

		for (guint k = 0; k < section->parts->len; k++) {
			struct part *part = section->parts->pdata[k];

			part->thread->overhead_ns += pp_occ_overhead(part->shared + part->exclusive,
								     part->holds, operation_ns);
		}
	}
	g_hash_table_iter_init(&iter, self->threads);
	while (g_hash_table_iter_next(&iter, NULL, &data)) {
		struct thread *thread = data;

		thread->execution_ns = MAX(thread->execution_ns - thread->overhead_ns, 0);
		self->execution_ns += thread->execution_ns;
	}
}

static void set_gain(const struct prediction *self, struct section *section)
{
	for (guint i = 0; i < section->parts->len; i++) {
		struct part *part = section->parts->pdata[i];
		double execution_ns = part->thread->execution_ns;
		double wait_ns = pp_occ_wait(part->wait_ns, part->shared + part->exclusive,
					     part->holds, self->inputs->operation_ns);

		if (execution_ns <= 0)
			continue;
		part->f_wait = MIN(wait_ns / execution_ns, 1);
		part->f_exec = MIN(part->hold_ns / execution_ns, 1);
		part->f_release = pp_occ_f_release(part->releases, self->inputs->release_ns,
						   execution_ns, part->f_wait);
		for (unsigned grain = 0; section->compared && grain < PP_OCC_GRAINS; grain++) {
			double repeats = pp_occ_repeats(section->p_c[grain], section->w);

			section->saved_ns[grain] +=
			    execution_ns *
			    pp_occ_benefit(part->f_wait + part->f_release, part->f_exec, repeats);
			section->paper_saved_ns[grain] +=
			    execution_ns * pp_occ_benefit(part->f_wait, part->f_exec, repeats);
		}
	}
}

/* --- the table of sections ------------------------------------------------------------------ */

/* A row of the first table if it has the section, else of the second one. */
static const struct pp_cell *naming_row(const struct prediction *self,
					const struct pp_occ_joined *joined)
{
	const struct pp_occ_join *join = &self->inputs->join;

	return joined->timing->len
		   ? join->timing->rows->pdata[g_array_index(joined->timing, guint, 0)]
		   : join->accesses->rows->pdata[g_array_index(joined->accesses, guint, 0)];
}

static const char *first_site(const struct pp_cell *row)
{
	const struct pp_table *sites = row[PP_OCC_SITES].table;
	const struct pp_cell *cell = sites->rows->len ? sites->rows->pdata[0] : NULL;

	return cell && !cell->missing ? cell->text : NULL;
}

static gint compare_sites(gconstpointer a, gconstpointer b)
{
	return g_strcmp0(*(char *const *)a, *(char *const *)b);
}

/* The call sites of all rows of both captures, each once. */
static void set_sites(const struct prediction *self, const struct section *section,
		      struct pp_cell *cell)
{
	struct pp_table *table = pp_table_new_nested(&pp_occ_columns[PP_OCC_SECTION_SITES]);
	const struct pp_table *of[] = {self->inputs->join.timing, self->inputs->join.accesses};
	const GArray *rows[] = {section->joined->timing, section->joined->accesses};
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (unsigned side = 0; side < G_N_ELEMENTS(of); side++)
		for (guint i = 0; i < rows[side]->len; i++) {
			const struct pp_cell *row =
			    of[side]->rows->pdata[g_array_index(rows[side], guint, i)];
			const struct pp_table *sites = row[PP_OCC_SITES].table;

			for (guint k = 0; k < sites->rows->len; k++)
				g_ptr_array_add(names,
						((struct pp_cell *)sites->rows->pdata[k])->text);
		}
	g_ptr_array_sort(names, compare_sites);
	for (guint i = 0; i < names->len; i++)
		if (!i || compare_sites(&names->pdata[i - 1], &names->pdata[i]))
			pp_cell_set_text(&pp_table_add_row(table)[0], names->pdata[i]);
	pp_cell_set_table(cell, table);
}

static void set_speedup(struct pp_cell *cell, const struct section *section,
			const struct part *part, double f_saved, enum pp_occ_grain grain)
{
	double repeats = pp_occ_repeats(section->p_c[grain], section->w), speedup;

	if (section->compared && part->thread->execution_ns > 0 &&
	    pp_occ_speedup(f_saved, part->f_exec, repeats, &speedup))
		pp_cell_set_number(cell, speedup);
}

static void put_part(const struct prediction *self, struct pp_table *table,
		     const struct section *section, const struct part *part)
{
	struct pp_cell *row = pp_table_add_row(table);
	double f_saved = part->f_wait + part->f_release;

	for (unsigned i = 0; i < PP_CELL_GROUP; i++)
		pp_cell_set_count(&row[i], part->row[i].count);
	for (unsigned i = PP_CELL_GROUP; i < PP_N_NAMED_THREAD_CELLS; i++)
		if (!part->row[i].missing)
			pp_cell_set_text(&row[i], part->row[i].text);
	pp_cell_set_count(&row[PP_OCC_T_SHARED], (uint64_t)part->shared);
	pp_cell_set_count(&row[PP_OCC_T_EXCLUSIVE], (uint64_t)part->exclusive);
	if (part->thread->execution_ns > 0) {
		pp_cell_set_number(&row[PP_OCC_T_WAIT], part->f_wait);
		pp_cell_set_number(&row[PP_OCC_T_CS], part->f_exec);
		if (self->inputs->release_ns > 0)
			pp_cell_set_number(&row[PP_OCC_T_RELEASE], part->f_release);
	}
	set_speedup(&row[PP_OCC_T_SPEEDUP], section, part, f_saved, PP_OCC_LOCATIONS);
	set_speedup(&row[PP_OCC_T_SPEEDUP_LINES], section, part, f_saved, PP_OCC_LINES);
	set_speedup(&row[PP_OCC_T_PAPER], section, part, part->f_wait, PP_OCC_LOCATIONS);
	set_speedup(&row[PP_OCC_T_PAPER_LINES], section, part, part->f_wait, PP_OCC_LINES);
	pp_cell_set_count(&row[PP_OCC_T_RELEASES], (uint64_t)part->releases);
	pp_cell_set_time(&row[PP_OCC_T_WAITED], (int64_t)part->wait_ns);
	pp_cell_set_time(&row[PP_OCC_T_HELD], (int64_t)part->hold_ns);
}

static void set_accesses(struct pp_cell *row, const struct section *section)
{
	double n = (double)section->instances;

	pp_cell_set_number(&row[PP_OCC_RD_OPS], section->reads / n);
	pp_cell_set_number(&row[PP_OCC_WR_OPS], section->writes / n);
	pp_cell_set_number(&row[PP_OCC_LOCS_RW], section->rw_locations / n);
	pp_cell_set_number(&row[PP_OCC_LOCS_RD], section->rd_locations / n);
	pp_cell_set_number(&row[PP_OCC_CACHE_RW], section->rw_lines / n);
	pp_cell_set_number(&row[PP_OCC_CACHE_RD], section->rd_lines / n);
	pp_cell_set_count(&row[PP_OCC_SECTION_INSTANCES], section->instances);
	pp_cell_set_count(&row[PP_OCC_SECTION_UNKNOWN], section->unknown);
	pp_cell_set_count(&row[PP_OCC_SECTION_INEXACT], section->inexact);
	pp_cell_set_count(&row[PP_OCC_SECTION_COMPARED], section->compared);
}

static void set_conflicts(const struct prediction *self, struct pp_cell *row,
			  const struct section *section)
{
	static const struct {
		unsigned pair, probability, intersect, saved;
	} cells[PP_OCC_GRAINS] = {
	    [PP_OCC_LOCATIONS] = {PP_OCC_PAIR, PP_OCC_CONFLICT, PP_OCC_INTERSECT, PP_OCC_SAVED},
	    [PP_OCC_LINES] = {PP_OCC_PAIR_LINES, PP_OCC_CONFLICT_LINES, PP_OCC_INTERSECT_LINES,
			      PP_OCC_SAVED_LINES},
	};

	for (unsigned grain = 0; section->compared && grain < PP_OCC_GRAINS; grain++) {
		double p_c = section->p_c[grain];

		pp_cell_set_number(&row[cells[grain].pair], p_c);
		pp_cell_set_number(&row[cells[grain].probability],
				   pp_occ_p_conflict(p_c, section->w));
		pp_cell_set_number(&row[cells[grain].intersect], section->common[grain]);
		if (self->execution_ns > 0)
			pp_cell_set_number(&row[cells[grain].saved],
					   100 * section->saved_ns[grain] / self->execution_ns);
	}
}

static void put_section(const struct prediction *self, struct pp_table *table,
			const struct section *section)
{
	const struct pp_cell *naming = naming_row(self, section->joined);
	struct pp_table *threads = pp_table_new_nested(&pp_occ_columns[PP_OCC_SECTION_THREADS]);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[PP_OCC_LOCK], naming[PP_OCC_NAME].text);
	pp_cell_set_text(&row[PP_OCC_LOCK_TYPE], naming[PP_OCC_TYPE].text);
	row[PP_OCC_LOCK_ADDRESS] = naming[PP_OCC_ADDRESS];
	pp_cell_set_text(&row[PP_OCC_ACQUIRED_AT], first_site(naming));
	set_sites(self, section, &row[PP_OCC_SECTION_SITES]);
	pp_cell_set_count(&row[PP_OCC_ACQUIRED], (uint64_t)section->acquired);
	pp_cell_set_number(&row[PP_OCC_WAITS], section->w);
	set_accesses(row, section);
	set_conflicts(self, row, section);
	for (guint i = 0; i < section->parts->len; i++)
		put_part(self, threads, section, section->parts->pdata[i]);
	pp_cell_set_table(&row[PP_OCC_SECTION_THREADS], threads);
}

/* --- the other tables ----------------------------------------------------------------------- */

static struct pp_table *totals_table(const struct prediction *self)
{
	static const char *const names[PP_OCC_GRAINS] = {
	    [PP_OCC_LOCATIONS] = "locations", [PP_OCC_LINES] = "cache lines"};
	struct pp_table *table =
	    pp_table_new("occ_total", "The program", pp_occ_total_columns, PP_N_OCC_TOTAL_COLUMNS);

	for (unsigned grain = 0; grain < PP_OCC_GRAINS; grain++) {
		struct pp_cell *row = pp_table_add_row(table);
		double saved_ns = 0, paper_saved_ns = 0, best;

		for (guint i = 0; i < self->sections->len; i++) {
			const struct section *section = self->sections->pdata[i];

			saved_ns += section->saved_ns[grain];
			paper_saved_ns += section->paper_saved_ns[grain];
		}
		pp_cell_set_text(&row[PP_OCC_BY], names[grain]);
		pp_cell_set_time(&row[PP_OCC_EXECUTED], (int64_t)self->execution_ns);
		pp_cell_set_number(&row[PP_OCC_COST], self->inputs->operation_ns);
		if (self->inputs->release_ns > 0)
			pp_cell_set_number(&row[PP_OCC_TOTAL_RELEASE], self->inputs->release_ns);
		if (self->execution_ns <= 0)
			continue;
		pp_cell_set_number(&row[PP_OCC_EFFICIENCY], saved_ns / self->execution_ns);
		if (pp_occ_best_case(saved_ns / self->execution_ns, &best))
			pp_cell_set_number(&row[PP_OCC_BEST_CASE], best);
		if (pp_occ_best_case(paper_saved_ns / self->execution_ns, &best))
			pp_cell_set_number(&row[PP_OCC_PAPER_BEST_CASE], best);
	}
	return table;
}

/* Returns the reason why the section is left out; NULL: it is not. */
static const char *why_left_out(const struct section *section)
{
	if (!section->joined->timing->len)
		return "not in the capture for the timing";
	if (!section->joined->accesses->len)
		return "not in the capture of accesses";
	return section->instances ? NULL : "no execution with known accesses";
}

static void put_left_out(const struct prediction *self, struct pp_table *table,
			 const struct section *section, const char *why)
{
	const struct pp_cell *naming = naming_row(self, section->joined);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[PP_OCC_OUT_LOCK], naming[PP_OCC_NAME].text);
	pp_cell_set_text(&row[PP_OCC_OUT_SITE], first_site(naming));
	pp_cell_set_text(&row[PP_OCC_OUT_WHY], why);
	if (section->joined->timing->len) {
		pp_cell_set_count(&row[PP_OCC_OUT_ACQUIRED], (uint64_t)section->acquired);
		pp_cell_set_time(&row[PP_OCC_OUT_WAIT], (int64_t)section->wait_ns);
	} else {
		pp_cell_set_count(&row[PP_OCC_OUT_ACQUIRED], section->instances + section->unknown);
	}
}

/* --- notes ---------------------------------------------------------------------------------- */

/* Notes tell what the figures of all sections lack. */
static void add_notes(const struct prediction *self, struct pp_table *table)
{
	uint64_t n_alone = 0, inexact = 0;
	guint n_unknown = 0, n_with_private = 0;

	for (guint i = 0; i < self->sections->len; i++) {
		const struct section *section = self->sections->pdata[i];

		if (why_left_out(section))
			continue;
		n_alone += !section->compared;
		n_unknown += section->unknown > 0;
		n_with_private += section->with_private > 0;
		inexact += section->inexact;
	}
	if (n_alone)
		pp_table_note(table,
			      "conflicts of %" PRIu64
			      " sections are not known: no two threads have "
			      "recorded accesses in sections of one of their locks",
			      n_alone);
	if (n_unknown)
		pp_table_note(table,
			      "in %u sections, some executions have no recorded accesses; figures "
			      "are those of the others",
			      n_unknown);
	if (n_with_private)
		pp_table_note(table,
			      "reads and writes of %u sections include those of memory that only "
			      "one thread accesses, such as its stack; locations and lines do not",
			      n_with_private);
	if (inexact)
		pp_table_note(table, "%" PRIu64 " executions lack some of their accesses", inexact);
}

/* -------------------------------------------------------------------------------------------- */

static gint by_gain(gconstpointer a, gconstpointer b)
{
	const struct section *x = *(struct section *const *)a, *y = *(struct section *const *)b;

	if (x->saved_ns[PP_OCC_LOCATIONS] != y->saved_ns[PP_OCC_LOCATIONS])
		return x->saved_ns[PP_OCC_LOCATIONS] > y->saved_ns[PP_OCC_LOCATIONS] ? -1 : 1;
	if (x->wait_ns != y->wait_ns)
		return x->wait_ns > y->wait_ns ? -1 : 1;
	return x->acquired > y->acquired ? -1 : x->acquired < y->acquired;
}

static void add_tables(const struct prediction *self, GPtrArray *tables)
{
	struct pp_table *table =
	    pp_table_new("occ", "Optimistic concurrency", pp_occ_columns, PP_N_OCC_COLUMNS);
	struct pp_table *left_out =
	    pp_table_new("occ_left_out", "Left out", pp_occ_out_columns, PP_N_OCC_OUT_COLUMNS);

	for (guint i = 0; i < self->sections->len; i++) {
		const struct section *section = self->sections->pdata[i];
		const char *why = why_left_out(section);

		if (why)
			put_left_out(self, left_out, section, why);
		else
			put_section(self, table, section);
	}
	left_out->is_for_programs = left_out->rows->len == 0;
	add_notes(self, table);
	g_ptr_array_add(tables, table);
	g_ptr_array_add(tables, totals_table(self));
	g_ptr_array_add(tables, left_out);
}

static void prediction_done(struct prediction *self)
{
	g_ptr_array_unref(self->sections);
	g_ptr_array_unref(self->joined);
	g_hash_table_unref(self->threads);
}

int pp_occ_predict(const struct pp_occ_inputs *inputs, GPtrArray *tables, struct pp_error *err)
{
	struct prediction self = {.inputs = inputs};
	guint n_common = 0;
	int ret = 0;

	if (!inputs->join.by_name)
		ret = pp_occ_check_builds(&inputs->join, err);
	if (ret < 0)
		return ret;
	self.threads = threads_of(inputs->threads);
	self.joined = pp_occ_join(&inputs->join);
	self.sections = g_ptr_array_new_with_free_func(section_free);
	for (guint i = 0; i < self.joined->len; i++) {
		struct section *section = section_new(&self, self.joined->pdata[i]);

		g_ptr_array_add(self.sections, section);
		n_common += !why_left_out(section);
	}
	subtract_cost(&self);
	for (guint i = 0; i < self.sections->len; i++)
		if (!why_left_out(self.sections->pdata[i]))
			set_gain(&self, self.sections->pdata[i]);
	g_ptr_array_sort(self.sections, by_gain);
	if (n_common)
		add_tables(&self, tables);
	else
		ret =
		    pp_error_add(err, -ENODATA,
				 "none of the %u locks with times has accesses, which %u locks "
				 "have: name captures of one build, or join by names with "
				 "--by-name",
				 inputs->join.timing->rows->len, inputs->join.accesses->rows->len);
	prediction_done(&self);
	return ret;
}

/* SPDX-License-Identifier: MIT */
/*
 * The memory that critical sections (analysis/occ/units.h) access, and how often their instances
 * would conflict.  A pass without a section of the report: `predict occ` reads its table.
 *
 * Only instances of one lock exclude each other, so only these are compared.
 */
#include "pass/occ/accesses.h"

#include "analysis/accesses/sections.h"
#include "analysis/occ/conflicts.h"
#include "pass/occ/private.h"

static const struct pp_column columns[PP_N_OCC_ACCESS_CELLS] = {
    PP_OCC_SECTION_COLUMNS,
    [PP_OCC_INSTANCES] = {"instances", "instances", PP_TYPE_COUNT, PP_COLUMN_MAIN,
			  "executions whose accesses are known"},
    [PP_OCC_UNKNOWN] = {"unknown", "unknown", PP_TYPE_COUNT, 0, "the others"},
    [PP_OCC_INEXACT] = {"inexact", "inexact", PP_TYPE_COUNT, 0,
			"instances of which accesses were left out"},
    [PP_OCC_WITH_PRIVATE] = {"with_private", "with private", PP_TYPE_COUNT, 0,
			     "instances that also access memory of their thread only, which is "
			     "left out of the locations and lines"},
    [PP_OCC_READS] = {"reads", "reads", PP_TYPE_COUNT, 0, "in all instances"},
    [PP_OCC_WRITES] = {"writes", "writes", PP_TYPE_COUNT, 0, "in all instances"},
    [PP_OCC_RW_LOCATIONS] = {"rw_locations", "locations, r/w", PP_TYPE_COUNT, 0,
			     "words of 8 bytes that were written, summed up over the instances"},
    [PP_OCC_RD_LOCATIONS] = {"rd_locations", "read-only", PP_TYPE_COUNT, 0, "... only read"},
    [PP_OCC_RW_LINES] = {"rw_lines", "lines, r/w", PP_TYPE_COUNT, 0, "the same of cache lines"},
    [PP_OCC_RD_LINES] = {"rd_lines", "read-only", PP_TYPE_COUNT, 0, "... only read"},
    [PP_OCC_COMPARED] = {"compared", "compared", PP_TYPE_COUNT, 0,
			 "instances with another thread's instance of the same lock near them"},
    [PP_OCC_P_C] = {"p_c", "p_c", PP_TYPE_RATIO, 0,
		    "probability that an instance conflicts with one other"},
    [PP_OCC_P_C_LINES] = {"p_c_lines", "p_c of lines", PP_TYPE_RATIO, 0, "... in a cache line"},
    [PP_OCC_CONFLICTS] = {"conflicts", "conflicts", PP_TYPE_COUNT, 0,
			  "pairs of instances that conflict in a location; if there are none, in a "
			  "line"},
    [PP_OCC_COMMON_LOCATIONS] = {"common_locations", "common locations", PP_TYPE_RATIO, 0,
				 "of these pairs, on average"},
    [PP_OCC_COMMON_LINES] = {"common_lines", "common lines", PP_TYPE_RATIO, 0, "the same"},
};

struct unit_accesses {
	uint64_t n, n_unknown, n_inexact, n_with_private, reads, writes;
	uint64_t rw_locations, rd_locations, rw_lines, rd_lines;
	struct pp_occ_sums sums;
};

struct lock {
	struct pp_occ_lock occ;
	struct pp_occ_conflicts *conflicts; /* NULL: no instance with known accesses */
};

struct accesses {
	const struct pp_pass_context *context;
	struct pp_access_listener listener;
	struct pp_access_sections *sections;
	struct pp_occ_units *units;
	struct pp_occ_memo *memo;
	struct pp_occ_private *private_memory;
	GArray *accesses; /* of struct unit_accesses, by number of the unit */
};

static struct unit_accesses *accesses_of(struct accesses *self, unsigned unit)
{
	if (self->accesses->len <= unit)
		g_array_set_size(self->accesses, unit + 1);
	return &g_array_index(self->accesses, struct unit_accesses, unit);
}

/* --- events --------------------------------------------------------------------------------- */

static void count(struct accesses *self, struct unit_accesses *to,
		  const struct pp_access_instance *instance, const struct pp_access_set *set)
{
	struct pp_occ_size size = pp_occ_memo_size(self->memo, set);

	to->n++;
	to->n_inexact += instance->left_out != 0;
	to->n_with_private += set != instance->set;
	to->reads += instance->reads;
	to->writes += instance->writes;
	to->rw_locations += size.written_locations;
	to->rd_locations += size.read_locations;
	to->rw_lines += size.written_lines;
	to->rd_lines += size.read_lines;
}

static void on_ended(void *data, const struct pp_access_instance *instance)
{
	struct accesses *self = data;
	struct lock *lock = instance->object->data;
	struct pp_access_set *set;
	struct unit_accesses *to;

	if (!lock)
		lock = instance->object->data = g_new0(struct lock, 1);
	to = accesses_of(self,
			 pp_occ_unit_of(self->units, &lock->occ, instance->object, instance->site));
	if (instance->known != PP_ACCESSES_KNOWN || instance->is_cut) {
		to->n_unknown++;
		return;
	}
	set = pp_occ_private_leave_out(self->private_memory, instance->thread, instance->set);
	count(self, to, instance, set);
	if (!lock->conflicts)
		lock->conflicts = pp_occ_conflicts_new(self->memo);
	pp_occ_conflicts_add(lock->conflicts, instance->thread->serial, set, instance->freed_set);
	pp_access_set_unref(set);
}

static void on_block(void *data, const struct pp_process *process, uint64_t address, uint64_t size,
		     uint64_t site)
{
	struct accesses *self = data;

	pp_occ_private_block(self->private_memory, process, address, size, site);
}

static void on_freed(void *data, const struct pp_process *process, uint64_t address, uint64_t size)
{
	struct accesses *self = data;

	pp_occ_private_freed(self->private_memory, process, address, size);
}

static void settle(struct accesses *self, struct pp_object *object)
{
	struct lock *lock = object->data;

	if (!lock)
		return;
	if (lock->conflicts)
		pp_occ_conflicts_finish(lock->conflicts,
					&accesses_of(self, lock->occ.unit - 1)->sums);
	pp_occ_conflicts_free(g_steal_pointer(&lock->conflicts));
}

static void lock_free(void *data)
{
	struct lock *lock = data;

	if (lock)
		pp_occ_conflicts_free(lock->conflicts);
	g_free(lock);
}

static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	(void)group;
	settle(data, object);
	g_clear_pointer(&object->data, lock_free);
	return false;
}

static void *accesses_start(const struct pp_pass_context *context)
{
	struct accesses *self = g_new0(struct accesses, 1);

	self->context = context;
	self->units = pp_occ_units_new(context);
	self->memo = pp_occ_memo_new();
	self->private_memory = pp_occ_private_new(context);
	self->accesses = g_array_new(FALSE, TRUE, sizeof(struct unit_accesses));
	self->listener = (struct pp_access_listener){
	    .data = self,
	    .ended = on_ended,
	    .block = on_block,
	    .freed = on_freed,
	    .fold = on_fold,
	};
	self->sections = pp_access_sections_new(context, &self->listener);
	return self;
}

static void accesses_event(void *state, const struct pp_event *event)
{
	struct accesses *self = state;

	pp_access_sections_event(self->sections, event);
}

static void accesses_free(void *state)
{
	struct accesses *self = state;

	pp_access_sections_free(self->sections, lock_free);
	pp_occ_units_free(self->units);
	pp_occ_memo_free(self->memo);
	pp_occ_private_free(self->private_memory);
	g_array_unref(self->accesses);
	g_free(self);
}

/* --- the table ------------------------------------------------------------------------------ */

static void add(struct unit_accesses *sum, const struct unit_accesses *unit)
{
	sum->n += unit->n;
	sum->n_unknown += unit->n_unknown;
	sum->n_inexact += unit->n_inexact;
	sum->n_with_private += unit->n_with_private;
	sum->reads += unit->reads;
	sum->writes += unit->writes;
	sum->rw_locations += unit->rw_locations;
	sum->rd_locations += unit->rd_locations;
	sum->rw_lines += unit->rw_lines;
	sum->rd_lines += unit->rd_lines;
	pp_occ_sums_add(&sum->sums, &unit->sums);
}

static void set_conflicts(struct pp_cell *row, const struct pp_occ_sums *sums)
{
	uint64_t n = sums->n_conflicts[PP_OCC_LOCATIONS];

	pp_cell_set_count(&row[PP_OCC_COMPARED], sums->n_compared);
	if (!sums->n_compared)
		return;
	pp_cell_set_number(&row[PP_OCC_P_C], pp_occ_sums_p_c(sums, PP_OCC_LOCATIONS));
	pp_cell_set_number(&row[PP_OCC_P_C_LINES], pp_occ_sums_p_c(sums, PP_OCC_LINES));
	pp_cell_set_count(&row[PP_OCC_CONFLICTS], n ? n : sums->n_conflicts[PP_OCC_LINES]);
	pp_cell_set_number(&row[PP_OCC_COMMON_LOCATIONS],
			   pp_occ_sums_common(sums, PP_OCC_LOCATIONS));
	pp_cell_set_number(&row[PP_OCC_COMMON_LINES], pp_occ_sums_common(sums, PP_OCC_LINES));
}

static void put_section(struct accesses *self, struct pp_table *table, const GArray *section)
{
	struct pp_cell *row = pp_table_add_row(table);
	struct unit_accesses sum = {0};

	for (guint i = 0; i < section->len; i++)
		add(&sum, accesses_of(self, g_array_index(section, unsigned, i)));
	pp_occ_set_section(row, self->units, section, self->context->namer);
	pp_cell_set_count(&row[PP_OCC_INSTANCES], sum.n);
	pp_cell_set_count(&row[PP_OCC_UNKNOWN], sum.n_unknown);
	pp_cell_set_count(&row[PP_OCC_INEXACT], sum.n_inexact);
	pp_cell_set_count(&row[PP_OCC_WITH_PRIVATE], sum.n_with_private);
	if (!sum.n)
		return;
	pp_cell_set_count(&row[PP_OCC_READS], sum.reads);
	pp_cell_set_count(&row[PP_OCC_WRITES], sum.writes);
	pp_cell_set_count(&row[PP_OCC_RW_LOCATIONS], sum.rw_locations);
	pp_cell_set_count(&row[PP_OCC_RD_LOCATIONS], sum.rd_locations);
	pp_cell_set_count(&row[PP_OCC_RW_LINES], sum.rw_lines);
	pp_cell_set_count(&row[PP_OCC_RD_LINES], sum.rd_lines);
	set_conflicts(row, &sum.sums);
}

static void accesses_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct accesses *self = state;
	struct pp_table *table = pp_table_new("occ_accesses", "Accesses of critical sections",
					      columns, PP_N_OCC_ACCESS_CELLS);
	const struct pp_objects *objects;
	g_autoptr(GPtrArray) sections = NULL;

	pp_access_sections_finish(self->sections, end_ns);
	objects = pp_access_sections_objects(self->sections);
	for (guint i = 0; i < objects->all->len; i++)
		if (objects->all->pdata[i])
			settle(self, objects->all->pdata[i]);
	sections = pp_occ_sections(self->units);
	for (guint i = 0; i < sections->len; i++)
		put_section(self, table, sections->pdata[i]);
	g_ptr_array_add(tables, table);
}

const struct pp_pass pp_pass_occ_accesses = {
    .name = "occ-accesses",
    .kinds = PP_ACCESS_SECTIONS_KINDS,
    .start = accesses_start,
    .event = accesses_event,
    .finish = accesses_finish,
    .free = accesses_free,
};

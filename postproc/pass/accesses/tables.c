/* SPDX-License-Identifier: MIT */
/* The tables of critical sections and of locks, with means over the instances. */
#include "analysis/state/object_row.h"
#include "analysis/state/select_object.h"
#include "pass/accesses/accesses.h"

/* Columns of both tables, behind those that identify the row. */
enum figure {
	INSTANCES,
	RECORDED,
	READS,
	WRITES,
	READ_ONLY,
	READ_WRITE,
	SHARED_READ_ONLY,
	SHARED_READ_WRITE,
	LINES_READ_ONLY,
	LINES_READ_WRITE,
	SHARED_LINES_READ_ONLY,
	SHARED_LINES_READ_WRITE,
	ACCESSES,
	INEXACT,
	N_FIGURES
};

#define MEAN .mean_over = "recorded"

#define FIGURES(first)                                                                             \
	[first +                                                                                   \
	    INSTANCES] = {"instances", "instances", PP_TYPE_COUNT, 0, "times it was executed"},    \
	    [first + RECORDED] = {"recorded", "recorded", PP_TYPE_COUNT, PP_COLUMN_MORE,           \
				  "... with its accesses; the means are over these"},              \
	    [first + READS] = {"reads",                                                            \
			       "reads",                                                            \
			       PP_TYPE_RATIO,                                                      \
			       PP_COLUMN_STAYS,                                                    \
			       "accesses that read, per instance",                                 \
			       MEAN},                                                              \
	    [first + WRITES] = {"writes",                                                          \
				"writes",                                                          \
				PP_TYPE_RATIO,                                                     \
				PP_COLUMN_STAYS,                                                   \
				"accesses that write, per instance",                               \
				MEAN},                                                             \
	    [first + READ_ONLY] = {"locations_ro",                                                 \
				   "loc ro",                                                       \
				   PP_TYPE_RATIO,                                                  \
				   0,                                                              \
				   "locations that an instance only reads",                        \
				   MEAN},                                                          \
	    [first + READ_WRITE] = {"locations_rw",                                                \
				    "loc rw",                                                      \
				    PP_TYPE_RATIO,                                                 \
				    0,                                                             \
				    "locations that an instance writes",                           \
				    MEAN},                                                         \
	    [first + SHARED_READ_ONLY] = {"shared_ro",                                             \
					  "shared ro",                                             \
					  PP_TYPE_RATIO,                                           \
					  0,                                                       \
					  "the part of the locations only read that is shared",    \
					  MEAN},                                                   \
	    [first + SHARED_READ_WRITE] = {"shared_rw",                                            \
					   "shared rw",                                            \
					   PP_TYPE_RATIO,                                          \
					   0,                                                      \
					   "the part of the locations written that is shared",     \
					   MEAN},                                                  \
	    [first + LINES_READ_ONLY] = {"lines_ro",                                               \
					 "lines ro",                                               \
					 PP_TYPE_RATIO,                                            \
					 PP_COLUMN_MORE,                                           \
					 "cache lines that an instance only reads",                \
					 MEAN},                                                    \
	    [first + LINES_READ_WRITE] = {"lines_rw",                                              \
					  "lines rw",                                              \
					  PP_TYPE_RATIO,                                           \
					  PP_COLUMN_MORE,                                          \
					  "cache lines that an instance writes",                   \
					  MEAN},                                                   \
	    [first + SHARED_LINES_READ_ONLY] = {"shared_lines_ro",                                 \
						"shared lines ro",                                 \
						PP_TYPE_RATIO,                                     \
						PP_COLUMN_DETAIL,                                  \
						"the part of the lines only read that is shared",  \
						MEAN},                                             \
	    [first + SHARED_LINES_READ_WRITE] = {"shared_lines_rw",                                \
						 "shared lines rw",                                \
						 PP_TYPE_RATIO,                                    \
						 PP_COLUMN_DETAIL,                                 \
						 "the part of the lines written that is shared",   \
						 MEAN},                                            \
	    [first + ACCESSES] = {"accesses", "accesses", PP_TYPE_COUNT, PP_COLUMN_MAIN,           \
				  "reads and writes of all instances"},                            \
	    [first + INEXACT] = {"inexact", "inexact", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,         \
				 "instances of which not all accesses are known"}

enum { LOCK, TYPE, LOCKS, ENTRY, FIRST_OF_SECTION, N_COLUMNS = FIRST_OF_SECTION + N_FIGURES };

static const struct pp_column columns[N_COLUMNS] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "the lock of most of the instances, as it is called in every run"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, PP_SYNC_TYPES},
    [LOCKS] = {"locks", "locks", PP_TYPE_COUNT, PP_COLUMN_MORE | PP_COLUMN_NO_SUM,
	       "the number of locks that were acquired there"},
    [ENTRY] = {"entry", "entered at", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "the call that acquired the lock, or a condition wait that re-acquired it"},
    FIGURES(FIRST_OF_SECTION),
};

static const struct pp_column lock_columns[PP_OBJECT_CELLS + N_FIGURES] = {
    PP_OBJECT_COLUMNS,
    FIGURES(PP_OBJECT_CELLS),
};

/* --- cells ------------------------------------------------------------------------------------ */

static void put_means(struct pp_cell *cells, const struct pp_access_figures *figures,
		      const uint64_t sums[2][2], enum figure read_only, enum figure shared)
{
	double n = pp_access_n_known(figures);

	for (unsigned written = 0; written < 2; written++) {
		uint64_t both = sums[written][0] + sums[written][1];

		pp_cell_set_number(&cells[read_only + written], (double)both / n);
		pp_cell_set_number(&cells[shared + written], (double)sums[written][1] / n);
	}
}

static void put_figures(struct pp_cell *cells, const struct pp_access_figures *figures,
			const struct pp_location_sums *sums)
{
	double n = pp_access_n_known(figures);

	pp_cell_set_count(&cells[INSTANCES], figures->n);
	pp_cell_set_count(&cells[RECORDED], figures->known[PP_ACCESSES_KNOWN]);
	if (!figures->known[PP_ACCESSES_KNOWN])
		return;
	pp_cell_set_number(&cells[READS], (double)figures->reads / n);
	pp_cell_set_number(&cells[WRITES], (double)figures->writes / n);
	put_means(cells, figures, sums->locations, READ_ONLY, SHARED_READ_ONLY);
	put_means(cells, figures, sums->lines, LINES_READ_ONLY, SHARED_LINES_READ_ONLY);
	pp_cell_set_count(&cells[ACCESSES], pp_access_count(figures));
	pp_cell_set_count(&cells[INEXACT],
			  figures->n_inexact + figures->n_unmapped + figures->n_cut);
}

struct pp_table *pp_access_sections_table(const struct pp_access_pass *self)
{
	struct pp_table *table =
	    pp_table_new("accesses", "Memory accesses of critical sections", columns, N_COLUMNS);
	g_autoptr(GPtrArray) all = pp_access_rows_all(self);

	for (guint i = 0; i < all->len; i++) {
		const struct pp_access_row *row = all->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);

		pp_cell_set_text(&cells[LOCK], row->lock);
		pp_cell_set_text(&cells[TYPE], pp_sync_type_name(row->object->type));
		pp_cell_set_count(&cells[LOCKS], row->n_objects);
		pp_cell_set_text(&cells[ENTRY], row->entry);
		put_figures(&cells[FIRST_OF_SECTION], &row->figures, &row->sums);
	}
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}

/* --- locks ------------------------------------------------------------------------------------ */

struct lock_row {
	const struct pp_object *object;
	struct pp_access_figures figures;
	struct pp_location_sums sums;
};

static gint by_lock_accesses(gconstpointer a, gconstpointer b)
{
	const struct lock_row *x = a, *y = b;

	return pp_object_compare(x->object, (int64_t)pp_access_count(&x->figures), y->object,
				 (int64_t)pp_access_count(&y->figures));
}

static GArray *find_locks(const struct pp_access_pass *self)
{
	const GPtrArray *all = pp_access_sections_objects(self->sections)->all;
	GArray *rows = g_array_new(FALSE, TRUE, sizeof(struct lock_row));

	for (guint i = 0; i < all->len; i++) {
		struct lock_row row = {.object = all->pdata[i]};
		const struct pp_access_lock *lock = row.object ? row.object->data : NULL;

		if (!lock || !lock->parts->len || !pp_selects_object(self->context, row.object))
			continue;
		for (guint k = 0; k < lock->parts->len; k++) {
			const struct pp_access_part *part = lock->parts->pdata[k];

			pp_access_figures_add(&row.figures, &part->figures);
			pp_location_sums_add(&row.sums, &part->user->sums);
		}
		g_array_append_val(rows, row);
	}
	g_array_sort(rows, by_lock_accesses);
	return rows;
}

struct pp_table *pp_access_locks_table(const struct pp_access_pass *self)
{
	struct pp_table *table = pp_table_new("access_locks", "Memory accesses by lock",
					      lock_columns, G_N_ELEMENTS(lock_columns));
	g_autoptr(GArray) rows = find_locks(self);

	for (guint i = 0; i < rows->len; i++) {
		const struct lock_row *row = &g_array_index(rows, struct lock_row, i);
		struct pp_cell *cells = pp_table_add_row(table);

		pp_object_row(cells, row->object, self->context->namer);
		put_figures(&cells[PP_OBJECT_CELLS], &row->figures, &row->sums);
	}
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}

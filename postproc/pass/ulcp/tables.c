/* SPDX-License-Identifier: MIT */
/* The tables of `ulcp`, and their notes. */
#include "analysis/state/object_row.h"
#include "pass/ulcp/ulcp.h"

enum figure {
	PAIRS,
	NULL_LOCK,
	READ_READ,
	DISJOINT_WRITE,
	BENIGN,
	TRULY,
	UNDECIDED,
	UPDATES,
	FLAGS,
	UNKNOWN,
	ORDER,
	UNNECESSARY,
	SHARE,
	N_FIGURES
};

/* The columns for pairs of consecutive sections, from the column `first` on. */
#define FIGURES(first)                                                                             \
	[first +                                                                                   \
	    PAIRS] = {"consecutive", "pairs", PP_TYPE_COUNT, 0,                                    \
		      "consecutive sections of a lock, in different threads"},                     \
	    [first + NULL_LOCK] = {"null_lock", "null-lock", PP_TYPE_COUNT, 0,                     \
				   "... of which one accesses no shared memory"},                  \
	    [first + READ_READ] = {"read_read", "read-read", PP_TYPE_COUNT, 0,                     \
				   "... that only read shared memory"},                            \
	    [first + DISJOINT_WRITE] = {"disjoint_write", "disjoint", PP_TYPE_COUNT, 0,            \
					"... that write shared memory, and do not conflict"},      \
	    [first + BENIGN] = {"benign", "benign", PP_TYPE_COUNT, 0,                              \
				"... that conflict, by writes that change nothing"},               \
	    [first + TRULY] = {"true", "true", PP_TYPE_COUNT, 0, "necessary contention"},          \
	    [first + UNDECIDED] = {"undecided", "undecided", PP_TYPE_COUNT, 0, "all others"},      \
	    [first + UPDATES] = {"undecided_updates", "updates", PP_TYPE_COUNT,                    \
				 PP_COLUMN_JSON_ONLY,                                              \
				 "... since both read and write the same bytes"},                  \
	    [first + FLAGS] = {"undecided_flags", "flags", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,     \
			       "... since one polls what the other one sets"},                     \
	    [first + UNKNOWN] = {"undecided_unknown", "unknown", PP_TYPE_COUNT,                    \
				 PP_COLUMN_JSON_ONLY,                                              \
				 "... since not all accesses of one are known"},                   \
	    [first + ORDER] = {"undecided_order", "order", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,     \
			       "... since the lock's numbers contradict the time stamps"},         \
	    [first + UNNECESSARY] = {"unnecessary", "unnecessary", PP_TYPE_COUNT, PP_COLUMN_MAIN,  \
				     "null-lock, read-read, disjoint-write and benign pairs"},     \
	    [first + SHARE] = {"unnecessary_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_STAYS,       \
			       "the share of these"}

enum sum {
	SECTIONS,
	NOT_KNOWN,
	SAME_THREAD,
	READERS,
	PASSED_NULL_LOCK,
	PASSED_READ_READ,
	PASSED_WRITES,
	PASSED_UNDECIDED,
	EDGES,
	N_SUMS
};

#define SUMS(first)                                                                                \
	[first + SECTIONS] = {"sections", "sections", PP_TYPE_COUNT, 0,                            \
			      "critical sections that were executed"},                             \
		 [first + NOT_KNOWN] = {"unknown", "unknown", PP_TYPE_COUNT, PP_COLUMN_DETAIL,     \
					"... whose accesses are not known, or not all"},           \
		 [first + SAME_THREAD] = {"same_thread", "same thread", PP_TYPE_COUNT,             \
					  PP_COLUMN_JSON_ONLY,                                     \
					  "... that follow one of their own thread"},              \
		 [first + READERS] = {"readers", "readers", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,    \
				      "... of a reader that follow one of another reader"}

/* After the figures. */
#define PASSED(first)                                                                              \
	[first +                                                                                   \
	    PASSED_NULL_LOCK] = {"passed_null_lock", "passed null-lock", PP_TYPE_COUNT,            \
				 PP_COLUMN_DETAIL,                                                 \
				 "pairs of a section and later ones of each other thread, "        \
				 "up to the first that contends with it: null-lock"},              \
	    [first + PASSED_READ_READ] = {"passed_read_read", "passed read-read", PP_TYPE_COUNT,   \
					  PP_COLUMN_DETAIL, "... read-read"},                      \
	    [first + PASSED_WRITES] = {"passed_writes", "passed disjoint", PP_TYPE_COUNT,          \
				       PP_COLUMN_DETAIL, "... disjoint-write or benign"},          \
	    [first +                                                                               \
		PASSED_UNDECIDED] = {"passed_undecided", "passed undecided", PP_TYPE_COUNT,        \
				     PP_COLUMN_DETAIL,                                             \
				     "... with a later section whose accesses are not known"},     \
	    [first + EDGES] = {"contending", "contending", PP_TYPE_COUNT, PP_COLUMN_DETAIL,        \
			       "... and with the first that contends: rule 1's edges"}

#define N_BEFORE PASSED_NULL_LOCK /* sums before the figures */

/* Cells of sums and figures: the first sums, the figures, the other sums. */
#define ALL(first) SUMS(first), FIGURES((first) + N_BEFORE), PASSED((first) + N_FIGURES)

#define N_ALL (N_SUMS + N_FIGURES)

enum { PID, IMAGE, PROGRAM, LOCKS, FIRST_OF_PROCESS, N_PROCESS = FIRST_OF_PROCESS + N_ALL };

static const struct pp_column process_columns[N_PROCESS] = {
    [PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_ID, "process"},
    [IMAGE] = {"image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
	       "0, 1, ...: number of the process's image, one more after each exec"},
    [PROGRAM] = {"program", "program", PP_TYPE_TEXT, PP_COLUMN_KEY, "name of its first thread"},
    [LOCKS] = {"locks", "locks", PP_TYPE_COUNT, 0, "locks that were acquired"},
    ALL(FIRST_OF_PROCESS),
};

static const struct pp_column lock_columns[PP_OBJECT_CELLS + N_ALL] = {
    PP_OBJECT_COLUMNS,
    ALL(PP_OBJECT_CELLS),
};

enum { LOCK, TYPE, OF_LOCKS, FIRST, SECOND, FIRST_OF_PAIR, N_PAIR = FIRST_OF_PAIR + N_FIGURES };

static const struct pp_column pair_columns[N_PAIR] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "the lock of most of the pairs, as it is called in every run"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, PP_SYNC_TYPES},
    [OF_LOCKS] = {"locks", "locks", PP_TYPE_COUNT, PP_COLUMN_DETAIL | PP_COLUMN_NO_SUM,
		  "the number of locks with such pairs"},
    [FIRST] = {"first", "one section", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "the call that entered one of the sections"},
    [SECOND] = {"second", "the other", PP_TYPE_TEXT, PP_COLUMN_KEY,
		"the call that entered the other one, which may be the same"},
    FIGURES(FIRST_OF_PAIR),
};

/* --- cells ------------------------------------------------------------------------------------ */

static void put_figures(struct pp_cell *cells, const struct pp_ulcp_figures *figures)
{
	static const enum figure of_class[PP_ULCP_N_CLASSES] = {[PP_ULCP_NULL_LOCK] = NULL_LOCK,
								[PP_ULCP_READ_READ] = READ_READ,
								[PP_ULCP_DISJOINT_WRITE] =
								    DISJOINT_WRITE,
								[PP_ULCP_BENIGN] = BENIGN,
								[PP_ULCP_TRUE] = TRULY,
								[PP_ULCP_UNDECIDED] = UNDECIDED};
	static const enum figure of_reason[PP_ULCP_N_REASONS] = {[PP_ULCP_UPDATE] = UPDATES,
								 [PP_ULCP_FLAG] = FLAGS,
								 [PP_ULCP_UNKNOWN] = UNKNOWN,
								 [PP_ULCP_ORDER] = ORDER};
	uint64_t n = pp_ulcp_figures_n(figures), n_unnecessary;

	n_unnecessary = pp_ulcp_figures_n_unnecessary(figures);
	pp_cell_set_count(&cells[PAIRS], n);
	for (unsigned i = 0; i < PP_ULCP_N_CLASSES; i++)
		pp_cell_set_count(&cells[of_class[i]], figures->pairs[i]);
	for (unsigned i = 0; i < PP_ULCP_N_REASONS; i++)
		pp_cell_set_count(&cells[of_reason[i]], figures->undecided[i]);
	pp_cell_set_count(&cells[UNNECESSARY], n_unnecessary);
	if (n)
		pp_cell_set_number(&cells[SHARE], 100.0 * (double)n_unnecessary / (double)n);
}

static void put_sums(struct pp_cell *cells, const struct pp_ulcp_sums *sums)
{
	struct pp_cell *passed = cells + N_FIGURES;

	pp_cell_set_count(&cells[SECTIONS], sums->n_sections);
	pp_cell_set_count(&cells[NOT_KNOWN], sums->n_unknown);
	pp_cell_set_count(&cells[SAME_THREAD], sums->n_same_thread);
	pp_cell_set_count(&cells[READERS], sums->n_readers);
	put_figures(cells + N_BEFORE, &sums->figures);
	pp_cell_set_count(&passed[PASSED_NULL_LOCK], sums->passed[PP_ULCP_NULL_LOCK]);
	pp_cell_set_count(&passed[PASSED_READ_READ], sums->passed[PP_ULCP_READ_READ]);
	pp_cell_set_count(&passed[PASSED_WRITES], sums->passed[PP_ULCP_DISJOINT_WRITE]);
	pp_cell_set_count(&passed[PASSED_UNDECIDED], sums->passed[PP_ULCP_UNDECIDED]);
	pp_cell_set_count(&passed[EDGES], sums->n_edges);
}

/* --- notes ------------------------------------------------------------------------------------ */

static void note_order(struct pp_table *table, const struct pp_ulcp_pass *self)
{
	if (!self->all.n)
		return;
	if (!self->n_numbered)
		pp_table_note(table, "the order of the sections of a lock is that of time stamps; "
				     "record with sync.order=on for the lock's own numbers");
	else if (!self->n_contradicting)
		pp_table_note(table,
			      "the order of sections is that of the locks' own numbers, as far as "
			      "%" G_GUINT64_FORMAT " sections have one",
			      self->n_numbered);
	else
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " sections have a "
			      "number of the lock that contradicts the time stamps: their pairs "
			      "are undecided",
			      self->n_contradicting, self->n_numbered);
}

/* Undecided pairs of which replays may tell more. */
static uint64_t count_candidates(const struct pp_ulcp_rows *rows)
{
	uint64_t n = 0;

	for (guint i = 0; i < rows->processes->len; i++) {
		const struct pp_ulcp_row *row = rows->processes->pdata[i];

		n += row->sums.figures.undecided[PP_ULCP_UPDATE] +
		     row->sums.figures.undecided[PP_ULCP_FLAG];
	}
	return n;
}

static void note_reversals(struct pp_table *table, const struct pp_model *model,
			   const struct pp_ulcp_rows *rows)
{
	const struct pp_reversals *reversals = model->reversals;
	uint64_t n = count_candidates(rows), n_samples = 0, n_runs = 0;

	for (guint i = 0; reversals && i < reversals->all->len; i++) {
		const struct pp_reversal *at = reversals->all->pdata[i];

		n_samples += at->n_samples;
		n_runs += 2 * at->n_runs * at->n_samples;
	}
	if (reversals && reversals->refused)
		pp_table_note(table, "%s", reversals->refused);
	if (rows->n_decided)
		pp_table_note(
		    table,
		    "%" G_GUINT64_FORMAT " pairs are benign or true since %" G_GUINT64_FORMAT
		    " samples of their sections were executed in both orders, in %" G_GUINT64_FORMAT
		    " runs",
		    rows->n_decided, n_samples, n_runs);
	if (n)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " undecided pairs may be decided by replays in "
			      "the other order: replay --engine=live --reverse=3 %s -- COMMAND",
			      n, model->dir ?: "DIR");
}

static void add_notes(struct pp_table *table, const struct pp_ulcp_pass *self,
		      const struct pp_ulcp_rows *rows)
{
	uint64_t n_readers = 0;

	for (guint i = 0; i < rows->processes->len; i++)
		n_readers += ((struct pp_ulcp_row *)rows->processes->pdata[i])->sums.n_readers;
	if (self->failure)
		pp_table_note(table, "no pairs could be counted: %s", self->failure);
	pp_access_notes(table, self->context, &self->all);
	note_order(table, self);
	note_reversals(table, self->context->model, rows);
	if (n_readers)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " pairs of two readers of a read-write lock "
			      "are left out, since they do not exclude each other",
			      n_readers);
}

/* --- tables ----------------------------------------------------------------------------------- */

static const char *program_name(const struct pp_process *process)
{
	const struct pp_thread *first = process->threads->len ? process->threads->pdata[0] : NULL;

	return first ? first->name : NULL;
}

static struct pp_table *processes_table(const struct pp_ulcp_rows *rows)
{
	struct pp_table *table =
	    pp_table_new("ulcp", "Unnecessary lock contention", process_columns, N_PROCESS);

	for (guint i = 0; i < rows->processes->len; i++) {
		const struct pp_ulcp_row *row = rows->processes->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);

		pp_cell_set_count(&cells[PID], row->process->pid);
		pp_cell_set_count(&cells[IMAGE], row->process->image);
		pp_cell_set_text(&cells[PROGRAM], program_name(row->process));
		pp_cell_set_count(&cells[LOCKS], row->n_objects);
		put_sums(&cells[FIRST_OF_PROCESS], &row->sums);
	}
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}

static struct pp_table *locks_table(const struct pp_ulcp_pass *self,
				    const struct pp_ulcp_rows *rows)
{
	struct pp_table *table = pp_table_new("ulcp_locks", "Unnecessary lock contention by lock",
					      lock_columns, G_N_ELEMENTS(lock_columns));

	for (guint i = 0; i < rows->locks->len; i++) {
		const struct pp_ulcp_row *row = rows->locks->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);

		pp_object_row(cells, row->object, self->context->namer);
		put_sums(&cells[PP_OBJECT_CELLS], &row->sums);
	}
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}

static struct pp_table *pairs_table(const struct pp_ulcp_rows *rows)
{
	struct pp_table *table =
	    pp_table_new("ulcp_pairs", "Unnecessary lock contention by pair of critical sections",
			 pair_columns, N_PAIR);

	for (guint i = 0; i < rows->pairs->len; i++) {
		const struct pp_ulcp_row *row = rows->pairs->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);

		pp_cell_set_text(&cells[LOCK], row->lock);
		pp_cell_set_text(&cells[TYPE], pp_sync_type_name(row->object->type));
		pp_cell_set_count(&cells[OF_LOCKS], row->n_objects);
		pp_cell_set_text(&cells[FIRST], row->first);
		pp_cell_set_text(&cells[SECOND], row->second);
		put_figures(&cells[FIRST_OF_PAIR], &row->sums.figures);
	}
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}

void pp_ulcp_tables(const struct pp_ulcp_pass *self, GPtrArray *tables)
{
	struct pp_ulcp_rows rows = pp_ulcp_rows_make(self);
	struct pp_table *words = pp_ulcp_words_table(&rows), *processes = processes_table(&rows);

	if (words)
		g_ptr_array_add(tables, words);
	add_notes(processes, self, &rows);
	g_ptr_array_add(tables, processes);
	g_ptr_array_add(tables, locks_table(self, &rows));
	g_ptr_array_add(tables, pairs_table(&rows));
	pp_ulcp_rows_done(&rows);
}

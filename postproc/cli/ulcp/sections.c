/* SPDX-License-Identifier: MIT */
/* Sections that are left out, and locks that stay as they are, are counted by their reason. */
#include "cli/ulcp/sections.h"

#include <inttypes.h>

#include "cli/replay/notes.h"

enum { LOCKS, SECTIONS, UNNECESSARY, CONTENDING, UNKNOWN };

static const struct pp_column columns[] = {
    [LOCKS] = {"locks", "locks", PP_TYPE_COUNT, 0, "that have sections"},
    [SECTIONS] = {"sections", "sections", PP_TYPE_COUNT, 0, "critical sections"},
    [UNNECESSARY] = {"unnecessary", "unnecessary", PP_TYPE_COUNT, PP_COLUMN_MAIN,
		     "pairs of sections in a row, of two threads, that do not contend"},
    [CONTENDING] = {"contending", "contending", PP_TYPE_COUNT, 0,
		    "pairs that contend, or may do so"},
    [UNKNOWN] = {"unknown", "unknown", PP_TYPE_COUNT, 0, "pairs of which accesses are not known"},
};

struct pp_table *pp_cli_ulcp_sections(const struct pp_cli_ulcp_models *models)
{
	struct pp_table *table =
	    pp_table_new("ulcp_sections", "Sections, and pairs of them in a row", columns,
			 G_N_ELEMENTS(columns));
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_count(&row[LOCKS], models->edges.n_locks);
	pp_cell_set_count(&row[SECTIONS], models->sections->len);
	pp_cell_set_count(&row[UNNECESSARY], models->counts.n_unnecessary);
	pp_cell_set_count(&row[CONTENDING], models->counts.n_contending);
	pp_cell_set_count(&row[UNKNOWN], models->counts.n_unknown);
	return table;
}

void pp_cli_ulcp_note_models(struct pp_table *table, const struct pp_cli_ulcp_models *models,
			     bool is_one_capture)
{
	const struct pp_ulcp_edges *edges = &models->edges;

	pp_cli_replay_note_gaps(table, &models->source.gaps);
	if (edges->n_unknown_locks)
		pp_table_note(table,
			      "%u of %u locks keep their order: accesses of their sections are not "
			      "known",
			      edges->n_unknown_locks, edges->n_locks);
	if (edges->n_writing_locks)
		pp_table_note(table,
			      "%u of %u locks keep their order: readers change memory under them",
			      edges->n_writing_locks, edges->n_locks);
	if (edges->n_unknown)
		pp_table_note(table,
			      "%" PRIu64
			      " sections of the other locks exclude all others, as their accesses "
			      "are not known, or not exactly",
			      edges->n_unknown);
	if (is_one_capture)
		pp_table_note(table, "one capture for both: recording accesses distorts its times");
	pp_table_note(table,
		      "proved: in the recorded order, %" PRIu64 " waits keep that of all sections "
		      "that contend, and no other one",
		      models->n_waits);
	pp_table_note(table, "not known: races with code outside of critical sections, of which no "
			     "accesses are recorded");
}

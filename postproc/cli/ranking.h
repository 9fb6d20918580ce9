/* SPDX-License-Identifier: MIT */
/* Ranks critical sections over the captures of several runs of one program. */
#ifndef PP_CLI_RANKING_H
#define PP_CLI_RANKING_H

#include <glib.h>

#include "cli/origin.h"
#include "core/error.h"
#include "pass/sydg/runs.h"

struct pp_ranking;

/* Handles --metric.  Returns PP_EXIT_GOOD, or the exit status. */
int pp_ranking_take_metric(const char *command, const char *value,
			   enum pp_bottleneck_metric *ret_metric);

/* clock: the option of section `bottlenecks`; NULL: its default. */
struct pp_ranking *pp_ranking_new(enum pp_bottleneck_metric metric, const char *clock);
void pp_ranking_free(struct pp_ranking *ranking);

/*
 * Reads a capture.  It counts unless `left_out` has a reason, or the program failed.  Returns 0 or
 * -errno, also for a capture of another program or build than that of the first one.
 */
int pp_ranking_add(struct pp_ranking *ranking, const char *dir, const char *left_out,
		   struct pp_error *err);

/* The number of runs that count. */
guint pp_ranking_counted(const struct pp_ranking *ranking);

/* The metric of all sections is conclusive (pass/sydg/runs.h). */
bool pp_ranking_is_conclusive(const struct pp_ranking *ranking);

/* Adds conclusive and inconclusive sections, with notes: two tables, which the array owns. */
void pp_ranking_tables(const struct pp_ranking *ranking, GPtrArray *tables);

/* All metrics of the sections (pass/sydg/runs.h).  The caller frees it. */
struct pp_table *pp_ranking_sections(const struct pp_ranking *ranking);

/*
 * The section that leads the ranking, conclusive or not, in words: "lock (mutex), entered at ...".
 * NULL if no thread waited.  The caller frees it.
 */
char *pp_ranking_cause(const struct pp_ranking *ranking);

/* The table of the runs, also of those that could not be read.  The caller frees it. */
struct pp_table *pp_ranking_take_runs(struct pp_ranking *ranking);

/* Returns the origin of the first run that was read. */
const struct pp_origin *pp_ranking_origin(const struct pp_ranking *ranking);

#endif

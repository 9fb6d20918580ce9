/* SPDX-License-Identifier: MIT */
/* See columns.h. */
#include "pass/occ/columns.h"

const struct pp_column pp_occ_thread_columns[PP_N_OCC_T_COLUMNS] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [PP_OCC_T_SHARED] = {"shared", "shared", PP_TYPE_COUNT, 0, "acquisitions for reading"},
    [PP_OCC_T_EXCLUSIVE] = {"exclusive", "exclusive", PP_TYPE_COUNT, 0, "other acquisitions"},
    [PP_OCC_T_WAIT] = {"frac_wait", "frac_wait", PP_TYPE_RATIO, 0,
		       "share of the thread's time in waits for it, without our cost"},
    [PP_OCC_T_CS] = {"frac_cs", "frac_cs", PP_TYPE_RATIO, 0,
		     "share of the thread's time in the section"},
    [PP_OCC_T_SPEEDUP] = {"occ_speedup", "occ_speedup", PP_TYPE_RATIO, PP_COLUMN_MAIN,
			  "of the thread, if locations conflict; below 1: slower"},
    [PP_OCC_T_SPEEDUP_LINES] = {"occ_speedup_lines", "with lines", PP_TYPE_RATIO, 0,
				"the same if whole cache lines conflict"},
    [PP_OCC_T_WAITED] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
			 "time in waits, as measured"},
    [PP_OCC_T_HELD] = {"hold_ns", "hold", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		       "time in the section"},
};

const struct pp_column pp_occ_columns[PP_N_OCC_COLUMNS] = {
    [PP_OCC_SAVED] = {"saved_pct", "saved", PP_TYPE_PERCENT, PP_COLUMN_SHARE | PP_COLUMN_MAIN,
		      "share of all threads' time that optimistic concurrency would save here, if "
		      "locations conflict"},
    [PP_OCC_LOCK] = {"name", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY,
		     "the variable; of dynamically allocated locks, where the first was "
		     "initialized"},
    [PP_OCC_LOCK_TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
			  "mutex, rwlock or spin"},
    [PP_OCC_LOCK_ADDRESS] = {"object", "address", PP_TYPE_ADDRESS,
			     PP_COLUMN_JSON_ONLY | PP_COLUMN_ID, "of a statically allocated lock"},
    [PP_OCC_ACQUIRED_AT] = {"site", "acquired at", PP_TYPE_TEXT, PP_COLUMN_KEY,
			    "the call site; of several, the first one"},
    [PP_OCC_SECTION_SITES] = {"sites", "sites", PP_TYPE_TABLE, 0, "all call sites",
			      pp_occ_site_columns, 1},
    [PP_OCC_ACQUIRED] = {"acquired", "acquired", PP_TYPE_COUNT, 0, "acquisitions, of all threads"},
    [PP_OCC_RD_OPS] = {"rd_ops", "rd ops", PP_TYPE_RATIO, 0, "reads in an instance, on average"},
    [PP_OCC_WR_OPS] = {"wr_ops", "wr ops", PP_TYPE_RATIO, 0, "writes"},
    [PP_OCC_LOCS_RW] = {"rw_locations", "locations, r/w", PP_TYPE_RATIO, 0,
			"words of 8 bytes that an instance writes"},
    [PP_OCC_LOCS_RD] = {"rd_locations", "read-only", PP_TYPE_RATIO, 0, "words that it only reads"},
    [PP_OCC_CACHE_RW] = {"rw_lines", "lines, r/w", PP_TYPE_RATIO, 0, "cache lines that it writes"},
    [PP_OCC_CACHE_RD] = {"rd_lines", "read-only", PP_TYPE_RATIO, 0,
			 "cache lines that it only reads"},
    [PP_OCC_WAITS] = {"waits", "waits", PP_TYPE_RATIO, 0,
		      "for so many holders an acquisition waits, on average"},
    [PP_OCC_CONFLICT] = {"conflict_prob", "conflict", PP_TYPE_RATIO, PP_COLUMN_STAYS,
			 "probability that an instance conflicts with one of these in a location"},
    [PP_OCC_CONFLICT_LINES] = {"conflict_prob_lines", "with lines", PP_TYPE_RATIO, 0,
			       "the same for whole cache lines"},
    [PP_OCC_INTERSECT] = {"intersect_locations", "intersect", PP_TYPE_RATIO, 0,
			  "locations in which a pair conflicts, on average"},
    [PP_OCC_INTERSECT_LINES] = {"intersect_lines", "lines", PP_TYPE_RATIO, 0,
				"cache lines in which such a pair conflicts; where no location "
				"conflicts, of pairs that conflict in a line"},
    [PP_OCC_SAVED_LINES] = {"saved_lines_pct", "saved, lines", PP_TYPE_PERCENT, PP_COLUMN_SHARE,
			    "the saved share if whole cache lines conflict"},
    [PP_OCC_SECTION_INSTANCES] = {"instances", "instances", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
				  "executions whose accesses were recorded"},
    [PP_OCC_SECTION_UNKNOWN] = {"unknown", "unknown", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
				"executions whose accesses were not"},
    [PP_OCC_SECTION_INEXACT] = {"inexact", "inexact", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
				"instances of which some accesses are missing"},
    [PP_OCC_SECTION_COMPARED] = {"compared", "compared", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
				 "instances that have one of another thread before or after "
				 "them"},
    [PP_OCC_PAIR] = {"p_c", "p_c", PP_TYPE_RATIO, PP_COLUMN_JSON_ONLY,
		     "probability of a conflict with one other instance"},
    [PP_OCC_PAIR_LINES] = {"p_c_lines", "p_c, lines", PP_TYPE_RATIO, PP_COLUMN_JSON_ONLY,
			   "the same for whole cache lines"},
    [PP_OCC_SECTION_THREADS] = {"threads", "threads", PP_TYPE_TABLE, 0, "by thread",
				pp_occ_thread_columns, PP_N_OCC_T_COLUMNS},
};

const struct pp_column pp_occ_total_columns[PP_N_OCC_TOTAL_COLUMNS] = {
    [PP_OCC_BY] = {"by", "conflicts by", PP_TYPE_TEXT, PP_COLUMN_KEY,
		   "locations, or cache lines: the difference is false sharing"},
    [PP_OCC_EFFICIENCY] = {"max_occ_efficiency", "max OCC efficiency", PP_TYPE_RATIO,
			   PP_COLUMN_MAIN, "share of all threads' time that would be saved"},
    [PP_OCC_BEST_CASE] = {"best_case_speedup", "best case speedup", PP_TYPE_RATIO, 0,
			  "of the program, if that share of its time is saved"},
    [PP_OCC_EXECUTED] = {"execution_ns", "execution", PP_TYPE_TIME_NS, 0,
			 "all threads' time, without waits for the end of others and our cost"},
    [PP_OCC_COST] = {"operation_cost_ns", "O, ns", PP_TYPE_RATIO, PP_COLUMN_NO_SUM,
		     "our cost for each operation, which was subtracted"},
};

const struct pp_column pp_occ_out_columns[PP_N_OCC_OUT_COLUMNS] = {
    [PP_OCC_OUT_LOCK] = {"name", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "as above"},
    [PP_OCC_OUT_SITE] = {"site", "acquired at", PP_TYPE_TEXT, PP_COLUMN_KEY, "as above"},
    [PP_OCC_OUT_WHY] = {"why", "why", PP_TYPE_TEXT, PP_COLUMN_STAYS, "the reason"},
    [PP_OCC_OUT_ACQUIRED] = {"acquired", "acquired", PP_TYPE_COUNT, 0,
			     "in the capture that has it"},
    [PP_OCC_OUT_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
			 "time in waits for it, in the first capture"},
};

/* SPDX-License-Identifier: MIT */
/*
 * A capture directory, opened: the model filled from its files, and the CTF traces found in it.
 *
 * Everything in the directory is hostile: a program killed at any instant wrote it, or worse.  What
 * cannot be read is left out and said, in model->problems and, where it is damage and not a mere
 * loss at recording, in `damage`: the report then covers less than was recorded.
 */
#ifndef PP_CAPTURE_CAPTURE_H
#define PP_CAPTURE_CAPTURE_H

#include "core/error.h"
#include "core/model.h"

/* A line of <pid>/maps: an object was loaded at [start, end) since time_ns. */
struct pp_load {
	int64_t time_ns;
	uint64_t start, end;
	uint64_t bias;
	char *build_id; /* hexadecimal; NULL: the object has none */
	char *path;
};

/* A directory with CTF metadata and streams. */
struct pp_trace {
	char *dir;
	struct pp_process *process; /* NULL: the kernel's, or LTTng-UST's of all processes */
	bool is_ust;
};

struct pp_capture {
	struct pp_model *model;
	int64_t clock_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	char clock_uuid[37];	 /* the boot that CLOCK_MONOTONIC is of; "": not known */
	GPtrArray *traces;	 /* of struct pp_trace * */
	GPtrArray *histories;	 /* the same: those with histories of calls */
	GPtrArray *damage;	 /* of char *: one line each */
	bool names_known;	 /* threads have their last names: pp_events_name_threads() */
};

/*
 * Opens the capture in `dir`: session, info.json, and each process's threads, maps and calls.
 * Refuses what is no capture, a newer schema, and a capture with nothing in it.
 */
int pp_capture_open(const char *dir, struct pp_capture **ret, struct pp_error *err);
void pp_capture_free(struct pp_capture *capture);

/*
 * The program that was recorded had ended then.  Who was killed does not say when, and waits that
 * it was in go on until then.
 */
void pp_capture_end(struct pp_capture *capture, int64_t end_ns);

/* info.json, into the model, with the losses that it tells of. */
void pp_recording_read(struct pp_capture *capture);

/* Notes damage to the file `where`: a problem, and a line for the user. */
void pp_capture_add_damage(struct pp_capture *capture, const char *where, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Whether `path` is, or lies behind, a symlink that leads out of the capture. */
bool pp_capture_leads_out(const struct pp_capture *capture, const char *path);

/*
 * The directory of the capture, or something in it, if that is a link that leads out of the
 * capture; NULL: none does.  The caller frees it.
 */
char *pp_capture_link_out(const struct pp_capture *capture, const char *dir_path);

/* Whether damage to `where` was noted. */
bool pp_capture_is_damaged(const struct pp_capture *capture, const char *where);

/* The process `pid` could not write into the capture; `code`: errno. */
void pp_capture_add_unwritten(struct pp_model *model, const char *pid, int code);

/* The text of the row in quality; the caller frees it. */
char *pp_capture_unwritten_text(int code);

/* "1234 could not write into it: no room", of the first such process. NULL: none. */
char *pp_capture_note_unwritten(struct pp_model *model);

/*
 * The readers of single files.  Each fails when nothing of the file can be used; what is merely
 * incomplete becomes damage.  pp_calls_read() also fails after what it could read.
 * pp_calls_find_none(), after all processes: threads that made no call have an empty array of them.
 */
int pp_threads_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		    struct pp_error *err);
int pp_calls_read(struct pp_process *process, const char *path, struct pp_error *err);
void pp_calls_find_none(const struct pp_model *model);
int pp_counts_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		   struct pp_error *err);
/* sync-holds, which pp_counts_read() does if the counts say so. */
int pp_holds_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		  struct pp_error *err);
GArray *pp_maps_new(void); /* of struct pp_load */
/* What was loaded there last; NULL: nothing known. */
const struct pp_load *pp_maps_find(const struct pp_process *process, uint64_t address);
int pp_maps_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		 struct pp_error *err);

/*
 * What was where (places.c).  NULL: no object took another's place, or left its own.  Places are
 * added to the load map.  Looking something up changes them, so it is done under the model's lock.
 */
struct pp_places *pp_places_new(GArray *maps);
void pp_places_free(struct pp_places *places);

/*
 * For a return address and when it was one: the address by which names are found, for which the
 * last load counts.  Where another object has come to its place since, it is one that nothing is
 * loaded at.
 */
uint64_t pp_places_code(const struct pp_process *process, uint64_t address, int64_t time_ns);

/* For an object that was used then, by code at `site`: pp_event's era. */
uint64_t pp_places_era(const struct pp_process *process, uint64_t address, uint64_t site,
		       int64_t time_ns);

/* Notes damage where files of a trace (process NULL: the kernel's) are missing, or are no files. */
void pp_missing_streams(struct pp_capture *capture, const char *trace_dir,
			const struct pp_process *process);

/*
 * The streams of a process's trace, each a GPtrArray of the paths of its files, in order:
 * "stream_3", "stream_3_1", ...  The caller frees it.
 */
GPtrArray *pp_stream_paths(const char *trace_dir);

/* Whether the capture has no clock of the trace's: it was recorded after another boot. */
bool pp_missing_clock(const struct pp_capture *capture, const char *metadata_path);

/* Notes damage if the recorder counted more scheduling events than the n_events that were read. */
void pp_missing_kernel_events(struct pp_capture *capture, uint64_t n_events);

#endif

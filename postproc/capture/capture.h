/* SPDX-License-Identifier: MIT */
/*
 * An opened capture directory: the model, filled from its files, and the CTF traces found in it.
 *
 * No file of the directory is trusted: the program may have been killed while it wrote, and a
 * capture may come from elsewhere.  Unreadable parts are skipped.  Each is noted in
 * model->problems.  Damage, as opposed to losses counted during the recording, is also noted in
 * `damage`: the report then covers less than was recorded.
 */
#ifndef PP_CAPTURE_CAPTURE_H
#define PP_CAPTURE_CAPTURE_H

#include "core/error.h"
#include "gmon-mt/format.h"
#include "core/model.h"

/* One line of <pid>/maps: an object was loaded at [start, end) since time_ns. */
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
	struct pp_process *process; /* NULL: a trace of the kernel, or of LTTng-UST for all
				     * processes */
	GPtrArray *processes;	    /* of a pack: all its processes, by number, NULL for those that
				     * are not read, and `process` is one of them; else NULL */
	bool is_ust;
	bool is_samples;  /* of timed samples (gmon-mt/samples.h), of `process` */
	bool is_accesses; /* of accesses in critical sections (sync-trace/accesses.h) */
};

struct pp_capture {
	struct pp_model *model;
	int64_t clock_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	char clock_uuid[37];	 /* identifies the boot to which CLOCK_MONOTONIC belongs; "": not
				  * known */
	bool is_of_this_boot;
	bool may_be_elsewhere; /* of another boot, on a file system that other machines may use */
	bool has_ring;	       /* only the newest events were kept: [output] ring */
	bool is_locked;	       /* a process holds the lock of `session` */
	int64_t opened_ns;     /* if it is live, it is read up to then (live.h) */
	int64_t kernel_complete_ns; /* ... and has all kernel events up to then; 0: not known */
	struct pp_numbers *numbers; /* of running processes; NULL: not needed so far */
	int readers_fd;		    /* keeps the folders (children/turns.h); -1: no */
	GPtrArray *traces;	    /* of struct pp_trace * */
	GPtrArray *histories;	    /* of struct pp_trace *, with histories of calls */
	GPtrArray *damage;	    /* of char *, one line each */
	bool names_known;	    /* threads have their final names: pp_events_name_threads() */
};

/*
 * Opens the capture in `dir`: reads session, info.json, and the threads, maps and calls of each
 * process.  Returns 0 or -errno: for a directory that is no capture, for a newer schema and for a
 * capture without data.
 */
int pp_capture_open(const char *dir, struct pp_capture **ret, struct pp_error *err);
void pp_capture_free(struct pp_capture *capture);

/*
 * Sets the time when the recorded program ended, in ns.  Waits of a killed process last until then,
 * because a kill leaves no time of its own.
 */
void pp_capture_end(struct pp_capture *capture, int64_t end_ns);

/* Reads info.json into the model, with the losses that the recorder counted. */
void pp_recording_read(struct pp_capture *capture);

/* Notes if the recorder did not complete info.json, after all processes are read. */
void pp_recording_end(struct pp_capture *capture);

/* Notes damage to the file `where`: adds a problem, and a line for the user. */
void pp_capture_add_damage(struct pp_capture *capture, const char *where, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Is `path`, or a component of it, a symlink that leads out of the capture? */
bool pp_capture_leads_out(const struct pp_capture *capture, const char *path);

/*
 * Returns the capture's directory, or the first entry in it, that is a symlink out of the capture;
 * NULL: none.  The caller frees it.
 */
char *pp_capture_link_out(const struct pp_capture *capture, const char *dir_path);

/* Was damage to `where` noted? */
bool pp_capture_is_damaged(const struct pp_capture *capture, const char *where);

/* Notes that the process `pid` could not write into the capture; `code` is the errno. */
void pp_capture_add_unwritten(struct pp_model *model, const char *pid, int code);

/* Returns the text of the row in `report quality`; the caller frees it. */
char *pp_capture_unwritten_text(int code);

/*
 * Adds all such processes to the model.  Returns the text of the first: "process 1234 could not
 * write into it: No space left on device"; NULL: none.  The caller frees it.
 */
char *pp_capture_note_unwritten(struct pp_model *model);

/*
 * The readers of single files.  Each returns 0, or -errno if nothing of the file can be used.  An
 * incomplete file is damage, not an error.  pp_calls_read() returns an error also after it has read
 * a part.  pp_calls_find_none() runs after all processes are read; it gives threads without a call
 * an empty array of arcs.
 */
int pp_threads_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		    struct pp_error *err);
/* Takes the thread table of a process that has ended and had one thread; `path` is for messages. */
void pp_threads_take(struct pp_capture *capture, struct pp_process *process,
		     const struct gm_threads_header *header, const struct gm_thread_slot *slot,
		     const char *path);
int pp_calls_read(struct pp_process *process, const char *path, struct pp_error *err);
/* Reads the chunks of such a file at `bytes`. */
int pp_calls_take(struct pp_process *process, const uint8_t *bytes, size_t n_bytes,
		  struct pp_error *err);
void pp_calls_find_none(const struct pp_model *model);
int pp_counts_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		   struct pp_error *err);
/* Reads sync-holds.  pp_counts_read() calls it if the counts ask for it. */
int pp_holds_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		  struct pp_error *err);
GArray *pp_maps_new(void); /* of struct pp_load */
/* Returns the last load at the address; NULL: none known. */
const struct pp_load *pp_maps_find(const struct pp_process *process, uint64_t address);
int pp_maps_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		 struct pp_error *err);
/* Reads the first max_bytes of a load map. */
int pp_maps_read_part(struct pp_capture *capture, struct pp_process *process, const char *path,
		      uint64_t max_bytes, struct pp_error *err);

/*
 * Load intervals (places.c).  NULL: no library was unloaded or replaced by another.  _new() adds
 * displaced copies of loads to the load map.  Lookups cache their result in the object: hold the
 * model's lock.
 */
struct pp_places *pp_places_new(GArray *maps);
void pp_places_free(struct pp_places *places);

/*
 * Translates a return address at time_ns into the address by which names are found; names use the
 * last load there.  If another library has been loaded there since, returns an address in the
 * displaced copy of the load that was there, or one without any load.
 */
uint64_t pp_places_code(const struct pp_process *process, uint64_t address, int64_t time_ns);

/* Translates start routines by the load map at the time when each thread began. */
void pp_places_translate_starts(struct pp_process *process);

/* Returns the load id (core/event.h) of an object that code at `site` used at time_ns. */
uint64_t pp_places_load_id(const struct pp_process *process, uint64_t address, uint64_t site,
			   int64_t time_ns);

/*
 * Notes damage if files of a trace are missing or are not regular files.  process NULL: the
 * kernel's trace.
 */
void pp_missing_streams(struct pp_capture *capture, const char *trace_dir,
			const struct pp_process *process);

/*
 * Returns the streams of a process's trace, each a GPtrArray of the paths of its files, in order:
 * "stream_3", "stream_3_1", ...  The caller frees it.
 */
GPtrArray *pp_stream_paths(const char *trace_dir);

/* The same for the kernel's streams; all files whose names do not begin with a dot. */
GPtrArray *pp_kernel_stream_paths(const char *trace_dir);

/*
 * Finds from which time on the streams of rings have all events, and the threads that had events
 * before.
 */
void pp_capture_ring_read(struct pp_capture *capture);

/* Was the trace recorded after another boot, so that its clock is not the capture's? */
bool pp_missing_clock(const struct pp_capture *capture, const char *metadata_path);

/* Notes damage if the recorder counted more scheduling events than the n_events that were read. */
void pp_missing_kernel_events(struct pp_capture *capture, uint64_t n_events);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the browser shows at the moment, and how that changes.  Each file does one thing to it; none
 * but screen.c knows the terminal.
 *
 * The list of operations is of one thread or one object; the time under the cursor is that of the
 * operation selected, or where somebody has gone to in the lanes.
 */
#ifndef PP_TUI_BROWSER_H
#define PP_TUI_BROWSER_H

#include "core/namer.h"
#include "index/index.h"
#include "tui/screen.h"

enum pp_pane { PP_PANE_THREADS, PP_PANE_OBJECTS, PP_PANE_OPERATIONS, PP_PANE_DETAILS, PP_N_PANES };

/* More than there are in any pane. */
#define PP_MANY_LINES 10000

/* Rows of the screen: a heading, and `n` more below. */
struct pp_area {
	int top, n;
};

/* Lanes as they were drawn, while they show the same time in as many columns. */
struct pp_lanes_drawn {
	GHashTable *all; /* lane -> const struct look *[n] */
	int64_t from_ns, to_ns;
	int n;
};

/* What covers all of the screen. */
struct pp_page {
	GPtrArray *lines; /* of char *; NULL: there is none */
	GPtrArray *rows;  /* the same, wrapped to so many columns */
	int columns;
	const char *title;
	unsigned top;
};

struct pp_browser {
	const struct pp_index *index;
	const struct pp_namer *namer;
	const char *dir;
	/* Positions in what is shown, and the first that is on the screen. */
	uint64_t thread_at, thread_top;
	uint64_t object_at, object_top;
	uint64_t at, top;	/* in the list */
	GArray *objects;	/* of uint32_t: those shown, most waited for first */
	int64_t from_ns, to_ns; /* of the lanes */
	struct pp_lanes_drawn lanes;
	int64_t cursor_ns;
	GArray *back; /* of uint32_t: operations that were left by a jump */
	struct pp_page page;
	GString *search;	  /* what was last searched for */
	char *message;		  /* for the last line; NULL: none */
	GHashTable *thread_names; /* const char * -> how many threads are called so */
	char **object_names;	  /* by number; NULL: not asked for yet */
	char **site_names;
	struct pp_screen screen;
	enum pp_pane focus;
	int details_top; /* from where they begin by themselves: the first line, that of the call */
	struct pp_area areas[PP_N_PANES];
	bool is_damaged;
	bool has_processes; /* several */
	bool by_object;	    /* the list is of an object */
	bool only_contended;
	bool shows_source;
	bool is_typing; /* what is to be searched for */
	bool is_over;
};

void pp_browser_init(struct pp_browser *browser, const struct pp_index *index,
		     const struct pp_namer *namer, const char *dir);
void pp_browser_done(struct pp_browser *browser);

void pp_browser_say(struct pp_browser *browser, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* --- names (names.c): fit to be shown, and the browser's ------------------------------------- */

GHashTable *pp_browser_count_names(const struct pp_index *index); /* of its threads */
const char *pp_browser_object_name(struct pp_browser *browser, uint32_t object);
const char *pp_browser_site_name(struct pp_browser *browser, uint32_t site); /* "-": not known */
/* The caller frees these. */
char *pp_browser_thread_name(const struct pp_browser *browser, uint32_t thread); /* "?" */
/* With its tid before it, where others are called the same. */
char *pp_browser_thread_label(const struct pp_browser *browser, uint32_t thread);
/* Which no other has, if it can be; with its type, or without. */
char *pp_browser_object_label(struct pp_browser *browser, uint32_t object, bool with_type);
char *pp_browser_seconds(const struct pp_browser *browser, uint64_t time_ns, int decimals);

/* --- the list (list.c) ------------------------------------------------------------------------ */

uint64_t pp_browser_n(const struct pp_browser *browser);
uint32_t pp_browser_operation_at(const struct pp_browser *browser, uint64_t at);

/* Selected; PP_INDEX_NONE: none is. */
uint32_t pp_browser_operation(const struct pp_browser *browser);
uint32_t pp_browser_thread(const struct pp_browser *browser);
uint32_t pp_browser_object(const struct pp_browser *browser);

/* These n are going to be looked at, so that they are read in one go: see pp_index_list_want(). */
void pp_browser_want(const struct pp_browser *browser, uint64_t at, uint64_t n, bool more);

/* The list goes to what is next to the cursor. */
void pp_browser_follow_cursor(struct pp_browser *browser);

/* Another position in what the pane shows, or as near to it as there is. */
void pp_browser_go(struct pp_browser *browser, enum pp_pane pane, uint64_t to);
void pp_browser_move(struct pp_browser *browser, enum pp_pane pane, int64_t by);
void pp_browser_list(struct pp_browser *browser, bool by_object);
void pp_browser_show_operation(struct pp_browser *browser, uint32_t operation);
void pp_browser_jump(struct pp_browser *browser, uint32_t operation);
void pp_browser_go_back(struct pp_browser *browser);
void pp_browser_step_wait(struct pp_browser *browser, bool forward);
void pp_browser_toggle_contended(struct pp_browser *browser);

/* --- time (time.c) ---------------------------------------------------------------------------- */

void pp_browser_set_cursor(struct pp_browser *browser, int64_t time_ns);
void pp_browser_zoom(struct pp_browser *browser, bool in);
void pp_browser_zoom_out(struct pp_browser *browser); /* all the way */

/* --- what the panes show ---------------------------------------------------------------------- */

void pp_browser_draw(struct pp_browser *browser);
void pp_browser_draw_lanes(struct pp_browser *browser, enum pp_pane pane); /* lanes.c */
/* Moves the first row on the screen so that the one at `at` of n is on it. */
void pp_browser_scroll(uint64_t *top, uint64_t at, uint64_t n, int rows);
int pp_browser_lane_column(const struct pp_browser *browser);
void pp_browser_draw_operations(struct pp_browser *browser); /* operations.c */

/* Takes the lines. */
void pp_browser_show_page(struct pp_browser *browser, GPtrArray *lines, const char *title);
void pp_browser_close_page(struct pp_browser *browser);
/* Of char *, as wide as the screen; borrowed. */
const GPtrArray *pp_browser_page_rows(struct pp_browser *browser);

/* Lines, of char *; the caller unrefs them. */
GPtrArray *pp_browser_details(struct pp_browser *browser);
GPtrArray *pp_browser_source(struct pp_browser *browser); /* around the call selected */
GPtrArray *pp_browser_graph(struct pp_browser *browser);
GPtrArray *pp_browser_help(const struct pp_browser *browser);

/* --- commands --------------------------------------------------------------------------------- */

void pp_browser_key(struct pp_browser *browser, unsigned key);

/* Goes to the next in the pane that has focus which has the text, or the one before. */
void pp_browser_search(struct pp_browser *browser, bool forward);

#endif

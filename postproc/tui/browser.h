/* SPDX-License-Identifier: MIT */
/*
 * The state of the browser.  Each file implements one aspect of it; only screen.c accesses the
 * terminal.
 *
 * The list of operations belongs to one thread or one object.  The cursor's time is that of the
 * selected operation, or one that the user chose in the lanes.
 */
#ifndef PP_TUI_BROWSER_H
#define PP_TUI_BROWSER_H

#include "core/namer.h"
#include "index/blame.h"
#include "index/index.h"
#include "tui/screen.h"

enum pp_pane { PP_PANE_THREADS, PP_PANE_OBJECTS, PP_PANE_OPERATIONS, PP_PANE_DETAILS, PP_N_PANES };

/* More than any pane has. */
#define PP_MANY_LINES 10000

/* Rows of the screen: a heading and `n` rows below it. */
struct pp_area {
	int top, n;
};

/* The drawn lanes, valid as long as they show the same time in as many columns. */
struct pp_lanes_drawn {
	GHashTable *all; /* lane -> const struct look *[n] */
	int64_t from_ns, to_ns;
	int n;
};

/* A page that covers the whole screen. */
struct pp_page {
	GPtrArray *lines; /* of char *; NULL: no page is shown */
	GPtrArray *rows;  /* of char *, the lines wrapped to that many columns */
	int columns;
	const char *title;
	unsigned top;
};

/* The causes of the last wait that the user looked at. */
struct pp_browser_blame {
	struct pp_index_blame of; /* causes: NULL if there is none */
	uint32_t wait;
	guint at;      /* the cause that is shown */
	bool is_shown; /* the user came to it from the wait */
};

struct pp_browser {
	const struct pp_index *index;
	const struct pp_namer *namer;
	const char *dir;
	/* Selected positions in the panes, and the first ones on the screen. */
	uint64_t thread_at, thread_top;
	uint64_t object_at, object_top;
	uint64_t at, top;	/* in the list */
	GArray *objects;	/* of uint32_t: the objects shown, longest waited for first */
	int64_t from_ns, to_ns; /* shown in the lanes */
	struct pp_lanes_drawn lanes;
	int64_t cursor_ns;
	GArray *back; /* of uint32_t: operations from which the user jumped */
	struct pp_browser_blame blame;
	struct pp_page page;
	GString *search;	  /* the last search text */
	char *message;		  /* shown in the last line; NULL: none */
	GHashTable *thread_names; /* const char * -> number of threads with that name */
	char **object_names;	  /* by number; NULL: not resolved yet */
	char **site_names;
	struct pp_screen screen;
	enum pp_pane focus;
	int details_top; /* first line of the details when they were opened: that of the call */
	struct pp_area areas[PP_N_PANES];
	bool is_damaged;
	bool has_processes; /* the capture has several */
	bool by_object;	    /* the list belongs to an object */
	bool only_contended;
	bool shows_source;
	bool is_typing; /* a search text is being typed */
	bool is_over;
};

void pp_browser_init(struct pp_browser *browser, const struct pp_index *index,
		     const struct pp_namer *namer, const char *dir);
void pp_browser_done(struct pp_browser *browser);

void pp_browser_say(struct pp_browser *browser, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* --- names (names.c): printable, owned by the browser ---------------------------------------- */

GHashTable *pp_browser_count_names(const struct pp_index *index); /* of the index's threads */
const char *pp_browser_object_name(struct pp_browser *browser, uint32_t object);
const char *pp_browser_site_name(struct pp_browser *browser, uint32_t site); /* "-": unknown */
/* The caller frees these. */
char *pp_browser_thread_name(const struct pp_browser *browser, uint32_t thread); /* "?": unknown */
/* With the tid in front if other threads have the same name. */
char *pp_browser_thread_label(const struct pp_browser *browser, uint32_t thread);
/* Unique if possible; with or without its type. */
char *pp_browser_object_label(struct pp_browser *browser, uint32_t object, bool with_type);
char *pp_browser_seconds(const struct pp_browser *browser, uint64_t time_ns, int decimals);

/* --- the list (list.c) ------------------------------------------------------------------------ */

uint64_t pp_browser_n(const struct pp_browser *browser);
uint32_t pp_browser_operation_at(const struct pp_browser *browser, uint64_t at);

/* The selected one; PP_INDEX_NONE: none. */
uint32_t pp_browser_operation(const struct pp_browser *browser);
uint32_t pp_browser_thread(const struct pp_browser *browser);
uint32_t pp_browser_object(const struct pp_browser *browser);

/* Announces access to n operations, so that they are read at once: see pp_index_list_want(). */
void pp_browser_want(const struct pp_browser *browser, uint64_t at, uint64_t n, bool more);

/* Selects the operation next to the cursor. */
void pp_browser_follow_cursor(struct pp_browser *browser);

/* Selects the position in the pane, or the nearest one that exists. */
void pp_browser_go(struct pp_browser *browser, enum pp_pane pane, uint64_t to);
void pp_browser_move(struct pp_browser *browser, enum pp_pane pane, int64_t by);
void pp_browser_list(struct pp_browser *browser, bool by_object);
void pp_browser_jump(struct pp_browser *browser, uint32_t operation);
/* The same without a way back to the current one. */
void pp_browser_show(struct pp_browser *browser, uint32_t operation);
void pp_browser_go_back(struct pp_browser *browser);
void pp_browser_step_wait(struct pp_browser *browser, bool forward);
void pp_browser_toggle_contended(struct pp_browser *browser);

/* --- time (time.c) ---------------------------------------------------------------------------- */

void pp_browser_set_cursor(struct pp_browser *browser, int64_t time_ns);
void pp_browser_zoom(struct pp_browser *browser, bool in);
void pp_browser_zoom_out(struct pp_browser *browser); /* completely */

/* --- blame (blame.c) -------------------------------------------------------------------------- */

/* Goes from a wait to its main cause, and from there to the next one. */
void pp_browser_follow_blame(struct pp_browser *browser);
/* Adds lines to the details of that operation. */
void pp_browser_add_blame(struct pp_browser *browser, GPtrArray *lines, uint32_t operation);

/* --- what the panes show ---------------------------------------------------------------------- */

void pp_browser_draw(struct pp_browser *browser);
void pp_browser_draw_lanes(struct pp_browser *browser, enum pp_pane pane); /* lanes.c */
/* Scrolls so that row `at` of n is on the screen. */
void pp_browser_scroll(uint64_t *top, uint64_t at, uint64_t n, int rows);
int pp_browser_lane_column(const struct pp_browser *browser);
void pp_browser_draw_operations(struct pp_browser *browser); /* operations.c */

/* Takes ownership of the lines. */
void pp_browser_show_page(struct pp_browser *browser, GPtrArray *lines, const char *title);
void pp_browser_close_page(struct pp_browser *browser);
/* Returns char *, wrapped to the width of the screen; borrowed. */
const GPtrArray *pp_browser_page_rows(struct pp_browser *browser);

/* Return lines, of char *; the caller unrefs them. */
GPtrArray *pp_browser_details(struct pp_browser *browser);
GPtrArray *pp_browser_source(struct pp_browser *browser); /* around the selected call */
GPtrArray *pp_browser_graph(struct pp_browser *browser);
GPtrArray *pp_browser_calltree(struct pp_browser *browser, bool bottom_up);
GPtrArray *pp_browser_help(const struct pp_browser *browser);

/* --- commands --------------------------------------------------------------------------------- */

void pp_browser_key(struct pp_browser *browser, unsigned key);

/* Selects the next or previous row with the text in the focused pane. */
void pp_browser_search(struct pp_browser *browser, bool forward);

#endif

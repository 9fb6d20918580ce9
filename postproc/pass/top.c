/* SPDX-License-Identifier: MIT */
/*
 * Selects the objects with the longest total wait from the rows of `locks`, and describes them in
 * words.
 */
#include "pass/top.h"

#include <inttypes.h>
#include <string.h>

#include "core/text/duration.h"

enum {
	TOP_OBJECT,
	TOP_NAME,
	TOP_TYPE,
	TOP_WAIT,
	TOP_RUNNABLE,
	TOP_CONTENDED,
	TOP_TIMED_OUT,
	TOP_SPIN,
	TOP_FAILED,
	TOP_ATTEMPTS,
	TOP_ACQUIRED,
	TOP_SITE,
	TOP_HOLDER,
	N_TOP_COLUMNS
};
_Static_assert(N_TOP_COLUMNS == PP_N_TOP_COLUMNS, "top.h");

const struct pp_column pp_top_columns[PP_N_TOP_COLUMNS] = {
    [TOP_OBJECT] = {"object", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID, "address"},
    [TOP_NAME] = {"name", "object", PP_TYPE_TEXT, PP_COLUMN_ID, "name"},
    [TOP_TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_ID, "type"},
    [TOP_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0,
		  "total wait time of threads for it, without idle waits"},
    [TOP_RUNNABLE] = {"wait_runnable_ns", "without CPU", PP_TYPE_TIME_NS, 0,
		      "of this, ready to run without a CPU"},
    [TOP_CONTENDED] = {"contended", "contended", PP_TYPE_COUNT, 0,
		       "number of operations that waited, without idle waits"},
    [TOP_TIMED_OUT] = {"timed_out", "timed out", PP_TYPE_COUNT, 0,
		       "of these, calls that timed out"},
    [TOP_SPIN] = {"spin_ns", "spinning", PP_TYPE_TIME_NS, 0,
		  "total time of runs of failed tries that ended in success"},
    [TOP_FAILED] = {"failed_tries", "failed tries", PP_TYPE_COUNT, 0,
		    "tries that found it not free"},
    [TOP_ATTEMPTS] = {"attempts", "attempts", PP_TYPE_COUNT, 0,
		      "number of operations on it, including failed and unfinished ones"},
    [TOP_ACQUIRED] = {"acquired", "acquired", PP_TYPE_COUNT, 0, "number of acquisitions"},
    [TOP_SITE] = {"site", "mostly at", PP_TYPE_TEXT, 0, "call site with the longest wait"},
    [TOP_HOLDER] = {"holder", "held since", PP_TYPE_TEXT, 0,
		    "call site of the acquisition for which that site waited longest"},
};

/* Waits that were not idle, and spins. */
static int64_t wait_of(const struct pp_table *locks, guint row)
{
	return pp_table_time_ns(locks, row, "wait_ns") - pp_table_time_ns(locks, row, "idle_ns") +
	       pp_table_time_ns(locks, row, "spin_ns");
}

static int64_t idle_of(const struct pp_table *locks, guint row)
{
	return pp_table_time_ns(locks, row, "idle_ns");
}

static void copy_cell(struct pp_cell *to, enum pp_type type, const struct pp_cell *from)
{
	if (!from)
		return;
	if (type == PP_TYPE_TEXT)
		pp_cell_set_text(to, from->text);
	else
		*to = *from;
}

/* The row with the longest time of that kind; -1 if there is none or it has no call site. */
static int longest_row(const struct pp_cell *sites,
		       int64_t (*time_in)(const struct pp_table *table, guint row))
{
	int64_t longest_ns = -1;
	int best = -1;

	for (guint r = 0; sites && r < sites->table->rows->len; r++)
		if (time_in(sites->table, r) > longest_ns) {
			best = (int)r;
			longest_ns = time_in(sites->table, r);
		}
	return best >= 0 && pp_table_cell(sites->table, (guint)best, "site") ? best : -1;
}

/* Sums up the attempts that were counted. */
static void set_attempts(struct pp_cell *cell, const struct pp_cell *sites)
{
	uint64_t sum = 0;

	for (guint r = 0; sites && r < sites->table->rows->len; r++) {
		const struct pp_cell *calls = pp_table_cell(sites->table, r, "calls");

		if (!calls)
			return;
		sum += calls->count;
	}
	if (sites)
		pp_cell_set_count(cell, sum);
}

static void set_sites(struct pp_cell *row, const struct pp_cell *sites)
{
	int site = longest_row(sites, wait_of), holder;
	const struct pp_cell *holders;

	if (site < 0)
		return;
	copy_cell(&row[TOP_SITE], PP_TYPE_TEXT, pp_table_cell(sites->table, (guint)site, "site"));
	holders = pp_table_cell(sites->table, (guint)site, "holders");
	holder = longest_row(holders, wait_of);
	if (holder >= 0)
		copy_cell(&row[TOP_HOLDER], PP_TYPE_TEXT,
			  pp_table_cell(holders->table, (guint)holder, "site"));
}

static void take_idle(struct pp_cell *time, const struct pp_cell *idle)
{
	if (!time->missing && idle)
		time->time_ns -= idle->time_ns;
}

static void add_top_row(struct pp_table *top, const struct pp_table *locks, guint from)
{
	struct pp_cell *row = pp_table_add_row(top);

	for (unsigned c = TOP_OBJECT; c < TOP_SITE; c++)
		copy_cell(&row[c], pp_top_columns[c].type,
			  pp_table_cell(locks, from, pp_top_columns[c].key));
	take_idle(&row[TOP_WAIT], pp_table_cell(locks, from, "idle_ns"));
	take_idle(&row[TOP_RUNNABLE], pp_table_cell(locks, from, "idle_runnable_ns"));
	if (pp_table_cell(locks, from, "idle"))
		row[TOP_CONTENDED].count -= pp_table_cell(locks, from, "idle")->count;
	set_attempts(&row[TOP_ATTEMPTS], pp_table_cell(locks, from, "sites"));
	set_sites(row, pp_table_cell(locks, from, "sites"));
}

unsigned pp_top_pick(const struct pp_table *locks, unsigned n_rows, guint *ret_rows)
{
	g_autofree bool *taken = g_new0(bool, locks ? locks->rows->len + 1 : 1);
	unsigned n;

	for (n = 0; locks && n < n_rows; n++) {
		guint best = 0;
		int64_t longest_ns = 0;

		for (guint r = 0; r < locks->rows->len; r++)
			if (!taken[r] && wait_of(locks, r) > longest_ns) {
				best = r;
				longest_ns = wait_of(locks, r);
			}
		if (!longest_ns)
			break;
		taken[best] = true;
		ret_rows[n] = best;
	}
	return n;
}

struct pp_table *pp_top_new(const struct pp_table *locks, unsigned n_rows)
{
	struct pp_table *top =
	    pp_table_new("top", "Waited most", pp_top_columns, G_N_ELEMENTS(pp_top_columns));
	g_autofree guint *rows = g_new(guint, n_rows);
	unsigned n = pp_top_pick(locks, n_rows, rows);

	for (unsigned i = 0; i < n; i++)
		add_top_row(top, locks, rows[i]);
	return top;
}

/* Three digits: the others would not be known. */
static uint64_t scale_count(uint64_t count, double factor)
{
	double value = (double)count * factor, unit = 1;

	while (value / unit >= 1000)
		unit *= 10;
	return (uint64_t)(value / unit + 0.5) * (uint64_t)unit;
}

void pp_top_scale(struct pp_table *top, double factor)
{
	for (guint r = 0; r < top->rows->len; r++) {
		struct pp_cell *row = top->rows->pdata[r];

		for (unsigned c = TOP_WAIT; c < TOP_SITE; c++) {
			if (pp_top_columns[c].type == PP_TYPE_TIME_NS)
				row[c].time_ns = (int64_t)((double)row[c].time_ns * factor);
			else
				row[c].count = scale_count(row[c].count, factor);
		}
		/* No operation ended in the part. */
		row[TOP_CONTENDED].missing |= !row[TOP_CONTENDED].count;
	}
}

char *pp_top_text(const struct pp_table *top, unsigned at, const char *error)
{
	const struct pp_cell *row = top->rows->pdata[at];
	bool only_spins = row[TOP_WAIT].time_ns == 0;
	g_autofree char *wait = pp_duration_text(row[only_spins ? TOP_SPIN : TOP_WAIT].time_ns);
	GString *line = g_string_new(NULL);

	g_string_append_printf(line, "%s%s%s for %s", wait, error, only_spins ? " spinning" : "",
			       row[TOP_NAME].missing ? "an object" : row[TOP_NAME].text);
	if (!row[TOP_TYPE].missing && !strstr(line->str, row[TOP_TYPE].text))
		g_string_append_printf(line, " (%s)", row[TOP_TYPE].text);
	if (!row[TOP_RUNNABLE].missing && row[TOP_RUNNABLE].time_ns >= row[TOP_WAIT].time_ns / 10) {
		g_autofree char *runnable = pp_duration_text(row[TOP_RUNNABLE].time_ns);

		g_string_append_printf(line, ", %s of it without a CPU", runnable);
	}
	if (!only_spins && !row[TOP_CONTENDED].missing && !row[TOP_ATTEMPTS].missing)
		g_string_append_printf(line, ", in %" PRIu64 " of %" PRIu64 " operations",
				       row[TOP_CONTENDED].count, row[TOP_ATTEMPTS].count);
	if (!row[TOP_TIMED_OUT].missing && row[TOP_TIMED_OUT].count)
		g_string_append_printf(line, ", %" PRIu64 " timed out", row[TOP_TIMED_OUT].count);
	if (!only_spins && !row[TOP_SPIN].missing && row[TOP_SPIN].time_ns) {
		g_autofree char *spin = pp_duration_text(row[TOP_SPIN].time_ns);

		g_string_append_printf(line, ", and %s spinning", spin);
	}
	if (!row[TOP_FAILED].missing && row[TOP_FAILED].count)
		g_string_append_printf(line, ", with %" PRIu64 " failed tries",
				       row[TOP_FAILED].count);
	if (!row[TOP_SITE].missing)
		g_string_append_printf(line, ", mostly at %s", row[TOP_SITE].text);
	if (!row[TOP_HOLDER].missing)
		g_string_append_printf(line, ", held since %s", row[TOP_HOLDER].text);
	return g_string_free(line, FALSE);
}

/* The row with the longest idle time; -1 if there is none. */
static int most_idle(const struct pp_table *locks)
{
	int64_t most_ns = 0;
	int best = -1;

	for (guint r = 0; r < locks->rows->len; r++)
		if (idle_of(locks, r) > most_ns) {
			most_ns = idle_of(locks, r);
			best = (int)r;
		}
	return best;
}

/* Appends an object's name, with its type if the name does not contain it. */
static void append_object(GString *line, const struct pp_cell *name, const struct pp_cell *type)
{
	g_string_append(line, name ? name->text : "an object");
	if (type && !(name && strstr(name->text, type->text)))
		g_string_append_printf(line, " (%s)", type->text);
}

char *pp_top_idle_text(const struct pp_table *locks, double factor)
{
	int best = locks ? most_idle(locks) : -1, site;
	g_autofree char *all = NULL, *longest = NULL;
	const struct pp_cell *sites;
	int64_t sum_ns = 0;
	GString *line;

	if (best < 0)
		return NULL;
	for (guint r = 0; r < locks->rows->len; r++)
		sum_ns += idle_of(locks, r);
	all = pp_duration_text((int64_t)((double)sum_ns * factor));
	longest = pp_duration_text((int64_t)((double)idle_of(locks, (guint)best) * factor));
	sites = pp_table_cell(locks, (guint)best, "sites");
	site = longest_row(sites, idle_of);
	line = g_string_new(NULL);
	g_string_append_printf(line, "%s for work, other threads and time; longest %s for ", all,
			       longest);
	append_object(line, pp_table_cell(locks, (guint)best, "name"),
		      pp_table_cell(locks, (guint)best, "type"));
	if (site >= 0)
		g_string_append_printf(line, ", mostly at %s",
				       pp_table_cell(sites->table, (guint)site, "site")->text);
	return g_string_free(line, FALSE);
}

/* --- blocking calls ------------------------------------------------------------------------- */

/* The number of idle functions in text. */
#define N_IDLE 3

char *pp_top_io_text(const struct pp_table *io, unsigned at, double factor)
{
	const struct pp_cell *fd, *site, *calls;
	int64_t wait_ns;
	g_autofree char *wait = NULL;
	GString *line;

	if (!io || at >= io->rows->len)
		return NULL;
	wait_ns = pp_table_time_ns(io, at, "wait_ns") - pp_table_time_ns(io, at, "idle_ns");
	if (wait_ns <= 0)
		return NULL;
	wait = pp_duration_text((int64_t)((double)wait_ns * factor));
	calls = pp_table_cell(io, at, "calls");
	fd = pp_table_cell(io, at, "fd");
	site = pp_table_cell(io, at, "site");
	line = g_string_new(wait);
	g_string_append(line, " in ");
	if (calls && calls->count > 1)
		g_string_append_printf(line, "%" PRIu64 " calls of ",
				       factor > 1 ? scale_count(calls->count, factor)
						  : calls->count);
	g_string_append(line, pp_table_cell(io, at, "call")->text);
	if (fd)
		g_string_append_printf(line, " (%s%s)", strstr(fd->text, "fds") ? "" : "fd ",
				       fd->text);
	if (site)
		g_string_append_printf(line, ", at %s", site->text);
	return g_string_free(line, FALSE);
}

struct idle_call {
	const char *call;
	int64_t idle_ns;
};

static gint most_idle_first(gconstpointer a, gconstpointer b)
{
	const struct idle_call *x = a, *y = b;

	return x->idle_ns < y->idle_ns ? 1 : -(x->idle_ns > y->idle_ns);
}

static void add_idle(GArray *calls, const char *call, int64_t idle_ns)
{
	const struct idle_call new = {call, idle_ns};

	for (guint i = 0; i < calls->len; i++) {
		struct idle_call *known = &g_array_index(calls, struct idle_call, i);

		if (g_str_equal(known->call, call)) {
			known->idle_ns += idle_ns;
			return;
		}
	}
	g_array_append_val(calls, new);
}

char *pp_top_io_idle_text(const struct pp_table *io, double factor)
{
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(struct idle_call));
	GString *line;

	for (guint r = 0; io && r < io->rows->len; r++)
		if (pp_table_time_ns(io, r, "idle_ns"))
			add_idle(calls, pp_table_cell(io, r, "call")->text,
				 pp_table_time_ns(io, r, "idle_ns"));
	if (!calls->len)
		return NULL;
	g_array_sort(calls, most_idle_first);
	line = g_string_new(NULL);
	for (guint i = 0; i < calls->len && i < N_IDLE; i++) {
		const struct idle_call *call = &g_array_index(calls, struct idle_call, i);
		g_autofree char *idle = pp_duration_text((int64_t)((double)call->idle_ns * factor));

		g_string_append_printf(line, "%s%s in %s", i ? ", " : "", idle, call->call);
	}
	return g_string_free(line, FALSE);
}

/* SPDX-License-Identifier: MIT */
/* Lists are in the order of the sites' first sections. */
#include "suggest/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of sites, and variables, that are named; the others are counted. */
#define MAX_NAMED     3
#define MAX_VARIABLES 12

static const struct pp_suggest_site *site_at(const struct pp_suggest_lock *lock, uint32_t site)
{
	return lock->sites->pdata[site];
}

static bool has_site(const GArray *sites, uint32_t site)
{
	for (guint i = 0; i < sites->len; i++)
		if (g_array_index(sites, uint32_t, i) == site)
			return true;
	return false;
}

static void append_sites(GString *to, const struct pp_suggest_lock *lock, const GArray *sites)
{
	for (guint i = 0; i < sites->len; i++)
		g_string_append_printf(to, "%s%s", i ? ", " : "",
				       site_at(lock, g_array_index(sites, uint32_t, i))->name);
}

static const struct pp_suggest_line *line_at(const GArray *lines, guint i)
{
	return &g_array_index(lines, struct pp_suggest_line, i);
}

static bool is_moved(const struct pp_suggest_line *line, bool only_unseen)
{
	return line->place != PP_SUGGEST_STAYS && !(only_unseen && line->is_seen);
}

/*
 * Appends "12-14, 17": the lines of that place.  Lines without code, as comments, are in between.
 */
static void append_numbers(GString *to, const GArray *lines, enum pp_suggest_place place,
			   bool only_unseen)
{
	guint before = to->len;

	for (guint i = 0; i < lines->len; i++) {
		guint last = i;

		if (line_at(lines, i)->place != place || !is_moved(line_at(lines, i), only_unseen))
			continue;
		while (last + 1 < lines->len && line_at(lines, last + 1)->place == place &&
		       is_moved(line_at(lines, last + 1), only_unseen))
			last++;
		g_string_append_printf(to, "%s%d", to->len > before ? ", " : "",
				       line_at(lines, i)->number);
		if (last > i)
			g_string_append_printf(to, "-%d", line_at(lines, last)->number);
		i = last;
	}
}

/* Appends "line 12" or "lines 12-14, 17"; both lists may be empty. */
static void append_lines(GString *to, const GString *numbers, const GString *more)
{
	g_autofree char *all = g_strdup_printf("%s%s%s", numbers->str,
					       numbers->len && more->len ? ", " : "", more->str);

	g_string_append_printf(to, "%s %s", strpbrk(all, "-,") ? "lines" : "line", all);
}

/* Returns false if there are none. */
static bool append_moved(GString *to, const struct pp_suggest_extent *extent, bool only_unseen)
{
	g_autoptr(GString) before = g_string_new(NULL), behind = g_string_new(NULL);

	append_numbers(before, extent->lines, PP_SUGGEST_GOES_BEFORE, only_unseen);
	append_numbers(behind, extent->lines, PP_SUGGEST_GOES_BEHIND, only_unseen);
	if (before->len || behind->len)
		append_lines(to, before, behind);
	return before->len || behind->len;
}

char *pp_suggest_moved_lines(const struct pp_suggest_site *site)
{
	GString *lines = g_string_new(NULL);
	bool has_lines = site->extent.lines && append_moved(lines, &site->extent, false);

	return g_string_free(lines, !has_lines);
}

static void append_moves(GString *to, const struct pp_suggest_site *site)
{
	g_autoptr(GString) before = g_string_new(NULL), behind = g_string_new(NULL);
	const GString none = {.str = (char *)""};

	append_numbers(before, site->extent.lines, PP_SUGGEST_GOES_BEFORE, false);
	append_numbers(behind, site->extent.lines, PP_SUGGEST_GOES_BEHIND, false);
	g_string_append_printf(to, "shrink the sections of %s: move ", site->name);
	if (before->len) {
		append_lines(to, before, &none);
		g_string_append(to, " before the lock");
	}
	if (behind->len) {
		g_string_append(to, before->len ? ", and " : "");
		append_lines(to, behind, &none);
		g_string_append(to, " behind the unlock");
	}
}

char *pp_suggest_action(const struct pp_suggestion *suggestion)
{
	const struct pp_suggest_lock *lock = suggestion->lock;
	GString *text = g_string_new(NULL);

	switch (suggestion->pattern) {
	case PP_SUGGEST_NULL_SHARED:
	case PP_SUGGEST_READ_READ:
		g_string_append(text, "remove the lock");
		break;
	case PP_SUGGEST_GROUPS:
		g_string_append(text, "split the lock: ");
		for (guint i = 0; i < suggestion->groups->len; i++) {
			g_string_append_printf(text, "%sone for ", i ? "; " : "");
			append_sites(text, lock, suggestion->groups->pdata[i]);
		}
		if (suggestion->free->len) {
			g_string_append(text, "; none for ");
			append_sites(text, lock, suggestion->free);
		}
		break;
	case PP_SUGGEST_READERS:
		g_string_append(text, "make it a read-write lock, which is shared by ");
		append_sites(text, lock, suggestion->groups->pdata[0]);
		break;
	case PP_SUGGEST_LOW:
		g_string_append_printf(
		    text, "reported only: a lock for each of the %u data that sections work on",
		    lock->n_units);
		break;
	case PP_SUGGEST_LONG:
		append_moves(text, pp_suggest_long_site(suggestion));
		break;
	default:
		break;
	}
	return g_string_free(text, FALSE);
}

char *pp_suggest_role(const struct pp_suggestion *suggestion, uint32_t site)
{
	switch (suggestion->pattern) {
	case PP_SUGGEST_NULL_SHARED:
	case PP_SUGGEST_READ_READ:
		return g_strdup("no lock");
	case PP_SUGGEST_GROUPS:
		for (guint i = 0; i < suggestion->groups->len; i++)
			if (has_site(suggestion->groups->pdata[i], site))
				return g_strdup_printf("lock %u", i + 1);
		return g_strdup("no lock");
	case PP_SUGGEST_READERS:
		return g_strdup(has_site(suggestion->groups->pdata[0], site) ? "read lock"
									     : "write lock");
	case PP_SUGGEST_LOW:
		return g_strdup("the lock of its data");
	case PP_SUGGEST_LONG:
		return g_strdup(pp_suggest_is_long(suggestion, site) ? "the lock, in fewer lines"
								     : "the lock");
	default:
		return NULL;
	}
}

static char *pairs_text(const struct pp_suggest_lock *lock)
{
	uint64_t known, n = pp_suggest_unnecessary(lock, &known);
	g_autofree char *reversed =
	    lock->n_reversed ? g_strdup_printf(" (%" PRIu64 " of them by replays of samples in the "
					       "other order)",
					       lock->n_reversed)
			     : NULL;

	return g_strdup_printf("%" PRIu64 " of %" PRIu64 " pairs of consecutive sections of "
			       "different threads need not exclude each other%s",
			       n, known, reversed ?: "");
}

/* The share of the sections' CPU time that is in lines that may be moved. */
static double moved_pct(const struct pp_suggestion *suggestion)
{
	const struct pp_suggest_extent *extent = &pp_suggest_long_site(suggestion)->extent;

	return 100 * (double)extent->moved_ns / (double)extent->all_ns;
}

char *pp_suggest_evidence(const struct pp_suggestion *suggestion)
{
	if (suggestion->pattern == PP_SUGGEST_LONG)
		return g_strdup_printf("by %" PRIu64 " samples, %.0f %% of the CPU time in the "
				       "sections is in lines that may be moved",
				       pp_suggest_long_site(suggestion)->extent.n_samples,
				       moved_pct(suggestion));
	return pairs_text(suggestion->lock);
}

char *pp_suggest_basis(const struct pp_suggestion *suggestion)
{
	if (suggestion->pattern == PP_SUGGEST_LONG && suggestion->gain.is_known)
		return g_strdup_printf("predicted for sections with %.0f %% of their CPU time",
				       100 - moved_pct(suggestion));
	if (suggestion->pattern != PP_SUGGEST_LOW || !suggestion->gain.is_known)
		return NULL;
	if (suggestion->gain.by_accesses)
		return g_strdup("predicted for a lock for each data, by the recorded accesses");
	return g_strdup_printf("predicted for %u locks, of which each section takes one at random",
			       MIN(suggestion->lock->n_units, PP_CHANGE_MAX_LOCKS));
}

char *pp_suggest_why_left_out(const struct pp_suggest_lock *lock)
{
	static const char *const reasons[] = {
	    [PP_SUGGEST_HAS_CONDITION] = "its sections use a condition, whose mutex it has to stay",
	    [PP_SUGGEST_HIGH_DEGREE] = "all call sites conflict, and more than 20 % of these pairs",
	    [PP_SUGGEST_ONE_DATUM] = "all call sites conflict in the same data",
	};
	enum pp_suggest_left_out why = pp_suggest_left_out(lock);
	g_autofree char *pairs = NULL, *more = NULL;

	if (why == PP_SUGGEST_NOT_LEFT_OUT)
		return NULL;
	pairs = pairs_text(lock);
	more = why == PP_SUGGEST_HIGH_DEGREE
		   ? g_strdup_printf(" (replay --what-if 'split %s by object' predicts a lock for "
				     "each of %u data)",
				     lock->name, lock->n_units)
		   : NULL;
	return g_strdup_printf("%s is left out: %s, but %s%s", lock->name, pairs, reasons[why],
			       more ?: "");
}

/* --- what was not exercised ------------------------------------------------------------------- */

static void add_sentence(GString *text, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add_sentence(GString *text, const char *format, ...)
{
	va_list arguments;

	if (text->len)
		g_string_append(text, "; ");
	va_start(arguments, format);
	g_string_append_vprintf(text, format, arguments);
	va_end(arguments);
}

/* Pairs of sites of which no sections followed each other in different threads. */
static void add_pairs(GString *text, const struct pp_suggest_lock *lock)
{
	g_autoptr(GString) named = g_string_new(NULL);
	unsigned n = 0;

	for (uint32_t a = 0; a < lock->sites->len; a++)
		for (uint32_t b = a; b < lock->sites->len; b++) {
			const struct pp_suggest_pair *pair = pp_suggest_pair_of(lock, a, b);
			uint64_t seen = 0;

			for (unsigned c = 0; pair && c < PP_ULCP_N_CLASSES; c++)
				seen += pair->n[c];
			if (seen || (a == b && !site_at(lock, a)->is_threaded))
				continue;
			if (n++ < MAX_NAMED)
				g_string_append_printf(named, "%s%s and %s", named->len ? "; " : "",
						       site_at(lock, a)->name,
						       site_at(lock, b)->name);
		}
	if (n > MAX_NAMED)
		g_string_append_printf(named, "; and %u more", n - MAX_NAMED);
	if (n)
		add_sentence(text, "never consecutive in different threads: %s", named->str);
}

char *pp_suggest_no_source(const struct pp_suggest_extent *extent)
{
	return extent->no_source
		   ? g_strdup_printf("lines may be parts of statements, since the source is not "
				     "known (%s)",
				     extent->no_source)
		   : NULL;
}

static bool is_moved_line(const GArray *lines, int number)
{
	for (guint i = 0; lines && i < lines->len; i++)
		if (line_at(lines, i)->number == number)
			return is_moved(line_at(lines, i), false);
	return false;
}

char *pp_suggest_unrecorded(const struct pp_suggest_extent *extent, bool only_moved)
{
	GString *text = g_string_new(NULL);
	unsigned n = 0;

	for (guint i = 0; extent->calls && i < extent->calls->len; i++) {
		const struct pp_suggest_call *call =
		    &g_array_index(extent->calls, struct pp_suggest_call, i);

		if ((only_moved && !is_moved_line(extent->lines, call->line)) ||
		    n++ >= MAX_VARIABLES)
			continue;
		g_string_append_printf(text, "%s%s (line %d)", text->len ? ", " : "", call->name,
				       call->line);
	}
	if (n > MAX_VARIABLES)
		g_string_append_printf(text, ", and %u more", n - MAX_VARIABLES);
	if (n)
		g_string_prepend(text, "accesses are not recorded of code that is called: ");
	return g_string_free(text, !n);
}

/* Frees the sentence; NULL: there is none. */
static void add_owned(GString *text, char *sentence)
{
	if (sentence)
		add_sentence(text, "%s", sentence);
	g_free(sentence);
}

/* Lines that may be moved, but of which no run tells that they were executed. */
static void add_unseen(GString *text, const struct pp_suggest_extent *extent)
{
	g_autoptr(GString) lines = g_string_new(NULL);

	if (append_moved(lines, extent, true))
		add_sentence(text, "%s: not seen executing, so other memory may be accessed there",
			     lines->str);
}

char *pp_suggest_not_exercised(const struct pp_suggestion *suggestion,
			       const struct pp_suggest_facts *facts)
{
	const struct pp_suggest_lock *lock = suggestion->lock;
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < lock->sites->len; i++) {
		const struct pp_suggest_site *site = site_at(lock, i);

		if (site->n_unknown)
			add_sentence(text,
				     "%" PRIu64 " of %" PRIu64
				     " sections of %s have no known accesses",
				     site->n_unknown, site->n, site->name);
		if (site->stores && !site->is_threaded)
			add_sentence(text, "%s was executed by one thread only", site->name);
		if (site->n_runs < facts->n_runs)
			add_sentence(text, "%s was executed in %u of %u runs", site->name,
				     site->n_runs, facts->n_runs);
	}
	if (suggestion->pattern == PP_SUGGEST_LONG) {
		add_unseen(text, &pp_suggest_long_site(suggestion)->extent);
		add_owned(text, pp_suggest_no_source(&pp_suggest_long_site(suggestion)->extent));
		add_owned(text,
			  pp_suggest_unrecorded(&pp_suggest_long_site(suggestion)->extent, true));
	}
	for (guint i = 0; i < lock->sites->len && suggestion->pattern != PP_SUGGEST_LONG; i++)
		add_owned(text, pp_suggest_unrecorded(&site_at(lock, i)->extent, false));
	add_pairs(text, lock);
	add_sentence(text, "code that never took the lock in these runs, and accesses without it, "
			   "are not known");
	return g_string_free(text, FALSE);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

char *pp_suggest_data(const struct pp_suggest_lock *lock)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *first = NULL;
	guint n_more;

	for (guint i = 0; i < lock->sites->len; i++) {
		GHashTableIter at;
		void *name;

		g_hash_table_iter_init(&at, site_at(lock, i)->data);
		while (g_hash_table_iter_next(&at, &name, NULL))
			if (g_hash_table_add(seen, name))
				g_ptr_array_add(names, name);
	}
	if (!names->len)
		return NULL;
	qsort(names->pdata, names->len, sizeof(*names->pdata), by_name);
	n_more = names->len > MAX_VARIABLES ? names->len - MAX_VARIABLES : 0;
	g_ptr_array_set_size(names, (gint)(names->len - n_more));
	g_ptr_array_add(names, NULL);
	first = g_strjoinv(", ", (char **)names->pdata);
	return n_more ? g_strdup_printf("%s and %u more", first, n_more) : g_steal_pointer(&first);
}

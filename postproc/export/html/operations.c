/* SPDX-License-Identifier: MIT */
/*
 * Sums operations: by object, by call site, and by pairs of waiter and holder; and lists the
 * longest waits.
 */
#include "export/html/html.h"

#include <string.h>

#include "analysis/select.h"

/* Collecting twice as many before each selection makes no visible difference in cost. */
#define COLLECTED_MAX (2 * PP_HTML_WAITS)
/* Limits on rows with full detail. */
#define CALLS_MAX 200000
#define EDGES_MAX 100000
#define PAIRS_MAX 50000

/* The index may be larger than the memory. */
static void release_now_and_then(const struct pp_html *html, uint64_t i)
{
	if (i % PP_INDEX_RELEASE == 0)
		pp_index_release(html->index);
}

/* --- which objects -------------------------------------------------------------------------- */

static gint compare_objects(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pp_index *index = data;
	uint32_t x_number = *(const uint32_t *)a, y_number = *(const uint32_t *)b;
	const struct pp_index_object *x = pp_index_object(index, x_number);
	const struct pp_index_object *y = pp_index_object(index, y_number);

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->hold_ns != y->hold_ns)
		return x->hold_ns < y->hold_ns ? 1 : -1;
	return x_number < y_number ? -1 : x_number > y_number;
}

static void cut_objects(struct pp_html *html)
{
	g_array_sort_with_data(html->objects, compare_objects, html->index);
	if (html->objects->len > PP_HTML_OBJECTS)
		g_array_set_size(html->objects, PP_HTML_OBJECTS);
}

static void choose_objects(struct pp_html *html)
{
	uint32_t n = (uint32_t)pp_index_n(html->index, PP_SECTION_OBJECTS);

	html->objects = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	html->object_at = g_hash_table_new(NULL, NULL);
	for (uint32_t i = 0; i < n; i++) {
		release_now_and_then(html, i);
		g_array_append_val(html->objects, i);
		if (html->objects->len >= 2 * PP_HTML_OBJECTS)
			cut_objects(html);
	}
	cut_objects(html);
	if (n > PP_HTML_OBJECTS)
		pp_html_miss(html, "objects",
			     "%u of %u are not listed: they have shorter waits and holds "
			     "than the others",
			     n - PP_HTML_OBJECTS, n);
	for (guint i = 0; i < html->objects->len; i++)
		g_hash_table_insert(html->object_at,
				    GUINT_TO_POINTER(g_array_index(html->objects, uint32_t, i)),
				    GUINT_TO_POINTER(i + 1));
}

/* The position of an object of the index in `objects`; PP_HTML_NONE: not shown. */
static uint32_t position_of(const struct pp_html *html, uint32_t object)
{
	uint32_t at =
	    GPOINTER_TO_UINT(g_hash_table_lookup(html->object_at, GUINT_TO_POINTER(object)));

	return at ? at - 1 : PP_HTML_NONE;
}

/* --- the longest waits ---------------------------------------------------------------------- */

static gint compare_lengths(gconstpointer a, gconstpointer b)
{
	const struct pp_html_wait *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->operation < y->operation ? -1 : x->operation > y->operation;
}

static void cut_waits(struct pp_html *html)
{
	if (html->waits->len <= PP_HTML_WAITS)
		return;
	g_array_sort(html->waits, compare_lengths);
	g_array_set_size(html->waits, PP_HTML_WAITS);
}

static void note_wait(struct pp_html *html, uint32_t number, int64_t from_ns, int64_t to_ns)
{
	int64_t shown_ns = MIN(to_ns, html->to_ns) - MAX(from_ns, html->from_ns);
	struct pp_html_wait wait = {(uint64_t)MAX(shown_ns, 0), number};

	if (shown_ns < 0 || (!shown_ns && !pp_html_has_time(html, to_ns)))
		return;
	html->n_waits++;
	html->n_waits_ns += wait.ns;
	g_array_append_val(html->waits, wait);
	if (html->waits->len >= COLLECTED_MAX)
		cut_waits(html);
}

/* --- sums ----------------------------------------------------------------------------------- */

static bool is_call(const struct pp_index_operation *operation)
{
	return !(operation->flags & (PP_INDEX_REGAINED | PP_INDEX_YIELDED)) &&
	       pp_sync_function(operation->op);
}

/* Sets the begin and end of its wait; for an operation without a wait, both are its time. */
static bool wait_of(const struct pp_html *html, const struct pp_index_operation *operation,
		    int64_t *ret_begin_ns, int64_t *ret_end_ns)
{
	*ret_begin_ns = *ret_end_ns = (int64_t)operation->time_ns;
	if (!(operation->flags & PP_INDEX_WAITED) || !pp_index_more(html->index, operation))
		return false;
	*ret_begin_ns = pp_index_begin_ns(html->index, operation);
	*ret_end_ns = *ret_begin_ns + pp_index_ns(html->index, operation);
	return true;
}

/*
 * Sets the key of a call: thread and operation, and if the combination is kept, also site and
 * object.
 */
static void call_key(struct pp_html *html, const struct pp_index_operation *operation,
		     uint32_t *key)
{
	key[1] = operation->thread;
	key[2] = pp_html_site(html, operation->site);
	key[3] = pp_html_op(html, operation->op);
	key[4] = position_of(html, operation->object);
	if (!pp_html_is_chosen(&html->choices[PP_HTML_OF_OPERATIONS], key))
		key[2] = key[4] = PP_HTML_NONE;
}

static void sum_call(struct pp_html *html, const struct pp_index_operation *operation)
{
	uint32_t key[PP_SUMS_KEYS] = {0};
	int64_t begin_ns, end_ns;

	(void)wait_of(html, operation, &begin_ns, &end_ns);
	call_key(html, operation, key);
	if (pp_html_has_time(html, end_ns)) {
		uint64_t *figures = pp_html_at(html, PP_HTML_OF_OPERATIONS, key, end_ns);

		figures[0]++;
		figures[1] += operation->flags & PP_INDEX_BLOCKED ? 1 : 0;
	}
	pp_html_add_time(html, PP_HTML_OF_OPERATIONS, key, 2, begin_ns, end_ns);
}

static const struct pp_index_operation *call_at(const struct pp_html *html, uint32_t thread,
						uint64_t at)
{
	return pp_index_operation(html->index,
				  pp_index_list_at(html->index, PP_LIST_THREAD, thread, at));
}

/* Thread by thread: each has few combinations, which stay in the CPU's cache. */
static void sum_calls(struct pp_html *html)
{
	for (uint32_t thread = 0; thread < pp_index_n(html->index, PP_SECTION_THREADS); thread++) {
		uint64_t n = pp_index_list_n(html->index, PP_LIST_THREAD, thread);

		for (uint64_t i = 0; pp_html_has_thread(html, thread) && i < n; i++) {
			release_now_and_then(html, i);
			if (is_call(call_at(html, thread, i)))
				sum_call(html, call_at(html, thread, i));
		}
	}
}

static uint32_t site_of_blocker(struct pp_html *html, const struct pp_index_more *more)
{
	const struct pp_index_operation *call = pp_index_operation(html->index, more->call);

	return call ? pp_html_site(html, call->site) : PP_HTML_NONE;
}

static unsigned bucket_of(int64_t ns)
{
	return ns > 0 ? 63u - (unsigned)__builtin_clzll((uint64_t)ns) : 0;
}

/*
 * Sets the key of a wait: waiter and holder, and if the combination is kept, also the object and
 * both sites.
 */
static void edge_key(struct pp_html *html, const struct pp_index_operation *operation,
		     uint32_t *key)
{
	const struct pp_index_more *more = pp_index_more(html->index, operation);
	uint32_t pair[PP_SUMS_KEYS] = {0, operation->thread, more->other};

	key[1] = operation->thread;
	key[2] = more->other;
	key[3] = position_of(html, operation->object);
	key[4] = pp_html_site(html, operation->site);
	key[5] = site_of_blocker(html, more);
	if (pp_html_is_chosen(&html->choices[PP_HTML_OF_WAITS], key))
		return;
	key[3] = key[4] = key[5] = PP_HTML_NONE;
	if (!pp_html_is_chosen(&html->pairs, pair))
		key[2] = PP_HTML_NONE;
}

/* Same rule as in `graph --kind wait`: includes waits of other threads for a chosen thread. */
static void sum_edge(struct pp_html *html, const struct pp_index_operation *operation,
		     int64_t begin_ns, int64_t end_ns)
{
	uint32_t key[PP_SUMS_KEYS] = {0};

	edge_key(html, operation, key);
	if (pp_html_has_time(html, end_ns))
		pp_html_at(html, PP_HTML_OF_WAITS, key, end_ns)[0]++;
	pp_html_add_time(html, PP_HTML_OF_WAITS, key, 1, begin_ns, end_ns);
}

static void sum_length(struct pp_html *html, uint32_t object, int64_t begin_ns, int64_t end_ns)
{
	uint32_t key[PP_SUMS_KEYS] = {0, position_of(html, object), bucket_of(end_ns - begin_ns)};

	if (pp_html_has_time(html, end_ns))
		pp_html_at(html, PP_HTML_OF_DISTRIBUTION, key, end_ns)[0]++;
}

enum { ACQUIRED, CONTENDED, WAIT, HOLD, MAX_WAIT, MAX_HOLD };

static void sum_object(struct pp_html *html, const struct pp_index_operation *operation,
		       int64_t begin_ns, int64_t end_ns)
{
	uint32_t key[PP_SUMS_KEYS] = {0, position_of(html, operation->object)};
	bool waited = operation->flags & PP_INDEX_WAITED;

	if (key[1] == PP_HTML_NONE || !(waited || operation->flags & PP_INDEX_ACQUIRED))
		return;
	if (pp_html_has_time(html, end_ns)) {
		uint64_t *figures = pp_html_at(html, PP_HTML_OF_OBJECTS, key, end_ns);

		figures[ACQUIRED] += operation->flags & PP_INDEX_ACQUIRED ? 1 : 0;
		figures[CONTENDED] += waited;
		figures[MAX_WAIT] = MAX(figures[MAX_WAIT], (uint64_t)(end_ns - begin_ns));
	}
	pp_html_add_time(html, PP_HTML_OF_OBJECTS, key, WAIT, begin_ns, end_ns);
}

static void sum_hold(struct pp_html *html, uint32_t thread, uint32_t object, int64_t since_ns,
		     int64_t end_ns)
{
	uint32_t key[PP_SUMS_KEYS] = {0, position_of(html, object)};

	if (key[1] == PP_HTML_NONE || !pp_html_has_thread(html, thread))
		return;
	if (pp_html_has_time(html, end_ns)) {
		uint64_t *figures = pp_html_at(html, PP_HTML_OF_OBJECTS, key, end_ns);

		figures[MAX_HOLD] = MAX(figures[MAX_HOLD], (uint64_t)(end_ns - since_ns));
	}
	pp_html_add_time(html, PP_HTML_OF_OBJECTS, key, HOLD, since_ns, end_ns);
}

/* Adds the hold that the operation ended, from its acquisition if that is known. */
static void sum_released(struct pp_html *html, const struct pp_index_operation *operation)
{
	const struct pp_index_operation *taken = pp_index_operation(html->index, operation->mate);
	int64_t hold_ns = pp_index_ns(html->index, operation);
	int64_t since_ns = taken ? (int64_t)taken->time_ns : (int64_t)operation->time_ns - hold_ns;

	sum_hold(html, taken ? taken->thread : operation->thread, operation->object, since_ns,
		 since_ns + hold_ns);
}

static void sum_operation(struct pp_html *html, uint32_t number,
			  const struct pp_index_operation *operation)
{
	const struct pp_index_more *more = pp_index_more(html->index, operation);
	bool is_chosen = pp_html_has_thread(html, operation->thread);
	int64_t begin_ns, end_ns;
	bool waited = wait_of(html, operation, &begin_ns, &end_ns);

	if (operation->flags & PP_INDEX_RELEASED)
		sum_released(html, operation);
	if (waited && (is_chosen || pp_html_has_thread(html, more->other)))
		sum_edge(html, operation, begin_ns, end_ns);
	if (!is_chosen)
		return;
	sum_object(html, operation, begin_ns, end_ns);
	if (waited) {
		sum_length(html, operation->object, begin_ns, end_ns);
		note_wait(html, number, begin_ns, end_ns);
	}
}

/* --- selection of combinations -------------------------------------------------------------- */

static void note_operation(struct pp_html *html, struct pp_html_choice *choices,
			   struct pp_html_choice *pairs, const struct pp_index_operation *operation)
{
	uint32_t key[PP_SUMS_KEYS] = {0}, first, last;
	int64_t begin_ns, end_ns;
	bool waited = wait_of(html, operation, &begin_ns, &end_ns);
	uint64_t wait_ns = (uint64_t)(end_ns - begin_ns);

	first = pp_html_bin(html, begin_ns);
	last = pp_html_bin(html, end_ns);
	if (is_call(operation)) {
		call_key(html, operation, key);
		pp_html_choice_note(&choices[PP_HTML_OF_OPERATIONS], key, first, last, wait_ns + 1);
	}
	if (!waited)
		return;
	memset(key, 0, sizeof(key));
	edge_key(html, operation, key);
	pp_html_choice_note(&choices[PP_HTML_OF_WAITS], key, first, last, wait_ns);
	key[3] = key[4] = key[5] = 0;
	pp_html_choice_note(pairs, key, first, last, wait_ns);
}

static void miss_detail(struct pp_html *html, const struct pp_html_choice *choice, const char *what,
			const char *less)
{
	guint n = choice->combinations.rows->len;

	if (choice->n_kept < n)
		pp_html_miss(html, what, "the smallest %u of %u combinations are shown without %s",
			     n - choice->n_kept, n, less);
}

/* If there are few operations, all combinations are kept. */
static void choose(struct pp_html *html)
{
	struct pp_html_choice choices[PP_HTML_OF_WAITS + 1] = {0}, pairs = {0};
	uint64_t n = pp_index_n(html->index, PP_SECTION_OPERATIONS);

	if (n <= CALLS_MAX / 2)
		return;
	pp_html_choice_init(&choices[PP_HTML_OF_OPERATIONS]);
	pp_html_choice_init(&choices[PP_HTML_OF_WAITS]);
	pp_html_choice_init(&pairs);
	for (uint32_t thread = 0; thread < pp_index_n(html->index, PP_SECTION_THREADS); thread++)
		for (uint64_t i = 0; i < pp_index_list_n(html->index, PP_LIST_THREAD, thread);
		     i++) {
			release_now_and_then(html, i);
			note_operation(html, choices, &pairs, call_at(html, thread, i));
		}
	pp_html_choose(&choices[PP_HTML_OF_OPERATIONS], CALLS_MAX);
	pp_html_choose(&choices[PP_HTML_OF_WAITS], EDGES_MAX);
	pp_html_choose(&pairs, PAIRS_MAX);
	html->choices[PP_HTML_OF_OPERATIONS] = choices[PP_HTML_OF_OPERATIONS];
	html->choices[PP_HTML_OF_WAITS] = choices[PP_HTML_OF_WAITS];
	html->pairs = pairs;
	miss_detail(html, &choices[PP_HTML_OF_OPERATIONS], "calls of synchronization",
		    "their call site and object");
	miss_detail(html, &choices[PP_HTML_OF_WAITS], "who waited for whom",
		    "the object and the call sites");
}

void pp_html_sum_operations(struct pp_html *html)
{
	const struct pp_index *index = html->index;

	choose_objects(html);
	choose(html);
	sum_calls(html);
	html->waits = g_array_new(FALSE, FALSE, sizeof(struct pp_html_wait));
	for (uint64_t i = 0; i < pp_index_n(index, PP_SECTION_OPERATIONS); i++) {
		release_now_and_then(html, i);
		sum_operation(html, (uint32_t)i, pp_index_operation(index, i));
	}
	for (uint64_t i = 0; i < pp_index_n(index, PP_SECTION_ENDLESS); i++) {
		const struct pp_index_hold *hold = pp_index_hold(index, i);

		sum_hold(html, hold->thread, hold->object, hold->since_ns, hold->end_ns);
	}
	cut_waits(html);
}

/* --- individual waits ----------------------------------------------------------------------- */

static const struct pp_index_operation *operation_of(const struct pp_html *html, guint at)
{
	return pp_index_operation(html->index,
				  g_array_index(html->waits, struct pp_html_wait, at).operation);
}

static gint compare_starts(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pp_html *html = data;
	const struct pp_html_wait *x = a, *y = b;
	int64_t x_ns =
	    pp_index_begin_ns(html->index, pp_index_operation(html->index, x->operation));
	int64_t y_ns =
	    pp_index_begin_ns(html->index, pp_index_operation(html->index, y->operation));

	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return x->operation < y->operation ? -1 : x->operation > y->operation;
}

static int64_t wait_column(struct pp_html *html, guint at, unsigned column)
{
	const struct pp_index_operation *operation = operation_of(html, at);
	const struct pp_index_more *more = pp_index_more(html->index, operation);
	int64_t begin_ns = pp_index_begin_ns(html->index, operation);

	switch (column) {
	case 0:
		return operation->thread;
	case 1:
		return position_of(html, operation->object);
	case 2:
		return pp_html_site(html, operation->site);
	case 3:
		return pp_html_op(html, operation->op);
	case 4:
		return MAX(begin_ns, html->from_ns) - html->from_ns;
	case 5:
		return (int64_t)g_array_index(html->waits, struct pp_html_wait, at).ns;
	case 6:
		return more->other;
	default:
		return site_of_blocker(html, more);
	}
}

void pp_html_put_waits(struct pp_html *html)
{
	static const char *const columns[] = {"thread", "object", "site",    "op",
					      "start",	"ns",	  "blocker", "blocker_site"};

	g_array_sort_with_data(html->waits, compare_starts, html);
	pp_put_open(&html->put, "waits", '{');
	pp_put_number(&html->put, "n", html->waits->len);
	for (unsigned c = 0; c < G_N_ELEMENTS(columns); c++) {
		bool is_time = c == 4 || c == 5;

		pp_put_open(&html->put, columns[c], '[');
		for (guint i = 0; i < html->waits->len; i++) {
			int64_t value = wait_column(html, i, c);

			pp_put_number(&html->put, NULL,
				      value == PP_HTML_NONE && !is_time ? -1 : value);
		}
		pp_put_close(&html->put, ']');
	}
	pp_put_close(&html->put, '}');
	if (html->waits->len < html->n_waits)
		pp_html_miss(html, "waits",
			     "the longest %u of %" G_GUINT64_FORMAT
			     " are listed; the sums include all",
			     html->waits->len, html->n_waits);
}

/* SPDX-License-Identifier: MIT */
/*
 * Blocking calls: how often the threads of a group called each function at each call site, for
 * which descriptors, and how long the calls took.
 *
 * Figures are kept by thread, function and return address, and joined at the end by group and by
 * call site as text.  Descriptors beyond a number per row share an entry.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/pass_set.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"
#include "analysis/unrecorded.h"
#include "pass/locks.h"

/* Text shows only the first rows, since there may be thousands. */
#define TEXT_ROWS 30
/* Descriptors of a row with entries of their own, and those that text names. */
#define MAX_FDS	  64
#define FDS_NAMED 4

enum { FD_FD, FD_CALLS, FD_TIME, N_FD_COLUMNS };

static const struct pp_column fd_columns[N_FD_COLUMNS] = {
    [FD_FD] = {"fd", "fd", PP_TYPE_INTEGER, PP_COLUMN_KEY,
	       "file descriptor; none: no descriptor, several, or not one of the first 64"},
    [FD_CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "number of calls"},
    [FD_TIME] = {"wait_ns", "time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "their time"},
};

enum {
	PID,
	IMAGE,
	GROUP,
	THREADS,
	CALL,
	KIND,
	SITE,
	FD,
	CALLS,
	FAILED,
	TIME,
	IDLE,
	BLOCKED,
	RUNNABLE,
	TIME_MAX,
	FDS,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    [PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_IF_SEVERAL | PP_COLUMN_ID, "process"},
    [IMAGE] = {"image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
	       "0, 1, ...: number of the process's image, one more after each exec"},
    [GROUP] = {"group", "threads", PP_TYPE_TEXT, PP_COLUMN_KEY, PP_THREAD_GROUP_HELP},
    [THREADS] = {"threads", "number", PP_TYPE_COUNT, PP_COLUMN_DETAIL | PP_COLUMN_NO_SUM,
		 "number of these threads that made such calls"},
    [CALL] = {"call", "call", PP_TYPE_TEXT, PP_COLUMN_KEY, "called function"},
    [KIND] = {"kind", "kind", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY,
	      "what it waits for: sleep, poll, read, write, connection, storage, process, lock, "
	      "queue, signal, futex"},
    [SITE] = {"site", "at", PP_TYPE_TEXT, PP_COLUMN_KEY, "call site"},
    [FD] = {"fd", "fd", PP_TYPE_TEXT, PP_COLUMN_ID | PP_COLUMN_MORE,
	    "file descriptors, or their number; those with the most time first"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "number of calls"},
    [FAILED] = {"failed", "failed", PP_TYPE_COUNT, PP_COLUMN_DETAIL,
		"of these, with an error, such as EINTR or EAGAIN"},
    [TIME] = {"wait_ns", "time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN | PP_COLUMN_RANK,
	      "from the calls to their returns"},
    [IDLE] = {"idle_ns", "idle", PP_TYPE_TIME_NS, PP_COLUMN_UNRANKED,
	      "of this, waits for time, for any of several inputs, for connections, children and "
	      "signals, while no thread waited for a lock that the caller held"},
    [BLOCKED] = {"blocked_ns", "blocked", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL,
		 "of the time, blocked; the rest is work in the kernel, and time without a CPU"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		  "of the time, ready to run without a CPU"},
    [TIME_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX, "the longest call"},
    [FDS] = {"fds", "fds", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY, "the descriptors, one by one",
	     fd_columns, N_FD_COLUMNS},
};

/* The key: address: the descriptor plus 1; 0: none; detail: 1 for all others. */
struct of_fd {
	struct pp_site_key key;
	uint64_t calls;
	int64_t wait_ns;
};

struct sums {
	uint64_t calls, failed;
	int64_t wait_ns, idle_ns, blocked_ns, runnable_ns, wait_max_ns;
	bool blocked_unknown; /* of one of them */
	struct pp_site_set fds;
};

struct use {
	const struct pp_thread *thread;
	enum st_io_call call;
	uint64_t site;
	unsigned serial;
	struct sums sums;
};

/* It has the state of idle waits, and passes the events to the state machine that both share. */
static const char *const needs[] = {"locks", NULL};

struct io {
	const struct pp_pass_context *context;
	const struct pp_idle *idle;
	struct pp_thread_listener listener;
	struct pp_thread_states *states;
	GHashTable *uses; /* a set of struct use * */
	uint64_t unfinished;
};

static guint use_hash(const void *data)
{
	const struct use *use = data;

	return g_direct_hash(use->thread) ^ g_int64_hash(&use->site) * 31 ^ use->call;
}

static gboolean use_equal(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return x->thread == y->thread && x->call == y->call && x->site == y->site;
}

static void use_free(void *data)
{
	struct use *use = data;

	pp_site_set_done(&use->sums.fds);
	g_free(use);
}

static struct use *use_of(const struct io *self, const struct pp_io *io)
{
	struct use key = {.thread = io->thread, .call = io->call, .site = io->site};
	struct use *use = g_hash_table_lookup(self->uses, &key);

	if (use)
		return use;
	use = g_memdup2(&key, sizeof(key));
	use->serial = g_hash_table_size(self->uses);
	g_hash_table_add(self->uses, use);
	return use;
}

static void add_fd(struct pp_site_set *fds, struct pp_site_key key, uint64_t calls, int64_t wait_ns)
{
	struct of_fd *of = pp_site_set_find(fds, sizeof(*of), &key);

	if (!of && fds->n >= MAX_FDS)
		key = (struct pp_site_key){.detail = 1};
	of = of ? of : pp_site_set_get(fds, sizeof(*of), &key);
	of->calls += calls;
	of->wait_ns += wait_ns;
}

/* --- calls ---------------------------------------------------------------------------------- */

/* The time counts in the range that it overlaps, the call at its return. */
static void on_io(void *data, const struct pp_io *io)
{
	struct io *self = data;
	int64_t wait_ns = pp_selected_ns(self->context, io->begin_ns, io->end_ns);
	bool counts = pp_selects_time(self->context, io->end_ns);
	struct sums *sums;

	if ((!counts && !wait_ns) ||
	    !pp_selects_call(self->context, io->thread, pp_io_name(io->call), io->site,
			     io->end_ns - io->begin_ns))
		return;
	sums = &use_of(self, io)->sums;
	sums->calls += counts;
	sums->failed += counts && io->finished && io->error;
	sums->wait_ns += wait_ns;
	sums->idle_ns += pp_idle_io_ns(self->idle, io, wait_ns);
	sums->blocked_ns += io->blocked_ns;
	sums->runnable_ns += io->runnable_ns;
	sums->blocked_unknown |= !io->blocked_known;
	sums->wait_max_ns = MAX(sums->wait_max_ns, wait_ns);
	add_fd(&sums->fds, (struct pp_site_key){.address = (uint64_t)(io->fd + 1)}, counts,
	       wait_ns);
	self->unfinished += counts && !io->finished;
}

static void *io_start(const struct pp_pass_context *context)
{
	struct io *self = g_new0(struct io, 1);
	const struct pp_locks *locks = pp_pass_set_state(context->set, needs[0]);

	self->context = context;
	self->uses = g_hash_table_new_full(use_hash, use_equal, use_free, NULL);
	self->idle = &locks->idle;
	self->listener = (struct pp_thread_listener){.data = self, .io = on_io};
	self->states = pp_thread_states_share(context, &self->listener);
	return self;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* The sum of all uses of a group that read alike. */
struct shown {
	const struct pp_process *process;
	enum st_io_call call;
	char *group, *site; /* NULL: not known */
	GHashTable *threads;
	unsigned serial;
	struct sums sums;
};

static void shown_free(void *data)
{
	struct shown *shown = data;

	g_free(shown->group);
	g_free(shown->site);
	g_hash_table_unref(shown->threads);
	pp_site_set_done(&shown->sums.fds);
	g_free(shown);
}

static void add_sums(struct sums *sums, const struct sums *more)
{
	sums->calls += more->calls;
	sums->failed += more->failed;
	sums->wait_ns += more->wait_ns;
	sums->idle_ns += more->idle_ns;
	sums->blocked_ns += more->blocked_ns;
	sums->runnable_ns += more->runnable_ns;
	sums->blocked_unknown |= more->blocked_unknown;
	sums->wait_max_ns = MAX(sums->wait_max_ns, more->wait_max_ns);
	for (unsigned i = 0; i < more->fds.n; i++) {
		const struct of_fd *of = PP_SITE_SET_AT(&more->fds, struct of_fd, i);

		add_fd(&sums->fds, of->key, of->calls, of->wait_ns);
	}
}

static void join_use(const struct io *self, GHashTable *by_text, GPtrArray *all,
		     const struct use *use)
{
	const struct pp_namer *namer = self->context->namer;
	const struct pp_process *process = use->thread->process;
	g_autofree char *group = pp_thread_group(use->thread);
	g_autofree char *site =
	    use->site && namer && namer->site ? namer->site(namer->data, process, use->site) : NULL;
	g_autofree char *key = g_strdup_printf("%u %u %u %s\n%s", process->pid, process->image,
					       use->call, group ? group : "", site ? site : "");
	struct shown *shown = g_hash_table_lookup(by_text, key);

	if (!shown) {
		shown = g_new0(struct shown, 1);
		shown->process = process;
		shown->call = use->call;
		shown->group = g_steal_pointer(&group);
		shown->site = g_steal_pointer(&site);
		shown->threads = g_hash_table_new(NULL, NULL);
		shown->serial = use->serial;
		g_ptr_array_add(all, shown);
		g_hash_table_insert(by_text, g_steal_pointer(&key), shown);
	}
	g_hash_table_add(shown->threads, (void *)use->thread);
	add_sums(&shown->sums, &use->sums);
}

static gint first_seen(gconstpointer a, gconstpointer b)
{
	const struct use *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Longest time first, without what is idle; then the longest idle time. */
static gint compare_shown(gconstpointer a, gconstpointer b)
{
	const struct shown *x = *(struct shown *const *)a, *y = *(struct shown *const *)b;
	int64_t x_ns = x->sums.wait_ns - x->sums.idle_ns, y_ns = y->sums.wait_ns - y->sums.idle_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	if (x->sums.idle_ns != y->sums.idle_ns)
		return x->sums.idle_ns < y->sums.idle_ns ? 1 : -1;
	return (x->serial > y->serial) - (x->serial < y->serial);
}

static GPtrArray *join_uses(const struct io *self)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(shown_free);
	g_autoptr(GHashTable) by_text =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GList) uses = g_list_sort(g_hash_table_get_keys(self->uses), first_seen);

	for (GList *at = uses; at; at = at->next)
		join_use(self, by_text, all, at->data);
	g_ptr_array_sort(all, compare_shown);
	return all;
}

/* --- descriptors ---------------------------------------------------------------------------- */

static gint compare_fds(gconstpointer a, gconstpointer b)
{
	const struct of_fd *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return (x->key.address > y->key.address) - (x->key.address < y->key.address);
}

static struct pp_table *fds_table(const struct pp_site_set *fds)
{
	struct pp_table *table = pp_table_new_nested(&columns[FDS]);

	for (unsigned i = 0; i < fds->n; i++) {
		const struct of_fd *of = PP_SITE_SET_AT(fds, struct of_fd, i);
		struct pp_cell *row = pp_table_add_row(table);

		if (of->key.address)
			pp_cell_set_integer(&row[FD_FD], (int64_t)of->key.address - 1);
		pp_cell_set_count(&row[FD_CALLS], of->calls);
		pp_cell_set_time(&row[FD_TIME], of->wait_ns);
	}
	return table;
}

/* "3, 4", or "64 or more"; NULL: none. */
static char *fds_text(const struct pp_site_set *fds)
{
	g_autoptr(GString) text = g_string_new(NULL);
	unsigned n = 0;
	bool is_more = false;

	for (unsigned i = 0; i < fds->n; i++) {
		const struct of_fd *of = PP_SITE_SET_AT(fds, struct of_fd, i);

		is_more |= of->key.detail;
		if (!of->key.address)
			continue;
		g_string_append_printf(text, "%s%" PRIu64, n ? ", " : "", of->key.address - 1);
		n++;
	}
	if (n > FDS_NAMED)
		return g_strdup_printf("%u%s fds", n, is_more ? " or more" : "");
	return n ? g_strdup(text->str) : NULL;
}

static void add_row(struct pp_table *table, const struct io *self, struct shown *shown)
{
	struct pp_cell *row = pp_table_add_row(table);
	struct sums *sums = &shown->sums;
	g_autofree char *fds = NULL;

	qsort(sums->fds.items, sums->fds.n, sizeof(struct of_fd), compare_fds);
	fds = fds_text(&sums->fds);
	pp_cell_set_count(&row[PID], shown->process->pid);
	pp_cell_set_count(&row[IMAGE], shown->process->image);
	pp_cell_set_text(&row[GROUP], shown->group);
	pp_cell_set_count(&row[THREADS], g_hash_table_size(shown->threads));
	pp_cell_set_text(&row[CALL], pp_io_name(shown->call));
	pp_cell_set_text(&row[KIND], pp_io_kind_name(pp_io_kind(shown->call)));
	pp_cell_set_text(&row[SITE], shown->site);
	pp_cell_set_text(&row[FD], fds);
	pp_cell_set_count(&row[CALLS], sums->calls);
	pp_cell_set_count(&row[FAILED], sums->failed);
	pp_cell_set_time(&row[TIME], sums->wait_ns);
	pp_cell_set_time(&row[IDLE], sums->idle_ns);
	if (self->context->has_kernel && !sums->blocked_unknown)
		pp_cell_set_time(&row[BLOCKED], sums->blocked_ns);
	if (self->context->has_wakings && !sums->blocked_unknown)
		pp_cell_set_time(&row[RUNNABLE], sums->runnable_ns);
	pp_cell_set_time(&row[TIME_MAX], sums->wait_max_ns);
	pp_cell_set_table(&row[FDS], fds_table(&sums->fds));
}

static void io_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct io *self = state;
	struct pp_table *table = pp_table_new("io", "Blocking calls", columns, N_COLUMNS);
	g_autoptr(GPtrArray) all = NULL;

	table->text_rows = TEXT_ROWS;
	pp_thread_states_finish(self->states, end_ns);
	all = join_uses(self);
	for (guint i = 0; i < all->len; i++)
		add_row(table, self, all->pdata[i]);
	if (self->unfinished)
		pp_table_note(table,
			      "%" PRIu64 " calls had not returned at the end of their threads, or "
			      "of the capture",
			      self->unfinished);
	pp_unrecorded_io_note(table, self->context->model, table->rows->len > 0);
	g_ptr_array_add(tables, table);
}

static void io_free(void *state)
{
	struct io *self = state;

	g_hash_table_unref(self->uses);
	pp_thread_states_free(self->states);
	g_free(self);
}

const struct pp_pass pp_pass_io = {
    .name = "io",
    .summary = "blocking calls like read",
    .kinds = PP_IO_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME | PP_SELECT_FUNCTION | PP_SELECT_MIN_WAIT,
    .needs = needs,
    .start = io_start,
    .finish = io_finish,
    .free = io_free,
};

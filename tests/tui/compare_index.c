/* SPDX-License-Identifier: MIT */
/*
 * compare_index CAPTURE|FIXTURES.txt...: compares the browser's index with the passes, event by
 * event: each thread's time in each state (threads), each object's sums (locks), each operation
 * (history), and waiters with holders (wait). For the index alone: parts of the time add up, and
 * matching operations refer to each other.
 */
#include <stdio.h>

#include "../unit/check.h"
#include "index/build.h"
#include "index/saved_index.h"
#include "events/events.h"
#include "event_text.h"
#include "capture/traces.h"
#include "pass/history_by_object.h"

enum { THREADS, LOCKS, WAIT, N_PASSES };
static const char *const pass_names[N_PASSES] = {"threads", "locks", "wait"};

struct comparison {
	struct pp_pass_context context;
	struct pp_index_builder *builder;
	struct pp_history_by_object *history;
	GArray *objects;       /* of struct pp_object */
	GPtrArray *operations; /* of struct pp_table *, on each of these */
	void *states[N_PASSES];
	GPtrArray *tables[N_PASSES];
	struct pp_index *index;
	bool is_clean; /* nothing lost, no contradiction */
};

static uint64_t n_threads, n_objects, n_operations, n_edges, n_mates, n_inner, n_enders;

static void table_free(void *table)
{
	pp_table_free(table);
}

static void begin(struct comparison *self, struct pp_model *model, const int *fds)
{
	self->builder = pp_index_builder_new(&self->context, model, fds);
	self->history = pp_history_by_object_new(&self->context);
	for (unsigned i = 0; i < N_PASSES; i++) {
		self->states[i] = pp_pass_find(pass_names[i])->start(&self->context);
		self->tables[i] = g_ptr_array_new_with_free_func(table_free);
	}
}

static void collect_history(struct comparison *self, int64_t end_ns)
{
	struct pp_error err = PP_ERROR_INIT;
	const struct pp_object *object;

	self->objects = g_array_new(FALSE, FALSE, sizeof(*object));
	self->operations = g_ptr_array_new_with_free_func(table_free);
	CHECK_INT(pp_history_by_object_finish(self->history, end_ns, &err), 0);
	while ((object = pp_history_next_object(self->history))) {
		g_array_append_vals(self->objects, object, 1);
		g_ptr_array_add(self->operations,
				pp_history_next_operations(self->history, UINT_MAX));
	}
}

static void take(void *data, const struct pp_event *event)
{
	struct comparison *self = data;

	pp_index_builder_event(self->builder, event);
	pp_history_by_object_event(self->history, event);
	for (unsigned i = 0; i < N_PASSES; i++)
		pp_pass_find(pass_names[i])->event(self->states[i], event);
}

static void finish(struct comparison *self, int64_t end_ns)
{
	self->index = pp_index_builder_finish(self->builder, NULL);
	collect_history(self, end_ns);
	for (unsigned i = 0; i < N_PASSES; i++)
		pp_pass_find(pass_names[i])->finish(self->states[i], end_ns, self->tables[i]);
}

static void done(struct comparison *self)
{
	for (unsigned i = 0; i < N_PASSES; i++) {
		pp_pass_find(pass_names[i])->free(self->states[i]);
		g_ptr_array_unref(self->tables[i]);
	}
	g_ptr_array_unref(self->operations);
	g_array_unref(self->objects);
	pp_history_by_object_free(self->history);
	pp_index_builder_free(self->builder);
	pp_index_free(self->index);
}

static struct pp_table *table_of(const struct comparison *self, unsigned pass, const char *key)
{
	for (guint i = 0; i < self->tables[pass]->len; i++) {
		struct pp_table *table = self->tables[pass]->pdata[i];

		if (strcmp(table->key, key) == 0)
			return table;
	}
	CHECK(!"a table of that name");
	return NULL;
}

/* --- threads -------------------------------------------------------------------------------- */

static uint32_t find_thread(const struct pp_index *index, uint64_t pid, uint64_t image,
			    uint64_t number)
{
	for (uint32_t i = 0; i < pp_index_n(index, PP_SECTION_THREADS); i++) {
		const struct pp_index_thread *thread = pp_index_thread(index, i);
		const struct pp_process *process = pp_index_process(index, thread->process);

		if (process->pid == pid && process->image == image && thread->index == number)
			return i;
	}
	CHECK(!"a thread of the report");
	return 0;
}

static void check_parts(const struct pp_index *index, uint64_t lane, int64_t from_ns, int64_t to_ns)
{
	struct pp_index_sum all, cells[37];

	pp_index_shares(index, lane, from_ns, to_ns, &all);
	pp_index_cells(index, lane, from_ns, to_ns, G_N_ELEMENTS(cells), cells);
	for (unsigned state = 0; state < PP_LANE_STATES; state++) {
		uint64_t sum = 0;

		for (unsigned i = 0; i < G_N_ELEMENTS(cells); i++)
			sum += cells[i].ns[state];
		CHECK_INT(sum, all.ns[state]);
	}
}

static void compare_thread(const struct comparison *self, const struct pp_table *table,
			   unsigned row)
{
	static const struct {
		const char *key;
		enum pp_mode mode;
	} modes[] = {{"running_ns", PP_MODE_RUNNING},
		     {"runnable_ns", PP_MODE_RUNNABLE},
		     {"blocked_sync_ns", PP_MODE_BLOCKED_SYNC},
		     {"blocked_io_ns", PP_MODE_BLOCKED_IO},
		     {"blocked_other_ns", PP_MODE_BLOCKED_OTHER},
		     {"unknown_ns", PP_MODE_UNKNOWN}};
	uint32_t number =
	    find_thread(self->index, pp_table_count(table, row, "pid"),
			pp_table_count(table, row, "image"), pp_table_count(table, row, "index"));
	const struct pp_index_thread *thread = pp_index_thread(self->index, number);
	struct pp_index_sum sum;
	uint64_t lifetime = 0;

	CHECK_INT(thread->start_ns, pp_table_cell(table, row, "start_ns")->time_ns);
	CHECK_INT(thread->end_ns, pp_table_cell(table, row, "end_ns")->time_ns);
	pp_index_shares(self->index, number, 0, thread->end_ns + 5, &sum);
	for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
		const struct pp_cell *cell = pp_table_cell(table, row, modes[i].key);

		if (cell)
			CHECK_INT(sum.ns[modes[i].mode], cell->time_ns);
		lifetime += sum.ns[modes[i].mode];
	}
	CHECK_INT(lifetime, pp_table_cell(table, row, "lifetime_ns")->time_ns);
	check_parts(self->index, number, thread->start_ns, thread->end_ns);
	check_parts(self->index, number, self->index->start_ns, self->index->end_ns + 7);
	n_threads++;
}

/* --- objects and operations ----------------------------------------------------------------- */

static uint32_t find_object(const struct pp_index *index, uint64_t pid, uint64_t image,
			    uint64_t address, uint64_t generation)
{
	for (uint32_t i = 0; i < pp_index_n(index, PP_SECTION_OBJECTS); i++) {
		const struct pp_index_object *object = pp_index_object(index, i);
		const struct pp_process *process = pp_index_process(index, object->process);

		if (process->pid == pid && process->image == image && object->address == address &&
		    object->generation == generation)
			return i;
	}
	CHECK(!"an object of the report");
	return 0;
}

static void compare_lock(const struct comparison *self, const struct pp_table *table, unsigned row)
{
	uint32_t number = find_object(
	    self->index, pp_table_count(table, row, "pid"), pp_table_count(table, row, "image"),
	    pp_table_count(table, row, "object"), pp_table_count(table, row, "generation"));
	const struct pp_index_object *object = pp_index_object(self->index, number);
	uint64_t lane = pp_index_n(self->index, PP_SECTION_THREADS) + number;
	struct pp_index_sum sum;

	CHECK_STR(pp_index_type(object), pp_table_cell(table, row, "type")->text);
	if (pp_table_cell(table, row, "acquired"))
		CHECK_INT(object->acquired, pp_table_count(table, row, "acquired"));
	CHECK_INT(object->contended, pp_table_count(table, row, "contended"));
	CHECK_INT(object->wait_ns, pp_table_count(table, row, "wait_ns"));
	if (pp_table_cell(table, row, "hold_ns"))
		CHECK_INT(object->hold_ns, pp_table_count(table, row, "hold_ns"));
	pp_index_shares(self->index, lane, 0, INT64_MAX, &sum);
	/* Objects that only one thread can hold at a time. */
	if (self->is_clean &&
	    (!strcmp(pp_index_type(object), "mutex") || !strcmp(pp_index_type(object), "spin")))
		CHECK_INT(sum.ns[PP_OBJECT_HELD] + sum.ns[PP_OBJECT_CONTENDED], object->hold_ns);
	check_parts(self->index, lane, self->index->start_ns, self->index->end_ns);
	n_objects++;
}

static void compare_operation(const struct comparison *self, uint32_t number,
			      const struct pp_table *table, unsigned row)
{
	const struct pp_index_operation *operation = pp_index_operation(self->index, number);
	const struct pp_cell *result = pp_table_cell(table, row, "result");
	const struct pp_cell *wait = pp_table_cell(table, row, "wait_ns");
	const struct pp_cell *blocked = pp_table_cell(table, row, "blocked");

	CHECK(operation);
	CHECK_INT(operation->time_ns, pp_table_cell(table, row, "time_ns")->time_ns);
	CHECK_INT(pp_index_thread(self->index, operation->thread)->tid,
		  pp_table_count(table, row, "tid"));
	CHECK_STR(pp_sync_name(operation->op), pp_table_cell(table, row, "op")->text);
	CHECK_INT(!!(operation->flags & PP_INDEX_FINISHED), result != NULL);
	if (result)
		CHECK_INT(operation->result, result->count);
	if (operation->flags & PP_INDEX_WAITED)
		CHECK_INT(pp_index_ns(self->index, operation), wait->time_ns);
	if (blocked && !(operation->flags & PP_INDEX_YIELDED))
		CHECK_INT(!!(operation->flags & PP_INDEX_BLOCKED), blocked->truth);
	n_operations++;
}

static void compare_history(const struct comparison *self)
{
	uint64_t n_listed = 0;

	for (guint i = 0; i < self->objects->len; i++) {
		const struct pp_object *object = &g_array_index(self->objects, struct pp_object, i);
		const struct pp_table *table = self->operations->pdata[i];
		uint32_t number =
		    find_object(self->index, object->process->pid, object->process->image,
				object->address, object->generation);
		unsigned n = table->rows->len;

		CHECK_INT(pp_index_list_n(self->index, PP_LIST_OBJECT, number), n);
		for (unsigned j = 0; j < n; j++)
			compare_operation(self,
					  pp_index_list_at(self->index, PP_LIST_OBJECT, number, j),
					  table, j);
		n_listed += n;
	}
	CHECK_INT(n_listed, pp_index_n(self->index, PP_SECTION_OPERATIONS));
}

/* --- what belongs together ------------------------------------------------------------------ */

static void check_mate(const struct comparison *self, uint32_t number)
{
	const struct pp_index_operation *a = pp_index_operation(self->index, number), *b;

	if (a->mate == PP_INDEX_NONE)
		return;
	b = pp_index_operation(self->index, a->mate);
	CHECK(b && b->object == a->object);
	if (a->flags & PP_INDEX_RELEASED) {
		CHECK_INT(b->mate, number);
		CHECK(b->flags & PP_INDEX_ACQUIRED);
		/* By the clock, another thread may acquire it before its release. */
		CHECK(pp_index_ns(self->index, a) <= (int64_t)(a->time_ns - b->time_ns));
	}
	n_mates++;
}

/* The waker of a wait is another thread than the waiter. */
static void check_ender(const struct comparison *self, uint32_t number)
{
	const struct pp_index_operation *wait = pp_index_operation(self->index, number), *ender;
	const struct pp_index_more *more = pp_index_more(self->index, wait);

	ender = pp_index_operation(self->index, pp_index_ender(self->index, wait));
	if (!ender)
		return;
	CHECK_INT(ender->thread, more->other);
	CHECK_INT(ender->object, wait->object);
	CHECK(ender->thread != wait->thread);
	n_enders++;
}

static bool is_unlock(const struct pp_index_operation *operation)
{
	return operation->op == ST_EVENT_mutex_unlock || operation->op == ST_EVENT_rwlock_unlock ||
	       operation->op == ST_EVENT_spin_unlock;
}

/* A thread unlocks in reverse order of locking; the state machines are not used here. */
static void check_nesting(const struct comparison *self, uint32_t object)
{
	const struct pp_index *index = self->index;
	g_autoptr(GHashTable) stacks =
	    g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
	uint64_t n = pp_index_list_n(index, PP_LIST_OBJECT, object);

	for (uint64_t i = 0; i < n; i++) {
		uint32_t number = pp_index_list_at(index, PP_LIST_OBJECT, object, i), last;
		const struct pp_index_operation *operation = pp_index_operation(index, number);
		GArray *stack = g_hash_table_lookup(stacks, GUINT_TO_POINTER(operation->thread));

		if (!stack) {
			stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_hash_table_insert(stacks, GUINT_TO_POINTER(operation->thread), stack);
		}
		if (operation->flags & PP_INDEX_ACQUIRED) {
			g_array_append_val(stack, number);
		} else if ((operation->flags & PP_INDEX_YIELDED ||
			    (is_unlock(operation) && operation->result == 0)) &&
			   stack->len) {
			last = g_array_index(stack, uint32_t, stack->len - 1);
			g_array_set_size(stack, stack->len - 1);
			CHECK_INT(operation->mate, last);
			CHECK_INT(pp_index_operation(index, last)->mate, number);
			n_inner += stack->len > 0;
		}
	}
}

static void check_lists(const struct comparison *self, enum pp_index_list list, uint64_t n,
			uint64_t *ret_n)
{
	const struct pp_index *index = self->index;

	for (uint32_t of = 0; of < n; of++) {
		uint64_t last_ns = 0, n_items = pp_index_list_n(index, list, of);

		*ret_n += n_items;
		for (uint64_t at = 0; at < n_items; at++) {
			uint32_t number = pp_index_list_at(index, list, of, at);
			bool found;

			CHECK(pp_index_operation(index, number)->time_ns >= last_ns);
			last_ns = pp_index_operation(index, number)->time_ns;
			CHECK_INT(pp_index_list_find_operation(index, list, of, number, &found),
				  at);
			CHECK(found);
			CHECK(pp_index_list_find(index, list, of, last_ns) <= at);
		}
	}
}

static void check_all_lists(const struct comparison *self)
{
	uint64_t threads = pp_index_n(self->index, PP_SECTION_THREADS);
	uint64_t objects = pp_index_n(self->index, PP_SECTION_OBJECTS);
	uint64_t n[PP_N_LISTS] = {0};

	check_lists(self, PP_LIST_THREAD, threads, &n[PP_LIST_THREAD]);
	check_lists(self, PP_LIST_THREAD_WAITS, threads, &n[PP_LIST_THREAD_WAITS]);
	check_lists(self, PP_LIST_OBJECT, objects, &n[PP_LIST_OBJECT]);
	check_lists(self, PP_LIST_OBJECT_WAITS, objects, &n[PP_LIST_OBJECT_WAITS]);
	CHECK_INT(n[PP_LIST_OBJECT], pp_index_n(self->index, PP_SECTION_OPERATIONS));
	CHECK_INT(n[PP_LIST_OBJECT_WAITS], n[PP_LIST_THREAD_WAITS]);
	CHECK(n[PP_LIST_THREAD] <= n[PP_LIST_OBJECT]);
}

/* An edge's sum of a column over waits for objects; the index has no blocking calls. */
static uint64_t sum_in(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_table *waits = pp_table_cell(table, row, "waits")->table;
	uint64_t sum = 0;

	for (guint i = 0; i < waits->rows->len; i++)
		if (!g_str_equal(pp_table_cell(waits, i, "type")->text, "call"))
			sum += pp_table_count(waits, i, key);
	return sum;
}

/* The index's waits of one thread for another, or for an unknown one. */
static void compare_edge(const struct comparison *self, const struct pp_table *table, unsigned row,
			 uint64_t *ret_sum)
{
	const struct pp_cell *to = pp_table_cell(table, row, "to");
	uint64_t count = 0, wait_ns = 0;

	for (uint64_t i = 0; i < pp_index_n(self->index, PP_SECTION_MORE); i++) {
		const struct pp_index_more *more =
		    pp_mapped_array_at(&self->index->sections[PP_SECTION_MORE], i);
		const struct pp_index_operation *operation =
		    pp_index_operation(self->index, more->operation);
		const struct pp_index_thread *other = pp_index_thread(self->index, more->other);

		if (!(operation->flags & PP_INDEX_WAITED) ||
		    pp_index_thread(self->index, operation->thread)->tid !=
			pp_table_count(table, row, "from") ||
		    !other != !to || (other && other->tid != to->count))
			continue;
		count++;
		wait_ns += more->ns;
	}
	/* Tids are reused: then these two threads have several rows. */
	CHECK(count >= sum_in(table, row, "count"));
	CHECK(wait_ns >= sum_in(table, row, "wait_ns"));
	*ret_sum += sum_in(table, row, "count");
	n_edges++;
}

/* The index's sum of the waits of one thread for another, from the single waits. */
static void check_edge(const struct pp_index *index, const struct pp_index_edge *edge)
{
	uint64_t n_all = pp_index_n(index, PP_SECTION_OBJECTS);
	g_autofree int64_t *wait_ns = g_new0(int64_t, n_all);
	g_autofree bool *has = g_new0(bool, n_all);
	struct pp_index_edge sum = {.from = edge->from, .to = edge->to};

	for (uint64_t i = 0; i < pp_index_n(index, PP_SECTION_MORE); i++) {
		const struct pp_index_more *more =
		    pp_mapped_array_at(&index->sections[PP_SECTION_MORE], i);
		const struct pp_index_operation *operation =
		    pp_index_operation(index, more->operation);

		if (!(operation->flags & PP_INDEX_WAITED) || operation->thread != edge->from ||
		    more->other != edge->to)
			continue;
		sum.count++;
		sum.wait_ns += (int64_t)more->ns;
		sum.wait_max_ns = MAX(sum.wait_max_ns, (int64_t)more->ns);
		sum.n_objects += !has[operation->object];
		has[operation->object] = true;
		wait_ns[operation->object] += (int64_t)more->ns;
	}
	CHECK_INT(edge->count, sum.count);
	CHECK_INT(edge->wait_ns, sum.wait_ns);
	CHECK_INT(edge->wait_max_ns, sum.wait_max_ns);
	CHECK_INT(edge->n_objects, sum.n_objects);
	CHECK(edge->object < n_all && has[edge->object]);
	for (uint64_t i = 0; i < n_all; i++)
		CHECK(wait_ns[i] <= wait_ns[edge->object]);
}

static void check_edges(const struct pp_index *index, uint64_t n_waits)
{
	const struct pp_index_edge *edge;
	int64_t before_ns = INT64_MAX;
	uint64_t n = 0;

	for (uint64_t i = 0; (edge = pp_index_edge(index, i)); i++) {
		check_edge(index, edge);
		CHECK(edge->wait_ns <= before_ns);
		before_ns = edge->wait_ns;
		n += edge->count;
	}
	CHECK_INT(n, n_waits);
}

static void compare(const struct comparison *self)
{
	const struct pp_table *threads = table_of(self, THREADS, "threads");
	const struct pp_table *locks = table_of(self, LOCKS, "locks");
	const struct pp_table *edges = table_of(self, WAIT, "edges");
	uint64_t n_waits = 0, n_in_edges = 0;

	for (guint i = 0; i < threads->rows->len; i++)
		compare_thread(self, threads, i);
	/* The index does not add up objects that no longer exist. */
	for (guint i = 0; i < locks->rows->len; i++)
		if (pp_table_cell(locks, i, "object"))
			compare_lock(self, locks, i);
	compare_history(self);
	check_all_lists(self);
	for (uint32_t i = 0; self->is_clean && i < pp_index_n(self->index, PP_SECTION_OBJECTS); i++)
		check_nesting(self, i);
	for (uint32_t i = 0; i < pp_index_n(self->index, PP_SECTION_OPERATIONS); i++) {
		check_mate(self, i);
		check_ender(self, i);
		n_waits += !!(pp_index_operation(self->index, i)->flags & PP_INDEX_WAITED);
	}
	for (guint i = 0; i < edges->rows->len; i++)
		compare_edge(self, edges, i, &n_in_edges);
	CHECK_INT(n_in_edges, n_waits);
	check_edges(self->index, n_waits);
}

/* --- where events come from ----------------------------------------------------------------- */

/* First in temporary files, then as stored in the capture. */
static void compare_capture(const char *dir)
{
	struct pp_error err = PP_ERROR_INIT;
	struct comparison self = {.is_clean = true};
	struct pp_kernel_abilities kernel;
	struct pp_capture *capture;
	struct pp_index_key key = {.digest = {1}, .capture_bytes = 1};
	struct pp_index_folder folder;
	int fds[PP_INDEX_FILES];

	if (pp_capture_open(dir, &capture, &err) < 0) {
		fprintf(stderr, "%s\n", pp_error_text(&err));
		exit(1);
	}
	pp_kernel_abilities(capture, &kernel);
	self.context = (struct pp_pass_context){
	    .model = capture->model,
	    .has_kernel = kernel.has_events,
	    .has_switch_pairs = kernel.has_switch_pairs,
	    .has_wakings = kernel.has_wakings,
	};
	CHECK_INT(pp_index_folder_new(dir, &folder, fds, &err), 0);
	begin(&self, capture->model, fds);
	CHECK_INT(pp_events_read(capture, PP_INDEX_KINDS, take, &self, &err), 0);
	finish(&self, capture->model->end_ns);
	compare(&self);
	CHECK_INT(pp_index_folder_keep(&folder, self.index, &key, NULL, &err), 0);
	pp_index_folder_done(&folder);
	pp_index_free(self.index);
	self.index = pp_index_folder_read(dir, &key, capture->model);
	CHECK(self.index);
	compare(&self);
	key.digest[0] = 0;
	CHECK(!pp_index_folder_read(dir, &key, capture->model));
	done(&self);
	pp_capture_free(capture);
}

static void compare_case(const char *events, const char *file)
{
	struct pp_error err = PP_ERROR_INIT;
	struct comparison self = {.is_clean = false};
	struct pp_text *text;

	if (pp_text_read(events, file, 1, &text, &err) < 0) {
		pp_error_done(&err); /* a case with an expected error */
		return;
	}
	self.context = (struct pp_pass_context){
	    .model = text->model,
	    .has_kernel = text->has_kernel,
	    .has_switch_pairs = text->has_switch_pairs,
	    .has_wakings = text->has_wakings,
	};
	begin(&self, text->model, NULL);
	for (guint i = 0; i < text->events->len; i++)
		take(&self, &g_array_index(text->events, struct pp_event, i));
	finish(&self, text->model->end_ns);
	compare(&self);
	done(&self);
	pp_text_free(text);
}

/* Cases as in tests/pass: "=== TITLE", events, "== EXPECTED TABLE". */
static void compare_fixtures(const char *path)
{
	g_autofree char *all = NULL;
	g_auto(GStrv) cases = NULL;

	CHECK(g_file_get_contents(path, &all, NULL, NULL));
	cases = g_strsplit(all, "\n=== ", -1);
	for (unsigned i = 1; cases[i]; i++) {
		char *events = strchr(cases[i], '\n'), *end;

		CHECK(events);
		end = strstr(events, "\n== ");
		if (end)
			end[1] = '\0';
		compare_case(events + 1, path);
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (g_str_has_suffix(argv[i], ".txt"))
			compare_fixtures(argv[i]);
		else
			compare_capture(argv[i]);
	}
	printf("%" PRIu64 " threads, %" PRIu64 " objects, %" PRIu64 " operations, %" PRIu64
	       " edges, %" PRIu64 " mates, %" PRIu64 " within others, %" PRIu64 " enders\n",
	       n_threads, n_objects, n_operations, n_edges, n_mates, n_inner, n_enders);
	return n_threads && n_operations ? 0 : 1;
}

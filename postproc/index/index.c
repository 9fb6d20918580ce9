/* SPDX-License-Identifier: MIT */
/* Accessors of an index's arrays, each of which checks positions. */
#include "index/index.h"

#include <string.h>

static const struct {
	const char *name;
	size_t item_bytes;
	bool is_scattered; /* one item per event, few of which are accessed */
} sections[PP_N_SECTIONS] = {
    [PP_SECTION_OPERATIONS] = {"operations", sizeof(struct pp_index_operation), true},
    [PP_SECTION_MORE] = {"more", sizeof(struct pp_index_more), true},
    [PP_SECTION_SITES] = {"sites", sizeof(struct pp_index_site)},
    [PP_SECTION_PATHS] = {"paths", sizeof(struct pp_index_run)},
    [PP_SECTION_ADDRESSES] = {"addresses", sizeof(uint64_t)},
    [PP_SECTION_PROCESSES] = {"processes", sizeof(struct pp_index_process)},
    [PP_SECTION_THREADS] = {"threads", sizeof(struct pp_index_thread)},
    [PP_SECTION_OBJECTS] = {"objects", sizeof(struct pp_index_object)},
    [PP_SECTION_ENDLESS] = {"endless", sizeof(struct pp_index_hold)},
    [PP_SECTION_SAMPLES] = {"samples", sizeof(struct pp_index_sample)},
    [PP_SECTION_CALLS] = {"calls", sizeof(struct pp_index_call)},
    [PP_SECTION_EDGES] = {"edges", sizeof(struct pp_index_edge)},
    [PP_SECTION_TEXT] = {"text", 1},
    [PP_SECTION_DAMAGE] = {"damage", 1},
    [PP_SECTION_LANES] = {"lanes", sizeof(struct pp_index_lane)},
    [PP_SECTION_STEPS] = {"steps", sizeof(uint64_t), true},
    [PP_SECTION_STRIDES] = {"strides", sizeof(struct pp_index_stride)},
    [PP_SECTION_RUNS + PP_LIST_THREAD] = {"thread-runs", sizeof(struct pp_index_run)},
    [PP_SECTION_RUNS + PP_LIST_THREAD_WAITS] = {"thread-wait-runs", sizeof(struct pp_index_run)},
    [PP_SECTION_RUNS + PP_LIST_OBJECT] = {"object-runs", sizeof(struct pp_index_run)},
    [PP_SECTION_RUNS + PP_LIST_OBJECT_WAITS] = {"object-wait-runs", sizeof(struct pp_index_run)},
    [PP_SECTION_ITEMS + PP_LIST_THREAD] = {"thread-items", sizeof(uint32_t), true},
    [PP_SECTION_ITEMS + PP_LIST_THREAD_WAITS] = {"thread-wait-items", sizeof(uint32_t), true},
    [PP_SECTION_ITEMS + PP_LIST_OBJECT] = {"object-items", sizeof(uint32_t), true},
    [PP_SECTION_ITEMS + PP_LIST_OBJECT_WAITS] = {"object-wait-items", sizeof(uint32_t), true},
};

const char *pp_index_section_name(enum pp_section section)
{
	return sections[section].name;
}

struct pp_index *pp_index_new(struct pp_model *model, const int *fds)
{
	struct pp_index *index = g_new0(struct pp_index, 1);

	index->model = model;
	for (unsigned i = 0; i < PP_N_SECTIONS; i++)
		pp_mapped_array_init(&index->sections[i], sections[i].item_bytes,
				     fds ? fds[i] : -1);
	return index;
}

void pp_index_release(const struct pp_index *index)
{
	for (unsigned i = 0; i < PP_N_SECTIONS; i++)
		pp_mapped_array_release(&index->sections[i]);
}

void pp_index_scatter(struct pp_index *index)
{
	for (unsigned i = 0; i < PP_N_SECTIONS; i++)
		if (sections[i].is_scattered)
			pp_mapped_array_scatter(&index->sections[i]);
}

void pp_index_free(struct pp_index *index)
{
	if (!index)
		return;
	for (unsigned i = 0; i < PP_N_SECTIONS; i++)
		pp_mapped_array_done(&index->sections[i]);
	g_free(index);
}

static const void *item(const struct pp_index *index, enum pp_section section, uint64_t number)
{
	const struct pp_mapped_array *array = &index->sections[section];

	return number < array->n ? pp_mapped_array_at(array, number) : NULL;
}

const struct pp_index_operation *pp_index_operation(const struct pp_index *index, uint64_t number)
{
	return item(index, PP_SECTION_OPERATIONS, number);
}

const struct pp_index_more *pp_index_more(const struct pp_index *index,
					  const struct pp_index_operation *operation)
{
	return operation->flags & PP_INDEX_MORE ? item(index, PP_SECTION_MORE, operation->more)
						: NULL;
}

const struct pp_index_thread *pp_index_thread(const struct pp_index *index, uint64_t number)
{
	return item(index, PP_SECTION_THREADS, number);
}

const struct pp_index_object *pp_index_object(const struct pp_index *index, uint64_t number)
{
	return item(index, PP_SECTION_OBJECTS, number);
}

const struct pp_index_hold *pp_index_hold(const struct pp_index *index, uint64_t number)
{
	return item(index, PP_SECTION_ENDLESS, number);
}

const struct pp_index_sample *pp_index_sample(const struct pp_index *index, uint64_t number)
{
	return item(index, PP_SECTION_SAMPLES, number);
}

const struct pp_index_call *pp_index_call(const struct pp_index *index, uint64_t number)
{
	return item(index, PP_SECTION_CALLS, number);
}

const struct pp_index_edge *pp_index_edge(const struct pp_index *index, uint64_t number)
{
	return item(index, PP_SECTION_EDGES, number);
}

const struct pp_index_site *pp_index_site(const struct pp_index *index, uint64_t number)
{
	return item(index, PP_SECTION_SITES, number);
}

const struct pp_process *pp_index_process(const struct pp_index *index, uint64_t number)
{
	const GPtrArray *processes = index->model->processes;

	return number < processes->len ? processes->pdata[number] : NULL;
}

const char *pp_index_type(const struct pp_index_object *object)
{
	return object->type < PP_N_SYNC_TYPES ? pp_sync_type_name(object->type) : "?";
}

const char *pp_index_thread_name(const struct pp_index *index, uint64_t number)
{
	const struct pp_index_thread *thread = pp_index_thread(index, number);
	const struct pp_mapped_array *texts = &index->sections[PP_SECTION_TEXT];

	if (!thread || thread->name >= texts->n ||
	    !memchr(texts->data + thread->name, 0, texts->n - thread->name))
		return "";
	return texts->data + thread->name;
}

const char *pp_index_damage(const struct pp_index *index, uint64_t *at)
{
	const struct pp_mapped_array *lines = &index->sections[PP_SECTION_DAMAGE];
	const char *line = lines->data + *at, *end;

	if (*at >= lines->n)
		return NULL;
	end = memchr(line, 0, lines->n - *at);
	*at = end ? (uint64_t)(end - lines->data) + 1 : lines->n;
	return end ? line : NULL;
}

char *pp_index_object_name(const struct pp_index *index, uint64_t number,
			   const struct pp_namer *namer)
{
	const struct pp_index_object *row = pp_index_object(index, number);
	const struct pp_index_thread *subject = row ? pp_index_thread(index, row->subject) : NULL;
	struct pp_thread thread = {.name = NULL};
	struct pp_object object = {.process = NULL};

	if (!row || !pp_index_process(index, row->process))
		return g_strdup("?");
	object.process = pp_index_process(index, row->process);
	object.address = row->address;
	object.load_id = row->load_id;
	object.generation = row->generation;
	object.type = MIN(row->type, PP_N_SYNC_TYPES);
	object.init_site = row->init_site;
	object.first_site = row->first_site;
	if (subject) {
		thread.name = (char *)pp_index_thread_name(index, row->subject);
		thread.tid = subject->tid;
		object.subject = &thread;
	}
	return pp_object_name(&object, namer);
}

/* Clamps a run of another section's items to the section. */
static uint64_t check_run(const struct pp_index *index, enum pp_section of,
			  const struct pp_index_run *run)
{
	uint64_t n = pp_index_n(index, of);

	return run && run->first < n ? MIN(run->n, n - run->first) : 0;
}

unsigned pp_index_path(const struct pp_index *index, uint32_t path, const uint64_t **ret)
{
	const struct pp_index_run *run = item(index, PP_SECTION_PATHS, path);
	uint64_t n = check_run(index, PP_SECTION_ADDRESSES, run);

	*ret = n ? item(index, PP_SECTION_ADDRESSES, run->first) : NULL;
	return (unsigned)MIN(n, ST_PATH_MAX);
}

int64_t pp_index_ns(const struct pp_index *index, const struct pp_index_operation *operation)
{
	const struct pp_index_more *more = pp_index_more(index, operation);

	if (operation->flags & PP_INDEX_MORE)
		return more ? (int64_t)MIN(more->ns, INT64_MAX) : 0;
	return operation->flags & PP_INDEX_RELEASED ? operation->more : 0;
}

int64_t pp_index_begin_ns(const struct pp_index *index, const struct pp_index_operation *operation)
{
	int64_t time_ns = (int64_t)MIN(operation->time_ns, INT64_MAX);

	return operation->flags & PP_INDEX_FINISHED ? time_ns - pp_index_ns(index, operation)
						    : time_ns;
}

uint32_t pp_index_ender(const struct pp_index *index, const struct pp_index_operation *operation)
{
	const struct pp_index_more *more = pp_index_more(index, operation);
	const struct pp_index_operation *acquisition, *call;

	if (!(operation->flags & PP_INDEX_WAITED) || !more)
		return PP_INDEX_NONE;
	if (more->how == PP_WAIT_HELD) {
		acquisition = pp_index_operation(index, more->acquisition);
		return acquisition ? acquisition->mate : PP_INDEX_NONE;
	}
	/* The mate of an acquisition is its release. */
	call = pp_index_operation(index, more->call);
	return call && call->object == operation->object ? more->call : PP_INDEX_NONE;
}

/* --- lists ---------------------------------------------------------------------------------- */

static uint64_t list_run(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			 const uint32_t **ret_items)
{
	const struct pp_index_run *run = item(index, PP_SECTION_RUNS + list, of);
	uint64_t n = check_run(index, PP_SECTION_ITEMS + list, run);

	*ret_items = n ? item(index, PP_SECTION_ITEMS + list, run->first) : NULL;
	return n;
}

uint64_t pp_index_list_n(const struct pp_index *index, enum pp_index_list list, uint32_t of)
{
	const uint32_t *items;

	return list_run(index, list, of, &items);
}

uint32_t pp_index_list_at(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			  uint64_t at)
{
	const uint32_t *items;
	uint64_t n = list_run(index, list, of, &items);

	return at < n && pp_index_operation(index, items[at]) ? items[at] : PP_INDEX_NONE;
}

void pp_index_list_want(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			uint64_t at, uint64_t n, bool more)
{
	struct pp_read_ahead items = pp_read_ahead(&index->sections[PP_SECTION_ITEMS + list]);
	struct pp_read_ahead operations = pp_read_ahead(&index->sections[PP_SECTION_OPERATIONS]);
	struct pp_read_ahead rest = pp_read_ahead(&index->sections[PP_SECTION_MORE]);
	const struct pp_index_run *run = item(index, PP_SECTION_RUNS + list, of);
	uint64_t all = check_run(index, PP_SECTION_ITEMS + list, run);
	const uint32_t *numbers;

	if (!operations.array->on_disk || at >= all)
		return;
	n = MIN(n, all - at);
	pp_read_ahead_add(&items, run->first + at, n);
	pp_read_ahead_end(&items);
	numbers = item(index, PP_SECTION_ITEMS + list, run->first + at);
	for (uint64_t i = 0; i < n; i++)
		pp_read_ahead_add(&operations, numbers[i], 1);
	pp_read_ahead_end(&operations);
	for (uint64_t i = 0; more && i < n; i++) {
		const struct pp_index_operation *one = pp_index_operation(index, numbers[i]);

		if (one && one->flags & PP_INDEX_MORE)
			pp_read_ahead_add(&rest, one->more, 1);
	}
	pp_read_ahead_end(&rest);
}

uint64_t pp_index_list_find(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			    uint64_t time_ns)
{
	const uint32_t *items;
	uint64_t low = 0, high = list_run(index, list, of, &items);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		const struct pp_index_operation *at = pp_index_operation(index, items[middle]);

		if (at && at->time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t pp_index_list_find_operation(const struct pp_index *index, enum pp_index_list list,
				      uint32_t of, uint32_t operation, bool *ret_found)
{
	const struct pp_index_operation *wanted = pp_index_operation(index, operation);
	const uint32_t *items;
	uint64_t n = list_run(index, list, of, &items), first, at;

	*ret_found = false;
	if (!wanted)
		return n;
	first = pp_index_list_find(index, list, of, wanted->time_ns);
	for (at = first; at < n; at++) {
		const struct pp_index_operation *found = pp_index_operation(index, items[at]);

		if (items[at] == operation) {
			*ret_found = true;
			return at;
		}
		if (!found || found->time_ns != wanted->time_ns)
			break;
	}
	/* Among operations at the same time, count those that were added earlier. */
	for (n = at, at = first; at < n && items[at] < operation;)
		at++;
	return at;
}

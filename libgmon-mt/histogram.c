/* SPDX-License-Identifier: MIT */
/*
 * Gathers the samples of one object from the threads' tables for its gmon file.
 *
 * Runs under gm_flush_lock. Running threads go on sampling; the file has the samples present when
 * they were gathered.
 */
#include <errno.h>

#include "internal.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/threads.h"
#include "runtime/sys/sys.h"

static struct gm_control kept; /* samples of the threads that ended */

typedef void visit_fn(const struct gm_table *table, void *data);

static void visit_tables(const struct gm_control *samples, visit_fn *visit, void *data)
{
	const struct gm_table *table;

	for (uint32_t n = 0; (table = gm_calls_table(samples, n)) != NULL; n++)
		visit(table, data);
}

static void visit_thread(const struct gm_control *control, visit_fn *visit, void *data)
{
	/* acquire: pairs with the release in samples_of() */
	const struct gm_control *samples = __atomic_load_n(&control->samples, __ATOMIC_ACQUIRE);

	if (samples != NULL)
		visit_tables(samples, visit, data);
}

/* Visits the tables of one thread, or of all threads if control == NULL. */
static void visit(const struct gm_control *control, visit_fn *each, void *data)
{
	uint32_t n = gm_threads_count();

	if (control != NULL) {
		visit_thread(control, each, data);
		return;
	}
	if (kept.table != NULL)
		each(kept.table, data);
	for (uint32_t i = 0; i < n; i++) {
		const struct gm_control *living = gm_control_at(i);

		if (living != NULL)
			visit_thread(living, each, data);
	}
}

struct gathering {
	struct gm_samples *samples;
	const struct gm_object *object;
	size_t n_max;
};

static void count_slots(const struct gm_table *table, void *data)
{
	struct gathering *gathering = data;

	gathering->n_max += table->header.n_slots;
}

/* Copies the samples in all mappings of the object's file. */
static void copy(const struct gm_table *table, void *data)
{
	struct gathering *gathering = data;
	struct gm_samples *samples = gathering->samples;
	const struct gm_object *object = gathering->object;

	for (uint32_t i = 0; i < table->header.n_slots; i++) {
		/* acquire: pairs with the release in add(), calls.c */
		uint64_t pc = __atomic_load_n(&table->arcs[i].self, __ATOMIC_ACQUIRE);

		if (pc == 0 || table->arcs[i].count == 0 || samples->n == gathering->n_max)
			continue;
		if (pc < object->start || pc >= object->end)
			object = gm_maps_find(pc);
		if (object != NULL && object->file == gathering->object->file)
			samples->at[samples->n++] =
			    (struct gm_sample){pc - object->bias, table->arcs[i].count};
		else
			object = gathering->object;
	}
}

/* Heapsort: in place, without recursion. */
static void sift(struct gm_sample *at, size_t from, size_t n)
{
	struct gm_sample moving = at[from];

	while (2 * from + 1 < n) {
		size_t child = 2 * from + 1;

		child += child + 1 < n && at[child + 1].pc > at[child].pc;
		if (at[child].pc <= moving.pc)
			break;
		at[from] = at[child];
		from = child;
	}
	at[from] = moving;
}

static void sort(struct gm_sample *at, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(at, i, n);
	while (n > 1) {
		struct gm_sample last = at[--n];

		at[n] = at[0];
		at[0] = last;
		sift(at, 0, n);
	}
}

int gm_samples_gather(struct gm_samples *ret, const struct gm_object *object,
		      const struct gm_control *control)
{
	struct gathering gathering = {.samples = ret, .object = object};

	*ret = (struct gm_samples){0};
	visit(control, count_slots, &gathering);
	if (gathering.n_max == 0)
		return 0;
	ret->size_bytes = gathering.n_max * sizeof(*ret->at);
	ret->at = gm_sys_mmap(ret->size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ret->at == NULL)
		return -ENOMEM;
	visit(control, copy, &gathering);
	sort(ret->at, ret->n);
	return 0;
}

void gm_samples_done(struct gm_samples *samples)
{
	if (samples->at != NULL)
		gm_sys_munmap(samples->at, samples->size_bytes);
}

static void merge(const struct gm_table *table, void *data)
{
	gm_calls_merge(data, table);
}

void gm_samples_keep(const struct gm_control *control)
{
	visit_thread(control, merge, &kept);
}

struct gm_table *gm_samples_kept(void)
{
	return kept.table;
}

void gm_samples_forget(void)
{
	memset(&kept, 0, sizeof(kept));
}

static void add_up(const struct gm_table *table, void *data)
{
	uint64_t *total = data;

	for (uint32_t i = 0; i < table->header.n_slots; i++)
		*total += table->arcs[i].count;
}

uint64_t gm_samples_total(void)
{
	uint64_t total = 0;

	visit(NULL, add_up, &total);
	return total;
}

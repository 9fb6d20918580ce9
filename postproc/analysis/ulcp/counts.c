/* SPDX-License-Identifier: MIT */
/*
 * The pairs passed from a section A to the first contending section B of thread u are the sections
 * of u before B, less those before A.  So A subtracts the number of sections of all other threads
 * when it is added, and each B adds the number of those of its thread, for all sections with which
 * it is the first to contend.  Those that no section of u contends with add all of u at the end.
 * All numbers are by use, so that each product belongs to one class.
 */
#include "analysis/ulcp/counts.h"

#include "analysis/ulcp/threads.h"
#include "core/item_file.h"

enum { UNKNOWN_USE = PP_ULCP_N_USES, N_USES };
#define N_KINDS (2 * N_USES) /* by use, and whether it is a reader */

enum what { SECTION, CONTENDED, END };

struct record {
	uint64_t n; /* CONTENDED */
	uint32_t lock, thread, use;
	uint32_t code; /* END: the other lock */
	uint8_t what, at_least, class, reason;
	uint8_t is_known, is_reader, is_selected, conflicts;
};

/* By kind. */
struct of_thread {
	uint64_t n[N_KINDS];	   /* its sections */
	uint64_t matched[N_KINDS]; /* sections of others with which one of its sections contends */
};

struct lock {
	struct pp_ulcp_sums sums;
	struct pp_ulcp_threads threads;
	struct of_thread *of_threads; /* by dense number */
	uint64_t n[N_KINDS];
	/* The last section. */
	bool has_last;
	uint32_t last_thread, last_code;
	unsigned last_kind;
};

struct pp_ulcp_counts {
	struct pp_item_file *records;
	GPtrArray *locks; /* of struct lock *, by number; NULL: it has no sections */
	enum pp_ulcp_use (*use_of)(void *data, uint32_t number);
	void *data;
};

/* --- figures ---------------------------------------------------------------------------------- */

void pp_ulcp_figures_add(struct pp_ulcp_figures *to, const struct pp_ulcp_figures *figures)
{
	for (unsigned i = 0; i < PP_ULCP_N_CLASSES; i++)
		to->pairs[i] += figures->pairs[i];
	for (unsigned i = 0; i < PP_ULCP_N_REASONS; i++)
		to->undecided[i] += figures->undecided[i];
}

uint64_t pp_ulcp_figures_n(const struct pp_ulcp_figures *figures)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < PP_ULCP_N_CLASSES; i++)
		n += figures->pairs[i];
	return n;
}

uint64_t pp_ulcp_figures_n_unnecessary(const struct pp_ulcp_figures *figures)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < PP_ULCP_N_CLASSES; i++)
		n += pp_ulcp_is_unnecessary(i) ? figures->pairs[i] : 0;
	return n;
}

void pp_ulcp_sums_add(struct pp_ulcp_sums *to, const struct pp_ulcp_sums *sums)
{
	to->n_sections += sums->n_sections;
	to->n_unknown += sums->n_unknown;
	to->n_same_thread += sums->n_same_thread;
	to->n_readers += sums->n_readers;
	to->n_edges += sums->n_edges;
	pp_ulcp_figures_add(&to->figures, &sums->figures);
	for (unsigned i = 0; i < PP_ULCP_N_CLASSES; i++)
		to->passed[i] += sums->passed[i];
}

static struct pp_ulcp_figures *pair_of(struct pp_ulcp_sums *sums, uint32_t a, uint32_t b)
{
	const struct pp_ulcp_pair new = {.a = MIN(a, b), .b = MAX(a, b)};

	if (!sums->pairs)
		sums->pairs = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_pair));
	for (guint i = sums->pairs->len; i-- > 0;) {
		struct pp_ulcp_pair *pair = &g_array_index(sums->pairs, struct pp_ulcp_pair, i);

		if (pair->a == new.a && pair->b == new.b)
			return &pair->figures;
	}
	g_array_append_val(sums->pairs, new);
	return &g_array_index(sums->pairs, struct pp_ulcp_pair, sums->pairs->len - 1).figures;
}

/* --- records ---------------------------------------------------------------------------------- */

struct pp_ulcp_counts *pp_ulcp_counts_new(void)
{
	struct pp_ulcp_counts *counts = g_new0(struct pp_ulcp_counts, 1);

	counts->records = pp_item_file_new(sizeof(struct record));
	counts->locks = g_ptr_array_new();
	return counts;
}

static void set_kind(struct record *record, const struct pp_ulcp_kind *kind)
{
	record->use = kind->use;
	record->at_least = (uint8_t)kind->at_least;
	record->is_known = kind->is_known;
	record->is_reader = kind->is_reader;
	record->is_selected = kind->is_selected;
}

void pp_ulcp_counts_add(struct pp_ulcp_counts *counts, const struct pp_ulcp_section *section)
{
	struct record record = {.what = SECTION,
				.lock = section->lock,
				.thread = section->thread,
				.code = section->code,
				.conflicts = section->conflicts,
				.class = (uint8_t)section->class,
				.reason = (uint8_t)section->reason};

	set_kind(&record, &section->kind);
	pp_item_file_add(counts->records, &record);
}

void pp_ulcp_counts_contended(struct pp_ulcp_counts *counts, uint32_t lock, uint32_t thread,
			      const struct pp_ulcp_kind *kind, uint64_t n)
{
	struct record record = {.what = CONTENDED, .lock = lock, .thread = thread, .n = n};

	set_kind(&record, kind);
	pp_item_file_add(counts->records, &record);
}

void pp_ulcp_counts_end(struct pp_ulcp_counts *counts, uint32_t lock, uint32_t into)
{
	struct record record = {.what = END, .lock = lock, .code = into};

	pp_item_file_add(counts->records, &record);
}

/* --- pairs passed ----------------------------------------------------------------------------- */

static unsigned kind_of(const struct pp_ulcp_counts *counts, const struct record *record)
{
	unsigned use = UNKNOWN_USE;

	if (record->is_known)
		use = MAX(counts->use_of(counts->data, record->use), record->at_least);
	return use + (record->is_reader ? N_USES : 0);
}

static bool are_readers(unsigned a, unsigned b)
{
	return a >= N_USES && b >= N_USES;
}

/* The class of sections that do not contend. */
static enum pp_ulcp_class class_of_kinds(unsigned a, unsigned b)
{
	unsigned x = a % N_USES, y = b % N_USES;

	return x == UNKNOWN_USE || y == UNKNOWN_USE ? PP_ULCP_UNDECIDED
						    : pp_ulcp_class_of_uses(x, y);
}

/* From n sections of that kind, `passed` sections by kind; the sums are those modulo 2^64. */
static void add_passed(struct lock *lock, unsigned kind, uint64_t n, const uint64_t *passed)
{
	for (unsigned i = 0; i < N_KINDS; i++)
		if (passed[i] && !are_readers(kind, i))
			lock->sums.passed[class_of_kinds(kind, i)] += n * passed[i];
}

static bool is_source(unsigned kind)
{
	return kind % N_USES != UNKNOWN_USE;
}

static struct of_thread *thread_of(struct lock *lock, uint32_t thread)
{
	uint32_t n = lock->threads.n, at = pp_ulcp_threads_number(&lock->threads, thread);

	if (lock->threads.n != n) {
		lock->of_threads = g_renew(struct of_thread, lock->of_threads, n + 1);
		lock->of_threads[n] = (struct of_thread){0};
	}
	return &lock->of_threads[at];
}

/* The sections before it are not passed from here. */
static void begin_search(struct lock *lock, struct of_thread *of, unsigned kind)
{
	uint64_t others[N_KINDS];

	for (unsigned i = 0; i < N_KINDS; i++)
		others[i] = lock->n[i] - of->n[i];
	if (is_source(kind))
		add_passed(lock, kind, -(uint64_t)1, others);
	lock->n[kind]++;
	of->n[kind]++;
}

static void end_searches(struct lock *lock)
{
	for (uint32_t i = 0; i < lock->threads.n; i++) {
		const struct of_thread *of = &lock->of_threads[i];

		for (unsigned kind = 0; kind < N_KINDS; kind++)
			if (is_source(kind))
				add_passed(lock, kind,
					   lock->n[kind] - of->n[kind] - of->matched[kind], of->n);
	}
}

static void count_contended(struct pp_ulcp_counts *counts, struct lock *lock,
			    const struct record *record)
{
	struct of_thread *of = thread_of(lock, record->thread);
	unsigned kind = kind_of(counts, record);

	if (!record->is_selected)
		return;
	add_passed(lock, kind, record->n, of->n);
	of->matched[kind] += record->n;
	lock->sums.n_edges += record->n;
}

/* --- consecutive pairs ------------------------------------------------------------------------ */

static void count_pair(struct lock *lock, const struct record *record, unsigned kind)
{
	struct pp_ulcp_figures figures = {{0}, {0}};
	enum pp_ulcp_class class = record->class;
	enum pp_ulcp_reason reason = record->reason;

	if (are_readers(lock->last_kind, kind)) {
		lock->sums.n_readers++;
		return;
	}
	if (!is_source(lock->last_kind) || !is_source(kind)) {
		class = PP_ULCP_UNDECIDED;
		reason = PP_ULCP_UNKNOWN;
	} else if (!record->conflicts) {
		class = class_of_kinds(lock->last_kind, kind);
	}
	figures.pairs[class] = 1;
	if (class == PP_ULCP_UNDECIDED)
		figures.undecided[reason] = 1;
	pp_ulcp_figures_add(&lock->sums.figures, &figures);
	pp_ulcp_figures_add(pair_of(&lock->sums, lock->last_code, record->code), &figures);
}

static void count_section(struct pp_ulcp_counts *counts, struct lock *lock,
			  const struct record *record)
{
	unsigned kind = kind_of(counts, record);

	if (record->is_selected) {
		lock->sums.n_sections++;
		lock->sums.n_unknown += !is_source(kind);
		if (lock->has_last && lock->last_thread == record->thread)
			lock->sums.n_same_thread++;
		else if (lock->has_last)
			count_pair(lock, record, kind);
		begin_search(lock, thread_of(lock, record->thread), kind);
	}
	lock->has_last = true;
	lock->last_thread = record->thread;
	lock->last_code = record->code;
	lock->last_kind = kind;
}

/* --- locks ------------------------------------------------------------------------------------ */

static struct lock *lock_at(struct pp_ulcp_counts *counts, uint32_t number)
{
	if (number >= counts->locks->len)
		g_ptr_array_set_size(counts->locks, (gint)number + 1);
	if (!counts->locks->pdata[number])
		counts->locks->pdata[number] = g_new0(struct lock, 1);
	return counts->locks->pdata[number];
}

static void lock_free(struct lock *lock)
{
	if (!lock)
		return;
	pp_ulcp_threads_done(&lock->threads);
	g_free(lock->of_threads);
	if (lock->sums.pairs)
		g_array_unref(lock->sums.pairs);
	g_free(lock);
}

static void add_pairs(struct pp_ulcp_sums *to, const struct pp_ulcp_sums *sums)
{
	for (guint i = 0; sums->pairs && i < sums->pairs->len; i++) {
		const struct pp_ulcp_pair *pair =
		    &g_array_index(sums->pairs, struct pp_ulcp_pair, i);

		pp_ulcp_figures_add(pair_of(to, pair->a, pair->b), &pair->figures);
	}
}

static void end_lock(struct pp_ulcp_counts *counts, uint32_t number, uint32_t into)
{
	struct lock *lock = lock_at(counts, number);

	end_searches(lock);
	pp_ulcp_sums_add(&lock_at(counts, into)->sums, &lock->sums);
	add_pairs(&lock_at(counts, into)->sums, &lock->sums);
	lock_free(lock);
	counts->locks->pdata[number] = NULL;
}

int pp_ulcp_counts_finish(struct pp_ulcp_counts *counts,
			  enum pp_ulcp_use (*use_of)(void *data, uint32_t number), void *data,
			  struct pp_error *err)
{
	const struct record *record;
	int r = pp_item_file_finish(counts->records, err);

	counts->use_of = use_of;
	counts->data = data;
	if (r < 0)
		return r;
	while ((record = pp_item_file_next(counts->records))) {
		if (record->what == END)
			end_lock(counts, record->lock, record->code);
		else if (record->what == CONTENDED)
			count_contended(counts, lock_at(counts, record->lock), record);
		else
			count_section(counts, lock_at(counts, record->lock), record);
	}
	for (guint i = 0; i < counts->locks->len; i++)
		if (counts->locks->pdata[i])
			end_searches(counts->locks->pdata[i]);
	return pp_item_file_check(counts->records, err);
}

const struct pp_ulcp_sums *pp_ulcp_counts_of(const struct pp_ulcp_counts *counts, uint32_t lock)
{
	return lock < counts->locks->len && counts->locks->pdata[lock]
		   ? &((const struct lock *)counts->locks->pdata[lock])->sums
		   : NULL;
}

void pp_ulcp_counts_free(struct pp_ulcp_counts *counts)
{
	for (guint i = 0; i < counts->locks->len; i++)
		lock_free(counts->locks->pdata[i]);
	g_ptr_array_unref(counts->locks);
	pp_item_file_free(counts->records);
	g_free(counts);
}

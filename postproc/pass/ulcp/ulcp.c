/* SPDX-License-Identifier: MIT */
/*
 * See ulcp.h.  Each section is compared with the one before it on its lock, added to the search of
 * rule 1, and counted.  A lock's number is used again when it has ended.
 */
#include "pass/ulcp/ulcp.h"

#include "analysis/mix.h"
#include "analysis/select.h"
#include "pass/accesses/places.h"

/* --- codes ------------------------------------------------------------------------------------ */

static guint code_hash(const void *data)
{
	const struct pp_ulcp_code *code = data;

	return (guint)pp_mix(pp_mix((uintptr_t)code->process, code->op), code->site);
}

static gboolean code_equal(const void *a, const void *b)
{
	const struct pp_ulcp_code *x = a, *y = b;

	return x->process == y->process && x->op == y->op && x->site == y->site;
}

static uint32_t code_of(struct pp_ulcp_pass *self, const struct pp_access_instance *instance)
{
	const struct pp_ulcp_code key = {.process = instance->thread->process,
					 .op = instance->op,
					 .site = instance->site,
					 .number = self->codes->len};
	struct pp_ulcp_code *code = g_hash_table_lookup(self->code_of, &key);

	if (!code) {
		code = g_memdup2(&key, sizeof(key));
		g_hash_table_add(self->code_of, code);
		g_ptr_array_add(self->codes, code);
	}
	return code->number;
}

/* --- locks ------------------------------------------------------------------------------------ */

static uint32_t free_number(struct pp_ulcp_pass *self)
{
	guint n = self->spare->len;
	uint32_t number;

	if (!n)
		return self->n_locks++;
	number = g_array_index(self->spare, uint32_t, n - 1);
	g_array_set_size(self->spare, n - 1);
	return number;
}

static struct pp_ulcp_lock_data *lock_of(struct pp_ulcp_pass *self, struct pp_object *object)
{
	struct pp_ulcp_lock_data *lock = object->data;

	if (!lock) {
		lock = object->data = g_new0(struct pp_ulcp_lock_data, 1);
		lock->number = free_number(self);
	}
	return lock;
}

static void lock_free(void *data)
{
	struct pp_ulcp_lock_data *lock = data;

	if (!lock)
		return;
	pp_ulcp_lock_free(lock->search);
	pp_ulcp_threads_done(&lock->threads);
	pp_access_set_unref(lock->set);
	g_free(lock->latest);
	g_free(lock);
}

static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_ulcp_pass *self = data;
	struct pp_ulcp_lock_data *lock = g_steal_pointer(&object->data), *into;
	bool has_sections = lock && lock->n_sections;

	if (has_sections) {
		into = lock_of(self, group);
		into->n_sections += lock->n_sections;
		pp_ulcp_counts_end(self->counts, lock->number, into->number);
	}
	if (lock)
		g_array_append_val(self->spare, lock->number);
	lock_free(lock);
	return has_sections;
}

static int64_t n_of(const struct pp_object *object)
{
	const struct pp_ulcp_lock_data *lock = object->data;

	return lock ? (int64_t)lock->n_sections : 0;
}

static int compare_objects(const struct pp_object *a, const struct pp_object *b)
{
	return pp_object_compare(a, n_of(a), b, n_of(b));
}

/* --- the search of rule 1 --------------------------------------------------------------------- */

static struct pp_ulcp_lock *search_of(struct pp_ulcp_pass *self, struct pp_ulcp_lock_data *lock,
				      const struct pp_process *process)
{
	struct pp_ulcp_search *search;

	if (lock->search)
		return lock->search;
	search = g_hash_table_lookup(self->searches, process);
	if (!search) {
		search = pp_ulcp_search_new(&self->search_listener);
		g_hash_table_insert(self->searches, (void *)process, search);
	}
	return lock->search = pp_ulcp_lock_new(search);
}

/* Sections of one kind have the same tag. */
static uint64_t tag_of(const struct pp_ulcp_kind *kind)
{
	return kind->use | (uint64_t)kind->at_least << 32 | (uint64_t)kind->is_reader << 40 |
	       (uint64_t)kind->is_selected << 41;
}

static void on_contended(void *data, uint64_t tag, uint64_t n, uint64_t target)
{
	struct pp_ulcp_pass *self = data;
	const struct pp_ulcp_kind kind = {.use = (uint32_t)tag,
					  .at_least = tag >> 32 & 0xff,
					  .is_known = true,
					  .is_reader = tag >> 40 & 1,
					  .is_selected = tag >> 41 & 1};

	(void)target;
	pp_ulcp_counts_contended(self->counts, self->lock->number, self->thread, &kind, n);
}

static void add_to_search(struct pp_ulcp_pass *self, struct pp_ulcp_lock_data *lock,
			  const struct pp_access_instance *instance,
			  const struct pp_ulcp_kind *kind)
{
	struct pp_ulcp_lock *search;
	uint32_t serial = instance->thread->serial;

	if (!kind->is_known || !instance->set->n)
		return;
	search = search_of(self, lock, instance->thread->process);
	self->lock = lock;
	self->thread = serial;
	if (instance->shared)
		pp_ulcp_search_add_reader(search, serial, 0, tag_of(kind), instance->set);
	else
		pp_ulcp_search_add(search, serial, 0, tag_of(kind), instance->set);
}

/* --- conflicts of consecutive sections -------------------------------------------------------- */

static void add_conflict(struct pp_ulcp_conflict *to, const struct pp_ulcp_conflict *conflict)
{
	to->conflicts |= conflict->conflicts;
	to->contends |= conflict->contends;
	to->updates |= conflict->updates;
	to->first_only_reads |= conflict->first_only_reads;
	to->second_only_reads |= conflict->second_only_reads;
	to->writes |= conflict->writes;
}

/* How the last section conflicts with these accesses of the next one. */
static struct pp_ulcp_conflict compare(const struct pp_ulcp_pass *self,
				       const struct pp_ulcp_lock_data *lock,
				       const struct pp_access_set *set)
{
	struct pp_ulcp_conflict conflict = pp_ulcp_compare(lock->set, set);
	struct pp_access_set *live;

	if (!conflict.conflicts || lock->since == pp_lives_now(self->lives))
		return conflict;
	live = pp_lives_part(self->lives, lock->thread->process, lock->set, lock->since);
	conflict = pp_ulcp_compare(live, set);
	pp_access_set_unref(live);
	return conflict;
}

/*
 * Compares the last section with the memory that the next one accesses and frees.  In the other
 * order the last one would access memory that is freed.
 */
static struct pp_ulcp_conflict compare_ending(const struct pp_ulcp_pass *self,
					      const struct pp_ulcp_lock_data *lock,
					      const struct pp_access_instance *instance)
{
	struct pp_ulcp_conflict conflict = compare(self, lock, instance->set);
	struct pp_ulcp_conflict freed = compare(self, lock, instance->freed_set);

	freed.writes = freed.conflicts;
	add_conflict(&conflict, &freed);
	return conflict;
}

static void note_early(struct pp_ulcp_pass *self, const struct pp_access_instance *instance,
		       struct pp_access_set *set)
{
	struct pp_ulcp_early early = {.thread = instance->thread, .lock = instance->object};

	if (!set->n)
		return;
	early.use = pp_ulcp_uses_add(self->uses, instance->thread, set);
	g_array_append_val(self->early, early);
}

/* Some bytes end their life before the section ends. */
static void on_freed_within(void *data, const struct pp_access_instance *instance)
{
	struct pp_ulcp_pass *self = data;
	struct pp_ulcp_lock_data *lock = lock_of(self, instance->object);

	/* In sampled mode it is not known yet whether the section counts. */
	if (instance->thread->process->accesses != PP_ACCESSES_COMPILED)
		return;
	note_early(self, instance, instance->set);
	note_early(self, instance, instance->freed_set);
	if (lock->set && lock->thread != instance->thread) {
		struct pp_ulcp_conflict conflict = compare_ending(self, lock, instance);

		add_conflict(&lock->early, &conflict);
	}
	if (!lock->search)
		return;
	self->lock = lock;
	self->thread = instance->thread->serial;
	pp_ulcp_search_add_ending(lock->search, self->thread, 0, instance->shared, instance->set);
	pp_ulcp_search_add_ending(lock->search, self->thread, 0, instance->shared,
				  instance->freed_set);
}

/*
 * The use of all memory that the section has freed; their lives have ended, so it is final.
 * *ret_any: it has freed memory, or accessed memory that was freed.
 */
static enum pp_ulcp_use take_early(struct pp_ulcp_pass *self,
				   const struct pp_access_instance *instance, bool *ret_any)
{
	enum pp_ulcp_use use = PP_ULCP_USES_NONE;

	*ret_any = false;
	for (guint i = self->early->len; i-- > 0;) {
		const struct pp_ulcp_early *early =
		    &g_array_index(self->early, struct pp_ulcp_early, i);

		if (early->thread != instance->thread || early->lock != instance->object)
			continue;
		*ret_any = true;
		use = MAX(use, pp_ulcp_uses_get(self->uses, early->use));
		g_array_remove_index_fast(self->early, i);
	}
	return use;
}

/* --- sections --------------------------------------------------------------------------------- */

static struct pp_ulcp_latest *latest_of(struct pp_ulcp_lock_data *lock,
					const struct pp_thread *thread)
{
	uint32_t n = lock->threads.n, at = pp_ulcp_threads_number(&lock->threads, thread->serial);

	if (lock->threads.n != n) {
		lock->latest = g_renew(struct pp_ulcp_latest, lock->latest, n + 1);
		lock->latest[n] = (struct pp_ulcp_latest){0};
	}
	return &lock->latest[at];
}

/*
 * Notes that the section is its thread's last one on the lock; is_whole: all of its accesses are in
 * its set.  Returns true if it may end a poll: the one before it was the same, and polled.
 */
static bool note_latest(struct pp_ulcp_pass *self, struct pp_ulcp_lock_data *lock,
			const struct pp_access_instance *instance, uint32_t code, bool is_whole)
{
	struct pp_ulcp_latest *latest = latest_of(lock, instance->thread);
	struct pp_ulcp_latest now = {.number = self->all.n, .code = code};
	const struct pp_process *process = instance->thread->process;
	bool is_same, polled = latest->polls;

	now.set = is_whole ? instance->set->serial : 0;
	is_same = now.set && latest->set == now.set && latest->code == code;
	now.polls = is_same &&
		    !pp_ulcp_changes_since(self->changes, process, instance->set, latest->number);
	*latest = now;
	return is_same && polled;
}

/* Returns how it conflicts with the section before it on the lock. */
static struct pp_ulcp_conflict set_conflict(const struct pp_ulcp_pass *self,
					    const struct pp_ulcp_lock_data *lock,
					    const struct pp_access_instance *instance,
					    bool ends_poll, struct pp_ulcp_section *section)
{
	struct pp_ulcp_conflict conflict = {0};

	if (!lock->set || !section->kind.is_known || lock->thread == instance->thread)
		return conflict;
	conflict = compare(self, lock, instance->set);
	add_conflict(&conflict, &lock->early);
	section->conflicts = conflict.conflicts;
	if (!conflict.conflicts)
		return conflict;
	section->class = pp_ulcp_class_of_conflict(&conflict, lock->polls, ends_poll);
	section->reason = conflict.updates ? PP_ULCP_UPDATE : PP_ULCP_FLAG;
	return conflict;
}

static uint64_t last_site(const struct pp_ulcp_pass *self, struct pp_ulcp_lock_data *lock)
{
	const struct pp_ulcp_code *code = self->codes->pdata[latest_of(lock, lock->thread)->code];

	return code->site;
}

static void tell_listener(struct pp_ulcp_pass *self, struct pp_ulcp_lock_data *lock,
			  const struct pp_access_instance *instance,
			  const struct pp_ulcp_conflict *conflict, bool ends_poll)
{
	const struct pp_ulcp_listener *listener = self->section_listener;
	struct pp_ulcp_conflicting conflicting;
	struct pp_access_set *first;

	if (!listener)
		return;
	if (!conflict->conflicts) {
		listener->section(listener->data, instance, NULL);
		return;
	}
	first = pp_lives_part(self->lives, lock->thread->process, lock->set, lock->since);
	conflicting = (struct pp_ulcp_conflicting){.second = instance,
						   .first_set = first,
						   .first_site = last_site(self, lock),
						   .conflict = *conflict,
						   .first_polls = lock->polls,
						   .second_polls = ends_poll,
						   .is_partly_freed = lock->early.conflicts};
	listener->section(listener->data, instance, &conflicting);
	pp_access_set_unref(first);
}

/* The numbers of a lock rise with each acquisition that excludes others. */
static void check_order(struct pp_ulcp_pass *self, struct pp_ulcp_lock_data *lock,
			const struct pp_access_instance *instance, struct pp_ulcp_section *section)
{
	if (!instance->order || instance->shared)
		return;
	self->n_numbered++;
	if (instance->order <= lock->order) {
		self->n_contradicting++;
		section->conflicts = true;
		section->class = PP_ULCP_UNDECIDED;
		section->reason = PP_ULCP_ORDER;
	}
	lock->order = MAX(lock->order, instance->order);
}

static bool is_known(const struct pp_access_instance *instance)
{
	return instance->known == PP_ACCESSES_KNOWN && !instance->left_out && !instance->is_cut;
}

static void note_figures(struct pp_access_figures *all, const struct pp_access_instance *instance)
{
	all->n++;
	all->known[instance->known]++;
	all->n_inexact += instance->left_out != 0;
	all->n_cut += instance->is_cut;
	all->n_unmapped += (instance->flags & ST_ACCESS_UNMAPPED) != 0;
}

static void keep(struct pp_ulcp_pass *self, struct pp_ulcp_lock_data *lock,
		 const struct pp_access_instance *instance, bool known)
{
	pp_access_set_unref(lock->set);
	lock->set = known ? pp_access_set_ref(instance->set) : NULL;
	lock->thread = instance->thread;
	lock->since = pp_lives_now(self->lives);
	lock->polls = latest_of(lock, instance->thread)->polls;
	lock->early = (struct pp_ulcp_conflict){0};
	if (known)
		pp_ulcp_changes_add(self->changes, instance->thread->process, instance->set,
				    self->all.n);
}

static void on_ended(void *data, const struct pp_access_instance *instance)
{
	struct pp_ulcp_pass *self = data;
	struct pp_ulcp_lock_data *lock = lock_of(self, instance->object);
	bool known = is_known(instance), has_early, ends_poll;
	struct pp_ulcp_conflict conflict;
	struct pp_ulcp_section section = {
	    .lock = lock->number,
	    .thread = instance->thread->serial,
	    .code = code_of(self, instance),
	    .kind = {.at_least = take_early(self, instance, &has_early),
		     .is_known = known,
		     .is_reader = instance->shared,
		     .is_selected = pp_selects_time(self->context, instance->end_ns) &&
				    pp_selects_thread(self->context, instance->thread)},
	};

	note_figures(&self->all, instance);
	lock->n_sections++;
	if (known)
		section.kind.use = pp_ulcp_uses_add(self->uses, instance->thread, instance->set);
	ends_poll = note_latest(self, lock, instance, section.code, known && !has_early);
	conflict = set_conflict(self, lock, instance, ends_poll, &section);
	tell_listener(self, lock, instance, &conflict, ends_poll);
	check_order(self, lock, instance, &section);
	add_to_search(self, lock, instance, &section.kind);
	pp_ulcp_counts_add(self->counts, &section);
	keep(self, lock, instance, known);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void end_life(struct pp_ulcp_pass *self, const struct pp_process *process, uint64_t address,
		     uint64_t size)
{
	struct pp_ulcp_search *search = g_hash_table_lookup(self->searches, process);

	if (search)
		pp_ulcp_search_end_life(search, address, size);
	pp_lives_end(self->lives, process, address, size);
}

static void on_freed(void *data, const struct pp_process *process, uint64_t address, uint64_t size)
{
	struct pp_ulcp_pass *self = data;

	end_life(self, process, address, size);
	pp_ulcp_uses_end_life(self->uses, process, address, size);
	pp_blocks_remove(self->blocks, process, address, size);
}

static void on_block(void *data, const struct pp_process *process, uint64_t address, uint64_t size,
		     uint64_t site)
{
	struct pp_ulcp_pass *self = data;
	struct pp_memory_place before = pp_blocks_place(self->blocks, process, address);

	/* The block that was there before has ended, which was not recorded. */
	if (!before.is_heap || before.address || before.site != site)
		on_freed(self, process, address, size);
	pp_blocks_add(self->blocks, process, address, size, site);
}

static bool on_is_reused(void *data, const struct pp_process *process, uint64_t address)
{
	struct pp_ulcp_pass *self = data;

	return !pp_blocks_place(self->blocks, process, address).is_heap &&
	       pp_place_is_nameless(self->context, process, address);
}

static void on_reused(void *data, const struct pp_process *process, uint64_t address)
{
	end_life(data, process, address, ST_LINE_BYTES);
}

/* --- the pass --------------------------------------------------------------------------------- */

static void search_free(void *search)
{
	pp_ulcp_search_free(search);
}

static void *ulcp_start(const struct pp_pass_context *context)
{
	struct pp_ulcp_pass *self = g_new0(struct pp_ulcp_pass, 1);

	self->context = context;
	self->listener = (struct pp_access_listener){
	    .data = self,
	    .ended = on_ended,
	    .block = on_block,
	    .freed_within = on_freed_within,
	    .freed = on_freed,
	    .fold = on_fold,
	    .compare = compare_objects,
	};
	self->uses_listener = (struct pp_ulcp_uses_listener){
	    .data = self, .is_reused = on_is_reused, .reused = on_reused};
	self->search_listener =
	    (struct pp_ulcp_search_listener){.data = self, .contended = on_contended};
	self->sections = pp_access_sections_new(context, &self->listener);
	self->code_of = g_hash_table_new(code_hash, code_equal);
	self->codes = g_ptr_array_new_with_free_func(g_free);
	self->searches = g_hash_table_new_full(NULL, NULL, NULL, search_free);
	self->uses = pp_ulcp_uses_new(&self->uses_listener);
	self->counts = pp_ulcp_counts_new();
	self->changes = pp_ulcp_changes_new();
	self->lives = pp_lives_new();
	self->blocks = pp_blocks_new();
	self->early = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_early));
	self->spare = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return self;
}

void pp_ulcp_listen(void *pass, const struct pp_ulcp_listener *listener)
{
	((struct pp_ulcp_pass *)pass)->section_listener = listener;
}

static void ulcp_event(void *state, const struct pp_event *event)
{
	struct pp_ulcp_pass *self = state;

	pp_access_sections_event(self->sections, event);
}

static enum pp_ulcp_use use_of(void *uses, uint32_t number)
{
	return pp_ulcp_uses_get(uses, number);
}

static void ulcp_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pp_ulcp_pass *self = state;
	struct pp_error err = PP_ERROR_INIT;

	pp_access_sections_finish(self->sections, end_ns);
	if (pp_ulcp_counts_finish(self->counts, use_of, self->uses, &err) != 0)
		self->failure = pp_error_text(&err);
	pp_ulcp_tables(self, tables);
}

static void ulcp_free(void *state)
{
	struct pp_ulcp_pass *self = state;

	pp_access_sections_free(self->sections, lock_free);
	g_hash_table_unref(self->searches);
	g_hash_table_unref(self->code_of);
	g_ptr_array_unref(self->codes);
	pp_ulcp_uses_free(self->uses);
	pp_ulcp_counts_free(self->counts);
	pp_ulcp_changes_free(self->changes);
	pp_lives_free(self->lives);
	pp_blocks_free(self->blocks);
	g_array_unref(self->early);
	g_array_unref(self->spare);
	g_free(self->failure);
	g_free(self);
}

const struct pp_pass pp_pass_ulcp = {
    .name = "ulcp",
    .summary = "unnecessary contention",
    .kinds = PP_ACCESS_SECTIONS_KINDS,
    .selects = PP_SELECT_TIME | PP_SELECT_THREAD | PP_SELECT_OBJECT,
    .has_operations = true,
    .start = ulcp_start,
    .event = ulcp_event,
    .finish = ulcp_finish,
    .free = ulcp_free,
};

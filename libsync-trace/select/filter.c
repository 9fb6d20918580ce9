/* SPDX-License-Identifier: MIT */
/*
 * Selects objects: [sync] include and exclude.
 *
 * The decision is made for an object, not for a call; otherwise an unlock could be separated from
 * its lock. An object in the memory of a module belongs to that module, whichever code uses it. Any
 * other object belongs to the module whose code initialized or first used it. A condition goes with
 * the mutex of its waits, since libstdc++ makes the calls for std::condition_variable.
 *
 * The decision is stored by the object's address until it is destroyed or initialized anew. For an
 * object in a module that may be unloaded only ST_ASK is stored: another module may be mapped at
 * that address, so the loader is asked each time.
 *
 * There are no locks, and signals may come at any time: a slot is one word. A table half full is
 * followed by one four times as large and stays; decisions found in it are copied to the newest. A
 * forked child keeps the tables, since it cannot find out which code initialized an object.
 */
#include <dlfcn.h>
#include <link.h>

#include "record/internal.h"
#include "runtime/files/file.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/sys/sys.h"

#define FIRST_BITS 9u  /* 512 slots in the first table */
#define LAST_BITS  21u /* 2 Mi slots in the last; 22 MiB together */
#define STEP_BITS  2u
#define PROBES	   64u

#define ANSWER(word)  ((enum st_wanted)((word) & ((1u << ST_WANTED_BITS) - 1)))
#define ADDRESS(word) ((word) >> ST_WANTED_BITS)
#define GONE	      ((uint64_t)ST_ASK) /* the slot has no address any more: it is free */

/* Set by type in select.c; ST_BY_OBJECT is decided here. */
uint8_t st_fates[ST_N_EVENTS];

static const char *include, *exclude;
static GM_LARGE char program[GM_PATH_MAX]; /* the program's path, then its name */
static const char *program_name = program;

/*
 * Cached decisions for some modules that may be unloaded. Another module may be mapped at the same
 * address by now, but not with the same path.
 */
static GM_LARGE struct seen {
	uint32_t state;
	enum st_wanted answer;
	const struct link_map *module;
	char path[240];
} seen[16];
enum { SEEN_NONE = 0, SEEN_BEGUN, SEEN };

static struct {
	struct st_objects head;
	uint64_t slots[1u << FIRST_BITS];
} first_table = {.head.shift = 64 - FIRST_BITS};
_Static_assert(sizeof(first_table) == sizeof(struct st_objects) + (8u << FIRST_BITS), "its slots");

struct st_objects *st_objects = &first_table.head;

/* --- modules ---------------------------------------------------------------------------------- */

static bool glob_matches(const char *glob, const char *end, const char *name)
{
	const char *star = NULL, *from = NULL;

	while (*name != '\0') {
		if (glob < end && *glob == '*') {
			star = ++glob;
			from = name;
		} else if (glob < end && (*glob == '?' || *glob == *name)) {
			glob++;
			name++;
		} else if (star != NULL) {
			glob = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (glob < end && *glob == '*')
		glob++;
	return glob == end;
}

static bool is_listed(const char *list, const char *name)
{
	while (*list != '\0') {
		const char *end = list;

		while (*end != '\0' && *end != ',')
			end++;
		if (glob_matches(list, end, name))
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

static const char *base_name(const char *path)
{
	const char *name = path;

	for (; *path != '\0'; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

static enum st_wanted answer_by_name(const char *name)
{
	return is_listed(include, name) && !is_listed(exclude, name) ? ST_WANTED : ST_LEFT_OUT;
}

static bool is_path(const char *a, const char *b)
{
	while (*a == *b && *a != '\0') {
		a++;
		b++;
	}
	return *a == *b;
}

static enum st_wanted answer_by_path(const struct link_map *module, bool again)
{
	struct seen *at = &seen[(uintptr_t)module / sizeof(*module) % 16];
	const char *path = module->l_name;
	uint32_t state = SEEN_NONE;
	enum st_wanted answer;
	size_t bytes;

	/* acquire: pairs with the release below */
	if (again && __atomic_load_n(&at->state, __ATOMIC_ACQUIRE) == SEEN &&
	    at->module == module && is_path(at->path, path))
		return at->answer;
	answer = answer_by_name(path[0] == '\0' ? program_name : base_name(path));
	bytes = gm_strlen(path) + 1;
	if (again && bytes <= sizeof(at->path) &&
	    __atomic_compare_exchange_n(&at->state, &state, SEEN_BEGUN, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED)) {
		at->answer = answer;
		at->module = module;
		memcpy(at->path, path, bytes);
		/* release: a reader that sees SEEN sees the decision */
		__atomic_store_n(&at->state, SEEN, __ATOMIC_RELEASE);
	}
	return answer;
}

/*
 * Decides by the module that contains the address; ST_UNKNOWN: no module. *ret_module: the loader's
 * description, if known.
 */
static enum st_wanted answer_by_module(uintptr_t address, bool again,
				       const struct link_map **ret_module)
{
	const struct gm_object *noted;
	struct dl_find_object found;

	*ret_module = NULL;
	if (gm_find_object == NULL) {
		noted = gm_maps_find(address);
		if (noted == NULL)
			return ST_UNKNOWN;
		return answer_by_name(noted->executable ? program_name : noted->name);
	}
	if (gm_find_object((void *)address, &found) != 0)
		return ST_UNKNOWN;
	*ret_module = found.dlfo_link_map;
	return answer_by_path(found.dlfo_link_map, again);
}

/*
 * --- stored decisions --------------------------------------------------------------------------
 */

static struct st_objects *table_newest(void)
{
	/* acquire: pairs with the release in table_add() */
	return __atomic_load_n(&st_objects, __ATOMIC_ACQUIRE);
}

/* Returns its slot, and its former content; NULL: none, but *ret_free (if not NULL) may be used. */
static uint64_t *slot_find(struct st_objects *table, uintptr_t address, uint64_t *ret_word,
			   uint64_t **ret_free)
{
	uint32_t home = st_object_home(table, address);

	*ret_free = NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t *slot = &table->slots[st_object_next(table, home, i)];
		uint64_t word = __atomic_load_n(slot, __ATOMIC_RELAXED);

		*ret_word = word;
		if (ADDRESS(word) == address)
			return slot;
		if (ADDRESS(word) == 0 && *ret_free == NULL)
			*ret_free = slot;
		if (word == 0)
			break;
	}
	return NULL;
}

/* Returns false if there is no memory, or the table would be too large. */
static bool table_add(struct st_objects *last)
{
	uint32_t bits = 64 - last->shift + STEP_BITS;
	size_t bytes = sizeof(*last) + (sizeof(last->slots[0]) << bits);
	struct st_objects *made;

	if (bits > LAST_BITS)
		return false;
	made = gm_sys_mmap(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == NULL)
		return false;
	/* Small pages would miss the TLB at each lookup. */
	gm_syscall3(SYS_madvise, (long)made, (long)bytes, MADV_HUGEPAGE);
	made->older = last;
	made->shift = 64 - bits;
	/* release: pairs with the acquire in table_newest() and st_wants() */
	if (!__atomic_compare_exchange_n(&st_objects, &last, made, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		gm_sys_munmap(made, bytes);
	return true;
}

static void slot_take(struct st_objects *table, uint64_t *slot, uint64_t word)
{
	uint64_t none = 0, gone = GONE;

	if (__atomic_compare_exchange_n(slot, &gone, word, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED) ||
	    !__atomic_compare_exchange_n(slot, &none, word, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	if (__atomic_add_fetch(&table->n_used, 1, __ATOMIC_RELAXED) == UINT64_C(1)
									   << (63 - table->shift))
		table_add(table);
}

/*
 * The first decision stored is valid, except ST_ASK, whose module may be unloaded. If two threads
 * store one at the same time, in two places, the first place is valid.
 */
static enum st_wanted keep(uintptr_t address, enum st_wanted answer)
{
	uint64_t word, new = (uint64_t)address << ST_WANTED_BITS | answer, *unused, *slot;

	for (;;) {
		struct st_objects *table = table_newest();

		slot = slot_find(table, address, &word, &unused);
		if (slot != NULL && (ANSWER(word) != ST_ASK || answer == ST_ASK))
			return ANSWER(word);
		if (slot != NULL)
			__atomic_compare_exchange_n(slot, &word, new, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
		else if (unused != NULL)
			slot_take(table, unused, new);
		else if (!table_add(table))
			break;
	}
	gm_process_set_sync_objects(GM_SYNC_OBJECTS_UNSORTED);
	return ST_WANTED;
}

void st_filter_forget(const void *object)
{
	uint64_t word, *unused, *slot;

	for (struct st_objects *table = table_newest(); table != NULL; table = table->older)
		while (object != NULL &&
		       (slot = slot_find(table, (uintptr_t)object, &word, &unused)) != NULL)
			__atomic_compare_exchange_n(slot, &word, GONE, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
}

static enum st_wanted known(uintptr_t address)
{
	struct st_objects *newest = table_newest(), *table;
	uint64_t word, *unused;

	for (table = address == 0 ? NULL : newest; table != NULL; table = table->older)
		if (slot_find(table, address, &word, &unused) != NULL)
			return table == newest ? ANSWER(word) : keep(address, ANSWER(word));
	return ST_UNKNOWN;
}

/* --- operations ------------------------------------------------------------------------------- */

/* Decides by the module whose memory contains the object; ST_UNKNOWN: no module. */
static enum st_wanted answer_by_place(uintptr_t address, enum st_wanted known)
{
	const struct link_map *module;
	enum st_wanted answer;

	if (address == 0)
		return ST_UNKNOWN;
	answer = answer_by_module(address, known == ST_ASK, &module);
	if (answer != ST_UNKNOWN && known != ST_ASK)
		keep(address, module == NULL || gm_module_is_permanent(module) ? answer : ST_ASK);
	return answer;
}

/* Decides by the module of the calling code; code outside of modules has an empty name. */
static enum st_wanted answer_by_site(uintptr_t site)
{
	const struct link_map *module;
	enum st_wanted answer = answer_by_module(site, false, &module);

	return answer != ST_UNKNOWN ? answer : answer_by_name("");
}

static enum st_wanted answer_of(const void *object, uintptr_t site, bool kept)
{
	uintptr_t address = (uintptr_t)object;
	enum st_wanted answer = known(address);

	if (answer == ST_WANTED || answer == ST_LEFT_OUT)
		return answer;
	answer = answer_by_place(address, answer);
	if (answer != ST_UNKNOWN)
		return answer;
	answer = answer_by_site(site);
	return kept && address != 0 ? keep(address, answer) : answer;
}

static enum st_wanted answer_of_cond(const void *cond, enum st_wanted of_mutex)
{
	uintptr_t address = (uintptr_t)cond;
	enum st_wanted answer = known(address);

	if (answer == ST_WANTED || answer == ST_LEFT_OUT)
		return answer;
	answer = answer_by_place(address, answer);
	return answer != ST_UNKNOWN ? answer : keep(address, of_mutex);
}

/* The very first operation opens the process, and only then decisions exist. */
static enum st_fate fate_of(enum st_event id)
{
	if (st_fates[id] == ST_UNDECIDED)
		st_ready();
	return st_fates[id];
}

bool st_skips_object(enum st_event id, const void *object, uintptr_t site)
{
	enum st_fate fate = fate_of(id);
	bool signals = id == ST_EVENT_cond_signal || id == ST_EVENT_cond_broadcast;

	if (fate != ST_BY_OBJECT)
		return fate == ST_SKIPPED;
	return answer_of(object, site, !signals) == ST_LEFT_OUT;
}

bool st_skips_wait_slowly(const void *cond, const void **mutex, uintptr_t site)
{
	enum st_fate fate = fate_of(ST_EVENT_cond_wait);
	enum st_wanted of_mutex, of_cond;

	st_turn_site = site;
	if (fate != ST_BY_OBJECT)
		return fate == ST_SKIPPED;
	of_mutex = answer_of(*mutex, site, true);
	of_cond = answer_of_cond(cond, of_mutex);
	if (of_mutex == ST_LEFT_OUT)
		*mutex = NULL;
	return (of_mutex == ST_LEFT_OUT || st_fates[ST_EVENT_mutex_lock] == ST_SKIPPED) &&
	       (of_cond == ST_LEFT_OUT || st_fates[ST_EVENT_cond_signal] == ST_SKIPPED);
}

bool st_filter_open(const struct gm_config *config)
{
	long n;

	include = config->sync_include;
	exclude = config->sync_exclude;
	if (gm_strcmp(include, "*") == 0 && exclude[0] == '\0')
		return false;
	n = gm_syscall3(SYS_readlink, (long)"/proc/self/exe", (long)program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	program_name = base_name(program);
	gm_process_set_sync_objects(GM_SYNC_OBJECTS_SOME);
	st_callers_close();
	return true;
}

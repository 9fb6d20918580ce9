/* SPDX-License-Identifier: MIT */
/*
 * Call paths: the callers of the call site, by unwind tables (runtime/unwind/unwind.h).
 *
 * The walk begins in this library, whose frames are left out. If the call site is that of a wrapper
 * (callers/callers.h), the path has the wrapper, too. Where the loader has no _dl_find_object()
 * (before glibc 2.35), there are no tables, and frame pointers are followed, which code built with
 * -pg and -fno-omit-frame-pointer has. This library is compiled not to use %rbp, so that it still
 * has the program's value here.
 *
 * Paths are stored as a tree: a node is an address and its caller's node. Each node is defined once
 * in a stream and then referred to by its number, so a path that shares its outer frames with
 * others defines only the inner ones. The parent of the outermost node is the reason why the path
 * ends there. An address in no object of the load map has a node, too, which is not defined: a path
 * ends before it.
 *
 * The table of nodes is a hash table by parent and address. Its first size is part of the writer's
 * memory: of a thousand threads most have few paths. Signals are blocked while it grows. If a
 * handler jumps out while a node is added, at worst it is defined again, by another number.
 */
#include <errno.h>
#include <sys/mman.h>

#include "record/internal.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/unwind.h"

#define OWN_FRAMES_MAX (ST_FRAMES_MAX - ST_PATH_MAX) /* of this library */
#define SLOTS_MAX      (1u << 20)		     /* of a thread: 16 MiB */
#define TABLES_MAX     ((uint64_t)256 << 20)	     /* of all threads, in bytes */
#define OUTSIDE	       UINT32_MAX		     /* number of a node that ends paths */

uint64_t st_path_wait_ns = UINT64_MAX;
unsigned st_path_depth = ST_PATH_MAX;

_Static_assert((int)ST_PATH_DEPTH == (int)GM_END_DEPTH &&
		   (int)ST_PATH_NO_OBJECT == (int)GM_END_NO_OBJECT &&
		   (int)ST_PATH_NO_TABLE == (int)GM_END_NO_TABLE &&
		   (int)ST_PATH_BAD_TABLE == (int)GM_END_BAD_TABLE &&
		   (int)ST_PATH_EXPRESSION == (int)GM_END_EXPRESSION &&
		   (int)ST_PATH_STACK == (int)GM_END_STACK && (int)ST_N_PATH_ENDS == (int)GM_N_ENDS,
	       "the reasons of the walk are those of the format");

static uint64_t tables_bytes; /* of all tables that grew */

/* --- frames ----------------------------------------------------------------------------------- */

void st_path_stack_init(struct st_thread *self)
{
	self->stack = gm_stack_around((uint64_t)__builtin_frame_address(0));
}

/* The registers of the program's code after the call at `site`, as far as they are known here. */
static struct gm_registers registers_at(uintptr_t site, const struct gm_registers *here)
{
	struct gm_registers at = {.known = 1u << GM_RIP | 1u << GM_RSP};

	at.value[GM_RIP] = site;
	at.value[GM_RSP] = here->value[GM_RSP];
#ifdef ST_HAS_FRAMES
	at.value[GM_RBP] = here->value[GM_RBP];
	at.known |= 1u << GM_RBP;
#endif
	return at;
}

/* The library's first byte, and the end of its code. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_own(uint64_t address)
{
	return address > (uint64_t)__ehdr_start && address <= (uint64_t)etext;
}

/* Leaves out this library's frames between others (wrap/openmp_team.c). Returns how many remain. */
static unsigned drop_own(uint64_t *addresses, unsigned n)
{
	unsigned kept = 1;

	for (unsigned i = 1; i < n; i++)
		if (!is_own(addresses[i]))
			addresses[kept++] = addresses[i];
	return kept;
}

/* The call site is the first address, or behind those of wrappers. */
static bool has_site(const uint64_t *addresses, unsigned n, uintptr_t site)
{
	for (unsigned i = 0; i < n && i <= ST_CALLERS_MAX; i++)
		if (addresses[i] == site)
			return true;
	return false;
}

/* Addresses in self->frames, innermost first. */
struct path {
	uint64_t *addresses;
	unsigned n; /* at least 1 */
	uint32_t end;
};

static struct path walk(struct st_thread *self, uintptr_t site)
{
	struct path path = {.addresses = self->frames};
	struct gm_registers here;
	enum gm_unwind_end end;
	unsigned n, own = 0;

	gm_registers_here(&here);
	if (gm_find_object != NULL) {
		n = gm_unwind(&here, &self->stack, self->frames, OWN_FRAMES_MAX + st_path_depth,
			      &end);
		while (own < n && own < OWN_FRAMES_MAX && self->frames[own] != site &&
		       is_own(self->frames[own]))
			own++;
		path.addresses += own;
		path.n = n - own < st_path_depth ? n - own : st_path_depth;
		path.end = n - own > st_path_depth ? ST_PATH_DEPTH : end;
		if (has_site(path.addresses, path.n, site)) {
			path.n = drop_own(path.addresses, path.n);
			return path;
		}
	}
	here = registers_at(site, &here);
	path.addresses = self->frames;
	path.n = gm_unwind(&here, &self->stack, self->frames, st_path_depth, &end);
	path.end = end;
	return path;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Returns the slot of the node, or the free slot for it. */
static struct st_node *node_at(const struct st_paths *paths, uint32_t parent, uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ parent) * 0x9e3779b97f4a7c15u;
	for (uint64_t i = hash >> 40;; i++) {
		struct st_node *node = &paths->nodes[i & (paths->n_slots - 1)];

		if (node->number == 0 || (node->address == address && node->parent == parent))
			return node;
	}
}

static uint64_t table_bytes(const struct st_paths *paths)
{
	return paths->n_slots * sizeof(paths->nodes[0]);
}

static struct st_node *first_nodes(struct st_thread *self)
{
	return ((struct st_writer *)self)->first_nodes;
}

/* Returns memory for the nodes of a table; NULL: there is no more. */
static struct st_node *nodes_new(uint64_t size_bytes)
{
	struct st_node *nodes = NULL;

	if (__atomic_add_fetch(&tables_bytes, size_bytes, __ATOMIC_RELAXED) <= TABLES_MAX)
		nodes = st_memory_new(size_bytes);
	if (nodes == NULL)
		__atomic_fetch_sub(&tables_bytes, size_bytes, __ATOMIC_RELAXED);
	return nodes;
}

static void nodes_free(struct st_thread *self)
{
	uint64_t size_bytes = table_bytes(&self->paths);

	if (self->paths.nodes == first_nodes(self))
		return;
	gm_sys_munmap(self->paths.nodes, size_bytes);
	__atomic_fetch_sub(&tables_bytes, size_bytes, __ATOMIC_RELAXED);
}

static bool grow(struct st_thread *self)
{
	const struct st_paths *paths = &self->paths;
	struct st_paths bigger = *paths;

	if (paths->n_slots == SLOTS_MAX)
		return false;
	bigger.n_slots = 4 * paths->n_slots;
	bigger.nodes = nodes_new(table_bytes(&bigger));
	if (bigger.nodes == NULL)
		return false;
	for (uint32_t i = 0; i < paths->n_slots; i++)
		if (paths->nodes[i].number != 0)
			*node_at(&bigger, paths->nodes[i].parent, paths->nodes[i].address) =
			    paths->nodes[i];
	nodes_free(self);
	self->paths = bigger;
	return true;
}

void st_paths_forget(struct st_thread *self)
{
	struct st_paths *paths = &self->paths;

	if (paths->nodes != NULL)
		memset(paths->nodes, 0, table_bytes(paths));
	paths->n_used = 0;
}

void st_paths_forked(void)
{
	if (tables_bytes != 0)
		tables_bytes = 0;
}

/* Makes room for one more node. */
static bool table_has_room(struct st_thread *self)
{
	struct st_paths *paths = &self->paths;

	return paths->n_used < paths->n_slots - paths->n_slots / 4 || st_grow(self, grow);
}

/* Returns the number of a node, which it defines if it is new. 0: there is no room. */
static uint32_t node_number(struct st_thread *self, uint32_t parent, uint64_t address,
			    bool is_innermost, uint64_t now_ns)
{
	struct st_paths *paths = &self->paths;
	struct st_node *node = node_at(paths, parent, address);
	uint32_t number = OUTSIDE;

	if (node->number != 0)
		return node->number;
	if (!table_has_room(self))
		return 0;
	if (gm_maps_note(address - 1, NULL) || is_innermost) {
		if (paths->last == OUTSIDE - 1)
			return 0;
		number = paths->last < ST_PATH_FIRST ? ST_PATH_FIRST : paths->last + 1;
		paths->last = number;
		if (!st_emit_path(self, number, parent, address, now_ns))
			return 0;
	}
	node = node_at(paths, parent, address); /* after the table has grown */
	paths->n_used++;
	node->address = address;
	node->parent = parent;
	/* release: a handler that jumps out leaves the node whole or free */
	__atomic_store_n(&node->number, number, __ATOMIC_RELEASE);
	return number;
}

/* Returns the number of the path's node; 0: not all its nodes are known. */
static uint32_t find(const struct st_paths *paths, const struct path *path)
{
	uint32_t parent = path->end;

	for (unsigned i = path->n; i-- > 0;) {
		uint32_t number = node_at(paths, parent, path->addresses[i])->number;

		if (number == 0)
			return 0;
		parent = number == OUTSIDE ? ST_PATH_NO_OBJECT : number;
	}
	return parent;
}

/* The same, but defines nodes that are not known. 0: there is no room. */
static ST_COLD uint32_t learn(struct st_thread *self, const struct path *path, uint64_t now_ns)
{
	uint32_t parent = path->end;

	for (unsigned i = path->n; i-- > 0;) {
		uint32_t number = node_number(self, parent, path->addresses[i], i == 0, now_ns);

		if (number == 0)
			return 0;
		parent = number == OUTSIDE ? ST_PATH_NO_OBJECT : number;
	}
	return parent;
}

static void table_init(struct st_thread *self)
{
	struct st_paths *paths = &self->paths;

	paths->nodes = first_nodes(self);
	paths->n_slots = ST_NODES_FIRST;
	st_paths_forget(self); /* in a forked child they may be the parent's */
}

/*
 * Returns true if an operation that took wait_ns has a path. LTTng's events have none; LTTng's own
 * and merely counted operations are not events.
 */
static bool is_needed(struct st_thread *self, uintptr_t site, uint64_t wait_ns, uint64_t now_ns)
{
	if (wait_ns < st_path_wait_ns || !self->live || self->only_ust || gm_seal_is_set() ||
	    now_ns == ST_JUST_COUNTED || (self->ust && st_ust_is_own(site)))
		return false;
	st_sites_check(self);
	if (self->paths.nodes == NULL)
		table_init(self);
	return true;
}

/* Returns the number of the path's node; 0: there is no room, which is counted. */
static uint32_t number_of(struct st_thread *self, const struct path *path, uint64_t now_ns)
{
	uint32_t number = find(&self->paths, path);

	if (number == 0)
		number = learn(self, path, now_ns);
	if (number == 0 && self->live)
		gm_process_count_path_lost();
	return number;
}

uint32_t st_path_number(struct st_thread *self, uintptr_t site, uint64_t wait_ns, uint64_t now_ns)
{
	struct path path;

	if (!is_needed(self, site, wait_ns, now_ns))
		return 0;
	path = walk(self, site);
	return number_of(self, &path, now_ns);
}

uint32_t st_path_number_of(struct st_thread *self, uintptr_t address, uint64_t now_ns)
{
	struct path path = {.addresses = self->frames, .n = 1, .end = ST_PATH_OUTERMOST};

	if (!is_needed(self, 0, ST_RELEASES, now_ns))
		return 0;
	self->frames[0] = address;
	return number_of(self, &path, now_ns);
}

void st_path_note(struct st_thread *self, uintptr_t site, const void *object, uint64_t wait_ns,
		  uint64_t now_ns)
{
	uint32_t number = st_path_number(self, site, wait_ns, now_ns);

	if (number != 0)
		st_emit_parts(self, ST_EVENT_call_path, 0, 0, object, number, now_ns);
}

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
 * Paths are stored as nodes (runtime/unwind/nodes.h). The first table of them is part of the
 * writer's memory. Signals are blocked while it grows.
 */
#include "record/internal.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/unwind.h"

#define OWN_FRAMES_MAX (ST_FRAMES_MAX - ST_PATH_MAX) /* of this library */

uint64_t st_path_wait_ns = UINT64_MAX;
unsigned st_path_depth = ST_PATH_MAX;

_Static_assert((int)ST_PATH_DEPTH == (int)GM_END_DEPTH &&
		   (int)ST_PATH_NO_OBJECT == (int)GM_END_NO_OBJECT &&
		   (int)ST_PATH_NO_TABLE == (int)GM_END_NO_TABLE &&
		   (int)ST_PATH_BAD_TABLE == (int)GM_END_BAD_TABLE &&
		   (int)ST_PATH_EXPRESSION == (int)GM_END_EXPRESSION &&
		   (int)ST_PATH_STACK == (int)GM_END_STACK && (int)ST_N_PATH_ENDS == (int)GM_N_ENDS,
	       "the reasons of the walk are those of the format");
_Static_assert(ST_PATH_FIRST == GM_NODE_FIRST && ST_PATH_MAX == GM_PATH_MAX_FRAMES,
	       "the numbers of nodes are those of the format");

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

/* The addresses are in self->frames. */
static struct gm_call_path walk(struct st_thread *self, uintptr_t site)
{
	struct gm_call_path path = {.addresses = self->frames};
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

static struct gm_node *first_nodes(struct st_thread *self)
{
	return ((struct st_writer *)self)->first_nodes;
}

static bool grow_table(struct st_thread *self)
{
	return gm_nodes_grow(&self->paths, first_nodes(self));
}

static bool grow(void *self)
{
	return st_grow(self, grow_table);
}

static bool note(void *self, uint64_t address, uint64_t *ret_address)
{
	(void)self;
	(void)ret_address;
	return gm_maps_note(address - 1, NULL);
}

static bool define(void *self, uint32_t number, uint32_t parent, uint64_t address, uint64_t now_ns)
{
	return st_emit_path(self, number, parent, address, now_ns);
}

static const struct gm_nodes_writer node_functions = {grow, note, define};

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
	if (self->paths.at == NULL)
		gm_nodes_begin(&self->paths, first_nodes(self));
	return true;
}

/* Returns the number of the path's node; 0: there is no room, which is counted. */
static uint32_t number_of(struct st_thread *self, const struct gm_call_path *path, uint64_t now_ns)
{
	uint32_t number;

	if (st_rings)
		st_emit_path_room(self, path->n, now_ns);
	number = gm_nodes_number(&self->paths, path, &node_functions, self, now_ns);
	if (number == 0 && self->live)
		gm_process_count_path_lost();
	return number;
}

uint32_t st_path_number(struct st_thread *self, uintptr_t site, uint64_t wait_ns, uint64_t now_ns)
{
	struct gm_call_path path;

	if (!is_needed(self, site, wait_ns, now_ns))
		return 0;
	path = walk(self, site);
	return number_of(self, &path, now_ns);
}

uint32_t st_path_number_of(struct st_thread *self, uintptr_t address, uint64_t now_ns)
{
	struct gm_call_path path = {.addresses = self->frames, .n = 1, .end = ST_PATH_OUTERMOST};

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

/* SPDX-License-Identifier: MIT */
/*
 * A stream's table of call sites: return address to 16-bit number.
 *
 * The low bits of an address give its place: return addresses are spread well enough, and those in
 * one function differ. Open addressing with linear probing from an even place, so that the first
 * two places of a key share a cache line and st_site_find() can check both inline. The table is at
 * most half full and grows by doubling up to the number of site numbers. A number is valid once its
 * `site` event is written.
 *
 * When an object is unloaded, sites outside all noted objects get their top bit set, so that
 * st_site_find() does not find them. The next event from such a site notes the object that is
 * mapped there now; the number stays, since readers look up addresses by time. For the sampled mode
 * of accesses, sites get this bit from time to time, so that an event of each takes the slow path.
 * In a ring they get it when the stream begins a file, and are defined there again (ring.c).
 */
#include "record/internal.h"
#include "runtime/process/loadmap.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define SITES_MAX 0xffffu
#define UNCHECKED ((uint64_t)1 << 63)

struct table {
	uint64_t *sites;
	uint32_t mask;
};

static struct table table_of(const struct st_thread *self)
{
	return (struct table){self->sites, self->sites_mask};
}

static uint32_t table_size(struct table table)
{
	return table.mask + 1;
}

static size_t table_bytes(struct table table)
{
	return table_size(table) * sizeof(table.sites[0]);
}

static uint64_t site_of(uint64_t entry)
{
	return (entry & ~UNCHECKED) >> ST_SITE_BITS;
}

/*
 * Returns the site's entry, or the free one for it: its home, the other place of that pair, then
 * further pairs.
 */
static uint64_t *place_of(struct table table, uintptr_t site)
{
	uint32_t home = (uint32_t)site & table.mask;

	for (uint32_t i = 0;; i++) {
		uint64_t *entry = &table.sites[((home ^ (i & 1)) + (i & ~1u)) & table.mask];

		if (*entry == 0 || site_of(*entry) == site)
			return entry;
	}
}

void st_sites_init(struct st_thread *self)
{
	self->sites = self->first_sites;
	self->sites_mask = ST_SITES_FIRST - 1;
	self->n_sites = 0;
}

bool st_grow(struct st_thread *self, bool (*grow)(struct st_thread *self))
{
	uint64_t mask;
	bool grown;

	gm_signals_block(&mask);
	grown = grow(self);
	gm_signals_restore(mask);
	return grown;
}

static bool grow(struct st_thread *self)
{
	struct table old = table_of(self), bigger = {NULL, 2 * old.mask + 1};

	bigger.sites = gm_sys_mmap(table_bytes(bigger), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bigger.sites == NULL)
		return false;
	for (uint32_t i = 0; i < table_size(old); i++)
		if (old.sites[i] != 0)
			*place_of(bigger, site_of(old.sites[i])) = old.sites[i];
	self->sites = bigger.sites;
	self->sites_mask = bigger.mask;
	if (old.sites != self->first_sites)
		gm_sys_munmap(old.sites, table_bytes(old));
	return true;
}

uintptr_t st_site_address(const struct st_thread *self, uint16_t number)
{
	struct table table = table_of(self);

	for (uint32_t i = 0; number != 0 && i < table_size(table); i++)
		if ((uint16_t)table.sites[i] == number)
			return site_of(table.sites[i]);
	return 0;
}

void st_sites_recheck(struct st_thread *self)
{
	struct table table = table_of(self);
	uint64_t mask;

	if (gm_seal_is_set())
		return;
	gm_signals_block(&mask);
	/*
	 * acquire: pairs with the release in st_pool_detour(); the object has moved from its
	 * address
	 */
	__atomic_fetch_and(&self->detours, (uint8_t)~ST_DETOUR_UNLOADED, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < table_size(table); i++)
		if (table.sites[i] != 0 && gm_maps_find(site_of(table.sites[i])) == NULL)
			table.sites[i] |= UNCHECKED;
	gm_nodes_forget(&self->paths);
	gm_signals_restore(mask);
}

void st_sites_arm(struct st_thread *self)
{
	struct table table = table_of(self);

	for (uint32_t i = 0; table.sites != NULL && i < table_size(table); i++)
		if (table.sites[i] != 0)
			table.sites[i] |= UNCHECKED;
}

/* Notes the site's object. Returns false if that needs a system call that must not be made. */
static bool check(uintptr_t site)
{
	if (gm_seal_is_set())
		return gm_maps_find(site) != NULL;
	gm_maps_note(site, NULL);
	return true;
}

uint16_t st_site_number(struct st_thread *self, uintptr_t site, uint64_t now_ns)
{
	uint64_t *entry = place_of(table_of(self), site);
	uint16_t number = (uint16_t)*entry;

	if (number != 0) {
		if (*entry & UNCHECKED && !check(site))
			return 0;
		/* It may be defined in a file that is removed. */
		if (st_rings && *entry & UNCHECKED && !self->only_ust &&
		    !st_emit_site(self, number, site, now_ns))
			return 0;
		*entry &= ~UNCHECKED;
		return number;
	}
	if (gm_seal_is_set())
		return 0;
	if (self->n_sites == SITES_MAX || site_of((uint64_t)site << ST_SITE_BITS) != site)
		return 0;
	if (self->n_sites >= table_size(table_of(self)) / 2 && !st_grow(self, grow))
		return 0;
	gm_maps_note(site, NULL);
	number = (uint16_t)(self->n_sites + 1);
	if (!self->only_ust && !st_emit_site(self, number, site, now_ns))
		return 0;
	self->n_sites = number;
	*place_of(table_of(self), site) = (uint64_t)site << ST_SITE_BITS | number;
	return number;
}

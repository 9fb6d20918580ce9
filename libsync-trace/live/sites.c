/* SPDX-License-Identifier: MIT */
/*
 * Call sites of a schedule: a module's name and an offset in it, the same wherever the program is
 * loaded. The address at which a site was found is kept, so a module is looked up once.
 */
#include <dlfcn.h>
#include <link.h>

#include "live/live.h"
#include "record/internal.h"
#include "runtime/process/loadmap.h"
#include "runtime/sys/sys.h"

/* The loader does not store the program's own name. */
static bool is_module(const struct link_map *loaded, const char *name)
{
	return loaded->l_name[0] == '\0' || gm_strcmp(gm_base_name(loaded->l_name), name) == 0;
}

bool st_live_is_site(uint32_t number, uintptr_t address)
{
	const struct st_schedule_site *site;
	struct dl_find_object found;

	if (number >= st_live.n_sites || address == 0 || gm_find_object == NULL)
		return true;
	if (__atomic_load_n(&st_live.addresses[number], __ATOMIC_RELAXED) == address)
		return true;
	site = &st_live.sites[number];
	if (site->module >= st_live.n_modules ||
	    gm_find_object((void *)(address - 1), &found) != 0 ||
	    address - found.dlfo_link_map->l_addr != site->offset ||
	    !is_module(found.dlfo_link_map, st_live.modules[site->module].name))
		return false;
	__atomic_store_n(&st_live.addresses[number], address, __ATOMIC_RELAXED);
	return true;
}

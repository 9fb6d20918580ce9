/* SPDX-License-Identifier: MIT */
/* Introduces the functions to libsync_trace. */
#include <dlfcn.h>

#include "access/access.h"

static struct st_access_thread *thread(void)
{
	return &access_self;
}

static struct st_access_functions functions = {
    .abi = ST_ACCESS_ABI, .thread = thread, .block_find = access_block_find};

/* A function of libtsan that is not an entry point for compiled code. */
static bool tsan_is_loaded(void)
{
	bool is_loaded = dlsym(RTLD_DEFAULT, "__tsan_get_report_data") != NULL;

	if (!is_loaded)
		dlerror(); /* clears an error that the program would otherwise see */
	return is_loaded;
}

__attribute__((constructor)) static void begin(void)
{
	functions.is_last = !access_libc_resolve();
	access_malloc_resolve();
	access_map_resolve();
	access_find_data(&functions);
	functions.has_tsan = tsan_is_loaded();
	if (st_access_register(&functions) != 0)
		access_blocks_stop();
}

/* SPDX-License-Identifier: MIT */
/*
 * Introduces libaccess_step to libsync_trace. The functions for blocks of the heap are only linked
 * into libaccess_step_blocks.
 */
#include "access/step/effects.h"
#include "access/step/step.h"

#pragma weak access_block_find
#pragma weak access_blocks_stop
#pragma weak access_malloc_resolve
#pragma weak access_map_resolve

static struct st_access_thread *thread(void)
{
	return &access_self;
}

static const struct st_step_functions steps = {
    .configure = step_configure,
    .arm = step_arm,
    .choose = step_choose,
    .pause = step_pause,
    .go_on = step_go_on,
    .hold = step_hold,
    .release = step_release,
    .end = step_end,
    .thread_end = step_thread_end,
};

static struct st_access_functions functions = {
    .abi = ST_ACCESS_ABI, .thread = thread, .steps = &steps};

static bool is_registered(void)
{
	access_find_data(&functions);
	step_code_prepare();
	return st_access_register(&functions) == 0;
}

__attribute__((constructor)) static void begin(void)
{
	if (access_malloc_resolve != NULL) {
		access_malloc_resolve();
		access_map_resolve();
		functions.block_find = access_block_find;
	}
	if (step_decoder_prepare() && is_registered())
		step_signals_prepare(step_handle);
	else if (access_blocks_stop != NULL)
		access_blocks_stop();
}

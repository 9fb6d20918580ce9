/* SPDX-License-Identifier: MIT */
/* Introduces libaccess_step to libsync_trace. */
#include "access/step/effects.h"
#include "access/step/step.h"

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
    .end = step_end,
    .thread_end = step_thread_end,
};

static struct st_access_functions functions = {
    .abi = ST_ACCESS_ABI, .thread = thread, .steps = &steps};

__attribute__((constructor)) static void begin(void)
{
	if (!step_decoder_prepare())
		return;
	access_find_data(&functions);
	step_code_prepare();
	if (st_access_register(&functions) == 0)
		step_signals_prepare(step_handle);
}

/* SPDX-License-Identifier: MIT */
/* Introduces libaccess_step to libsync_trace. */
#include <dlfcn.h>
#include <link.h>

#include "access/step/effects.h"
#include "access/step/step.h"

#define PAGE_BYTES ((uintptr_t)4096)

static struct st_access_thread *thread(void)
{
	return &access_self;
}

static const struct st_step_functions steps = {
    .configure = step_configure,
    .choose = step_choose,
    .pause = step_pause,
    .go_on = step_go_on,
    .end = step_end,
    .thread_end = step_thread_end,
};

static struct st_access_functions functions = {
    .abi = ST_ACCESS_ABI, .thread = thread, .steps = &steps};

/* Called for the program itself, which is the first object. */
static int note_data(struct dl_phdr_info *info, size_t n_bytes, void *unused)
{
	(void)n_bytes;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0) {
			uintptr_t start = info->dlpi_addr + part->p_vaddr;

			functions.data_start = start & -PAGE_BYTES;
			functions.data_end = (start + part->p_memsz + PAGE_BYTES - 1) & -PAGE_BYTES;
		}
	}
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	if (!step_decoder_prepare())
		return;
	dl_iterate_phdr(note_data, NULL);
	step_code_prepare();
	if (st_access_register(&functions) == 0)
		step_signals_prepare(step_handle);
}

/* SPDX-License-Identifier: MIT */
/* Introduces the functions to libsync_trace. */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

#include "access/access.h"

#define PAGE_BYTES ((uintptr_t)4096)

static struct st_access_thread *thread(void)
{
	return &access_self;
}

static struct st_access_functions functions = {
    .abi = ST_ACCESS_ABI, .thread = thread, .block_find = access_block_find};

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
	dl_iterate_phdr(note_data, NULL);
	functions.has_tsan = tsan_is_loaded();
	if (st_access_register(&functions) != 0)
		access_blocks_stop();
}

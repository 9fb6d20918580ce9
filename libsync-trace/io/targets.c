/* SPDX-License-Identifier: MIT */
/*
 * The exported names: each is a jump to its target, so that a wrapper sees the program's return
 * address and arguments.
 *
 * The target is the wrapper; or the next function of that name in the loader's order, if that may
 * have other parameters (st_io_is_known()), or if no calls are recorded.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "io/io.h"
#include "record/internal.h"
#include "runtime/process/process.h"

/* clang-format off: one column of assembly code */
#define STUB(name)                                                                                 \
	__asm__("	.text\n"                                                                         \
		"	.balign	16\n"                                                                    \
		"	.globl	" #name "\n"                                                       \
		"	.type	" #name ", @function\n" #name ":\n"                                \
		"	.cfi_startproc\n"                                                                \
		"	endbr64\n"                                                                       \
		"	jmp	*st_io_target_" #name "(%rip)\n"                                   \
		"	.cfi_endproc\n"                                                                  \
		"	.size	" #name ", . - " #name "\n");
/* clang-format on */

#define TARGET(name, first)                                                                        \
	extern void *st_io_target_##name __attribute__((visibility("hidden")));                    \
	__attribute__((used)) void *st_io_target_##name = (void *)st_io_##first;                   \
	STUB(name)

#define OWN_TARGET(type, name, parameters) TARGET(name, name)
ST_IO_REALS(OWN_TARGET)
ST_IO_ALIASES(TARGET)

static const struct {
	void **target;
	const char *alias; /* NULL: the name itself */
	size_t first;	   /* offset of its function in st_io_real */
} rows[] = {
#define ROW(type, name, parameters) {&st_io_target_##name, NULL, offsetof(struct st_io_real, name)},
    ST_IO_REALS(ROW)
#undef ROW
#define ROW(name, first) {&st_io_target_##name, #name, offsetof(struct st_io_real, first)},
	ST_IO_ALIASES(ROW)
#undef ROW
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static void *reals[N_ROWS];

/* Looked up once: dlsym() takes locks. */
void st_io_prepare(void)
{
	st_io_resolve();
	for (unsigned i = 0; i < N_ROWS; i++) {
		void *first = *(void **)((char *)&st_io_real + rows[i].first);
		void *alias = rows[i].alias != NULL ? dlsym(RTLD_NEXT, rows[i].alias) : NULL;

		reals[i] = alias != NULL ? alias : first;
		if (reals[i] != first || !st_io_is_known(first))
			__atomic_store_n(rows[i].target, reals[i], __ATOMIC_RELAXED);
	}
}

void st_io_switch_off(void)
{
	for (unsigned i = 0; i < N_ROWS; i++)
		if (reals[i] != NULL && *rows[i].target != reals[i])
			__atomic_store_n(rows[i].target, reals[i], __ATOMIC_RELAXED);
}

void st_io_open(const struct gm_config *config)
{
	uint64_t threshold_ns = config->io_threshold_ns;

	if (threshold_ns == UINT64_MAX) {
		st_io_switch_off();
		return;
	}
	gm_process_set_io(threshold_ns);
	st_io_set_threshold(threshold_ns);
}

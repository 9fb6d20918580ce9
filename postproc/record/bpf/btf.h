/* SPDX-License-Identifier: MIT */
/*
 * The running kernel's own description of its types (BTF), as far as a program for it needs: the
 * numbers of a few types, and where members lie in a few structures.
 *
 * The types are gone through once, until all that is wanted is found; a file that is not as its
 * format says ends the search, nothing is followed outside it.
 */
#ifndef PP_RECORD_BPF_BTF_H
#define PP_RECORD_BPF_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct pp_btf {
	char *data; /* the whole file */
	size_t len_bytes;
	bool is_mapped;
	const char *strings; /* ended by a NUL */
	size_t strings_bytes;
	const char *types, *types_end;
};

/* A type looked for: its kind is one of BTF_KIND_ in <linux/btf.h>. */
struct pp_btf_type {
	const char *name;
	uint8_t kind;
	uint32_t id; /* 0: this kernel has it not */
	const char *at;
};

/* -ENOENT: the kernel was built without. */
int pp_btf_open(struct pp_btf *btf, struct pp_error *err);
void pp_btf_close(struct pp_btf *btf);

/* Fills in `id` and `at` of each. */
void pp_btf_find(const struct pp_btf *btf, struct pp_btf_type *types, unsigned n_types);

/*
 * Where a section (BTF_KIND_DATASEC) is described; NULL: nowhere.  Sections come last in the file,
 * so it is looked for from there, and has no `id`.
 */
const char *pp_btf_section(const struct pp_btf *btf, const char *name);

/* Offset of the member in a structure that was found, in bytes; -ENOENT: none of that name. */
int pp_btf_member(const struct pp_btf *btf, const struct pp_btf_type *type, const char *name);

/* The same for a variable in a section. */
int pp_btf_variable(const char *section, const struct pp_btf_type *variable);

#endif

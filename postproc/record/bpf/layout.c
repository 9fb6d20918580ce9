/* SPDX-License-Identifier: MIT */
/* Finds offsets of per-CPU variables: BTF describes them as members of a section. */
#include "record/bpf/layout.h"

#include <errno.h>
#include <string.h>

#include <bpf/btf.h>

#define BTF_FILE "/sys/kernel/btf/vmlinux"

/* Returns -ENOENT if the section lacks the variable. */
static int64_t variable_offset(const struct btf *btf, const struct btf_type *section,
			       const char *name)
{
	const struct btf_var_secinfo *variable = btf_var_secinfos(section);

	for (unsigned i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(btf, variable[i].type);

		if (strcmp(btf__name_by_offset(btf, type->name_off), name) == 0)
			return variable[i].offset;
	}
	return -ENOENT;
}

/* Returns the offset in bytes, or -ENOENT. */
static int64_t member_offset(const struct btf *btf, const char *structure, const char *name)
{
	int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	for (unsigned i = 0; type && i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name) == 0)
			return btf_member_bit_offset(type, i) / 8;
	return -ENOENT;
}

static int find_distance(const struct btf *btf, int64_t *ret_distance)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	int64_t queue, count;

	if (!section)
		return -ENOENT;
	queue = variable_offset(btf, section, "runqueues");
	count = variable_offset(btf, section, "__preempt_count");
	/* In Linux 6.2 to 6.14 it is a member of a variable. */
	if (count < 0) {
		int64_t hot = variable_offset(btf, section, "pcpu_hot");
		int64_t member = member_offset(btf, "pcpu_hot", "preempt_count");

		count = hot < 0 || member < 0 ? -ENOENT : hot + member;
	}
	if (queue < 0 || count < 0)
		return -ENOENT;
	*ret_distance = count - queue;
	return 0;
}

int pp_bpf_preempt_count(int64_t *ret_distance, struct pp_error *err)
{
	struct btf *btf = btf__parse(BTF_FILE, NULL);
	int rc = btf ? 0 : -errno;

	if (rc)
		return pp_error_add(err, rc, BTF_FILE ": %s", g_strerror(-rc));
	rc = find_distance(btf, ret_distance);
	btf__free(btf);
	return rc ? pp_error_add(err, rc, "unsupported kernel scheduler layout") : 0;
}

/* SPDX-License-Identifier: MIT */
#include "record/bpf/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/btf.h>

#define BTF_FILE "/sys/kernel/btf/vmlinux"

/* --- file --- */

static int read_whole(struct pp_btf *btf, int fd)
{
	size_t at = 0;
	ssize_t n;

	btf->data = g_malloc(btf->len_bytes);
	while (at < btf->len_bytes &&
	       (n = TEMP_FAILURE_RETRY(read(fd, btf->data + at, btf->len_bytes - at))) > 0)
		at += n;
	return at == btf->len_bytes ? 0 : -EIO;
}

/* Mapped where that is possible (Linux 6.16): the little that is looked at is then all that is
 * read. */
static int take_file(struct pp_btf *btf, int fd)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st))
		return -errno;
	btf->len_bytes = st.st_size;
	map = mmap(NULL, btf->len_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	btf->is_mapped = map != MAP_FAILED;
	if (!btf->is_mapped)
		return read_whole(btf, fd);
	btf->data = map;
	return 0;
}

static int take_header(struct pp_btf *btf)
{
	struct btf_header header;
	size_t left;

	if (btf->len_bytes < sizeof(header))
		return -EINVAL;
	memcpy(&header, btf->data, sizeof(header));
	if (header.magic != BTF_MAGIC || header.hdr_len < sizeof(header) ||
	    header.hdr_len > btf->len_bytes)
		return -EINVAL;
	left = btf->len_bytes - header.hdr_len;
	if (header.type_off > left || header.type_len > left - header.type_off ||
	    header.str_off > left || header.str_len > left - header.str_off || !header.str_len)
		return -EINVAL;
	btf->types = btf->data + header.hdr_len + header.type_off;
	btf->types_end = btf->types + header.type_len;
	btf->strings = btf->data + header.hdr_len + header.str_off;
	btf->strings_bytes = header.str_len;
	return btf->strings[btf->strings_bytes - 1] ? -EINVAL : 0;
}

int pp_btf_open(struct pp_btf *btf, struct pp_error *err)
{
	int fd = open(BTF_FILE, O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -errno : 0;

	*btf = (struct pp_btf){0};
	if (rc == 0) {
		rc = take_file(btf, fd);
		close(fd);
	}
	if (rc == 0)
		rc = take_header(btf);
	if (rc) {
		pp_btf_close(btf);
		return pp_error_add(err, rc, BTF_FILE ": %s", g_strerror(-rc));
	}
	return 0;
}

void pp_btf_close(struct pp_btf *btf)
{
	if (btf->is_mapped)
		munmap(btf->data, btf->len_bytes);
	else
		g_free(btf->data);
	*btf = (struct pp_btf){0};
}

/* --- types --- */

/* What follows the head of a type; -1: of a kind that is not known here. */
static ssize_t tail_bytes(const struct btf_type *type)
{
	size_t n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	default:
		return -1;
	}
}

static const char *name_at(const struct pp_btf *btf, uint32_t offset)
{
	return offset < btf->strings_bytes ? btf->strings + offset : "";
}

/* Looks at one type; how many of those wanted it is: 0 or 1. */
static unsigned match(const struct pp_btf *btf, const char *at, const struct btf_type *type,
		      uint32_t id, struct pp_btf_type *types, unsigned n_types)
{
	uint8_t kind = BTF_INFO_KIND(type->info);
	const char *name = NULL;

	for (unsigned i = 0; i < n_types; i++) {
		if (types[i].kind != kind || types[i].id)
			continue;
		name = name ?: name_at(btf, type->name_off);
		if (strcmp(types[i].name, name) == 0) {
			types[i].id = id;
			types[i].at = at;
			return 1;
		}
	}
	return 0;
}

void pp_btf_find(const struct pp_btf *btf, struct pp_btf_type *types, unsigned n_types)
{
	const char *at = btf->types;
	unsigned found = 0;

	for (uint32_t id = 1; found < n_types; id++) {
		struct btf_type type;
		ssize_t tail;

		if ((size_t)(btf->types_end - at) < sizeof(type))
			return;
		memcpy(&type, at, sizeof(type));
		tail = tail_bytes(&type);
		if (tail < 0 || btf->types_end - at - (ssize_t)sizeof(type) < tail)
			return;
		found += match(btf, at, &type, id, types, n_types);
		at += sizeof(type) + tail;
	}
}

int pp_btf_member(const struct pp_btf *btf, const struct pp_btf_type *type, const char *name)
{
	struct btf_type head;
	const char *at;

	if (!type->id)
		return -ENOENT;
	memcpy(&head, type->at, sizeof(head));
	at = type->at + sizeof(head);
	for (unsigned i = 0; i < BTF_INFO_VLEN(head.info); i++) {
		struct btf_member member;
		uint32_t bits;

		memcpy(&member, at + i * sizeof(member), sizeof(member));
		if (strcmp(name_at(btf, member.name_off), name) != 0)
			continue;
		bits = BTF_INFO_KFLAG(head.info) ? BTF_MEMBER_BIT_OFFSET(member.offset)
						 : member.offset;
		return bits % 8 ? -ENOENT : (int)(bits / 8);
	}
	return -ENOENT;
}

const char *pp_btf_section(const struct pp_btf *btf, const char *name)
{
	size_t n_words = (size_t)(btf->types_end - btf->types) / sizeof(uint32_t);
	struct btf_type head;

	if (n_words < sizeof(head) / sizeof(uint32_t))
		return NULL;
	for (size_t i = n_words - sizeof(head) / sizeof(uint32_t); i > 0; i--) {
		const char *at = btf->types + i * sizeof(uint32_t);

		memcpy(&head, at, sizeof(head));
		if (BTF_INFO_KIND(head.info) == BTF_KIND_DATASEC &&
		    tail_bytes(&head) <= btf->types_end - at - (ssize_t)sizeof(head) &&
		    strcmp(name_at(btf, head.name_off), name) == 0)
			return at;
	}
	return NULL;
}

int pp_btf_variable(const char *section, const struct pp_btf_type *variable)
{
	struct btf_type head;
	const char *at;

	if (!section || !variable->id)
		return -ENOENT;
	memcpy(&head, section, sizeof(head));
	at = section + sizeof(head);
	for (unsigned i = 0; i < BTF_INFO_VLEN(head.info); i++) {
		struct btf_var_secinfo entry;

		memcpy(&entry, at + i * sizeof(entry), sizeof(entry));
		if (entry.type == variable->id)
			return (int)entry.offset;
	}
	return -ENOENT;
}
